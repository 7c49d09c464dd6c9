package updater

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/updater/installation"
)

// Whoever wants an update to stop is heard until the service is stopped, and not from then on.
func TestUpdateIsHeardUntilTheStop(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]installation.Step{
		"in trial": installation.StepFailed, "in stop": installation.StepDone, "in migrate": installation.StepDone,
		"in health-check": installation.StepDone,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			u, v := newUpdater(t, liveDatabase(t))
			tree := t.TempDir()
			for path, text := range map[string]string{
				versionFile: newVersion, "bin/hostler-updater": "#!/bin/sh\n",
				"bin/hostlerd": "#!/bin/sh\n[ \"$1\" = version ] && echo " + newVersion + "\nexit 0\n",
			} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(tree, path)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := programtest.Write(filepath.Join(tree, path), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			u.hook = func(at string) {
				if at == "in switch" {
					v.change(func() { v.version = newVersion })
				}
				if at == point {
					cancel()
				}
			}
			result, err := u.Install(ctx, tree, false)
			if err != nil || result.Step != want {
				t.Fatalf("%+v, %v", result, err)
			}
			version := map[installation.Step]string{installation.StepDone: newVersion, installation.StepFailed: oldVersion}[want]
			if got, err := u.cfg.Layout.installed(); err != nil || got != version {
				t.Errorf("%s, %v", got, err)
			}
			if names, err := u.cfg.Database.names(t.Context()); err != nil || len(names) != 1 {
				t.Errorf("%v, %v", names, err)
			}
			if want == installation.StepFailed && v.stops != 0 {
				t.Error("the service was stopped")
			}
		})
	}
}
