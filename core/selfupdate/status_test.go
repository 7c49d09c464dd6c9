package selfupdate_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/updater/installation"
)

// How the service is installed is read from the machine, and can be told.
func TestShape(t *testing.T) {
	t.Parallel()
	touch := func(name string) func(*selfupdatetest.Installation, *selfupdate.Machine) {
		return func(i *selfupdatetest.Installation, _ *selfupdate.Machine) {
			path := filepath.Join(i.Dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				panic(err)
			}
			i.Write(path, "")
		}
	}
	program := func(path string) func(*selfupdatetest.Installation, *selfupdate.Machine) {
		return func(i *selfupdatetest.Installation, m *selfupdate.Machine) {
			m.Program = filepath.Join(i.Config.Prefix, path)
		}
	}
	for name, test := range map[string]struct {
		change func(*selfupdatetest.Installation, *selfupdate.Machine)
		told   selfupdate.Shape
		want   selfupdate.Shape
	}{
		"a package":              {func(*selfupdatetest.Installation, *selfupdate.Machine) {}, "", selfupdate.ShapePackage},
		"podman":                 {touch("run/.containerenv"), "", selfupdate.ShapeContainer},
		"docker":                 {touch(".dockerenv"), "", selfupdate.ShapeContainer},
		"a package in LXC":       {touch("run/systemd/container"), "", selfupdate.ShapePackage},
		"a package in nspawn":    {touch("run/host/container-manager"), "", selfupdate.ShapePackage},
		"docker, told otherwise": {touch(".dockerenv"), selfupdate.ShapePackage, selfupdate.ShapePackage},
		"a package, told otherwise": {func(*selfupdatetest.Installation, *selfupdate.Machine) {}, selfupdate.ShapeContainer,
			selfupdate.ShapeContainer},
		"a pod": {func(_ *selfupdatetest.Installation, m *selfupdate.Machine) {
			m.Getenv = func(name string) string { return map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}[name] }
		}, "", selfupdate.ShapeContainer},
		"beside the releases":   {program("bin/hostlerd"), "", selfupdate.ShapeSource},
		"no version":            {program("releases/tmp/bin/hostlerd"), "", selfupdate.ShapeSource},
		"a version and nothing": {program("releases/1.0.0"), "", selfupdate.ShapeSource},
		"through dots":          {program("releases/1.0.0/../../bin/hostlerd"), "", selfupdate.ShapeSource},
		"no configuration": {func(i *selfupdatetest.Installation, _ *selfupdate.Machine) {
			if err := os.Remove(i.File); err != nil {
				panic(err)
			}
		}, "", selfupdate.ShapeSource},
		"a configuration of anybody": {func(i *selfupdatetest.Installation, _ *selfupdate.Machine) {
			if err := os.Chmod(i.File, 0o666); err != nil {
				panic(err)
			}
		}, "", selfupdate.ShapeSource},
		"a prefix behind a link": {func(i *selfupdatetest.Installation, _ *selfupdate.Machine) {
			link := filepath.Join(i.Dir, "link")
			if err := os.Symlink(i.Config.Prefix, link); err != nil {
				panic(err)
			}
			i.Configure(func(c *installation.Config) { c.Prefix = link })
		}, "", selfupdate.ShapePackage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installed := selfupdatetest.New(t, "1.0.0")
			m := installed.Machine()
			test.change(installed, &m)
			got := selfupdate.New(selfupdate.Config{ConfigFile: installed.File, Machine: m, Shape: test.told}).Shape()
			if got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
	if _, err := selfupdate.ParseShape("canary"); err == nil {
		t.Error("shape not found")
	}
}

var plan = &installation.Plan{From: "1.0.0", To: "1.1.0", Request: "r1"}

// begun is a run up to where it has stopped the service.
var begun = []string{
	written(0, "run1", "backup", "begun", "", &installation.Plan{From: "1.0.0", Request: "r1"}),
	written(1, "run1", "backup", "ended", "", &installation.Plan{From: "1.0.0", Request: "r1"}),
	written(1, "run1", "download", "begun", "", plan), written(2, "run1", "download", "ended", "", plan),
	written(2, "run1", "stop", "begun", "", plan),
}

// The updater's files say how it stands, at any moment and to whoever reads them: nothing is remembered.
func TestStates(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Exec(`INSERT INTO update_requests (id, version_from, version_to, machine, actor_type, actor_email, requested_at) VALUES ('r1', ` +
		`'1.0.0', '1.1.0', 'elsewhere', 'user', 'ann@example.org', now() - interval '1 day')`)
	is := func(what string, state selfupdate.State, check func(s *selfupdate.Status) bool) {
		t.Helper()
		for name, of := range map[string]*instance{"": i, " after a restart": again(t, i.url, i.Installation, nil)} {
			s := of.status()
			if s.State != state || len(s.Problems) > 0 || !check(s) {
				t.Errorf("%s%s: %+v, %+v", what, name, s, s.Run)
			}
		}
	}
	is("nothing yet", "idle", func(s *selfupdate.Status) bool { return s.Run == nil && s.Request == nil })
	free := i.Lock()
	is("an updater begins", "running", func(s *selfupdate.Status) bool { return s.Run == nil })
	i.Journal(begun...)
	is("a run goes on", "running", func(s *selfupdate.Status) bool {
		r := s.Run
		return r.ID == "run1" && r.Request == "r1" && r.RequestedBy == "ann@example.org" && r.From == "1.0.0" && r.To == "1.1.0" &&
			r.Step == "migrate" && r.Reason == "" &&
			len(r.Steps) == 3 && r.Steps[0].Step == "backup" && r.Steps[0].EndedAt.Equal(selfupdatetest.Day.Add(time.Minute)) &&
			r.Steps[2].EndedAt == nil &&
			r.StartedAt.Equal(selfupdatetest.Day) && r.FinishedAt == nil && !r.DryRun
	})
	free()
	is("it was cut off", "interrupted", func(s *selfupdate.Status) bool {
		return s.Run.ID == "run1" && strings.Contains(s.Hint, "hostler-updater-resume")
	})
	for step, state := range map[installation.Step]selfupdate.State{"done": "done", "rolled back": "rolled_back", "failed": "failed"} {
		i.Journal(append(begun, written(9, "run1", step, "ended", "why\x1b[2J\nso", plan))...)
		is(string(step), state, func(s *selfupdate.Status) bool {
			return s.Run.Step == string(step) && s.Run.Reason == "why[2J so" && s.Run.FinishedAt.Equal(selfupdatetest.Day.Add(9*time.Minute))
		})
	}
	if err := installation.PutRequest(i.Config.Request, installation.Request{ID: "r2", Version: "1.2.0"}); err != nil {
		t.Fatal(err)
	}
	is("a request waits", "requested", func(s *selfupdate.Status) bool {
		return s.Run == nil && s.Request.ID == "r2" && s.Request.Version == "1.2.0" && s.Request.RequestedBy == "" &&
			!strings.Contains(s.Hint, "path")
	})
	long := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(i.Config.Request, long, long); err != nil {
		t.Fatal(err)
	}
	is("nobody takes it", "requested", func(s *selfupdate.Status) bool { return strings.Contains(s.Hint, "hostler-updater.path") })
	i.Take()
	i.Refuse(installation.Refusal{At: selfupdatetest.Day.Add(time.Hour), Request: "r2", Version: "1.2.0", Reason: "no"})
	is("it is refused", "refused", func(s *selfupdate.Status) bool {
		return s.Run.ID == "" && s.Run.Request == "r2" && s.Run.To == "1.2.0" && s.Run.Reason == "no" && s.Run.FinishedAt != nil &&
			len(s.Run.Steps) == 0
	})
	tried := &installation.Plan{From: "1.0.0", To: "1.1.0", DryRun: true}
	i.Journal(written(70, "run2", "backup", "begun", "", tried), written(71, "run2", "done", "ended", "", tried))
	is("a trial", "done", func(s *selfupdate.Status) bool { return s.Run.DryRun && s.Run.RequestedBy == "" })
}

// Whatever has become of the files, there is an answer with what is known, and it says what is not.
func TestSpoiltFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil   func(i *instance) error
		problem string
		refused string
	}{
		"journal": {func(i *instance) error { i.Journal("canary{"); return nil }, "journal", "invalid_state unknown"},
		"journal a folder": {func(i *instance) error { return os.Mkdir(installation.Journal(i.Config.StateDir), 0o755) }, "journal",
			"invalid_state unknown"},
		"refusal": {func(i *instance) error {
			i.Write(filepath.Join(i.Config.StateDir, "refused.json"), "{")
			return nil
		}, "", ""},
		"request":            {func(i *instance) error { i.Write(i.Config.Request, "{"); return nil }, "request", "invalid_state unknown"},
		"request a pipe":     {func(i *instance) error { return syscall.Mkfifo(i.Config.Request, 0o600) }, "request", "invalid_state unknown"},
		"configuration":      {func(i *instance) error { i.Write(i.File, "{"); return nil }, "configuration", "invalid_state configuration"},
		"configuration open": {func(i *instance) error { return os.Chmod(i.File, 0o666) }, "configuration", "invalid_state configuration"},
		"state is a file": {func(i *instance) error {
			return errors.Join(os.Remove(i.Config.StateDir), os.WriteFile(i.Config.StateDir, nil, 0o600))
		}, "journal", "invalid_state unknown"},
		"no configuration": {func(i *instance) error { return os.Remove(i.File) }, "", "invalid_state not_configured"},
		"no state yet":     {func(i *instance) error { return os.Remove(i.Config.StateDir) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := start(t, nil)
			i.Publish("1.1.0", nil)
			if got := i.look(); got != "" {
				t.Fatal(got)
			}
			if err := test.spoil(i); err != nil {
				t.Fatal(err)
			}
			s := i.status()
			if (len(s.Problems) > 0) != (test.problem != "") || !strings.Contains(strings.Join(s.Problems, " "), test.problem) ||
				strings.Contains(strings.Join(s.Problems, " "), "canary") {
				t.Errorf("%q", s.Problems)
			}
			if s.CurrentVersion != "1.0.0" || s.LastCheck == nil || s.State != "idle" ||
				(s.Available == nil) != (test.problem == "configuration" || name == "no configuration") {
				t.Errorf("%+v", s)
			}
			if s.CanSelfApply != (s.Channel != "") || (!s.CanSelfApply && s.Hint == "") {
				t.Errorf("%+v", s)
			}
			if _, err := i.Request(t.Context(), ""); reason(err) != test.refused {
				t.Errorf("a request: %v", err)
			}
		})
	}
}

// What does not come from a package knows nothing of the updater's files: they are those of another Hostler.
func TestOtherShapesHaveNoRuns(t *testing.T) {
	t.Parallel()
	for _, shape := range []selfupdate.Shape{selfupdate.ShapeContainer, selfupdate.ShapeSource} {
		i := start(t, func(c *selfupdate.Config) { c.Shape, c.Version = shape, "v1.0.0" })
		i.Journal(append(begun, written(9, "run1", "done", "ended", "", plan))...)
		i.Publish("1.1.0", nil)
		if got := i.look(); got != "" {
			t.Fatal(got)
		}
		// Whoever names a source may know what there is all the same.
		if s := i.status(); s.State != "idle" || s.Run != nil || s.CanSelfApply || s.Hint == "" || s.Shape != shape || s.Available == nil {
			t.Errorf("%+v", s)
		}
		if _, err := i.Request(t.Context(), ""); reason(err) != "invalid_state "+string(shape) {
			t.Errorf("%v", err)
		}
		if err := i.RecordRuns(t.Context()); err != nil || i.Value("SELECT count(*) FROM audit") != "0" {
			t.Errorf("%v", err)
		}
		if _, err := os.Lstat(i.Config.Request); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a request was written: %v", err)
		}
	}
}
