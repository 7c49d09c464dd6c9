package updater

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hostler/hostler/updater/release"
)

// verify unpacks the tarball, whose size and sum were found right while it came in, looks at what it holds, and moves it
// below the releases in one step. A folder of that version that is there already is of a run that failed: nothing points
// to it, and it is replaced.
func (r *run) verify(ctx context.Context) error {
	quarantine := r.cfg.Layout.quarantine(r.id)
	tarball, err := os.Open(filepath.Join(quarantine, tarballName))
	if err != nil {
		return fmt.Errorf("opening the tarball: %w", err)
	}
	defer func() { _ = tarball.Close() }()
	tree := filepath.Join(quarantine, "tree")
	if err := release.Unpack(ctx, tarball, tree); err != nil {
		return err
	}
	if err := r.inspect(ctx, tree); err != nil {
		return err
	}
	place := r.cfg.Layout.release(r.plan.To)
	if r.plan.To == r.plan.From {
		return errors.New("the release would replace the one that runs")
	}
	if err := os.RemoveAll(place); err != nil {
		return fmt.Errorf("removing an unused release: %w", err)
	}
	if err := os.Chmod(tree, 0o755); err != nil {
		return fmt.Errorf("opening the release to readers: %w", err)
	}
	if err := os.Rename(tree, place); err != nil {
		return fmt.Errorf("moving the release out of the quarantine: %w", err)
	}
	return syncDir(r.cfg.Layout.releases())
}

// inspect asks the new service for its version: a tarball of another release, or for another machine, must not get far.
func (r *run) inspect(ctx context.Context, tree string) error {
	program := filepath.Join(tree, "bin", "hostlerd")
	info, err := os.Lstat(program)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o100 == 0 {
		return fmt.Errorf("the release has no program bin/hostlerd: %w", errors.Join(err, fs.ErrInvalid))
	}
	if err := os.Chmod(filepath.Dir(tree), 0o755); err != nil { // for the user who runs it
		return fmt.Errorf("opening the quarantine: %w", err)
	}
	ctx, cancel := contextWithin(ctx, programTime)
	defer cancel()
	says, err := command{as: r.cfg.Database.OwnerUser, name: program, args: []string{"version"}}.output(ctx)
	if err != nil {
		return fmt.Errorf("asking the new program for its version: %w", err)
	}
	if says != r.plan.To {
		return fmt.Errorf("the new program says that it is version %q and the manifest says %q", firstWord(says), r.plan.To)
	}
	return nil
}
