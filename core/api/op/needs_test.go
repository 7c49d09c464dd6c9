package op_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// tokens are the hosts that have a token for lifecycle.
type tokens struct {
	mu    sync.Mutex
	hosts map[int64]bool
	err   error
	asked int
}

func (k *tokens) Has(_ context.Context, hostID int64, capability endpoint.Capability) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	return k.hosts[hostID] && capability == endpoint.Lifecycle, k.err
}

// lose takes a host's token away.
func (k *tokens) lose(host int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.hosts, host)
}

// power is an operation that needs the token for lifecycle.
func power(change func(*op.Spec)) op.Spec {
	spec := op.Spec{
		ID: "power", Summary: "Power", Tag: "Power", Role: identity.Operator, On: op.Host, Needs: endpoint.Lifecycle, Entitlement: "power",
		Audit: op.Audit{Action: "host.power"}, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"},
	}
	change(&spec)
	return spec
}

type powerIn struct {
	Body *struct {
		Count int `json:"count" minimum:"1"`
	}
}

func powerSample(t *testing.T, k *tokens, handled *int) *sample {
	t.Helper()
	s := &sample{off: map[string]bool{}}
	s.API = op.New(op.Config{
		Router: route.New(), Authenticator: s, Resolver: s, Recorder: s, Tokens: k,
		Entitlements: func(_ context.Context, name string) bool { return !s.off[name] },
	})
	op.Put(s.API, "/api/v1/hosts/:host_id/power", func(context.Context, *powerIn) (*op.Empty, error) {
		*handled++
		return nil, nil
	}, power(func(*op.Spec) {}))
	return s
}

// What refuses a request comes in this order: 401, role, entitlement, input, existence, capability.
func TestNeeds(t *testing.T) {
	t.Parallel()
	k, handled := &tokens{hosts: map[int64]bool{8: true}}, 0
	s := powerSample(t, k, &handled)
	for _, tt := range []struct {
		path, role, body string
		off              bool
		status           int
		code             string
		asked            int
	}{
		{"/api/v1/hosts/7/power", "", "", false, 401, "unauthenticated", 0},
		{"/api/v1/hosts/7/power", "viewer@2", "", false, 403, "forbidden", 0},
		{"/api/v1/hosts/7/power", "operator@2", "", true, 403, "entitlement_required", 0},
		{"/api/v1/hosts/7/power", "operator@2", `{"count":0}`, false, 422, "invalid", 0},
		{"/api/v1/hosts/7/power", "operator@3", "", false, 404, "not_found", 0},
		{"/api/v1/hosts/9/power", "operator@2", "", false, 404, "not_found", 0},
		{"/api/v1/hosts/7/power", "operator@2", `{"count":1}`, false, 409, "capability_missing", 1},
		{"/api/v1/hosts/8/power", "operator@3", `{"count":1}`, false, 204, "", 1},
	} {
		k.asked, s.off["power"] = 0, tt.off
		var headers []string
		if tt.role != "" {
			headers = as(tt.role)
		}
		w := s.call("PUT", tt.path, tt.body, headers...)
		var p struct{ Error, Capability, Detail any }
		_ = json.Unmarshal(w.Body.Bytes(), &p) // a success has none
		if w.Code != tt.status || (tt.code != "" && p.Error != tt.code) || k.asked != tt.asked {
			t.Errorf("%s as %q: %d %s, asked %d times", tt.path, tt.role, w.Code, w.Body, k.asked)
		}
		if tt.code == "capability_missing" && p.Capability != "lifecycle" {
			t.Errorf("it names no capability: %s", w.Body)
		}
	}
	if handled != 1 {
		t.Errorf("the handler ran %d times", handled)
	}
	k.err = errors.New("the database is away")
	if w := s.call("PUT", "/api/v1/hosts/8/power", `{"count":1}`, as("operator@3")...); w.Code != 500 || handled != 1 {
		t.Errorf("an unknown answer: %d %s", w.Code, w.Body)
	}
	trail := s.trail()
	if last := trail[len(trail)-3]; last.Error != "capability_missing" || string(last.Result) != "refused" || last.TargetName != "node7" {
		t.Errorf("the refused attempt in the audit log: %+v", last)
	}
}

// Without somebody to ask, hosts have all tokens: the document is made so.
func TestNeedsOfAnAPIWithoutTokens(t *testing.T) {
	t.Parallel()
	a := lone(t, op.Config{}, func(a *op.API) {
		op.Put(a, "/api/v1/hosts/:host_id/power", func(context.Context, *nothing) (*op.Empty, error) { return nil, nil },
			power(func(*op.Spec) {}))
	})
	s := &sample{API: a}
	if w := s.call("PUT", "/api/v1/hosts/8/power", "", as("operator@3")...); w.Code != http.StatusNoContent {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestDocumentSaysWhatAClientAsksBefore(t *testing.T) {
	t.Parallel()
	a := lone(t, op.Config{}, func(a *op.API) {
		put := func(path string, spec op.Spec) {
			op.Put(a, "/api/v1/hosts/:host_id/"+path, func(context.Context, *struct {
				Plan bool `query:"plan"`
			}) (*op.Empty, error) {
				return nil, nil
			}, spec)
		}
		put("power", power(func(s *op.Spec) { s.Plan, s.Unsupported, s.Calls = true, true, true }))
		put("wipe", power(func(s *op.Spec) {
			s.ID, s.Needs, s.Confirm = "wipe", "", op.Confirm{When: op.ConfirmAlways, Phrase: "wipe it"}
		}))
		put("name", power(func(s *op.Spec) { s.ID, s.Needs, s.Entitlement, s.Confirm = "name", "", "", op.Confirm{} }))
		op.Get(a, "/api/v1/hosts/:host_id/power", func(context.Context, *nothing) (*op.Empty, error) { return nil, nil },
			power(func(s *op.Spec) { s.ID, s.Confirm, s.Audit, s.Entitlement = "read", op.Confirm{}, op.Audit{}, "" }))
	})
	var doc struct {
		Paths map[string]map[string]map[string]any
	}
	if err := json.Unmarshal(a.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]string{
		"put power": `{"x-capability":"lifecycle","x-confirm":{"field":"name","when":"self"},"x-entitlement":"power","x-plan":true}`,
		"put wipe":  `{"x-confirm":{"phrase":"wipe it","when":"always"},"x-entitlement":"power"}`,
		"put name":  `{"x-confirm":{"when":"never"}}`,
		"get power": `{"x-capability":"lifecycle"}`,
	} {
		method, path, _ := strings.Cut(of, " ")
		o, said := doc.Paths["/api/v1/hosts/{host_id}/"+path][method], map[string]any{}
		for name, value := range o {
			switch name {
			case "x-on", "x-role", "x-scope", "x-audit":
			default:
				if strings.HasPrefix(name, "x-") {
					said[name] = value
				}
			}
		}
		if got, err := json.Marshal(said); err != nil || string(got) != want {
			t.Errorf("%s: %s", of, got)
		}
		answers := o["responses"].(map[string]any)
		if (answers["501"] != nil) != (of == "put power") || (answers["502"] != nil) != (of == "put power") || answers["409"] == nil {
			t.Errorf("%s: the answers %v", of, answers)
		}
	}
}

func TestDeclaredNeedsAndConfirmationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*op.Spec){
		"no capability":               func(s *op.Spec) { s.Needs = "flying" },
		"phrase of no confirmation":   func(s *op.Spec) { s.Confirm = op.Confirm{Field: "name"} },
		"confirmation without phrase": func(s *op.Spec) { s.Confirm = op.Confirm{When: op.ConfirmAlways} },
		"two phrases":                 func(s *op.Spec) { s.Confirm = op.Confirm{When: op.ConfirmAlways, Field: "name", Phrase: "x"} },
		"on nothing":                  func(s *op.Spec) { s.On = op.Anywhere },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/api/v1/hosts/:host_id/power"
			if name == "on nothing" {
				path = "/api/v1/power"
			}
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			lone(t, op.Config{}, func(a *op.API) {
				op.Put(a, path, func(context.Context, *nothing) (*op.Empty, error) { return nil, nil }, power(change))
			})
		})
	}
	planned := lone(t, op.Config{}, func(a *op.API) {
		op.Put(a, "/api/v1/hosts/:host_id/power", func(context.Context, *nothing) (*op.Empty, error) { return nil, nil },
			power(func(s *op.Spec) { s.Plan = true }))
	})
	if planned.Operations()[0].Check() == nil {
		t.Error("a plan without its parameter passed")
	}
}
