package processtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/sdk/endpoint"
)

// shown is what the API tells of a guest.
type shown struct {
	guestView
	Template bool
	SeenAt   time.Time `json:"seen_at"`
}

// hostView is what the API tells of a host.
type hostView struct {
	Status, Reason, Error string
	Capabilities          []struct {
		Key     string
		Missing []string
	}
}

func (h hostView) String() string {
	text := h.Status + " " + h.Reason
	for _, c := range h.Capabilities {
		if c.Key == "monitoring" {
			text += " " + strings.Join(c.Missing, ",")
		}
	}
	return text
}

func readHost(t testing.TB, c *client, id int64) (h hostView) {
	t.Helper()
	c.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d", id), nil, &h)
	return h
}

// guestsOf are all guests that are listed anywhere, of one host when it is named: VMs, apps' containers that were discovered, templates
// of both.
func guestsOf(t testing.TB, c *client, host ...int64) map[int64]shown {
	t.Helper()
	all := map[int64]shown{}
	for _, list := range []string{"/api/v1/vms", "/api/v1/apps/discovered"} {
		var part []shown
		c.must(t, http.StatusOK, http.MethodGet, list, nil, &part)
		for _, g := range part {
			if len(host) == 0 || g.HostID == host[0] {
				all[g.VMID] = g
			}
		}
	}
	return all
}

// permissionAlerts are the entries of the feed about hosts' rights, the oldest first.
func permissionAlerts(t testing.TB, c *client) (all []string) {
	t.Helper()
	var feed []struct {
		Kind, Title, Text string
		Severity          *string
	}
	c.must(t, http.StatusOK, http.MethodGet, "/api/v1/cluster/activity?limit=100", nil, &feed)
	for _, e := range feed {
		if e.Kind == "alert" {
			all = append(all, e.Title+" "+*e.Severity)
		}
	}
	slices.Reverse(all)
	return all
}

// feedBecomes waits for the rules' next look.
func feedBecomes(t testing.TB, c *client, want ...string) {
	t.Helper()
	waittest.Succeeds(t, "the feed has the alerts", func() error {
		if got := permissionAlerts(t, c); !slices.Equal(got, want) {
			return fmt.Errorf("it has %v", got)
		}
		return nil
	})
}

// quickPolls makes the loop poll as often as it may.
func quickPolls(t testing.TB, owner *client) {
	t.Helper()
	owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"poll.interval_s": 5}, nil)
}

// The monitoring token loses a right, or its entry: whatever is shown says so within one poll, and all heals by itself.
func TestALostRightIsTold(t *testing.T) {
	t.Parallel()
	monitoring := pve.Privileges(endpoint.Monitoring)
	without := slices.DeleteFunc(slices.Clone(monitoring), func(p string) bool { return p == "VM.Audit" })
	role := func(t *testing.T, s *sim, privileges []string) {
		s.control(t, http.MethodPost, "/role", map[string]any{"id": "ServiceAudit", "privileges": privileges}, nil)
	}
	acl := func(t *testing.T, s *sim, path, role string, remove bool) {
		s.control(t, http.MethodPost, "/acl",
			map[string]any{"path": path, "subject": s.Tokens["monitoring"].ID, "role": role, "delete": remove}, nil)
	}
	for _, c := range []struct {
		name       string
		lose, heal func(t *testing.T, s *sim)
		missing    string
		hidden     int
	}{
		{
			"VM.Audit", func(t *testing.T, s *sim) { role(t, s, without) }, func(t *testing.T, s *sim) { role(t, s, monitoring) },
			"VM.Audit", 12,
		},
		{
			"the token's entry", func(t *testing.T, s *sim) { acl(t, s, "/", "ServiceAudit", true) },
			func(t *testing.T, s *sim) { acl(t, s, "/", "ServiceAudit", false) },
			"Datastore.Audit,Pool.Audit,SDN.Audit,Sys.Audit,VM.Audit", 12,
		},
		{
			"one guest", func(t *testing.T, s *sim) { acl(t, s, "/vms/100", "NoAccess", false) },
			func(t *testing.T, s *sim) { acl(t, s, "/vms/100", "NoAccess", true) },
			"VM.Audit", 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cluster := startSim(t, "--scenario", "one", "--guests", "12", "--auth-delay", "100ms")
			cluster.control(t, http.MethodPost, "/option", map[string]any{"resources_lag_ms": 0}, nil)
			s := startService(t, options{})
			owner := setUp(t, s)
			host := owner.enrol(t, cluster, "lab")
			sync := fmt.Sprintf("/api/v1/hosts/%d/sync", host)
			before := guestsOf(t, owner)
			if len(before) != 12 {
				t.Fatalf("%d guests", len(before))
			}

			c.lose(t, cluster)
			lost := time.Now()
			owner.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
			owner.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
			if got := readHost(t, owner, host); got.String() != "online permission "+c.missing || !strings.Contains(got.Error, "VM.Audit") {
				t.Errorf("the host is %s: %s", got, got.Error)
			}
			hidden := 0
			for id, g := range guestsOf(t, owner) {
				if g.ID != before[id].ID {
					t.Errorf("%d has another id", id)
				}
				if g.Status == "unknown" && g.SeenAt.Before(lost) {
					hidden++
				} else if g.Status != before[id].Status || g.SeenAt.Before(lost) {
					t.Errorf("%d is %s, seen at %s", id, g.Status, g.SeenAt)
				}
			}
			if hidden != c.hidden {
				t.Errorf("%d guests are unknown, want %d", hidden, c.hidden)
			}
			feedBecomes(t, owner, "host.permission lab warning")

			c.heal(t, cluster)
			owner.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
			for id, g := range guestsOf(t, owner) {
				if g.ID != before[id].ID || g.Status != before[id].Status || g.SeenAt.Before(lost) {
					t.Errorf("%d is %s, seen at %s", id, g.Status, g.SeenAt)
				}
			}
			if got := readHost(t, owner, host).String(); got != "online  " {
				t.Errorf("the host is %s", got)
			}
			feedBecomes(t, owner, "host.permission lab warning", "host.permission lab info")
		})
	}
}

// The loop finds a lost right by itself, and asks for it once and not with each poll.
func TestTheLoopTellsALostRight(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--guests", "6", "--auth-delay", "100ms")
	cluster.control(t, http.MethodPost, "/option", map[string]any{"resources_lag_ms": 0}, nil)
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab")
	quickPolls(t, owner)
	asked := func() (n, lists int64) {
		stats := cluster.stats(t)
		return int64(stats.Requests["GET /access/permissions"]), int64(stats.Requests["GET /cluster/resources"])
	}
	cluster.control(t, http.MethodPost, "/role", map[string]any{"id": "ServiceAudit", "privileges": []string{"Sys.Audit"}}, nil)
	rights, _ := asked()
	waittest.Succeeds(t, "the host lacks rights", func() error {
		if got := readHost(t, owner, host).Reason; got != "permission" {
			return errors.New(got)
		}
		return nil
	})
	_, lists := asked()
	waittest.Succeeds(t, "two more polls", func() error {
		if _, now := asked(); now < lists+2 {
			return fmt.Errorf("%d lists", now-lists)
		}
		return nil
	})
	if now, _ := asked(); now != rights+1 {
		t.Errorf("rights were asked for %d times", now-rights)
	}
	cluster.control(t, http.MethodPost, "/role", map[string]any{"id": "ServiceAudit", "privileges": pve.Privileges(endpoint.Monitoring)}, nil)
	waittest.Succeeds(t, "the host is well again", func() error {
		if got := readHost(t, owner, host).String(); got != "online  " {
			return errors.New(got)
		}
		return nil
	})
}

// An answer without a node empties nothing, and everything comes back under its id.
func TestAnEmptyInventoryIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]map[string]any{
		"null":            {"kind": "status", "status": 200, "match": map[string]any{"path": "/cluster/resources"}},
		"an empty list":   {"kind": "empty", "match": map[string]any{"path": "/cluster/resources"}},
		"an empty status": {"kind": "empty", "match": map[string]any{"path": "/cluster/status"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "8", "--auth-delay", "100ms")
			s := startService(t, options{})
			owner := setUp(t, s)
			host := owner.enrol(t, cluster, "lab")
			sync := fmt.Sprintf("/api/v1/hosts/%d/sync", host)
			before := guestsOf(t, owner)
			cluster.fault(t, fault)
			for range 2 {
				a := owner.do(t, http.MethodPost, sync, nil)
				var said struct{ Error, Reason string }
				_ = json.Unmarshal(a.Body, &said)
				if a.Status != http.StatusBadGateway || said.Error != "hypervisor_error" || said.Reason != "protocol" {
					t.Fatalf("%d %s", a.Status, a.Body)
				}
			}
			if got := readHost(t, owner, host).String(); got != "unreachable protocol " {
				t.Errorf("the host is %s", got)
			}
			during := guestsOf(t, owner)
			for id, g := range before {
				if now := during[id]; now.ID != g.ID || now.Status != "unknown" || !now.SeenAt.Equal(g.SeenAt) {
					t.Errorf("%d is %+v, was %+v", id, now, g)
				}
			}
			cluster.healFaults(t)
			owner.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
			for id, g := range guestsOf(t, owner) {
				if g.ID != before[id].ID || g.Status != before[id].Status {
					t.Errorf("%d is %+v, was %+v", id, g, before[id])
				}
			}
		})
	}
}
