package apitest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Callers is an Authenticator for tests of resources that have nothing to do
// with identity. It accepts every caller that FakeLogIn names.
type Callers struct{}

var _ op.Authenticator = Callers{}

const fakeHeader = "Fake-Caller"

// FakeLogIn is the API.LogIn for Callers.
func FakeLogIn(r *http.Request, c *Caller) { r.Header.Set(fakeHeader, c.String()) }

// Authenticate implements op.Authenticator.
func (Callers) Authenticate(_ context.Context, r *http.Request) (*identity.Caller, error) {
	name, at, elsewhere := strings.Cut(r.Header.Get(fakeHeader), "@")
	if name == "" {
		return nil, problem.New(problem.CodeUnauthenticated, "log in, or send an API key")
	}
	team := identity.DefaultTeam
	if elsewhere {
		team, _ = strconv.ParseInt(at, 10, 64)
	}
	teams := map[int64]identity.Role{}
	if role, err := identity.ParseRole(name); err == nil {
		teams[team] = role
	}
	return &identity.Caller{UserID: 1, Email: name + "@example.org", SessionID: 1, Teams: teams}, nil
}

// MemoryRecorder is a Recorder that keeps the entries in memory.
type MemoryRecorder struct {
	mu      sync.Mutex
	entries []audit.Entry
}

var _ op.Recorder = (*MemoryRecorder)(nil)

// Record implements op.Recorder.
func (t *MemoryRecorder) Record(_ context.Context, e audit.Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = append(t.entries, e)
	return nil
}

// Entries returns a copy of the entries.
func (t *MemoryRecorder) Entries() []audit.Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]audit.Entry{}, t.entries...)
}

// EmptyResolver is a Resolver that finds nothing.
type EmptyResolver struct{}

var _ op.Resolver = EmptyResolver{}

// Resolve implements op.Resolver.
func (EmptyResolver) Resolve(_ context.Context, on op.On, _ int64) (op.Resource, error) {
	return op.Resource{}, op.NotFound(on.String())
}
