package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// victim is the process that is killed in the middle of each step of a life.
type victim string

const (
	noVictim    victim = "noVictim"
	serviceDies victim = "service"
	pluginDies  victim = "plugin"
)

// life is a guest from its creation to its destruction, on a simulated cluster
// of three nodes.
type life struct {
	t       *testing.T
	service *service
	db      *db.DB
	owner   *client
	cluster *sim
	host    int64
	victim  victim
	// kind is vm or app, path the guest's below /api/v1 and name what it is called; type of its requests to the hypervisor.
	kind, path, name, of string
	guest                guestView
	// backup is the id of its backup, told the transcript of its last step's job.
	backup int64
	told   string
}

// lifeStep is a step in the life of a guest: an operation whose job sends one
// request that changes something.
type lifeStep struct {
	name   string
	method string
	path   string // below the guest's
	body   map[string]any
	// sends is the request that is sent once, with {of} for the type of the guest.
	sends string
	// status of the operation; 202 when zero.
	status int
	// before is done first, undisturbed; holds says what is true afterwards.
	before func(l *life)
	holds  func(l *life) error
}

// newLife starts a service and a cluster for the life of a VM or an app.
func newLife(t *testing.T, kind string, dies victim) *life {
	t.Helper()
	return lifeOn(t, kind, dies, startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "-1", "--recommended",
		"--resources-lag", "0", "--task-duration", "50ms"))
}

// lifeOn is newLife on a given cluster.
func lifeOn(t *testing.T, kind string, dies victim, cluster *sim) *life {
	t.Helper()
	l := &life{t: t, kind: kind, victim: dies, name: "lived", of: map[string]string{"vm": "qemu", "app": "lxc"}[kind], cluster: cluster}
	l.service = startService(t, options{})
	l.db = dbtest.Open(t, l.service.DB)
	l.owner = setUp(t, l.service)
	l.host = l.owner.enrol(t, l.cluster, "lab", "lifecycle", "backup")
	return l
}

// begin creates the guest: a VM through a job, a container directly at the
// hypervisor, after which it is adopted as an app.
func (l *life) begin() {
	l.t.Helper()
	if l.kind == "app" {
		var made struct{ VMID int64 }
		l.cluster.control(l.t, http.MethodPost, "/guest", map[string]any{"op": "create", "type": "lxc", "name": l.name}, &made)
		l.sync()
		l.owner.must(l.t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt", map[string]any{"items": []map[string]any{
			{"host_id": l.host, "vmid": made.VMID}}}, nil)
	} else {
		l.step(lifeStep{name: "create", method: http.MethodPost, path: "/api/v1/vms", sends: "POST /nodes/{node}/qemu",
			body: map[string]any{"host_id": l.host, "name": l.name}})
	}
	for _, g := range l.guests() {
		l.guest = g
	}
	l.path = fmt.Sprintf("/api/v1/%ss/%d", l.kind, l.guest.ID)
}

// sync makes the service read the inventory now.
func (l *life) sync() {
	l.t.Helper()
	l.owner.must(l.t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", l.host), nil, nil)
}

// guests are those of the kind after a poll.
func (l *life) guests() (all []guestView) {
	l.t.Helper()
	l.sync()
	l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/"+l.kind+"s", nil, &all)
	return all
}

// now is the guest after a poll.
func (l *life) now() (g guestView, err error) {
	l.t.Helper()
	for _, g := range l.guests() {
		if g.ID == l.guest.ID {
			return g, nil
		}
	}
	return g, fmt.Errorf("there is no %s %d", l.kind, l.guest.ID)
}

// is returns a check that the guest has a status.
func is(status string) func(*life) error {
	return func(l *life) error {
		g, err := l.now()
		if err == nil && g.Status != status {
			err = fmt.Errorf("it is %s, not %s", g.Status, status)
		}
		return err
	}
}

// step requests a step, kills the victim after the hypervisor carried out the
// changing request and before its response arrived, and checks that the job
// succeeds and that the request was sent exactly once. That is the promise of
// the service: a crash never repeats a change.
func (l *life) step(s lifeStep) {
	l.t.Helper()
	if s.before != nil {
		s.before(l)
	}
	method, template, _ := strings.Cut(strings.ReplaceAll(s.sends, "{of}", l.of), " ")
	sent := func() int { return l.cluster.stats(l.t).Requests[method+" "+template] }
	before, strikes := sent(), struck(l.t, l.cluster)
	if l.victim != noVictim {
		l.cluster.fault(l.t, map[string]any{"kind": "delay", "delay_ms": 30000, "times": 1, "after": true,
			"match": map[string]any{"method": method, "path": template}})
	}
	path := strings.ReplaceAll(s.path, "{backup}", fmt.Sprint(l.backup))
	if !strings.HasPrefix(path, "/api/") {
		path = l.path + path
	}
	var body any
	if s.body != nil {
		body = s.body
	}
	status := s.status
	if status == 0 {
		status = http.StatusAccepted
	}
	var reply struct {
		Job  jobView
		Jobs []jobView
	}
	l.owner.must(l.t, status, s.method, path, body, &reply)
	if len(reply.Jobs) > 0 {
		reply.Job = reply.Jobs[0]
	}
	if l.victim != noVictim {
		waittest.Until(l.t, s.name+": the request was carried out", func() bool { return struck(l.t, l.cluster) > strikes })
		l.kill()
	}
	end := ended(l.t, l.owner, reply.Job.ID)
	if end.Status != "succeeded" {
		l.t.Fatalf("%s ended %s: %s\n%s", s.name, end.Status, end.Error, transcript(l.t, l.owner, end.ID))
	}
	if n := sent() - before; n != 1 {
		l.t.Errorf("%s: %s was sent %d times\n%s", s.name, s.sends, n, transcript(l.t, l.owner, end.ID))
	}
	if s.holds == nil {
		return
	}
	l.told = transcript(l.t, l.owner, end.ID)
	if err := s.holds(l); err != nil {
		l.t.Fatalf("after %s: %v\n%s", s.name, err, l.told)
	}
}

// kill kills the victim and removes the fault that held the response.
func (l *life) kill() {
	l.t.Helper()
	l.strike()
	l.cluster.healFaults(l.t)
	if l.victim == pluginDies {
		l.owner.answered(l.t, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", l.host))
	}
}

// strike kills the victim. The service is started again; a plugin is restarted
// by its service.
func (l *life) strike() {
	l.t.Helper()
	if l.victim == serviceDies {
		l.service.kill()
		// The service ends a job that it crashes on twice in a row. Here each crash is the first one, so that all of them can be tried.
		dbtest.Exec(l.t, l.db, "UPDATE jobs SET crashed = '{}'")
		l.service.start(l.t)
		return
	}
	for _, pid := range pluginsOf(l.t, l.service) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// snapshots are the names of the guest's.
func (l *life) snapshots() (names []string) {
	l.t.Helper()
	var all []struct{ Name string }
	l.owner.must(l.t, http.StatusOK, http.MethodGet, l.path+"/snapshots", nil, &all)
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// copyName is what the copy of the guest is called.
const copyName = "copied"

// brokenMB is the memory of a guest that is broken, and brokenTag the tag of such a VM.
const (
	brokenMB  = 777
	brokenTag = "broken"
)

// breaks changes the guest in a way that a snapshot or a backup mends. The memory of a VM that runs waits for its restart.
func (l *life) breaks() {
	l.t.Helper()
	change := map[string]any{"memory_mb": brokenMB}
	if l.kind == "vm" {
		change["tags"] = []string{brokenTag}
	}
	l.owner.must(l.t, http.StatusOK, http.MethodPatch, l.path, change, nil)
	if mended(l) == nil {
		l.t.Fatal("the guest is not broken")
	}
}

// mended says that all of what breaks did is undone.
func mended(l *life) error {
	var config struct {
		MemoryMB *int64 `json:"memory_mb"`
		Tags     []string
		Pending  map[string]*string
	}
	l.owner.must(l.t, http.StatusOK, http.MethodGet, l.path+"/config", nil, &config)
	if config.MemoryMB == nil || *config.MemoryMB == brokenMB || len(config.Pending) > 0 || slices.Contains(config.Tags, brokenTag) {
		return fmt.Errorf("it is still broken: %+v", config)
	}
	return nil
}

// mendedAnd says that what breaks did is undone, and that the guest has a status.
func mendedAnd(status string) func(*life) error {
	return func(l *life) error {
		if err := mended(l); err != nil {
			return err
		}
		return is(status)(l)
	}
}
