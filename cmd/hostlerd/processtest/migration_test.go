package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// archive is the storage for backups that both clusters have.
const archive = "archive"

// A VM and an app go from one cluster of three nodes to another by a backup on a storage that both have, undisturbed and with the
// service or the plugin killed at each request that changes something, before it arrives and after it was carried out, while its task
// runs, and as the target is asked for the backup. So it is with files that are fetched to a storage and deleted there. The undisturbed
// guest has a whole life behind it, and is destroyed where it went.
func TestMigrationBetweenClusters(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"vm", "app"} {
		for _, dies := range []victim{noVictim, serviceDies, pluginDies} {
			t.Run(fmt.Sprintf("of the %s, %s dies", kind, dies), func(t *testing.T) {
				t.Parallel()
				l, far := newLifeOfTwo(t, kind, dies)
				l.begin()
				l.step(startStep())
				if dies == noVictim { // the other lives of TestLife are on one cluster
					for _, s := range slices.Concat(snapshotSteps(l), backupSteps(l)) {
						l.step(s)
					}
				}
				// Both clusters list it, which proves that the storage is the same one.
				l.step(lifeStep{name: "back up", method: http.MethodPost, path: "/api/v1/backups/run", sends: "POST /nodes/{node}/vzdump",
					body: map[string]any{"targets": []map[string]any{{l.kind: l.guest.ID}}, "storage": archive}})
				l.migrate(far)
				if kind == "app" { // here, since these lives are shorter than those of TestLife
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
	// By an own task of long ago a token knows that a node's list reaches back to whatever is looked for in it.
	for _, host := range []*sim{&fleet.Hosts[0], &fleet.Hosts[2]} {
		for _, n := range host.Nodes {
			for _, token := range []string{"lifecycle", "backup"} {
				host.control(t, http.MethodPost, "/task", map[string]any{"node": n.Name, "user": host.Tokens[token].ID, "type": "vzdump",
					"ago_s": 86400}, nil)
			}
		}
	}
	l = lifeOn(t, kind, dies, &fleet.Hosts[0])
	return l, &fleet.Hosts[2]
}

// movePoints are the points of the move to another cluster in their order. A plugin that dies time and again is started again after
// ever longer pauses, so that its deaths are spread over the lives.
func (l *life) movePoints(far *sim) (points []*strikePoint) {
	const status = "GET /nodes/{node}/tasks/{upid}/status"
	changes := []strikePoint{
		{at: l.cluster, sends: "POST /nodes/{node}/{of}/{vmid}/status/shutdown"},
		{at: l.cluster, sends: "POST /nodes/{node}/vzdump"},
		{at: far, sends: "POST /nodes/{node}/{of}"},
		{at: far, sends: "POST /nodes/{node}/{of}/{vmid}/status/start"},
		{at: l.cluster, sends: "PUT /nodes/{node}/{of}/{vmid}/config"},
	}
	add := func(at *sim, sends, when string, later bool) {
		points = append(points, &strikePoint{at: at, sends: sends, when: when, later: later})
	}
	for _, c := range changes {
		c.sends = strings.ReplaceAll(c.sends, "{of}", l.of)
		if l.kind == "vm" && l.victim != noVictim {
			add(c.at, c.sends, lost, false)
		}
		if l.kind == "app" || l.victim != pluginDies {
			add(c.at, c.sends, carriedOut, false)
		}
		if l.kind == "vm" || l.victim != serviceDies || strings.HasPrefix(c.sends, "PUT") { // whose change has no task
			continue
		}
		add(c.at, status, lost, true)
		if strings.HasSuffix(c.sends, "/vzdump") {
			add(far, "GET /nodes/{node}/storage/{storage}/content", lost, true)
		}
	}
	return points
}

// migrate moves the running guest to the other cluster.
func (l *life) migrate(far *sim) {
	l.t.Helper()
	target := l.owner.enrol(l.t, far, "far", "lifecycle", "backup")
	points := l.movePoints(far)
	// How often each change is to be sent: once, and once more where the first was lost.
	wanted, before := map[string]int{}, map[string]int{}
	for _, p := range points {
		if strings.HasPrefix(p.sends, "GET") {
			continue
		}
		if wanted[p.sends] == 0 {
			wanted[p.sends], before[p.sends] = 1, p.at.stats(l.t).Requests[p.sends]
		}
		if p.when == lost {
			wanted[p.sends]++
		}
	}
	if l.victim != noVictim {
		for _, p := range points {
			if !p.later {
				p.arm(l.t)
			}
		}
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
		l.strikeAt(points, asked.ID)
	}
	end := ended(l.t, l.owner, asked.ID)
	if end.Status != "succeeded" {
		l.t.Fatalf("it ended %s: %s\n%s", end.Status, end.Error, transcript(l.t, l.owner, end.ID))
	}
	for _, p := range points {
		if n := p.at.stats(l.t).Requests[p.sends] - before[p.sends]; wanted[p.sends] > 0 && n != wanted[p.sends] {
			l.t.Errorf("%s was sent %d times, want %d\n%s", p.sends, n, wanted[p.sends], transcript(l.t, l.owner, end.ID))
		}
	}
	l.arrived(far, target)
	if l.victim == noVictim {
		l.leave(target)
	}
}

// leave destroys the guest that went, and holds that the one that was left and all of its backups stay.
func (l *life) leave(target int64) {
	l.t.Helper()
	was := l.path
	for _, g := range l.guests() {
		if g.HostID == target {
			l.path = fmt.Sprintf("/api/v1/%ss/%d", l.kind, g.ID)
		}
	}
	if end := ended(l.t, l.owner, started(l.t, l.owner, l.path+"/stop", nil).ID); end.Status != "succeeded" {
		l.t.Fatalf("stopping it where it went ended %s: %s", end.Status, end.Error)
	}
	var reply struct{ Job jobView }
	status := map[string]int{"vm": http.StatusAccepted, "app": http.StatusOK}[l.kind]
	l.owner.must(l.t, status, http.MethodDelete, l.path, map[string]any{"confirm": l.name}, &reply)
	if end := ended(l.t, l.owner, reply.Job.ID); end.Status != "succeeded" {
		l.t.Fatalf("destroying it where it went ended %s: %s", end.Status, end.Error)
	}
	l.path = was
	all := l.withoutCopies()
	if len(all) != 1 || all[0].HostID != l.host || !slices.Contains(all[0].Tags, "moved") {
		l.t.Errorf("what is left is %+v", all)
	}
	l.taken(2)
}

// placedGuest is a guest of the list of all, and where it is.
type placedGuest struct {
	HostID int64 `json:"host_id"`
	Name   string
	Node   string
	Status string
	Tags   []string
}

// withoutCopies are all guests but those that were copied of the one whose life this is.
func (l *life) withoutCopies() (all []placedGuest) {
	l.t.Helper()
	l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/guests", nil, &all)
	return slices.DeleteFunc(all, func(g placedGuest) bool { return g.Name == copyName })
}

// taken holds how many backups the archive has.
func (l *life) taken(want int) {
	l.t.Helper()
	var content []struct {
		ID string `json:"volid"`
	}
	path := fmt.Sprintf("/api/v1/storage/%d/%s/content?content=backup", l.host, archive)
	l.owner.must(l.t, http.StatusOK, http.MethodGet, path, nil, &content)
	if len(content) != want {
		l.t.Errorf("the archive has %d backups, want %d: %v", len(content), want, content)
	}
}

// arrived holds that the guest runs where it went to, once, and is kept where it was: stopped, and with the mark.
func (l *life) arrived(far *sim, target int64) {
	l.t.Helper()
	l.owner.answered(l.t, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", target))
	l.owner.must(l.t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", target), nil, nil)
	l.sync()
	all := l.withoutCopies()
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
	l.taken(2) // the one of before, and that of the move
	if l.kind == "app" {
		var apps []guestView
		l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/apps", nil, &apps)
		if len(apps) != 1 || apps[0].HostID != target || apps[0].ID != l.guest.ID {
			l.t.Errorf("the apps are %+v, not the one that followed its container", apps)
		}
	}
}
