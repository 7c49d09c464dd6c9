package updater

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/updater/installation"
)

// tree is a folder as a package brings it.
func (s *site) tree(programsOf, version string, edit func(tree string)) string {
	s.t.Helper()
	tree := filepath.Join(s.t.TempDir(), "release")
	s.copyTree(filepath.Join(programs(s.t), programsOf), tree)
	s.put(filepath.Join(tree, "VERSION"), version+"\n", 0o644)
	if edit != nil {
		edit(tree)
	}
	return tree
}

// Into an empty prefix a package's release is just put, and again when it is configured again.
func TestFirstInstall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	config.Layout.Prefix = filepath.Join(t.TempDir(), "opt")
	first := s.tree("whole-old", oldVersion, nil)
	for range 2 {
		answer := s.do(order{Do: "install", Tree: first, Offline: true, Config: config})
		if answer == nil || answer.Err != "" || answer.Result.Step != installation.StepDone || answer.Result.To != oldVersion {
			t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
		}
		if got, err := config.Layout.installed(); err != nil || got != oldVersion || config.Layout.updaterVersion() != oldVersion {
			t.Errorf("%s, %v, updater %s", got, err, config.Layout.updaterVersion())
		}
	}
	programs := []string{"hostlerd", "hostler-updater"}
	for _, plugin := range plugins(t) {
		programs = append(programs, "plugins/"+plugin)
	}
	for _, program := range programs {
		info, err := os.Stat(filepath.Join(config.Layout.current(), "bin", program))
		if err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", program, info, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(config.Layout.Prefix, "quarantine")); err != nil || len(entries) > 0 {
		t.Errorf("the quarantine holds %v, %v", entries, err)
	}
}

// What a package must not do, and what becomes of it then.
func TestInstallThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, test := range []struct {
		name, tree, says string
		offline          bool
	}{
		{"older", s.tree("old", "0.9.0", nil), ErrDowngrade.Error(), false},
		{"newer while nothing can be stopped", s.tree("new", newVersion, nil), ErrOffline.Error(), true},
		{"no version", s.tree("new", "../../etc", nil), "not contain a version", false},
		{"no such folder", "/nowhere", "reading the version", false},
		{"same version with another program", s.tree("new", oldVersion, nil), "the new program reports version", false},
		{"a link in it", s.tree("old", oldVersion, func(tree string) {
			if err := os.Symlink("/etc/passwd", filepath.Join(tree, "bin", "link")); err != nil {
				t.Fatal(err)
			}
		}), "neither a folder nor a regular file", false},
	} {
		if answer := s.do(order{Do: "install", Tree: test.tree, Offline: test.offline}); answer == nil ||
			!strings.Contains(answer.Err, test.says) {
			t.Errorf("%s: %+v", test.name, answer)
		}
		if got, err := s.config().Layout.installed(); err != nil || got != oldVersion {
			t.Errorf("%s: the link points to %s, %v", test.name, got, err)
		}
		s.await(oldVersion)
	}
	if s, err := installation.LastStatus(s.own); s != nil || err != nil {
		t.Errorf("there was a run: %+v, %v", s, err)
	}
}

// A newer package is a whole update, with its way back.
func TestInstallOverAnOlderRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	broken := s.tree("new", newVersion, wrap(`[ "$1" = serve ] && exit 3`))
	if answer := s.do(order{Do: "install", Tree: broken, Config: config}); answer == nil || answer.Err != "" ||
		!strings.Contains(answer.Reason, "ended 5 times") {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.holds(oldVersion, "rolled_back")
	if got := config.Layout.updaterVersion(); got != "" {
		t.Errorf("the updater in use is of %q", got)
	}
	if answer := s.do(order{Do: "install", Tree: s.tree("new", newVersion, nil), Config: config}); answer == nil || answer.Err != "" ||
		answer.Result.Step != installation.StepDone {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.holds(newVersion, "done")
	if got := config.Layout.updaterVersion(); got != newVersion {
		t.Errorf("the updater in use is of %q", got)
	}
}
