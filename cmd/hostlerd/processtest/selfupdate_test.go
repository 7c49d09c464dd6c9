package processtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// updateView is what the test reads of GET /meta/update.
type updateView struct {
	CurrentVersion string `json:"current_version"`
	Available      *struct{ Version string }
	Shape          string
	CanSelfApply   bool `json:"can_self_apply"`
	State          string
	Request        *struct{ ID string }
	Run            *struct {
		Reason      string
		RequestedBy string `json:"requested_by"`
	}
	Problems []string
}

// The service of an installation looks for releases by itself, asks the updater, and tells how it went: after a kill and a
// restart too, from the files alone.
func TestSelfUpdate(t *testing.T) {
	t.Parallel()
	installed := selfupdatetest.New(t, "1.0.0")
	installed.Publish("1.1.0", func(m *release.Manifest) {
		m.Files[runtime.GOOS+"/"+runtime.GOARCH] = m.Files[selfupdatetest.Architecture]
	})
	program := installed.Machine().Program
	text, err := os.ReadFile(filepath.Join(bin(t), "hostlerd"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := programtest.Write(program, text); err != nil {
		t.Fatal(err)
	}
	// The tests themselves may run in a container.
	s := startService(t, options{Program: program, Env: []string{"HOSTLER_UPDATE_CONFIG=" + installed.File, "HOSTLER_SHAPE=package"}})
	owner, d := setUp(t, s), dbtest.Open(t, s.DB)
	see := func(path string) (u updateView) {
		t.Helper()
		owner.must(t, http.StatusOK, http.MethodGet, path, nil, &u)
		return u
	}
	if u := see("/meta/update"); u.CurrentVersion != "1.0.0" || u.Shape != "package" || !u.CanSelfApply || u.State != "idle" ||
		u.Available != nil || len(u.Problems) > 0 {
		t.Errorf("%+v", u)
	}
	on := func(want int) {
		t.Helper()
		waittest.Succeeds(t, fmt.Sprintf("%d schedules look for releases", want), func() error {
			if n := number(t, d, "SELECT count(*) FROM schedules WHERE job_kind = 'update.check' AND "+
				"enabled AND next_run_at IS NOT NULL"); n != want {
				return fmt.Errorf("%d do", n)
			}
			return nil
		})
	}
	on(1)
	owner.must(t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/schedules/%d/run", seed(t, d, "update.check")), nil, nil)
	waittest.Succeeds(t, "the release is found", func() error {
		if u := see("/api/v1/meta/update"); u.Available == nil || u.Available.Version != "1.1.0" {
			return fmt.Errorf("%+v", u)
		}
		return nil
	})
	owner.must(t, http.StatusAccepted, http.MethodPost, "/meta/update", map[string]any{"version": "1.1.0"}, nil)
	if a := owner.do(t, http.MethodPost, "/api/v1/meta/update", nil); a.Status != http.StatusConflict || a.problem() != "invalid_state" {
		t.Errorf("once more: %d %s", a.Status, a.Body)
	}
	if info, err := os.Stat(installed.Config.Request); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the request: %v, %v", info, err)
	}
	s.kill()
	s.start(t)
	if u := see("/meta/update"); u.State != "requested" || u.Request == nil {
		t.Errorf("after a kill: %+v", u)
	}
	began := time.Now().UTC().Add(-time.Hour)
	line := func(minute int, run, step, event, reason, request string) string {
		return fmt.Sprintf(`{"at":%q,"run":%q,"step":%q,"event":%q,"text":%q,"plan":{"from":"1.0.0","to":"1.1.0","request":%q}}`,
			began.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339), run, step, event, reason, request)
	}
	taken := installed.Take()
	lines := []string{line(0, "a", "backup", "begun", "", taken.ID), line(1, "a", "rolled back", "ended", "health-check: canary", taken.ID)}
	installed.Journal(lines...)
	told := func(want string) {
		t.Helper()
		waittest.Succeeds(t, "the audit log tells it", func() error {
			var got string
			if err := d.Pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(action || ' ' || actor_email, ', ' ORDER BY id), '') FROM audit
				WHERE action LIKE 'update.%' AND result <> 'refused'`).Scan(&got); err != nil {
				return err
			}
			if got != want {
				return fmt.Errorf("it has %s", got)
			}
			return nil
		})
	}
	so := "update.request " + ownerEmail + ", update.rolled_back " + ownerEmail
	told(so)
	if u := see("/meta/update"); u.State != "rolled_back" || u.Run.Reason != "health-check: canary" || u.Run.RequestedBy != ownerEmail {
		t.Errorf("%+v", u)
	}
	// What ends while the service is down is told when it is back.
	s.kill()
	installed.Journal(append(lines, line(2, "b", "backup", "begun", "", ""), line(3, "b", "done", "ended", "", ""))...)
	s.start(t)
	told(so + ", update.done hostler-updater")
	if a := owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/cluster/activity", nil, nil); !strings.Contains(string(a.Body),
		`"title":"update.done 1.1.0"`) {
		t.Errorf("the feed has %s", a.Body)
	}
	// The real updater takes the request. There is no current release here, so that it makes no run of it, and says so.
	installed.Configure(func(c *installation.Config) {
		packaged := installation.PackageConfig()
		c.Unit, c.Ready, c.Database = packaged.Unit, packaged.Ready, packaged.Database
	})
	owner.must(t, http.StatusAccepted, http.MethodPost, "/api/v1/meta/update", map[string]any{}, nil)
	if out, err := exec.CommandContext(t.Context(), updaterProgram(t), "run", "--requested", "--config",
		installed.File).CombinedOutput(); err == nil {
		t.Errorf("the updater has made a run: %s", out)
	}
	if u := see("/meta/update"); u.State != "refused" || !strings.Contains(u.Run.Reason, "current release") ||
		u.Run.RequestedBy != ownerEmail || u.Request != nil {
		t.Errorf("%+v", u)
	}
	waittest.Succeeds(t, "the refusal is told", func() error {
		if n := number(t, d, "SELECT count(*) FROM audit WHERE action = 'update.refused' AND result = 'refused' AND actor_email = $1",
			ownerEmail); n != 1 {
			return fmt.Errorf("%d times", n)
		}
		return nil
	})
	s.kill()
	installed.Configure(func(c *installation.Config) { c.Source, c.Channel = "", "" })
	s.start(t)
	on(0)
	if n := number(t, d, "SELECT count(*) FROM audit WHERE action IN ('update.done', 'update.rolled_back', 'update.refused')"); n != 3 {
		t.Errorf("the audit log has %d results of updates, want 3", n)
	}
}

// updaterProgram builds the updater.
func updaterProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hostler-updater")
	if err := programtest.Build(t.Context(), "../../..", path, "./cmd/hostler-updater"); err != nil {
		t.Fatal(err)
	}
	return path
}

// A service that nobody installed has no updates, and no fault for it; a shape that there is not is refused at the start.
func TestSelfUpdateIsNotForEverybody(t *testing.T) {
	t.Parallel()
	s := startService(t, options{Args: []string{"--shape", "container", "--update-config", filepath.Join(t.TempDir(), "none.json")}})
	owner := setUp(t, s)
	var u updateView
	owner.must(t, http.StatusOK, http.MethodGet, "/meta/update", nil, &u)
	if u.CurrentVersion != "dev" || u.Shape != "container" || u.CanSelfApply || u.State != "idle" || len(u.Problems) > 0 {
		t.Errorf("%+v", u)
	}
	if a := owner.do(t, http.MethodPost, "/meta/update", nil); a.Status != http.StatusConflict ||
		!strings.Contains(string(a.Body), `"reason":"container"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	run(t, s.env, "", "serve", "--shape", "canary").fails(t, "shape", "package, container, source")
}
