package toyhv

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
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

	mu      sync.Mutex
	trusted map[string][]string // scopes by fingerprint
	codes   map[string]code
	guests  map[string]*guest
	made    int
	tasks   []*task
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
		trusted: map[string][]string{}, codes: map[string]code{}, guests: map[string]*guest{},
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

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range []struct {
		pattern, scope string
		answer         func(r *http.Request) (any, error)
	}{
		{"GET /v1/version", "", func(*http.Request) (any, error) { return map[string]string{"version": Release, "node": Node}, nil }},
		{"GET /v1/certificate", "", func(r *http.Request) (any, error) { return map[string]any{"scopes": s.client(r).scopes}, nil }},
		{"GET /v1/machine", NodesRead, s.machine},
		{"GET /v1/guests", GuestsRead, func(*http.Request) (any, error) { return s.Guests(), nil }},
		{"GET /v1/guests/{name}", GuestsRead, s.guest},
		{"POST /v1/guests/{name}/{action}", GuestsPower, s.act},
		{"GET /v1/guests/{name}/snapshots", GuestsRead, s.listSnapshots},
		{"POST /v1/guests/{name}/snapshots", GuestsPower, s.takeSnapshot},
		{"POST /v1/guests/{name}/snapshots/{snapshot}/restore", GuestsPower, s.restoreSnapshot},
		{"DELETE /v1/guests/{name}/snapshots/{snapshot}", GuestsPower, s.deleteSnapshot},
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
	mux.HandleFunc("POST /v1/join", func(w http.ResponseWriter, req *http.Request) {
		answer, err := s.join(req)
		write(w, req, answer, err)
	})
	return mux
}

// refused is a refusal with its status.
type refused struct {
	status int
	Refusal
}

func (r *refused) Error() string { return r.Refusal.Error }

func refuse(status int, text string) *refused { return &refused{status, Refusal{Error: text}} }

func write(w http.ResponseWriter, r *http.Request, answer any, err error) {
	status := http.StatusOK
	if r.Method != http.MethodGet {
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
