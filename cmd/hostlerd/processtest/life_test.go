package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A VM and an app from creation to destruction, undisturbed and with the service or the plugin killed in the middle of each step: once
// the hypervisor has carried out the request and before its answer arrives. The guest runs wherever the hypervisor lets it: its snapshot,
// the VM's with its memory, and its backup are taken while it runs, and it runs on as it is migrated, a container after a restart.
func TestLife(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"vm", "app"} {
		for _, dies := range []victim{noVictim, serviceDies, pluginDies} {
			t.Run(fmt.Sprintf("of the %s, %s dies", kind, dies), func(t *testing.T) {
				t.Parallel()
				l := newLife(t, kind, dies)
				l.begin()
				for _, s := range lifeSteps(l) {
					l.step(s)
				}
			})
		}
	}
}

// lifeSteps are those after the guest was made.
func lifeSteps(l *life) []lifeStep {
	steps := slices.Concat([]lifeStep{startStep()}, snapshotSteps(l), backupSteps(l))
	return append(steps, migrateStep(l), endStep(l))
}

func startStep() lifeStep {
	return lifeStep{name: "start", method: http.MethodPost, path: "/start", sends: "POST /nodes/{node}/{of}/{vmid}/status/start",
		holds: is("running")}
}

// snapshotSteps begin and end with a guest that runs. A VM comes back with its memory, so that it runs on; a container is started again
// after it was copied, which the hypervisor does only with one that is stopped.
func snapshotSteps(l *life) []lifeStep {
	take, after := map[string]any{"name": "before"}, "stopped"
	if l.kind == "vm" {
		take["vmstate"], after = true, "running"
	}
	steps := []lifeStep{
		{name: "snapshot", method: http.MethodPost, path: "/snapshots", body: take,
			sends: "POST /nodes/{node}/{of}/{vmid}/snapshot", holds: func(l *life) error {
				if names := l.snapshots(); !slices.Equal(names, []string{"before"}) {
					return fmt.Errorf("its snapshots are %v", names)
				}
				l.breaks()
				return is("running")(l)
			}},
		{name: "roll back", method: http.MethodPost, path: "/snapshots/before/rollback", body: map[string]any{"confirm": l.name},
			sends: "POST /nodes/{node}/{of}/{vmid}/snapshot/{snapname}/rollback", holds: mendedAnd(after)},
		{name: "clone", method: http.MethodPost, path: "/clone", body: map[string]any{"name": copyName},
			sends: "POST /nodes/{node}/{of}/{vmid}/clone", holds: func(l *life) error {
				var all []struct{ Name string }
				l.sync()
				l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/guests", nil, &all)
				if len(all) != 2 {
					return fmt.Errorf("there are %d guests, not the first and its copy: %v", len(all), all)
				}
				return nil
			}},
		{name: "delete the snapshot", method: http.MethodDelete, path: "/snapshots/before",
			sends: "DELETE /nodes/{node}/{of}/{vmid}/snapshot/{snapname}", holds: func(l *life) error {
				if names := l.snapshots(); len(names) > 0 {
					return fmt.Errorf("its snapshots are %v", names)
				}
				return is(after)(l)
			}},
	}
	if l.kind == "app" {
		steps = append(steps, startStep())
	}
	return steps
}

// backupSteps begin and end with a guest that runs. Only one that is stopped is restored over itself.
func backupSteps(l *life) []lifeStep {
	return []lifeStep{
		{name: "back up", method: http.MethodPost, path: "/api/v1/backups/run", sends: "POST /nodes/{node}/vzdump",
			body: map[string]any{"targets": []map[string]any{{l.kind: l.guest.ID}}, "storage": "nas"}, holds: func(l *life) error {
				var all []struct{ ID int64 }
				l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/backups", nil, &all)
				if len(all) != 1 {
					return fmt.Errorf("it has %d backups", len(all))
				}
				l.backup = all[0].ID
				l.breaks()
				return is("running")(l)
			}},
		{name: "stop", method: http.MethodPost, path: "/stop", sends: "POST /nodes/{node}/{of}/{vmid}/status/stop", holds: is("stopped")},
		{name: "restore over", method: http.MethodPost, path: "/api/v1/backups/{backup}/restore", sends: "POST /nodes/{node}/{of}",
			body: map[string]any{"over": true, "confirm": l.name, "start": true}, holds: mendedAnd("running")},
		{name: "delete the backup", method: http.MethodDelete, path: "/api/v1/backups/{backup}", body: map[string]any{"confirm": l.name},
			sends: "DELETE /nodes/{node}/storage/{storage}/content/{volume}", holds: func(l *life) error {
				var all []struct{ ID int64 }
				l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/backups", nil, &all)
				if len(all) > 0 {
					return fmt.Errorf("it has %d backups", len(all))
				}
				return nil
			}},
	}
}

// migrateStep moves the running guest to another node: a VM while it runs, a container by a restart, which is confirmed.
func migrateStep(l *life) lifeStep {
	body := map[string]any{"target_host_id": l.host, "node": "pve3"}
	if l.kind == "app" {
		body["confirm"] = l.name
	}
	return lifeStep{name: "migrate", method: http.MethodPost, path: "/migrate", body: body,
		sends: "POST /nodes/{node}/{of}/{vmid}/migrate", holds: func(l *life) error {
			g, err := l.now()
			if err == nil && (g.Node != "pve3" || g.Status != "running") {
				err = fmt.Errorf("it is %s on %s", g.Status, g.Node)
			}
			how := map[string]string{"vm": "while it is running", "app": "shutdown CT"}[l.kind]
			if err == nil && !strings.Contains(l.told, how) {
				err = fmt.Errorf("%q is not in its transcript", how)
			}
			return err
		}}
}

// endStep destroys the guest that runs. A VM is stopped before, which its destruction asks for; the app's job does that.
func endStep(l *life) lifeStep {
	end := lifeStep{name: "delete", method: http.MethodDelete, sends: "DELETE /nodes/{node}/{of}/{vmid}",
		body: map[string]any{"confirm": l.name}, holds: func(l *life) error {
			if _, err := l.now(); err == nil {
				return fmt.Errorf("it is still there")
			}
			return nil
		}}
	if l.kind == "app" {
		end.name, end.status = "uninstall", http.StatusOK
		return end
	}
	end.before = func(l *life) {
		l.owner.must(l.t, http.StatusConflict, http.MethodDelete, l.path, end.body, nil)
		if stopped := ended(l.t, l.owner, started(l.t, l.owner, l.path+"/stop", nil).ID); stopped.Status != "succeeded" {
			l.t.Fatalf("stopping it ended %s: %s", stopped.Status, stopped.Error)
		}
	}
	return end
}
