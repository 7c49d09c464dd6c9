package processtest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// Two instances with a key file each. The key is rotated at one: the other is not ready, does nothing with hosts, says so
// once, leaves its jobs to the first, and is well again with the right file.
func TestKeyRotatedBesideACopy(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--guests", "6")
	a := startService(t, options{})
	owner := setUp(t, a)
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	states := t.TempDir()
	file := func(state string) string { return filepath.Join(state, "keys", "secret.key") }
	carry := func() {
		t.Helper()
		text, err := os.ReadFile(file(a.State))
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(file(states)), 0o700),
				os.WriteFile(file(states)+".new", text, 0o600), os.Rename(file(states)+".new", file(states)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	carry()
	b := startService(t, options{DB: a.DB, State: states})
	other := newClient(b)
	other.logIn(t, ownerEmail, ownerPassword)
	ready := func(status int, word string) {
		t.Helper()
		waittest.Succeeds(t, fmt.Sprintf("/readyz is %d", status), func() error {
			resp, err := http.Get(b.Base + "/readyz")
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			text, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != status || !strings.Contains(string(text), word) {
				return fmt.Errorf("%s: %s", resp.Status, text)
			}
			return nil
		})
	}
	ready(http.StatusOK, `"key":"ok"`)
	run(t, a.env, "", "keys", "rotate").succeeds(t)
	ready(http.StatusServiceUnavailable, "the key file missed a rotation")
	sync := fmt.Sprintf("/api/v1/hosts/%d/sync", host)
	other.must(t, http.StatusServiceUnavailable, http.MethodPost, sync, nil, nil)
	other.must(t, http.StatusServiceUnavailable, http.MethodPost, "/api/v1/auth/totp/enroll", nil, nil) // it would seal
	owner.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
	for _, action := range []string{"stop", "start"} {
		status := map[string]string{"stop": "running", "start": "stopped"}[action]
		job := act(t, other, fmt.Sprintf("/api/v1/vms/%d/%s", find(t, other, "/api/v1/vms", status).ID, action))
		if end := ended(t, owner, job.ID); end.Status != "succeeded" {
			t.Errorf("the job that does %s ended %s: %s", action, end.Status, end.Error)
		}
	}
	if n := strings.Count(b.Log.String(), `"@level":"error"`); n != 1 || !strings.Contains(b.Log.String(), "missed a rotation") {
		t.Errorf("the log has %d errors, want 1:\n%s", n, b.Log.String())
	}
	if strings.Contains(b.Log.String(), "a host does not answer") {
		t.Errorf("the host is said to be at fault:\n%s", b.Log.String())
	}
	carry()
	ready(http.StatusOK, `"key":"ok"`)
	other.must(t, http.StatusOK, http.MethodPost, sync, nil, nil)
	// Now it is the other way round, and the first is alone with an old copy at its start.
	run(t, b.env, "", "keys", "rotate").succeeds(t)
	a.stop(t)
	run(t, a.env, "", "serve").fails(t, "does not have the key", "backup")
}
