package selfupdate_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/updater/installation"
)

// A request is what was found and nothing else, and its way to the end is told at each moment.
func TestRequest(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Publish("1.1.0", nil)
	ctx, attempt := audit.Begin(identity.WithCaller(t.Context(), &identity.Caller{UserID: 7, KeyID: 3, Email: "ann@example.org"}),
		audit.Entry{ActorType: audit.ActorAPIKey, Action: "update.request"})
	if _, err := i.Request(ctx, "1.0.9"); reason(err) != "invalid_state another_version" || problem.From(err).Members["version"] != "1.1.0" {
		t.Errorf("another version: %v", err)
	}
	s, err := i.Request(ctx, "1.1.0")
	if err != nil || s.State != "requested" || s.Request.Version != "1.1.0" || s.Request.RequestedBy != "ann@example.org" ||
		s.Available == nil || !attempt.Written() {
		t.Fatalf("%+v, %v", s, err)
	}
	if got, want := i.Value("SELECT action || ' ' || result || ' ' || target_kind || ' ' || target_name || ' ' || (details - 'request') "+
		"|| (details->>'request' = $1) FROM audit", s.Request.ID),
		`update.request ok release 1.1.0 {"to": "1.1.0", "from": "1.0.0"}true`; got != want {
		t.Errorf("the audit log has %s", got)
	}
	for name, of := range map[string]*instance{"again": i, "after a restart": again(t, i.url, i.Installation, nil)} {
		if _, err := of.Request(t.Context(), ""); reason(err) != "invalid_state requested" {
			t.Errorf("%s: %v", name, err)
		}
	}
	taken := i.Take()
	if taken == nil || taken.ID != s.Request.ID || taken.Version != "1.1.0" {
		t.Fatalf("%+v", taken)
	}
	// Taken, and the updater has not written its first line.
	if s := i.status(); s.State != "requested" || s.Request.ID != taken.ID {
		t.Errorf("%+v", s)
	}
	if _, err := i.Request(t.Context(), ""); reason(err) != "invalid_state requested" {
		t.Errorf("in the updater's hands: %v", err)
	}
	free := i.Lock()
	if _, err := i.Request(t.Context(), ""); reason(err) != "invalid_state running" {
		t.Errorf("running: %v", err)
	}
	plan := &installation.Plan{From: "1.0.0", To: "1.1.0", Request: taken.ID}
	i.Journal(written(0, "run1", "backup", "begun", "", plan))
	free()
	if _, err := i.Request(t.Context(), ""); reason(err) != "invalid_state interrupted" {
		t.Errorf("interrupted: %v", err)
	}
	i.Journal(written(0, "run1", "backup", "begun", "", plan), written(2, "run1", "failed", "ended", "full", plan))
	if s := i.status(); s.State != "failed" || s.Run.RequestedBy != "ann@example.org" {
		t.Errorf("%+v", s)
	}
	if s, err := i.Request(t.Context(), ""); err != nil || s.State != "requested" || s.Request.ID == taken.ID {
		t.Errorf("and again: %+v, %v", s, err)
	}
}

// An updater that takes a request and dies without a word is no secret for long.
func TestRequestWithoutATrace(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Publish("1.1.0", nil)
	if _, err := i.Request(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	i.Take()
	i.Exec("UPDATE update_requests SET requested_at = now() - interval '2 minutes'")
	if s := i.status(); s.State != "idle" || !strings.Contains(s.Hint, "journalctl") {
		t.Errorf("%+v", s)
	}
	if s, err := i.Request(t.Context(), ""); err != nil || s.State != "requested" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Of many at once, on two instances, one wins; the file and the database have the same.
func TestRequestsAtOnce(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Publish("1.1.0", nil)
	other := again(t, i.url, i.Installation, nil)
	// A slow disk: who is not kept out until the first has committed finds no request yet.
	i.Exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$`)
	i.Exec(`CREATE TRIGGER test_slow BEFORE INSERT ON update_requests FOR EACH ROW EXECUTE FUNCTION slow()`)
	var wg sync.WaitGroup
	results := make([]error, 12)
	for n := range results {
		wg.Go(func() { _, results[n] = []*instance{i, other}[n%2].Request(t.Context(), "1.1.0") })
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if reason(err) != "invalid_state requested" {
			t.Errorf("%v", err)
		}
	}
	if won != 1 || i.Value("SELECT count(*) || ' ' || max(id) FROM update_requests") != "1 "+i.Take().ID {
		t.Errorf("%d won", won)
	}
}

// A request that cannot be written leaves nothing half: no file, no row, and a problem that says why.
func TestRequestThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this machine has no /dev/full")
	}
	for name, test := range map[string]struct {
		spoil func(i *instance) error
		says  string
	}{
		// What the request is written to before it is renamed is a device that is always full.
		"the folder is gone": {func(i *instance) error {
			i.Configure(func(c *installation.Config) { c.Request = filepath.Join(i.Dir, "gone", "request.json") })
			return nil
		}, "no such file"},
		"a folder in the way": {func(i *instance) error { return os.Mkdir(i.Config.Request+".new", 0o755) }, "is a directory"},
		"a link in the way":   {func(i *instance) error { return os.Symlink("/dev/full", i.Config.Request+".new") }, "too many levels"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := start(t, nil)
			i.Publish("1.1.0", nil)
			if err := test.spoil(i); err != nil {
				t.Fatal(err)
			}
			_, err := i.Request(t.Context(), "")
			if p := problem.From(err); err == nil || p.Code != problem.CodeUpdateNotRequested || !strings.Contains(p.Detail, test.says) {
				t.Errorf("%v", err)
			}
			if got := i.Value("SELECT (SELECT count(*) FROM update_requests) + (SELECT count(*) FROM audit)"); got != "0" {
				t.Errorf("%s rows are left", got)
			}
			if s := i.status(); s.State != "idle" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A full disk: a file system of a few pages that is full.
func TestRequestOnAFullDisk(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Publish("1.1.0", nil)
	disk := filepath.Join(i.Dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8k"); err != nil {
		t.Skipf("only root mounts: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
	if err := os.WriteFile(filepath.Join(disk, "filler"), make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Configure(func(c *installation.Config) { c.Request = filepath.Join(disk, "request.json") })
	_, err := i.Request(t.Context(), "")
	if p := problem.From(err); err == nil || p.Code != problem.CodeUpdateNotRequested || !strings.Contains(p.Detail, "no space") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	if s, err := i.Request(t.Context(), ""); err != nil || s.State != "requested" {
		t.Errorf("with room: %+v, %v", s, err)
	}
}

// A commit that fails takes the file back: an update that nobody has asked for in the audit log must not begin.
func TestRequestWhoseCommitFails(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Publish("1.1.0", nil)
	i.Exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused at the commit'; END $$`)
	i.Exec(`CREATE CONSTRAINT TRIGGER test_refuse AFTER INSERT ON update_requests DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE ` +
		`FUNCTION refuse()`)
	if _, err := i.Request(t.Context(), ""); err == nil {
		t.Error("it was committed")
	}
	if _, err := os.Lstat(i.Config.Request); err == nil {
		t.Error("the request is there")
	}
	if s := i.status(); s.State != "idle" {
		t.Errorf("%+v", s)
	}
}
