package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// bareHost is a host with nothing optional.
type bareHost struct{ hypervisor.Host }

// nodeHost is a host whose node status is what the test says.
type nodeHost struct {
	hypervisor.Host
	status hypervisor.NodeStatus
	err    error
}

func (h nodeHost) NodeStatus(context.Context, string) (hypervisor.NodeStatus, error) {
	return h.status, h.err
}

// dressed is a driver whose hosts are changed by the test.
type dressed struct {
	hypervisor.Driver
	dress func(hypervisor.Host) hypervisor.Host
}

func (d dressed) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	h, err := d.Driver.Open(ctx, target)
	if err != nil || d.dress == nil {
		return h, err
	}
	return d.dress(h), nil
}

// ownGuest stands on these nodes.
type ownGuest struct {
	nodes []string
	err   error
}

func (o *ownGuest) Nodes(context.Context) ([]string, error) { return slices.Clone(o.nodes), o.err }

// rack is one enrolled host, id 1, with two nodes.
func rack(t *testing.T, own host.SelfGuest, dress func(hypervisor.Host) hypervisor.Host) (*host.Store, *db.DB) {
	t.Helper()
	d := dbtest.New(t)
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := memdriver.New()
	token := driver.Add("a.mem:8006", memdriver.Spec{Nodes: 2}).Target(endpoint.Monitoring).Credential
	s := host.New(host.Config{DB: d, Drivers: drivers{dressed{driver, dress}}, Keys: box, Own: own})
	if _, _, err := s.Create(t.Context(),
		host.EnrolRequest{Name: "a", Address: "a.mem", TokenID: token.ID, Secret: secret.New(string(token.Secret))}); err != nil {
		t.Fatal(err)
	}
	return s, d
}

func TestNodeStatusKnowsItself(t *testing.T) {
	t.Parallel()
	own := &ownGuest{}
	s, d := rack(t, own, nil)
	// Host 2 is of the same cluster, host 3 of another one.
	if _, err := d.Pool.Exec(t.Context(), `INSERT INTO clusters (team_id, name) VALUES (1, 'one'), (1, 'two'); UPDATE hosts
		SET cluster_id = 1, entry_node = 'node1';
		INSERT INTO hosts (cluster_id, driver, name, address, entry_node) VALUES (1, 'mem', 'b', 'b:8006', 'node2'), (2, 'mem', 'c', 'c:8006',
		'node1'), (NULL, 'mem', 'd', 'd:8006', '')`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		self string // value of the setting; empty for none
		own  []string
		want []string // nodes that are the service's own
	}{
		{"nothing is known", "", nil, nil},
		{"a guest without the setting", "", []string{"node1"}, nil},
		{"this host, no guest", "1", nil, []string{"node1"}},
		{"this host, the guest at its entry", "1", []string{"node1"}, []string{"node1"}},
		{"this host, the guest on another node", "1", []string{"node2"}, []string{"node2"}},
		{"this host, a name that fits two guests", "1", []string{"node1", "node2"}, []string{"node1", "node2"}},
		{"another host of the cluster, no guest", "2", nil, []string{"node2"}},
		{"another host of the cluster, the guest elsewhere", "2", []string{"node1"}, []string{"node1"}},
		{"a host of another cluster with nodes of these names", "3", []string{"node1", "node2"}, nil},
		{"a host that was never polled", "4", nil, nil},
		{"a host that is gone", "99", []string{"node1"}, nil},
	} {
		own.nodes = c.own
		if _, err := d.Pool.Exec(t.Context(), "DELETE FROM settings"); err != nil {
			t.Fatal(err)
		}
		if c.self != "" {
			if _, err := d.Pool.Exec(t.Context(), "INSERT INTO settings (key, value) VALUES ('self.host_id', $1::jsonb)", c.self); err != nil {
				t.Fatal(err)
			}
		}
		for _, node := range []string{"node1", "node2"} {
			got, err := s.NodeStatus(t.Context(), 1, node)
			if err != nil || got.Node != node || got.IsSelf != slices.Contains(c.want, node) {
				t.Errorf("%s: %s is %v, error %v", c.name, got.Node, got.IsSelf, err)
			}
		}
	}
	own.err = errors.New("no database")
	if _, err := d.Pool.Exec(t.Context(),
		"DELETE FROM settings; INSERT INTO settings (key, value) VALUES ('self.host_id', '1')"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.NodeStatus(t.Context(), 1, "node1"); !errors.Is(err, own.err) {
		t.Errorf("error is %v, want that of the own guest: a false no would be a lie", err)
	}
}

func TestNodeStatusWithoutTheAbility(t *testing.T) {
	t.Parallel()
	s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host { return bareHost{h} })
	_, err := s.NodeStatus(t.Context(), 1, "node1")
	if p := problem.From(err); p.Code != problem.CodeUnsupported {
		t.Errorf("error is %v, want unsupported", err)
	}
}

// TestNodeStatusOfAStrangePlugin: whatever a plugin says, the answer is JSON.
func TestNodeStatusOfAStrangePlugin(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		said hypervisor.NodeStatus
		want string // of the answer's JSON
	}{
		"nothing":         {hypervisor.NodeStatus{}, `"load_average":[],"cpu":null`},
		"no numbers":      {hypervisor.NodeStatus{CPU: &nan, Load: []float64{1, 2, inf}}, `"load_average":[],"cpu":null`},
		"two loads":       {hypervisor.NodeStatus{Load: []float64{1, 2}}, `"load_average":[]`},
		"a strange boot":  {hypervisor.NodeStatus{BootMode: "floppy"}, `"boot_mode":null`},
		"a good boot":     {hypervisor.NodeStatus{BootMode: hypervisor.BootBIOS}, `"boot_mode":"bios"`},
		"another node":    {hypervisor.NodeStatus{Name: "node2"}, `"node":"node1"`},
		"NUL and bytes":   {hypervisor.NodeStatus{Kernel: "a\x00b\xff"}, "\"kernel\":\"ab\uFFFD\""},
		"an endless text": {hypervisor.NodeStatus{CPUModel: strings.Repeat("x", 1<<20)}, `"cpu_model":"xxx`},
		"another time zone": {hypervisor.NodeStatus{At: time.Date(2026, 1, 2, 3, 0, 0, 0, time.FixedZone("", 3600))},
			`"at":"2026-01-02T02:00:00Z"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host { return nodeHost{Host: h, status: c.said} })
			got, err := s.NodeStatus(t.Context(), 1, "node1")
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got)
			if err != nil || !strings.Contains(string(text), c.want) || len(text) > 4096 {
				t.Errorf("%v, %.500s, want %s", err, text, c.want)
			}
		})
	}
}

func TestNodeStatusProblems(t *testing.T) {
	t.Parallel()
	bad := plugin.Errorf(plugin.Invalid, "not a node's name")
	bad.Field = "node"
	other := plugin.Errorf(plugin.Invalid, "not an address")
	other.Field = "address"
	for name, c := range map[string]struct {
		err  error
		code problem.Code
	}{
		"a name that no node can have": {bad, problem.CodeNotFound},
		"another field":                {other, problem.CodeInvalid},
		"off":                          {plugin.Errorf(plugin.Unreachable, "off"), problem.CodeHypervisorError},
		"no right":                     {plugin.Errorf(plugin.Denied, "no"), problem.CodeHypervisorError},
		"a rejected token":             {plugin.Errorf(plugin.TokenRejected, "no"), problem.CodeHypervisorError},
		"not in this release":          {plugin.Errorf(plugin.Unsupported, "no"), problem.CodeUnsupported},
		"late":                         {plugin.Errorf(plugin.Timeout, "late"), problem.CodeTimeout},
		"anything":                     {errors.New("broken"), problem.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host { return nodeHost{Host: h, err: c.err} })
			_, err := s.NodeStatus(t.Context(), 1, "x")
			if p := problem.From(err); p.Code != c.code || !errors.Is(err, c.err) {
				t.Errorf("error is %v of %s, want %s", err, p.Code, c.code)
			}
		})
	}
}
