package scriptstest

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
)

// Server hands out repositories over TLS, as the host of the real one does. Its methods may be called at the same time.
type Server struct {
	*httptest.Server
	t        testing.TB
	mu       sync.Mutex
	commit   string
	archives map[string][]byte
	extra    map[string][]byte
	requests []string
	answer   http.HandlerFunc
}

// NewServer starts one, which has nothing yet. It ends with the test.
func NewServer(t testing.TB) *Server {
	s := &Server{t: t, archives: map[string][]byte{}, extra: map[string][]byte{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Push makes a state of the repository the newest, and gives its commit.
func (s *Server) Push(f Files) string {
	commit := f.Commit()
	archive := f.Archive(s.t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commit, s.archives[commit] = commit, archive
	return commit
}

// SetArchive replaces what is handed out for a commit, and makes it the newest. Nil takes it away, as a rewritten history does.
func (s *Server) SetArchive(commit string, archive []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if archive == nil {
		delete(s.archives, commit)
		return
	}
	s.commit, s.archives[commit] = commit, archive
}

// SetExtra adds what is handed out for a path.
func (s *Server) SetExtra(path string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra[path] = content
}

// SetHandler sets what answers in place of the server; nil is the server again. It may call ServeRepository.
func (s *Server) SetHandler(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

// Requests are the paths that were asked for since the last call.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.Path)
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	s.ServeRepository(w, r)
}

// ServeRepository answers as the host of a repository does.
func (s *Server) ServeRepository(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	commit := s.commit
	asked, ok := strings.CutPrefix(r.URL.Path, "/"+Name+"/archive/")
	archive, there := s.archives[strings.TrimSuffix(asked, ".tar.gz")]
	extra, other := s.extra[r.URL.Path]
	s.mu.Unlock()
	switch {
	case other:
		_, _ = w.Write(extra)
	case ok && there:
		_, _ = w.Write(archive)
	case r.URL.Path == "/repos/"+Name+"/commits/main" && commit != "":
		tag := `"` + commit[:8] + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(commit))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Config is a configuration under which the server is the origin.
func (s *Server) Config() catalog.Config {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return catalog.Config{AllowLoopback: true, Options: map[string]string{
		"archives_url": s.URL, "api_url": s.URL, "ca": string(authority),
	}}
}
