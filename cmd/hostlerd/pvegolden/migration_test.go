package pvegolden_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// A guest goes to another cluster by a backup on a storage that both have: there it runs, here it stays, off and marked.
func TestMigrationBetweenClusters(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"vm", "app"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := pvegolden.NewWorld(t, endpoint.Lifecycle, endpoint.Backup)
			far := w.AddCluster("far")
			w.Change(kind, func(s *pvesim.GuestSpec) { s.HAManaged = true })
			if a := w.Request(http.MethodPost, "/"+kind+"s/{"+kind+"}/migrate/preflight", `{"target_host_id":{host},"node":"pve2"}`); a.Status !=
				http.StatusOK || !strings.Contains(string(a.Body), `"code":"high_availability"`) {
				t.Errorf("of high availability: %d %s", a.Status, a.Body)
			}
			w.Change(kind, func(s *pvesim.GuestSpec) { s.HAManaged = false })
			w.Running(kind)
			// Both list it: that proves the storage to be the same one, which others of the same name are not.
			if _, err := w.AddBackup(pvesim.BackupSpec{Storage: "archive", VMID: 900}); err != nil {
				t.Fatal(err)
			}
			path, body := "/"+kind+"s/{"+kind+"}/migrate", `{"target_host_id":{far},"node":"pve2"}`
			if a := w.Request(http.MethodPost, path+"/preflight", body); a.Status != http.StatusOK ||
				!strings.Contains(string(a.Body), `"strategy":"shared_storage"`) || !strings.Contains(string(a.Body), `"blockers":[]`) {
				t.Fatalf("pre-flight: %d %s", a.Status, a.Body)
			}
			act := pvegolden.Act{Method: http.MethodPost, Path: path, Body: strings.Replace(body, "{", `{"confirm":"`+kind+`",`, 1)}
			if done := w.Do(&act); !done.Succeeded() {
				t.Fatalf("%v", done)
			}
			here, _ := w.Guest(w.VMID(kind))
			if config := w.GuestConfig(w.VMID(kind)); here.Status != pvesim.StatusStopped ||
				!slices.Contains(strings.Split(here.Tags, ";"), "moved") || config["onboot"] == "1" {
				t.Errorf("where it was it is %s, with the tags %q: %v", here.Status, here.Tags, config)
			}
			running := 0
			for id := 100; id < 110; id++ {
				if g, ok := far.Guest(id); ok && g.Status == pvesim.StatusRunning && g.Node == "pve2" {
					running++
				}
			}
			if running != 1 {
				t.Errorf("%d guests run where it goes", running)
			}
			if kind == "app" {
				if got := w.Value("SELECT h.name FROM apps a JOIN hosts h ON h.id = a.host_id"); got != "far" {
					t.Errorf("the app is at the host %s", got)
				}
			}
		})
	}
}
