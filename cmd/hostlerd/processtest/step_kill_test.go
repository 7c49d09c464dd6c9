package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A job of several requests goes on where it was when the service or the plugin is killed at each of them, once the hypervisor has carried
// it out and before its answer arrives: a VM is made and started, a guest is restored as another one or over itself and started, and a
// container that runs is stopped and destroyed with its app. Each is sent once.
func TestKilledAtEachStepOfAJob(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"vm", "app"} {
		for _, dies := range []victim{serviceDies, pluginDies} {
			t.Run(fmt.Sprintf("of the %s, %s dies", kind, dies), func(t *testing.T) {
				t.Parallel()
				l := newLife(t, kind, dies)
				l.begin()
				l.backup = l.saved()
				start := "POST /nodes/{node}/{of}/{vmid}/status/start"
				if kind == "vm" {
					l.severalSteps(lifeStep{name: "create and start", method: http.MethodPost, path: "/api/v1/vms",
						body: map[string]any{"host_id": l.host, "name": "second", "start": true}, holds: runs("second", 1)},
						"POST /nodes/{node}/qemu", start)
				}
				restore := fmt.Sprintf("/api/v1/backups/%d/restore", l.backup)
				l.severalSteps(lifeStep{name: "restore as another", method: http.MethodPost, path: restore,
					body: map[string]any{"start": true}, holds: runs(l.name, 1)}, "POST /nodes/{node}/{of}", start)
				l.severalSteps(lifeStep{name: "restore over", method: http.MethodPost, path: restore,
					body: map[string]any{"over": true, "confirm": l.name, "start": true}, holds: runs(l.name, 2)},
					"POST /nodes/{node}/{of}", start)
				if kind == "app" {
					l.severalSteps(lifeStep{name: "uninstall", method: http.MethodDelete, path: l.path, status: http.StatusOK,
						body: map[string]any{"confirm": l.name}, holds: runs(l.name, 1)},
						"POST /nodes/{node}/lxc/{vmid}/status/stop", "DELETE /nodes/{node}/lxc/{vmid}")
					if left := l.guests(); len(left) != 0 {
						l.t.Errorf("the apps that are left are %v", left)
					}
				}
			})
		}
	}
}

// saved backs the guest up while nobody dies.
func (l *life) saved() (id int64) {
	l.t.Helper()
	var reply struct{ Jobs []jobView }
	l.owner.must(l.t, http.StatusAccepted, http.MethodPost, "/api/v1/backups/run", map[string]any{"storage": "nas",
		"targets": []map[string]any{{l.kind: l.guest.ID}}}, &reply)
	if end := ended(l.t, l.owner, reply.Jobs[0].ID); end.Status != "succeeded" {
		l.t.Fatalf("the backup ended %s: %s", end.Status, end.Error)
	}
	var all []struct{ ID int64 }
	l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/backups", nil, &all)
	if len(all) != 1 {
		l.t.Fatalf("there are %d backups", len(all))
	}
	return all[0].ID
}

// severalSteps asks for a job and lets the victim die at each of its requests. The job succeeds, and each request was sent once.
func (l *life) severalSteps(s lifeStep, requests ...string) {
	l.t.Helper()
	var points []*strikePoint
	before := l.cluster.stats(l.t).Requests
	for _, request := range requests {
		p := &strikePoint{at: l.cluster, sends: strings.ReplaceAll(request, "{of}", l.of), when: carriedOut}
		p.arm(l.t)
		points = append(points, p)
	}
	status := s.status
	if status == 0 {
		status = http.StatusAccepted
	}
	var reply struct{ Job jobView }
	l.owner.must(l.t, status, s.method, s.path, s.body, &reply)
	l.strikeAt(points, reply.Job.ID)
	end := ended(l.t, l.owner, reply.Job.ID)
	text := transcript(l.t, l.owner, end.ID)
	if end.Status != "succeeded" {
		l.t.Fatalf("%s ended %s: %s\n%s", s.name, end.Status, end.Error, text)
	}
	after := l.cluster.stats(l.t).Requests
	for _, p := range points {
		if n := after[p.sends] - before[p.sends]; n != 1 {
			l.t.Errorf("%s: %s was sent %d times\n%s", s.name, p.sends, n, text)
		}
	}
	l.owner.answered(l.t, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", l.host))
	if err := s.holds(l); err != nil {
		l.t.Fatalf("after %s: %v\n%s", s.name, err, text)
	}
}

// runs says that so many guests of a name run.
func runs(name string, want int) func(*life) error {
	return func(l *life) error {
		l.sync()
		var all []struct{ Name, Status string }
		l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/guests", nil, &all)
		running := 0
		for _, g := range all {
			if g.Name == name && g.Status == "running" {
				running++
			}
		}
		if running != want {
			return fmt.Errorf("%d guests called %s run, not %d: %v", running, name, want, all)
		}
		return nil
	}
}
