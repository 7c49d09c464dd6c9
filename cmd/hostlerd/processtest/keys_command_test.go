package processtest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/hostler/hostler/core/db/dbtest"
)

// The key changes under the running service, every secret is sealed anew, and hosts go on being read. Without the right
// key the service does not start beside secrets.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle", "console", "backup")
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/credentials", host),
		map[string]any{"rotate_ssh": true, "ssh_consent": true}, nil)
	owner.must(t, http.StatusOK, http.MethodPatch, fmt.Sprintf("/api/v1/hosts/%d", host), map[string]any{"ssh_port": 1}, nil)
	sync := func() {
		t.Helper()
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
		// The private key is opened, and nobody is there to log in to.
		a := owner.do(t, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/ssh/verify", host), nil)
		if a.Status != http.StatusBadGateway || !strings.Contains(string(a.Body), `"reason":"unreachable"`) {
			t.Errorf("logging in: %d %s", a.Status, a.Body)
		}
	}
	sealed := func() (all []string) {
		t.Helper()
		rows, err := dbtest.Open(t, s.DB).Pool.Query(t.Context(), `SELECT encode(secret, 'hex') FROM
			(SELECT 1 AS place, id, secret FROM host_credentials UNION ALL SELECT 2, id, private_key FROM host_ssh_keys) s ORDER BY place, id`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}
	var factor struct{ Secret string }
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/totp/enroll", nil, &factor)
	code := func(ahead time.Duration) string {
		t.Helper()
		text, err := totp.GenerateCode(factor.Secret, time.Now().Add(ahead))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	file := filepath.Join(s.State, "keys", "secret.key")
	read := func() []byte {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	oldKey, before := read(), sealed()
	if out := run(t, s.env, "", "keys", "rotate").succeeds(t).Out; !strings.Contains(out, "The new key is ") ||
		!strings.Contains(out, filepath.Dir(file)) {
		t.Errorf("it says %q", out)
	}
	after := sealed()
	for i := range before {
		// The header holds the key's id: version in one byte, id in four.
		if len(before) != 5 || before[i][:10] == after[i][:10] {
			t.Errorf("secret %d of %d is still sealed with the old key", i, len(before))
		}
	}
	sync()
	job := act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", find(t, owner, "/api/v1/vms", "running").ID))
	if end := ended(t, owner, job.ID); end.Status != "succeeded" {
		t.Errorf("a job with a newly sealed token ended %s: %s", end.Status, end.Error)
	}
	run(t, s.env, "", "keys", "rotate").succeeds(t)
	sync()
	s.stop(t)
	run(t, s.env, "", "keys", "rotate").succeeds(t) // with no service
	newKey := read()

	// The second factor's secret was sealed anew with the rest.
	s.start(t)
	owner.must(t, http.StatusNoContent, http.MethodPost, "/api/v1/auth/totp/confirm", map[string]any{"code": code(0)}, nil)
	device := newClient(s)
	var first struct{ Pending string }
	device.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": ownerEmail, "password": ownerPassword},
		&first)
	device.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/totp",
		map[string]any{"pending": first.Pending, "code": code(30 * time.Second)}, nil)
	s.stop(t)

	put := func(text []byte, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, text, mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	put(oldKey, 0o600)
	run(t, s.env, "", "serve").fails(t, "does not have the key", "backup")
	run(t, s.env, "", "keys", "rotate").fails(t, "does not have the key")
	put(newKey, 0o644)
	run(t, s.env, "", "serve").fails(t, "chmod 600")
	put([]byte("nonsense"), 0o600)
	run(t, s.env, "", "serve").fails(t, file, "backup")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	run(t, s.env, "", "serve").fails(t, "the key file is missing", "backup")
	run(t, s.env, "", "keys", "rotate").fails(t, "the key file is missing")
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a new key was made beside sealed secrets: %v", err)
	}
	put(newKey, 0o600)
	s.start(t)
	sync()
}
