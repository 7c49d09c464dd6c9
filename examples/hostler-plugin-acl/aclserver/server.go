// Package aclserver is a server that keeps access lists, for tests of the backend: one list for everything, and one for each guest. The
// rules of a list have no order: one that denies wins over those that allow.
//
//	GET /v1/list, /v1/guests/{guest}/list   {"rules":[…]} with an ETag
//	PUT the same                            replaces the whole list; If-Match with another ETag than the present one is 412
//
// A token goes into the header Authorization as "Bearer …". Refusals are {"error":"…","field":"…"}.
package aclserver

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rule is one rule of a list. An empty address, protocol or port is any.
type Rule struct {
	Direction   string `json:"direction"` // in, out
	Action      string `json:"action"`    // allow, deny
	Enabled     bool   `json:"enabled"`
	Protocol    string `json:"protocol"` // tcp, udp, icmp
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Port        string `json:"port"` // of the destination
	Comment     string `json:"comment"`
}

// List is what is read and written.
type List struct {
	Rules []Rule `json:"rules"`
}

// Refusal is the body of an answer that is none of the good ones.
type Refusal struct {
	Error string `json:"error"`
	Field string `json:"field,omitempty"`
}

// Server keeps lists. It is an http.Handler, whose methods may be called at the same time.
type Server struct {
	mux *http.ServeMux

	mu     sync.Mutex
	tokens map[string]bool   // whether each may write
	lists  map[string][]Rule // by guest; that of everything has an empty name
}

// New makes a server with an empty list for everything, and no guests.
func New() *Server {
	s := &Server{mux: http.NewServeMux(), tokens: map[string]bool{}, lists: map[string][]Rule{"": {}}}
	for _, path := range []string{"/v1/list", "/v1/guests/{guest}/list"} {
		s.mux.HandleFunc("GET "+path, s.get)
		s.mux.HandleFunc("PUT "+path, s.put)
	}
	return s
}

// Admit makes a token known.
func (s *Server) Admit(token string, writes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = writes
}

// Set replaces the list of a guest, or that of everything for an empty name.
func (s *Server) Set(guest string, rules ...Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[guest] = rules
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	writes, known := s.tokens[token]
	switch {
	case !known:
		refuse(w, http.StatusUnauthorized, "the token is wrong", "")
	case r.Method != http.MethodGet && !writes:
		refuse(w, http.StatusForbidden, "the token may not write", "")
	default:
		s.mux.ServeHTTP(w, r)
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if rules, ok := s.lists[r.PathValue("guest")]; ok {
		answer(w, rules)
		return
	}
	refuse(w, http.StatusNotFound, "guest not found", "")
}

func (s *Server) put(w http.ResponseWriter, r *http.Request) {
	guest := r.PathValue("guest")
	now, ok := s.lists[guest]
	var list List
	switch err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&list); {
	case !ok:
		refuse(w, http.StatusNotFound, "guest not found", "")
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body is no list", "")
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != etag(now) {
		refuse(w, http.StatusPreconditionFailed, "the list is another one by now", "")
		return
	}
	for i, rule := range list.Rules {
		if field := check(rule); field != "" {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("the %s of rule %d does not do", field, i), field)
			return
		}
	}
	s.lists[guest] = list.Rules
	answer(w, list.Rules)
}

// check gives the field that does not do.
func check(r Rule) string {
	switch {
	case r.Direction != "in" && r.Direction != "out":
		return "direction"
	case r.Action != "allow" && r.Action != "deny":
		return "action"
	case !slices.Contains([]string{"", "tcp", "udp", "icmp"}, r.Protocol):
		return "protocol"
	case !network(r.Source):
		return "source"
	case !network(r.Destination):
		return "destination"
	}
	if port, err := strconv.ParseUint(r.Port, 10, 16); r.Port != "" && (err != nil || port == 0 || r.Protocol == "" || r.Protocol == "icmp") {
		return "port"
	}
	return ""
}

func network(text string) bool {
	_, noAddress := netip.ParseAddr(text)
	_, noPrefix := netip.ParsePrefix(text)
	return text == "" || noAddress == nil || noPrefix == nil
}

func etag(rules []Rule) string {
	return fmt.Sprintf(`"%.20x"`, sha256.Sum256(fmt.Append(nil, rules)))
}

func answer(w http.ResponseWriter, rules []Rule) {
	w.Header().Set("ETag", etag(rules))
	_ = json.NewEncoder(w).Encode(List{rules})
}

func refuse(w http.ResponseWriter, status int, text, field string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(Refusal{text, field})
}
