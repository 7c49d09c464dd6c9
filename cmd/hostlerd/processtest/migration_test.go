package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// archive is the storage for backups that both clusters have.
const archive = "archive"

// A VM and an app go from one cluster of three nodes to another by a backup on a storage that both have, undisturbed and with the
// service or the plugin killed after each request that changes something: carried out by the hypervisor, and not yet answered. So it is
// with files that are fetched to a storage and deleted there.
func TestMigrationBetweenClusters(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"vm", "app"} {
		for _, dies := range []victim{noVictim, serviceDies, pluginDies} {
			t.Run(fmt.Sprintf("of the %s, %s dies", kind, dies), func(t *testing.T) {
				t.Parallel()
				l, far := newLifeOfTwo(t, kind, dies)
				l.begin()
				l.step(lifeStep{name: "start", method: http.MethodPost, path: "/start", sends: "POST /nodes/{node}/{of}/{vmid}/status/start",
					holds: is("running")})
				// Both clusters list it, which proves that the storage is the same one.
				l.step(lifeStep{name: "back up", method: http.MethodPost, path: "/api/v1/backups/run", sends: "POST /nodes/{node}/vzdump",
					body: map[string]any{"targets": []map[string]any{{l.kind: l.guest.ID}}, "storage": archive}})
				l.migrate(far)
				if kind == "vm" { // here, since these lives are shorter than those of TestLife
					l.files()
				}
			})
		}
	}
}

// newLifeOfTwo is a life on the first of two clusters, each enrolled as a host.
func newLifeOfTwo(t *testing.T, kind string, dies victim) (l *life, far *sim) {
	t.Helper()
	fleet := startSim(t, "--scenario", "fleet", "--nodes", "7", "--guests", "-1", "--recommended", "--resources-lag", "0",
		"--task-duration", "50ms", "--fleet-storage", archive)
	if len(fleet.Hosts) != 3 || len(fleet.Hosts[0].Nodes) != 3 || len(fleet.Hosts[2].Nodes) != 3 {
		t.Fatalf("the fleet is not two clusters of three and a machine: %+v", fleet.Hosts)
	}
	l = lifeOn(t, kind, dies, &fleet.Hosts[0])
	return l, &fleet.Hosts[2]
}

// migrate moves the running guest to the other cluster.
func (l *life) migrate(far *sim) {
	l.t.Helper()
	target := l.owner.enrol(l.t, far, "far", "lifecycle", "backup")
	// The requests that change something, in their order, and where they go.
	steps := []struct {
		at    *sim
		sends string
	}{
		{l.cluster, "POST /nodes/{node}/{of}/{vmid}/status/shutdown"},
		{l.cluster, "POST /nodes/{node}/vzdump"},
		{far, "POST /nodes/{node}/{of}"},
		{far, "POST /nodes/{node}/{of}/{vmid}/status/start"},
		{l.cluster, "PUT /nodes/{node}/{of}/{vmid}/config"},
	}
	before := make([]int, len(steps))
	for i := range steps {
		s := &steps[i]
		s.sends = strings.ReplaceAll(s.sends, "{of}", l.of)
		before[i] = s.at.stats(l.t).Requests[s.sends]
		if l.victim == noVictim {
			continue
		}
		method, template, _ := strings.Cut(s.sends, " ")
		s.at.fault(l.t, map[string]any{"kind": "delay", "delay_ms": 30000, "times": 1, "after": true,
			"match": map[string]any{"method": method, "path": template}})
	}
	body := map[string]any{"target_host_id": target, "node": "pve2", "confirm": l.name}
	var preflight struct {
		Strategy string
		Blockers []struct{ Code string }
	}
	l.owner.must(l.t, http.StatusOK, http.MethodPost, l.path+"/migrate/preflight", map[string]any{"target_host_id": target, "node": "pve2"},
		&preflight)
	if preflight.Strategy != "shared_storage" || len(preflight.Blockers) > 0 {
		l.t.Fatalf("the pre-flight says %+v", preflight)
	}
	asked := started(l.t, l.owner, l.path+"/migrate", body)
	if l.victim != noVictim {
		for _, s := range steps {
			waittest.Until(l.t, s.sends+" was carried out", func() bool { return l.heldAnswer(s.at, s.sends) })
			l.strike()
		}
	}
	end := ended(l.t, l.owner, asked.ID)
	if end.Status != "succeeded" {
		l.t.Fatalf("it ended %s: %s\n%s", end.Status, end.Error, transcript(l.t, l.owner, end.ID))
	}
	for i, s := range steps {
		if n := s.at.stats(l.t).Requests[s.sends] - before[i]; n != 1 {
			l.t.Errorf("%s was sent %d times\n%s", s.sends, n, transcript(l.t, l.owner, end.ID))
		}
	}
	l.arrived(far, target)
}

// heldAnswer reports whether the answer of a request that was carried out is being held back.
func (l *life) heldAnswer(at *sim, sends string) bool {
	l.t.Helper()
	var faults []struct {
		Struck int
		Match  struct{ Method, Path string }
	}
	at.control(l.t, http.MethodGet, "/fault", nil, &faults)
	for _, f := range faults {
		if f.Match.Method+" "+f.Match.Path == sends {
			return f.Struck > 0
		}
	}
	return false
}

// arrived holds that the guest runs where it went to, once, and is kept where it was: stopped, and with the mark.
func (l *life) arrived(far *sim, target int64) {
	l.t.Helper()
	l.owner.answered(l.t, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", target))
	l.owner.must(l.t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", target), nil, nil)
	l.sync()
	var all []struct {
		HostID int64 `json:"host_id"`
		Name   string
		Node   string
		Status string
		Tags   []string
	}
	l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/guests", nil, &all)
	if len(all) != 2 {
		l.t.Fatalf("there are %d guests, not the one that went and the one that is kept: %+v", len(all), all)
	}
	for _, g := range all {
		switch {
		case g.HostID == target && (g.Status != "running" || g.Node != "pve2" || slices.Contains(g.Tags, "moved")):
			l.t.Errorf("where it went to it is %+v", g)
		case g.HostID == l.host && (g.Status != "stopped" || !slices.Contains(g.Tags, "moved")):
			l.t.Errorf("where it was it is %+v", g)
		}
	}
	if l.kind == "app" {
		var apps []guestView
		l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/apps", nil, &apps)
		if len(apps) != 1 || apps[0].HostID != target || apps[0].ID != l.guest.ID {
			l.t.Errorf("the apps are %+v, not the one that followed its container", apps)
		}
	}
}
