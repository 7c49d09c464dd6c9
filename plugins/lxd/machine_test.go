package lxd_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// joinToken is one as a server makes it.
func joinToken(t *testing.T, fingerprint string) plugin.Secret {
	t.Helper()
	text, err := json.Marshal(map[string]any{"client_name": "hostler-monitoring", "secret": canary, "addresses": []string{"10.0.0.1:8443"},
		"fingerprint": strings.ToLower(strings.ReplaceAll(fingerprint, ":", "")), "expires_at": "0001-01-01T00:00:00Z"})
	must(t, "writing a token", err)
	return plugin.Secret(base64.StdEncoding.EncodeToString(text))
}

// machine is a server with one virtual machine, which keeps what it is sent.
type machine struct {
	status, config, snapshots string

	mu   sync.Mutex
	sent []string
}

var vm1 = hypervisor.GuestRef{Kind: hypervisor.VM, Node: "lxd1", ID: "vm1", UID: "u1"}

func (m *machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.Method != http.MethodGet:
		m.sent = append(m.sent, r.Method+" "+r.URL.Path+" "+string(body))
		if strings.Contains(string(body), `"action":"stop"`) {
			m.status = "Stopped"
		}
		began(w)
	case r.URL.Path == "/1.0":
		answer(w, aServer)
	case strings.HasPrefix(r.URL.Path, "/1.0/operations/"):
		answer(w, operation(200, ""))
	case r.URL.Path == "/1.0/operations":
		answer(w, "{}")
	case strings.HasSuffix(r.URL.Path, "/snapshots"):
		answer(w, m.snapshots)
	default:
		w.Header().Set("ETag", `"e"`)
		answer(w, fmt.Sprintf(`{"name":"vm1","type":"virtual-machine","status":%q,"location":"none",
			"expanded_config":{"volatile.uuid":"u1"%s}}`, m.status, m.config))
	}
}

func (m *machine) host(t *testing.T) *lxd.Host { return serve(t, patience, m.ServeHTTP) }

// The memory of a virtual machine is in a snapshot where the server is prepared for it and the machine runs.
func TestMemoryOfMachines(t *testing.T) {
	t.Parallel()
	const prepared = `,"migration.stateful":"true"`
	for name, c := range map[string]struct {
		*machine
		want string
	}{
		"running":      {&machine{status: "Running", config: prepared}, `POST /1.0/instances/vm1/snapshots {"name":"s1","stateful":true}`},
		"stopped":      {&machine{status: "Stopped", config: prepared}, `POST /1.0/instances/vm1/snapshots {"name":"s1"}`},
		"not prepared": {&machine{status: "Running"}, ""},
	} {
		_, err := c.host(t).TakeSnapshot(t.Context(), vm1, hypervisor.SnapshotSpec{Name: "s1", Memory: true})
		if c.want == "" {
			if e := wantKind(t, err, plugin.Invalid); e.Field != "memory" {
				t.Errorf("%s: %+v", name, e)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(c.sent, "\n"); got != c.want {
			t.Errorf("%s: sent %s", name, got)
		}
	}
	_, err := (&machine{status: "Running"}).host(t).TakeSnapshot(t.Context(), vm1, hypervisor.SnapshotSpec{Name: "s1", Description: "x"})
	if e := wantKind(t, err, plugin.Invalid); e.Field != "description" {
		t.Errorf("%+v", e)
	}
}

// One whose memory is in the snapshot runs afterwards in any case, and one that shall not run is stopped first, once.
func TestRollBackOfMachines(t *testing.T) {
	t.Parallel()
	const stop, start = `PUT /1.0/instances/vm1/state {"action":"stop","force":true}`, `PUT /1.0/instances/vm1/state {"action":"start"}`
	const restore, whole = `PUT /1.0/instances/vm1 {"restore":"s1"}`, `PUT /1.0/instances/vm1 {"restore":"s1","stateful":true}`
	for name, c := range map[string]struct {
		status, snapshots string
		start             bool
		want              []string
	}{
		"running":                        {"Running", `[{"name":"s1"}]`, false, []string{stop, restore}},
		"running, to run":                {"Running", `[{"name":"s1"}]`, true, []string{restore}},
		"stopped":                        {"Stopped", `[{"name":"s1"}]`, false, []string{restore}},
		"stopped, to run":                {"Stopped", `[{"name":"s1"}]`, true, []string{restore, start}},
		"frozen, to run":                 {"Frozen", `[{"name":"s1"}]`, true, []string{stop, restore, start}},
		"stopped, with memory":           {"Stopped", `[{"name":"s1","stateful":true}]`, false, []string{whole}},
		"stopped, with memory, to run":   {"Stopped", `[{"name":"s1","stateful":true}]`, true, []string{whole}},
		"running, no such snapshot":      {"Running", `[{"name":"s2"}]`, false, nil},
		"state not known, to be stopped": {"Error", `[{"name":"s1"}]`, false, []string{stop, restore}},
	} {
		m := &machine{status: c.status, snapshots: c.snapshots}
		_, err := m.host(t).RollBack(t.Context(), vm1, hypervisor.RollbackSpec{Name: "s1", Start: c.start})
		if c.want == nil {
			wantKind(t, err, plugin.NotFound)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := strings.Join(m.sent, "\n"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s: sent\n%s\nwant\n%s", name, got, want)
		}
	}
}
