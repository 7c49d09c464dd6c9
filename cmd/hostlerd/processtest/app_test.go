package processtest

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// All of an app's way over real processes: the catalog is synced, what an entry would run is shown and agreed to, it is installed on the
// node's machine as root, listed with its address, its script is edited and reverted, an update that breaks it is undone, one that works
// is kept, and it is uninstalled. Service and plugins are killed while scripts run.
func TestWayOfAnApp(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("who logs in is root, and the SSH server of a test lets in only who runs the test")
	}
	w := newAppWay(t)
	w.origin.Push(wikiFiles("true"))
	w.catalog()
	sum := w.agree()
	w.install(sum)
	w.listed()
	w.edited()
	w.broken()
	w.updated()
	w.uninstalled()
}

// agree looks at what would run, and gives its checksum. Nothing runs without consent for exactly that.
func (w *appWay) agree() string {
	t := w.t
	t.Helper()
	var plan struct {
		Sum   string
		Files []struct{ Path string }
	}
	a := w.owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/catalog/wiki/plan?host=%d", w.host), nil, &plan)
	for _, want := range []string{`"ct/wiki.sh"`, `"install/wiki-install.sh"`, `"misc/build.func"`, `"blockers":[]`} {
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("the plan lacks %s: %s", want, a.Body)
		}
	}
	body := map[string]any{"host_id": w.host, "name": "my-wiki"}
	if a := w.owner.do(t, http.MethodPost, "/api/v1/catalog/wiki/install", body); a.problem() != "consent_required" {
		t.Errorf("without consent: %d %s", a.Status, a.Body)
	}
	body["consent"], body["sum"] = true, strings.Repeat("0", 64)
	if a := w.owner.do(t, http.MethodPost, "/api/v1/catalog/wiki/install", body); a.problem() != "invalid_state" {
		t.Errorf("with consent for something else: %d %s", a.Status, a.Body)
	}
	return plan.Sum
}

// install installs it with the source cut off. The service is killed while the scripts run, with its plugins.
func (w *appWay) install(sum string) {
	t := w.t
	t.Helper()
	w.origin.SetHandler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	id := started(t, w.owner, "/api/v1/catalog/wiki/install", map[string]any{"host_id": w.host, "name": "my-wiki", "consent": true,
		"sum": sum, "overrides": map[string]any{"cpu": 2}}).ID
	w.until("the container is there", func() bool {
		_, err := w.machine.Try(t.Context(), "test -d /var/roots/120/root/www")
		return err == nil
	})
	w.service.kill()
	w.service.start(t)
	w.machine.Run("touch /var/roots/120/root/go")
	w.done(id, "succeeded", "was interrupted and continues", "the container 120 (my-wiki)")
	w.origin.SetHandler(nil)
	if n := w.machine.Run("cat /var/roots/120/root/installs"); n != "run" {
		t.Errorf("the script ran as often as this: %q", n)
	}
	if left := w.machine.left(); left != "" {
		t.Errorf("left on the machine: %s", left)
	}
}

// listed holds that the app is in the list, and where its pages are.
func (w *appWay) listed() {
	t := w.t
	t.Helper()
	var apps []struct {
		ID                 int64
		Name, Slug, Status string
		VMID               int64
	}
	w.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/apps", nil, &apps)
	if len(apps) != 1 || apps[0].Name != "my-wiki" || apps[0].Slug != "wiki" || apps[0].VMID != 120 || apps[0].Status != "running" {
		t.Fatalf("the apps are %+v", apps)
	}
	w.id = apps[0].ID
	w.app = fmt.Sprintf("/api/v1/apps/%d", w.id)
	var web struct {
		URL       string
		DecidedBy string `json:"decided_by"`
	}
	a := w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/web-url", nil, &web)
	if web.URL != "http://"+addressOf(120)+":8080/start" || web.DecidedBy != "script" {
		t.Errorf("the app is at %s", a.Body)
	}
	var ports []struct{ Port int }
	a = w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/ports", nil, &ports)
	if len(ports) != 1 || ports[0].Port != 8080 {
		t.Errorf("it listens at %s", a.Body)
	}
}

// edited edits the script, which then differs and keeps updates off, and reverts it.
func (w *appWay) edited() {
	t := w.t
	t.Helper()
	var script struct {
		Version         int
		Source, Content string
		Drift           struct {
			Drifted        bool
			Added, Removed int
			Diff           string
		}
	}
	w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/script", nil, &script)
	if script.Version != 1 || script.Source != "upstream" || script.Drift.Drifted {
		t.Errorf("the script is %+v", script)
	}
	mine := script.Content + "echo mine\n"
	w.owner.must(t, http.StatusOK, http.MethodPut, w.app+"/script", map[string]any{"content": mine}, nil)
	w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/script", nil, &script)
	if script.Version != 2 || script.Source != "edited" || !script.Drift.Drifted || script.Drift.Added != 1 ||
		!strings.Contains(script.Drift.Diff, "\n+echo mine\n") {
		t.Errorf("the edited script is %+v", script)
	}
	if a := w.owner.do(t, http.MethodPost, w.app+"/update", map[string]any{"consent": true}); a.problem() != "invalid_state" {
		t.Errorf("an update of an edited one: %d %s", a.Status, a.Body)
	}
	w.owner.must(t, http.StatusOK, http.MethodPost, w.app+"/script/revert", nil, &script)
	if script.Version != 3 || script.Source != "upstream" {
		t.Errorf("the reverted script is %+v", script)
	}
}

// offered takes a new state of the repository, and looks at what is different.
func (w *appWay) offered(update, diff string) {
	t := w.t
	t.Helper()
	w.origin.Push(wikiFiles(update))
	w.refresh()
	a := w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/update", nil, nil)
	for _, want := range []string{`"available":true`, `"own":{"files":1,`, "ct/wiki.sh", diff} {
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("what is different lacks %s: %s", want, a.Body)
		}
	}
	if a := w.owner.do(t, http.MethodPost, w.app+"/update", nil); a.problem() != "consent_required" {
		t.Errorf("without consent: %d %s", a.Status, a.Body)
	}
}

// broken has the app updated by what breaks it: it is set back, and the old version answers.
func (w *appWay) broken() {
	t := w.t
	t.Helper()
	if got := w.machine.page(120); got != "one" {
		t.Fatalf("the page says %q", got)
	}
	w.offered(breakingUpdate, "+echo 2.0")
	id := started(t, w.owner, w.app+"/update", map[string]any{"consent": true}).ID
	w.done(id, "failed", "the container was rolled back, and the app is as it was before")
	w.outcome("rolled_back", "1.0", "1.0", "one")
}

// updated has it updated by what works. The plugins are killed while the script runs.
func (w *appWay) updated() {
	t := w.t
	t.Helper()
	w.offered(workingUpdate, "+echo run")
	var nightly struct{ ID int64 }
	w.owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/schedules", map[string]any{"name": "nightly", "cron": "0 4 * * *",
		"job_kind": "app.update", "params": map[string]any{"app_id": w.id}}, &nightly)
	run := fmt.Sprintf("/api/v1/schedules/%d/run", nightly.ID)
	if a := w.owner.do(t, http.MethodPost, run, nil); a.problem() != "consent_required" {
		t.Errorf("a schedule, which agrees to nothing: %d %s", a.Status, a.Body)
	}
	id := started(t, w.owner, w.app+"/update", map[string]any{"consent": true}).ID
	w.until("the script is on", func() bool {
		_, err := w.machine.Try(t.Context(), "test -e /var/roots/120/root/updates")
		return err == nil
	})
	for _, pid := range pluginsOf(t, w.service) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.machine.Run("touch /var/roots/120/root/go-on")
	w.done(id, "succeeded", "updated from 1.0 to 3.0")
	w.outcome("updated", "1.0", "3.0", "three")
	if n := w.machine.Run("cat /var/roots/120/root/updates"); n != "run" {
		t.Errorf("the script ran as often as this: %q", n)
	}
	var script struct {
		Version int
		Reason  string
	}
	w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/script", nil, &script)
	if script.Version != 4 || script.Reason != "update" {
		t.Errorf("the script is %+v", script)
	}
	// Now somebody has agreed that these bytes run there.
	w.done(started(t, w.owner, run, nil).ID, "succeeded", "the app is still at version 3.0")
	w.outcome("nothing_to_do", "3.0", "3.0", "three")
}

// outcome holds what is told of the last update, and what the page says.
func (w *appWay) outcome(outcome, before, after, page string) {
	t := w.t
	t.Helper()
	var state struct {
		Last struct {
			Outcome       string
			VersionBefore string `json:"version_before"`
			VersionAfter  string `json:"version_after"`
		}
	}
	w.owner.must(t, http.StatusOK, http.MethodGet, w.app+"/update", nil, &state)
	if l := state.Last; l.Outcome != outcome || l.VersionBefore != before || l.VersionAfter != after {
		t.Errorf("what came of the update is %+v", l)
	}
	if got := w.machine.page(120); got != page {
		t.Errorf("the page says %q, want %q", got, page)
	}
	if left := w.machine.left(); left != "" {
		t.Errorf("left on the machine: %s", left)
	}
}

// uninstalled destroys the app with its container.
func (w *appWay) uninstalled() {
	t := w.t
	t.Helper()
	if a := w.owner.do(t, http.MethodDelete, w.app, nil); a.problem() != "confirm_required" {
		t.Errorf("without its name: %d %s", a.Status, a.Body)
	}
	var reply struct{ Job jobView }
	w.owner.must(t, http.StatusOK, http.MethodDelete, w.app, map[string]any{"confirm": "my-wiki"}, &reply)
	w.done(reply.Job.ID, "succeeded")
	var apps []struct{ ID int64 }
	w.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/apps", nil, &apps)
	if len(apps) != 0 {
		t.Errorf("the apps are %+v", apps)
	}
	if log := w.service.Log.String(); strings.Contains(log, "PRIVATE KEY") {
		t.Error("a private key is in the log")
	}
}
