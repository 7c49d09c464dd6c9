package processtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
)

// takes is the deed that is no action: it takes a snapshot.
const takes = "snapshots"

// sideDeed is what is asked of an LXD container before a kill, and how its job may end.
type sideDeed struct {
	ref, action string
	// ends are the statuses that tell the truth of it, sent and boots how often it may be sent and process 1 be started since.
	ends        []string
	sent, boots []int
}

// sidePoint is a point of jobs on LXD containers: the proxy holds there what matches.
type sidePoint struct {
	name string
	hold lxdHold
	// deeds are by what is killed; what is not there is not killed at the point.
	deeds map[string][]sideDeed
	// pve holds the reset of a VM of the cluster at the same point.
	pve map[string]any
}

var (
	once, never, either = []int{1}, []int{0}, []int{0, 1}
	done, failed        = []string{"succeeded"}, []string{"failed"}
	unknown, doubtful   = []string{"unknown"}, []string{"succeeded", "unknown"}
)

// sidePoints are the points. Nothing is asked of the guests in between, so that what was sent may be sent again only where the guest's
// state says that it was not carried out; a restart never is.
func sidePoints() []sidePoint {
	instance := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/1.0/instances/") && !strings.HasSuffix(r.URL.Path, "/snapshots")
	}
	// The guest is read with its state by the job, and without it by the driver before it sends.
	definition := func(r *http.Request) bool { return instance(r) && r.URL.Query().Get("recursion") == "" }
	snapshot := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/snapshots")
	}
	change := func(r *http.Request) bool {
		return snapshot(r) || r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/state")
	}
	// Of the guest that has a snapshot taken the definition is read already when that is asked for.
	unheard := func(r *http.Request) bool {
		return snapshot(r) || definition(r) && !strings.HasSuffix(r.URL.Path, "/deaf")
	}
	unbegun := []sideDeed{
		{"idle", "start", done, once, once}, {"web", "stop", done, once, never}, {"customers/web", "restart", done, once, once},
		{"deaf", takes, done, once, never},
	}
	unsent := func(snapshots []int) []sideDeed {
		return []sideDeed{
			{"idle", "start", done, once, once}, {"web", "stop", done, once, never}, {"customers/web", "restart", unknown, never, never},
			{"deaf", takes, done, snapshots, never},
		}
	}
	unnoted := []sideDeed{
		{"idle", "start", done, once, once}, {"web", "stop", done, once, never}, {"customers/web", "restart", unknown, once, once},
		{"deaf", takes, done, once, never},
	}
	return []sidePoint{
		{
			name: "before it was begun", hold: lxdHold{matches: func(r *http.Request) bool { return instance(r) && !definition(r) }},
			deeds: map[string][]sideDeed{"service": unbegun, "plugin": unbegun, "LXD": {
				{"idle", "start", failed, never, never}, {"web", "stop", failed, never, never}, {"customers/web", "restart", failed, never, never},
				{"deaf", takes, failed, never, never},
			}},
		},
		{
			name: "before it was sent", hold: lxdHold{matches: unheard},
			// The proxy passes the snapshot's request on to an LXD that is gone; the other deeds are not sent by then.
			deeds: map[string][]sideDeed{"service": unsent(once), "plugin": unsent(once), "LXD": unsent([]int{2})},
			pve:   map[string]any{"kind": "hang", "match": map[string]any{"path": "/nodes/{node}/qemu/{vmid}/status/current"}},
		},
		{
			name: "sent and arriving late", hold: lxdHold{late: true, matches: change},
			deeds: map[string][]sideDeed{"service": unnoted, "plugin": unnoted},
		},
		{
			name: "sent and not noted", hold: lxdHold{answers: true, matches: change},
			deeds: map[string][]sideDeed{"service": unnoted, "plugin": unnoted, "LXD": {
				// LXD dies in the middle of what it does. A guest that it leaves as it was is asked for once more, but for the restart.
				// One that it has stopped and not noted as such it starts again when it is back itself.
				{"idle", "start", doubtful, []int{1, 2}, once}, {"web", "stop", doubtful, []int{1, 2}, either},
				{"customers/web", "restart", unknown, once, either}, {"deaf", takes, doubtful, []int{1, 2}, never},
			}},
			pve: map[string]any{"kind": "delay", "delay_ms": 20000, "times": 1, "after": true,
				"match": map[string]any{"method": "POST", "path": resetPath}},
		},
		{
			name: "while it runs", hold: lxdHold{matches: func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/wait") }},
			deeds: map[string][]sideDeed{
				"service": running(done, once, done, once), "plugin": running(done, once, done, once),
				"LXD": running(doubtful, either, unknown, never),
			},
		},
	}
}

// running are a start, and two deeds that guests do not follow by themselves: they go on until somebody stops the guests.
func running(start []string, starts []int, others []string, restarts []int) []sideDeed {
	return []sideDeed{
		{"idle", "start", start, once, starts}, {"deaf", "shutdown", others, once, never},
		{"customers/deaf-too", "restart", others, once, restarts},
	}
}

const resetPath = "/nodes/{node}/qemu/{vmid}/status/reset"

// kills leads the LXD host through a proxy, and kills the service, the LXD plugin and LXD itself at each point of three jobs on LXD's
// containers, while a job of the cluster is on its way.
func (s *sideBySide) kills(t *testing.T) {
	s.proxy = startLXDProxy(t, s.lxd, "default", otherProject)
	s.owner.must(t, http.StatusOK, http.MethodPatch, s.hostPath(s.lxdHost, ""), map[string]any{"address": s.proxy.address}, nil)
	host := s.lxdNames(t)
	for _, victim := range []struct {
		name string
		kill func(t *testing.T)
		back func(t *testing.T)
	}{
		{"service", func(*testing.T) { s.service.kill() }, func(t *testing.T) { s.service.start(t) }},
		{"plugin", func(t *testing.T) {
			if err := syscall.Kill(s.pluginProcess(t, "lxd"), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}, func(*testing.T) {}},
		{"LXD", func(t *testing.T) { s.lxd.Kill(t) }, func(t *testing.T) {
			s.away(t, host)
			s.lxd.Start(t)
		}},
	} {
		for _, point := range sidePoints() {
			if point.deeds[victim.name] == nil {
				continue
			}
			t.Run(victim.name+" "+point.name, func(t *testing.T) {
				round := s.beginRound(t, point, victim.name)
				victim.kill(t)
				s.pve.healFaults(t)
				if point.hold.late {
					victim.back(t)
				}
				s.proxy.release()
				if !point.hold.late {
					victim.back(t)
				}
				if victim.name != "LXD" {
					round.stopDeaf(t)
				}
				round.end(t)
			})
		}
	}
}

// killRound is the jobs of one kill.
type killRound struct {
	*sideBySide
	deeds []sideDeed
	jobs  []int64
	// mark and boots are what was counted before; snapshot is the name of the one that is taken.
	mark     int
	snapshot string
	boots    []int
	vm       struct {
		job    int64
		resets int
	}
}

// beginRound brings the containers into their states, asks for the jobs and waits until all are at the point.
func (s *sideBySide) beginRound(t *testing.T, point sidePoint, victim string) *killRound {
	t.Helper()
	for ref, a := range s.apps {
		status := "Running"
		if ref == "idle" {
			status = "Stopped"
		}
		s.lxd.SetStatus(t, a.InstanceRef, status)
	}
	// Whole seconds tell when a guest was started: one of this moment may as well have been started after the request.
	waittest.Succeeds(t, "the guest that is to be stopped was there before", func() error {
		if now := time.Since(s.lxd.Instance(t, s.apps["web"].InstanceRef).LastUsed); now < 2*time.Second {
			return fmt.Errorf("it was started %s ago", now)
		}
		return nil
	})
	s.owner.must(t, http.StatusOK, http.MethodPost, s.hostPath(s.lxdHost, "/sync"), nil, nil)
	r := &killRound{sideBySide: s, deeds: point.deeds[victim], mark: s.proxy.mark()}
	r.snapshot = fmt.Sprintf("round-%d", r.mark)
	r.vm.resets = s.pve.sent(t, "reset")
	if point.pve != nil && victim == "service" {
		s.pve.fault(t, point.pve)
		// The held job of the cluster takes one of the four places for jobs.
		r.deeds = slices.DeleteFunc(slices.Clone(r.deeds), func(d sideDeed) bool { return d.action == "stop" })
	}
	s.proxy.begin(point.hold)
	r.vm.job = act(t, s.owner, fmt.Sprintf("/api/v1/vms/%d/reset", s.vm.ID)).ID
	for _, d := range r.deeds {
		r.boots = append(r.boots, s.lxd.Boots(t, s.apps[d.ref].InstanceRef))
		var body any
		if d.action == takes {
			body = map[string]any{"name": r.snapshot}
		}
		r.jobs = append(r.jobs, started(t, s.owner, s.apps[d.ref].path+"/"+d.action, body).ID)
	}
	waittest.Succeeds(t, "the jobs are at the point", func() error {
		if n := s.proxy.held(); n != len(r.deeds) {
			return fmt.Errorf("%d are", n)
		}
		if point.pve != nil && victim == "service" && struck(t, s.pve) == 0 {
			return errors.New("the cluster's is not")
		}
		return nil
	})
	return r
}

// end waits for the ends of the jobs and holds them against what the hypervisors have done.
func (r *killRound) end(t *testing.T) {
	t.Helper()
	for i, d := range r.deeds {
		job, a := ended(t, r.owner, r.jobs[i]), r.apps[d.ref]
		text := transcript(t, r.owner, r.jobs[i])
		sent := r.proxy.since(r.mark, http.MethodPut, "/1.0/instances/"+a.Name+"/state", a.Project)
		if d.action == takes {
			sent = r.proxy.since(r.mark, http.MethodPost, "/1.0/instances/"+a.Name+"/snapshots", a.Project)
		}
		boots := r.lxd.Boots(t, a.InstanceRef) - r.boots[i]
		if !slices.Contains(d.ends, job.Status) || !slices.Contains(d.sent, sent) || !slices.Contains(d.boots, boots) {
			t.Errorf("the %s of %s ended %s: %s; it was sent %d times, and process 1 was started %d times\n%s", d.action, d.ref, job.Status,
				job.Error, sent, boots, text)
		}
		happened := boots == 1
		switch d.action {
		case "stop", "shutdown":
			// What starts again by itself was stopped before, see sidePoints.
			happened = boots > 0 || r.lxd.Instance(t, a.InstanceRef).Status == "Stopped"
		case takes:
			happened = slices.ContainsFunc(r.lxd.Instance(t, a.InstanceRef).Snapshots, func(s lxdapi.Snapshot) bool { return s.Name == r.snapshot })
		}
		if job.Status == "succeeded" && !happened {
			t.Errorf("the %s of %s is told to have succeeded\n%s", d.action, d.ref, text)
		}
		if found := foreign(t, "lxd", []byte(job.Error+text)); len(found) > 0 {
			t.Errorf("the %s of %s tells of the other kind: %q", d.action, d.ref, found)
		}
	}
	if job := ended(t, r.owner, r.vm.job); job.Status != "succeeded" || r.pve.sent(t, "reset") != r.vm.resets+1 {
		t.Errorf("the reset of a VM ended %s: %s; it was asked for %d times", job.Status, job.Error, r.pve.sent(t, "reset")-r.vm.resets)
	}
}

// stopDeaf stops the guests that do not follow, once their jobs are followed again; it does nothing where there are none.
func (r *killRound) stopDeaf(t *testing.T) {
	t.Helper()
	back := r.proxy.mark()
	var deaf []*lxdApp
	for _, d := range r.deeds {
		if strings.Contains(d.ref, "deaf") && d.action != takes {
			deaf = append(deaf, r.apps[d.ref])
		}
	}
	waittest.Succeeds(t, "the jobs are followed again", func() error {
		if n := r.proxy.since(back, http.MethodGet, "*/wait", ""); n < len(deaf) {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	for _, a := range deaf {
		r.lxd.Release(t, a.InstanceRef)
	}
}
