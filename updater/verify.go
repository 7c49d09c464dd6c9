package updater

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// verify unpacks the tarball, whose size and sum were found right while it came in, looks at what it holds, and moves it
// below the releases in one step. A folder of that version that is there already is of a run that failed: nothing points
// to it, and it is replaced.
func (r *run) verify(ctx context.Context) error {
	tree := filepath.Join(r.cfg.Layout.quarantine(r.id), treeName)
	if err := r.unpack(ctx, tree); err != nil {
		return err
	}
	if err := r.inspect(ctx, tree, r.plan.To); err != nil {
		return err
	}
	if r.plan.To == r.plan.From {
		return errors.New("the release is already running")
	}
	return r.cfg.Layout.adopt(tree, r.plan.To)
}

// treeName is the folder of the release in quarantine.
const treeName = "tree"

// unpack unpacks the tarball; a run that was given a folder has none.
func (r *run) unpack(ctx context.Context, tree string) error {
	if !r.tarball {
		return nil
	}
	tarball, err := os.Open(filepath.Join(r.cfg.Layout.quarantine(r.id), tarballName))
	if err != nil {
		return fmt.Errorf("opening the tarball: %w", err)
	}
	defer func() { _ = tarball.Close() }()
	return release.Unpack(ctx, tarball, tree)
}

// adopt moves a tree below the releases in one step. A folder of that version that is there already takes the tree's place.
func (l Layout) adopt(tree, version string) error {
	place := l.release(version)
	if err := os.Chmod(tree, 0o755); err != nil {
		return fmt.Errorf("making the release readable: %w", err)
	}
	err := unix.Renameat2(unix.AT_FDCWD, tree, unix.AT_FDCWD, place, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOENT) {
		err = os.Rename(tree, place)
	}
	if err != nil {
		return fmt.Errorf("moving the release out of the quarantine: %w", err)
	}
	if err := installation.SyncDir(l.releases()); err != nil {
		return fmt.Errorf("writing the release to the disk: %w", err)
	}
	return nil
}

// inspect asks the new service for its version: a tarball of another release, or for another machine, must not get far.
func (u *Updater) inspect(ctx context.Context, tree, version string) error {
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
	says, err := command{as: u.cfg.Database.OwnerUser, name: program, args: []string{"version"}}.output(ctx)
	if err != nil {
		return fmt.Errorf("getting the version of the new program: %w", err)
	}
	if says != version {
		return fmt.Errorf("the new program reports version %q, but the release has version %q", firstWord(says), version)
	}
	return nil
}
