package toyhv

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Server is one running toy hypervisor. Its methods may be called at the same time.
type Server struct {
	address     string
	fingerprint string
	taskTime    time.Duration
	http        *http.Server
	began       time.Time

	mu     sync.Mutex
	tokens map[string]token
	guests map[int64]*Guest
	nextID int64
	tasks  []*task
}

type token struct {
	secret string
	scopes []string
}

// Start serves on an address, such as "127.0.0.1:0", until Close. A task takes taskTime.
func Start(address string, taskTime time.Duration) (*Server, error) {
	certificate, fingerprint, err := selfSigned()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{
		address: listener.Addr().String(), fingerprint: fingerprint, taskTime: taskTime, began: time.Now(),
		tokens: map[string]token{}, guests: map[int64]*Guest{}, nextID: 100,
	}
	s.http = &http.Server{Handler: s.routes(), TLSConfig: certificate, ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet()}
	go func() { _ = s.http.ServeTLS(listener, "", "") }()
	return s, nil
}

// Close ends the server and cuts its connections.
func (s *Server) Close() { _ = s.http.Close() }

// Address is where the server listens, "host:port".
func (s *Server) Address() string { return s.address }

// Fingerprint is the SHA-256 of the server's certificate, hexadecimal with colons.
func (s *Server) Fingerprint() string { return s.fingerprint }

// NewToken makes a token with exactly these scopes.
func (s *Server) NewToken(scopes ...string) (id, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, secret = "token"+strconv.Itoa(len(s.tokens)+1), rand.Text()
	s.tokens[id] = token{secret: secret, scopes: scopes}
	return id, secret
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range []struct {
		pattern, scope string
		answer         func(r *http.Request) (any, error)
	}{
		{"GET /v1/version", "", func(*http.Request) (any, error) { return map[string]string{"version": Release, "node": Node}, nil }},
		{"GET /v1/token", "", func(r *http.Request) (any, error) { return map[string]any{"scopes": s.caller(r).scopes}, nil }},
		{"GET /v1/machine", NodesRead, s.machine},
		{"GET /v1/guests", GuestsRead, func(*http.Request) (any, error) { return s.Guests(), nil }},
		{"GET /v1/guests/{id}", GuestsRead, s.guest},
		{"POST /v1/guests/{id}/{action}", GuestsPower, s.act},
		{"GET /v1/tasks", "", s.listTasks},
		{"GET /v1/tasks/{id}", "", s.task},
		{"GET /v1/tasks/{id}/log", "", s.log},
	} {
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) {
			answer, err := any(nil), s.admit(req, r.scope)
			if err == nil {
				answer, err = r.answer(req)
			}
			write(w, req, answer, err)
		})
	}
	return mux
}

// refused is a refusal with its status.
type refused struct {
	status int
	Refusal
}

func (r *refused) Error() string { return r.Refusal.Error }

func refuse(status int, text string) *refused { return &refused{status, Refusal{Error: text}} }

// caller is the token of a request; its zero value is none.
func (s *Server) caller(r *http.Request) token {
	id, secret, _ := r.BasicAuth()
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tokens[id]
	if !ok || subtle.ConstantTimeCompare([]byte(t.secret), []byte(secret)) != 1 {
		return token{}
	}
	return t
}

// admit refuses a request whose token is unknown or lacks the scope.
func (s *Server) admit(r *http.Request, scope string) error {
	t := s.caller(r)
	if t.secret == "" {
		return refuse(http.StatusUnauthorized, "no such token")
	}
	if scope != "" && !slices.Contains(t.scopes, scope) {
		return &refused{http.StatusForbidden, Refusal{Error: "the token may not do this", Missing: []string{scope}}}
	}
	return nil
}

func write(w http.ResponseWriter, r *http.Request, answer any, err error) {
	status := http.StatusOK
	if r.Method == http.MethodPost {
		status = http.StatusAccepted
	}
	if err != nil {
		no := refuse(http.StatusInternalServerError, err.Error())
		_ = errors.As(err, &no)
		status, answer = no.status, no.Refusal
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) machine(*http.Request) (any, error) {
	const gib = 1 << 30
	return Machine{
		Name: Node, Cores: 8, Memory: 64 * gib, Used: 12 * gib, Uptime: int64(time.Since(s.began).Seconds()) + 1,
		Storages: []Storage{{Name: "disk", Used: 100 * gib, Size: 1000 * gib}},
	}, nil
}
