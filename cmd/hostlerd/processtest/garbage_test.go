package processtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/waittest"
)

// Hostile requests to every operation of a running service: no 500, no hang, and it works as before when they end.
func TestGarbage(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "12", "--auth-delay", "0")
	victim := startSim(t, "--scenario", "one", "--auth-delay", "0", "--seed", "9")
	s := startService(t, options{})
	owner := setUp(t, s)
	lab := owner.enrol(t, cluster, "lab", "lifecycle")
	// Good requests among the bad ones may replace the tokens of a host: this one is there for them.
	spare := owner.enrol(t, victim, "spare", "lifecycle")
	container := find(t, owner, "/api/v1/apps/discovered", "running")
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt", map[string]any{
		"items": []map[string]any{{"host_id": container.HostID, "vmid": container.VMID}},
	}, nil)
	app := find(t, owner, "/api/v1/apps", "running")
	vm := find(t, owner, "/api/v1/vms?host="+strconv.FormatInt(lab, 10), "running")
	job := ended(t, owner, act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", vm.ID)).ID)

	users := identitytest.New(dbtest.Open(t, s.DB))
	account, user := identitytest.As(t, users, identity.Owner), identitytest.As(t, users, identity.Viewer)
	address, err := url.Parse(victim.URL)
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	a := &apitest.API{URL: s.Base, LogIn: func(r *http.Request, _ *apitest.Caller) { r.AddCookie(account.Cookie) }}
	a.Garbage(t, apitest.GarbageConfig{
		Seed: 3, PerOperation: 40,
		Skip: []string{"log_out", "log_out_at_provider"}, // it would end the session of all that follow
		Values: map[string]string{
			"host_id": id(spare), "vm_id": id(vm.ID), "app_id": id(app.ID), "job_id": id(job.ID), "session_id": "1", "user_id": id(user.ID),
			"upid": job.TaskID, "node": "pve1", "action": "start", "kind": "backup", "page": "1", "per_page": "20", "limit": "20",
			// Nothing is sent to other machines than this.
			"address": address.Host, "tls_fingerprint": victim.Fingerprint,
			"token_id": victim.Tokens["monitoring"].ID, "token_secret": victim.Tokens["monitoring"].Secret,
		},
	})

	// Good requests among the bad ones may end the first owner's sessions, role or account.
	owner = newClient(s)
	base, err := url.Parse(s.Base)
	if err != nil {
		t.Fatal(err)
	}
	owner.http.Jar.SetCookies(base, []*http.Cookie{identitytest.As(t, users, identity.Owner).Cookie})
	owner.must(t, http.StatusOK, http.MethodGet, "/readyz", nil, nil)
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", lab), nil, nil)
	waittest.Succeeds(t, "no job is left", func() error {
		var jobs []jobView
		owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/jobs?per_page=500", nil, &jobs)
		for _, j := range jobs {
			if j.Status == "queued" || j.Status == "running" {
				return fmt.Errorf("job %d is %s", j.ID, j.Status)
			}
		}
		return nil
	})
	stopped := find(t, owner, "/api/v1/vms?host="+id(lab), "stopped")
	if end := ended(t, owner, act(t, owner, fmt.Sprintf("/api/v1/vms/%d/start", stopped.ID)).ID); end.Status != "succeeded" {
		t.Errorf("a start afterwards ended %s: %s", end.Status, end.Error)
	}
	var plugins []struct{ Restarts int }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/plugins", nil, &plugins)
	for _, p := range plugins {
		if p.Restarts > 0 {
			t.Errorf("the plugin was restarted %d times", p.Restarts)
		}
	}
	if strings.Contains(s.Log.String(), "goroutine ") {
		t.Error("the log has a stack: something panicked")
	}
}
