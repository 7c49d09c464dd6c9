package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// A VM and an app from creation to destruction, undisturbed and with the service or the plugin killed in the middle of each step: once
// the hypervisor has carried out the request and before its answer arrives.
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
	end := lifeStep{name: "delete", method: http.MethodDelete, sends: "DELETE /nodes/{node}/{of}/{vmid}",
		body: map[string]any{"confirm": l.name}, holds: func(l *life) error {
			if _, err := l.now(); err == nil {
				return fmt.Errorf("it is still there")
			}
			return nil
		}}
	if l.kind == "app" {
		end.name, end.status = "uninstall", http.StatusOK
	}
	return []lifeStep{
		{name: "start", method: http.MethodPost, path: "/start", sends: "POST /nodes/{node}/{of}/{vmid}/status/start", holds: is("running")},
		{name: "stop", method: http.MethodPost, path: "/stop", sends: "POST /nodes/{node}/{of}/{vmid}/status/stop", holds: is("stopped")},
		{name: "snapshot", method: http.MethodPost, path: "/snapshots", body: map[string]any{"name": "before"},
			sends: "POST /nodes/{node}/{of}/{vmid}/snapshot", holds: func(l *life) error {
				if names := l.snapshots(); !slices.Equal(names, []string{"before"}) {
					return fmt.Errorf("its snapshots are %v", names)
				}
				l.breaks()
				return nil
			}},
		{name: "roll back", method: http.MethodPost, path: "/snapshots/before/rollback", body: map[string]any{"confirm": l.name},
			sends: "POST /nodes/{node}/{of}/{vmid}/snapshot/{snapname}/rollback", holds: mended},
		{name: "clone", method: http.MethodPost, path: "/clone", body: map[string]any{"name": "copied"},
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
				return nil
			}},
		{name: "back up", method: http.MethodPost, path: "/api/v1/backups/run", sends: "POST /nodes/{node}/vzdump",
			body: map[string]any{"targets": []map[string]any{{l.kind: l.guest.ID}}, "storage": "nas"}, holds: func(l *life) error {
				var all []struct{ ID int64 }
				l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/backups", nil, &all)
				if len(all) != 1 {
					return fmt.Errorf("it has %d backups", len(all))
				}
				l.backup = all[0].ID
				l.breaks()
				return nil
			}},
		{name: "restore over", method: http.MethodPost, path: "/api/v1/backups/{backup}/restore", sends: "POST /nodes/{node}/{of}",
			body: map[string]any{"over": true, "confirm": l.name}, holds: mended},
		{name: "delete the backup", method: http.MethodDelete, path: "/api/v1/backups/{backup}", body: map[string]any{"confirm": l.name},
			sends: "DELETE /nodes/{node}/storage/{storage}/content/{volume}", holds: func(l *life) error {
				var all []struct{ ID int64 }
				l.owner.must(l.t, http.StatusOK, http.MethodGet, "/api/v1/backups", nil, &all)
				if len(all) > 0 {
					return fmt.Errorf("it has %d backups", len(all))
				}
				return nil
			}},
		{name: "migrate", method: http.MethodPost, path: "/migrate", body: map[string]any{"target_host_id": l.host, "node": "pve3"},
			sends: "POST /nodes/{node}/{of}/{vmid}/migrate", holds: func(l *life) error {
				g, err := l.now()
				if err == nil && g.Node != "pve3" {
					err = fmt.Errorf("it is on %s", g.Node)
				}
				return err
			}},
		end,
	}
}
