package op_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// sample is an API of a few operations on imagined hosts: host 7 belongs to team 2, host 8 to team 3.
type sample struct {
	*op.API
	mu      sync.Mutex
	entries []audit.Entry
	off     map[string]bool // entitlements that are off
	got     any             // what the last handler received
	resolve error           // what the resolver fails with, if anything
	auth    error           // what the authenticator fails with, if anything
	caller  *identity.Caller
}

type sampleConfig struct {
	strict bool
}

// Authenticate takes "Bearer <role>" for a role in the default team and "Bearer <role>@<team>" for one elsewhere; a
// third part names the key's scopes.
func (s *sample) Authenticate(_ context.Context, r *http.Request) (*identity.Caller, error) {
	if s.auth != nil || s.caller != nil {
		return s.caller, s.auth
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil, problem.New(problem.CodeUnauthenticated, "log in first")
	}
	token, scopes, scoped := strings.Cut(token, " ")
	name, at, elsewhere := strings.Cut(token, "@")
	team := identity.DefaultTeam
	if elsewhere {
		team, _ = strconv.ParseInt(at, 10, 64)
	}
	role, err := identity.ParseRole(name)
	if err != nil {
		return nil, problem.New(problem.CodeUnauthenticated, "log in first")
	}
	caller := &identity.Caller{UserID: 5, Email: name + "@example.org", Teams: map[int64]identity.Role{team: role}}
	if scoped {
		caller.KeyID, caller.Scopes = 9, strings.Fields(scopes)
	}
	return caller, nil
}

func (s *sample) Resolve(_ context.Context, on op.On, id int64) (op.Resource, error) {
	if s.resolve != nil {
		return op.Resource{}, s.resolve
	}
	if on == op.Host && (id == 7 || id == 8) {
		return op.Resource{Kind: "host", ID: id, Name: "node" + strconv.FormatInt(id, 10), TeamID: id - 5, HostID: id}, nil
	}
	return op.Resource{}, problem.New(problem.CodeNotFound, "no %s has the id %d", on, id)
}

func (s *sample) Record(_ context.Context, e audit.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
	return nil
}

func (s *sample) trail() []audit.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]audit.Entry{}, s.entries...)
}

type hostOut struct {
	ID   int64  `json:"id" example:"7"`
	Name string `json:"name" example:"node7"`
}

type createIn struct {
	Body struct {
		Name    string    `json:"name" minLength:"1" maxLength:"20" example:"rack-4"`
		Cores   int       `json:"cores,omitempty" minimum:"1" maximum:"64" default:"2"`
		Verify  *bool     `json:"verify,omitempty" default:"true"`
		Secret  string    `json:"secret,omitempty" pattern:"^[a-z]+$"`
		Kind    string    `json:"kind,omitempty" enum:"lxc,qemu"`
		Items   []item    `json:"items,omitempty" maxItems:"3"`
		Options op.Object `json:"options,omitempty"`
		Mail    string    `json:"mail,omitempty" format:"email"`
	}
}

type item struct {
	Size int64 `json:"size"`
}

type patchIn struct {
	HostID int64 `path:"host_id"`
	Body   struct {
		Name op.Optional[string] `json:"name,omitzero" maxLength:"8"`
		Port op.Optional[int]    `json:"port,omitzero" minimum:"1"`
	}
}

type removeIn struct {
	HostID int64 `path:"host_id"`
	Body   *struct {
		Confirm string `json:"confirm,omitempty"`
	}
}

type hostIn struct {
	HostID int64 `path:"host_id"`
}

type listIn struct {
	op.Page
	Q    string  `query:"q" maxLength:"10"`
	Rate float64 `query:"rate"`
}

var errBroken = errors.New("the secret cause")

func newSample(t testing.TB, config sampleConfig) *sample {
	t.Helper()
	s := &sample{off: map[string]bool{}}
	s.API = op.New(op.Config{
		Router: route.New(), Authenticator: s, Resolver: s, Recorder: s, Version: "1.2.3",
		Entitlements: func(_ context.Context, name string) bool { return !s.off[name] },
		Logger:       hclog.NewNullLogger(), StrictAudit: config.strict,
	})
	keep := func(in any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = in
	}
	op.Get(s.API, "/api/v1/hosts", func(_ context.Context, in *listIn) (*op.List[hostOut], error) {
		keep(*in)
		return &op.List[hostOut]{Total: 0}, nil
	}, op.Spec{ID: "list_hosts", Summary: "List hosts", Tag: "Hosts", Role: identity.Viewer, On: op.Anywhere})
	op.Get(s.API, "/api/v1/hosts/:host_id", func(ctx context.Context, in *hostIn) (*op.Body[hostOut], error) {
		return &op.Body[hostOut]{Body: hostOut{in.HostID, op.ResourceOf(ctx).Name}}, nil
	}, op.Spec{ID: "get_host", Summary: "Show a host", Tag: "Hosts", Role: identity.Viewer, On: op.Host})
	op.Post(s.API, "/api/v1/hosts", func(_ context.Context, in *createIn) (*op.Body[hostOut], error) {
		keep(in.Body)
		return &op.Body[hostOut]{Body: hostOut{9, in.Body.Name}}, nil
	}, op.Spec{ID: "create_host", Replay: recalled, Summary: "Enrol a host", Tag: "Hosts", Role: identity.Admin, Status: 201,
		Audit: op.Audit{Action: "host.create"}})
	op.Patch(s.API, "/api/v1/hosts/:host_id", func(_ context.Context, in *patchIn) (*op.Body[hostOut], error) {
		keep(in.Body)
		return &op.Body[hostOut]{}, nil
	}, op.Spec{ID: "patch_host", Summary: "Change a host", Tag: "Hosts", Role: identity.Admin, On: op.Host, Entitlement: "hosts.patch",
		Audit: op.Audit{Action: "host.patch"}})
	op.Delete(s.API, "/api/v1/hosts/:host_id", func(_ context.Context, in *removeIn) (*op.Empty, error) {
		if in.Body == nil || in.Body.Confirm != "yes" {
			return nil, problem.Confirm(problem.CodeConfirmRequired, "yes", "type the name")
		}
		return nil, nil
	}, op.Spec{ID: "remove_host", Summary: "Remove a host", Tag: "Hosts", Role: identity.Owner, On: op.Host,
		Audit: op.Audit{Action: "host.remove"}})
	op.Post(s.API, "/api/v1/hosts/:host_id/:action", func(_ context.Context, in *struct {
		HostID int64  `path:"host_id"`
		Action string `path:"action" enum:"start,break,panic,slow"`
	}) (*op.Body[hostOut], error) {
		switch in.Action {
		case "break":
			return nil, errBroken
		case "panic":
			panic("ouch")
		case "slow":
			return nil, problem.New(problem.CodeHypervisorError, "refused")
		}
		return &op.Body[hostOut]{}, nil
	}, op.Spec{ID: "act_on_host", Replay: recalled, Summary: "Act on a host", Tag: "Hosts", Role: identity.Operator, On: op.Host,
		Status: 202, Audit: op.Audit{Action: "host.{action}", Target: "action"}})
	op.Post(s.API, "/api/v1/auth/login", func(_ context.Context, in *struct {
		Body struct {
			Email    string `json:"email"`
			Password string `json:"password"`
		}
	}) (*op.Body[string], error) {
		return &op.Body[string]{Body: in.Body.Email}, nil
	}, op.Spec{ID: "log_in", Summary: "Log in", Tag: "Session", Public: true, Audit: op.Audit{Action: "session.login"}})
	return s
}

// call sends one request; headers come in pairs.
func (s *sample) call(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func as(role string) []string { return []string{"Authorization", "Bearer " + role} }

// recalled makes the answer of what the sample makes again.
func recalled(context.Context, idempotency.Result) (any, error) { return hostOut{}, nil }
