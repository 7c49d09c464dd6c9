package op_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
)

// ruleIn is the input of one handler at several paths.
type ruleIn struct {
	Position int `path:"pos" minimum:"0" maximum:"9999"`
}

// scopesSample has one handler and one declaration for rules of a host, of a node and of a host's cluster.
func scopesSample(t *testing.T) *sample {
	t.Helper()
	s := newSample(t, sampleConfig{})
	rule := func(ctx context.Context, in *ruleIn) (*op.Body[op.Resource], error) {
		s.got = in.Position
		return &op.Body[op.Resource]{Body: op.ResourceOf(ctx)}, nil
	}
	for _, scope := range []struct {
		name, prefix string
		on           op.On
	}{{"host", "/api/v1/hosts/:host_id", op.Host}, {"node", "/api/v1/nodes/:host_id/:node", op.Node},
		{"group", "/api/v1/groups/:host_id/:group", op.Group}, {"cluster", "/api/v1/cluster/:host_id", op.Host}} {
		op.Get(s.API, scope.prefix+"/rules/:pos", rule,
			op.Spec{ID: "get_" + scope.name + "_rule", Summary: "Rule", Tag: "Rules", Role: identity.Viewer, On: scope.on})
		op.Post(s.API, scope.prefix+"/rules/:pos", rule, op.Spec{
			ID: "move_" + scope.name + "_rule", Summary: "Rule", Tag: "Rules", Role: identity.Admin, On: scope.on, Status: 202,
			Audit: op.Audit{Action: "rule.move"}, Replay: func(context.Context, idempotency.Result) (any, error) { return nil, nil },
		})
	}
	return s
}

func TestOneHandlerServesSeveralScopes(t *testing.T) {
	t.Parallel()
	s := scopesSample(t)
	for target, want := range map[string]op.Resource{
		"/api/v1/hosts/7/rules/3":         {Kind: "host", ID: 7, Name: "node7", TeamID: 2, HostID: 7},
		"/api/v1/cluster/8/rules/3":       {Kind: "host", ID: 8, Name: "node8", TeamID: 3, HostID: 8},
		"/api/v1/nodes/7/pve%2F1/rules/3": {Kind: "host", ID: 7, Name: "node7", TeamID: 2, HostID: 7, Node: "pve/1"},
		"/api/v1/groups/7/web/rules/3":    {Kind: "host", ID: 7, Name: "node7", TeamID: 2, HostID: 7, Group: "web"},
	} {
		w := s.call("GET", target, "", as("owner")...)
		var got op.Resource
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != 200 || err != nil || got != want || s.got != 3 {
			t.Errorf("%s: %d %s %v", target, w.Code, w.Body, s.got)
		}
	}
	for _, tt := range []struct {
		target, role string
		status       int
		faults       string
	}{
		{"/api/v1/hosts/x/rules/y", "owner", 422, "path/host_id int_parsing,path/pos int_parsing"},
		{"/api/v1/nodes/0/" + strings.Repeat("n", 254) + "/rules/3", "owner", 422, "path/host_id greater_than_equal,path/node too_long"},
		{"/api/v1/groups/7/" + strings.Repeat("g", 65) + "/rules/3", "owner", 422, "path/group too_long"},
		{"/api/v1/groups/7/..x/rules/3", "owner", 422, "path/group string_pattern_mismatch"},
		{"/api/v1/nodes/7/%ff/rules/3", "owner", 404, ""}, // the router takes neither this nor NUL for a path
		{"/api/v1/nodes/9/a/rules/3", "owner", 404, ""},
		{"/api/v1/nodes/7/a/rules/3", "owner@3", 404, ""},
		{"/api/v1/nodes/7/a/rules/10000", "viewer@2", 422, "path/pos less_than_equal"},
		{"/api/v1/nodes/7/a/rules/3", "viewer@2", 200, ""},
	} {
		w := s.call("GET", tt.target, "", as(tt.role)...)
		if w.Code != tt.status {
			t.Errorf("%s as %s: %d %s", tt.target, tt.role, w.Code, w.Body)
		}
		if tt.faults != "" && strings.Join(faults(t, w), ",") != tt.faults {
			t.Errorf("%s: %v", tt.target, faults(t, w))
		}
	}
}

func TestNodeInTheTrail(t *testing.T) {
	t.Parallel()
	s := scopesSample(t)
	if w := s.call("POST", "/api/v1/nodes/7/pve1/rules/3", "", as("admin@2")...); w.Code != http.StatusAccepted {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.call("POST", "/api/v1/nodes/7/pve1/rules/3", "", as("viewer@2")...)
	trail := s.trail()
	if len(trail) != 2 {
		t.Fatalf("%d rows", len(trail))
	}
	for i, want := range []string{"ok node7", "refused "} { // who has the role nowhere learns no name
		e := trail[i]
		if e.TargetKind != "host" || e.TargetID != "7" || e.Details["node"] != "pve1" || string(e.Result)+" "+e.TargetName != want {
			t.Errorf("%+v", e)
		}
	}
}

// The document has the parameters that no input has, before the others.
func TestBoundParametersAreDocumented(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			On         string `json:"x-on"`
			Parameters []struct {
				Name, In string
				Required bool
				Schema   struct{ Type string }
			}
		}
	}
	if err := json.Unmarshal(scopesSample(t).Document(), &doc); err != nil {
		t.Fatal(err)
	}
	o := doc.Paths["/api/v1/nodes/{host_id}/{node}/rules/{pos}"]["get"]
	var got []string
	for _, p := range o.Parameters {
		if p.In != "path" || !p.Required {
			t.Errorf("%+v", p)
		}
		got = append(got, p.Name+" "+p.Schema.Type)
	}
	if o.On != "node" || strings.Join(got, ", ") != "host_id integer, node string, pos integer" {
		t.Errorf("on %s: %v", o.On, got)
	}
}
