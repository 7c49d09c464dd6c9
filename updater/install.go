package updater

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// versionFile names the version of a release's folder.
const versionFile = "VERSION"

// Errors of Install.
var (
	// ErrDowngrade: what is installed is newer than the folder's release; it stays.
	ErrDowngrade = errors.New("the installed version is newer")
	// ErrOffline: a newer release would replace one that cannot be started and stopped now.
	ErrOffline = errors.New("the service cannot be stopped and started now")
)

// Install makes the release in a folder the installed one, for packages;
// whoever can write the folder is trusted. The first release is only put into
// its place. The same version is put there again if its files differ. A newer
// version is a run with all steps of an update, except that its release comes
// from the folder. offline says that the service can neither be stopped nor
// started, as in an image that is being built; then a newer version is
// ErrOffline. An older one is ErrDowngrade.
func (u *Updater) Install(ctx context.Context, tree string, offline bool) (*Result, error) {
	version, err := treeVersion(tree)
	if err != nil {
		return nil, err
	}
	end, err := u.beginNew()
	if err != nil {
		return nil, err
	}
	defer end()
	if line, err := u.last(); err != nil {
		return nil, err
	} else if line != nil && !line.Step.Final() {
		return nil, ErrUnfinished
	}
	from, err := u.cfg.Layout.installed()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return u.place(ctx, tree, "", version)
	case err != nil:
		return nil, err
	case release.Compare(version, from) < 0:
		return nil, fmt.Errorf("%w: %s stays, and %s is not installed", ErrDowngrade, from, version)
	case version == from:
		return u.place(ctx, tree, from, version)
	case offline:
		return nil, fmt.Errorf("%w: %s stays, and %s is not installed yet", ErrOffline, from, version)
	}
	return u.run(ctx, from, Options{tree: tree})
}

// treeVersion reads the version that a release's own file names.
func treeVersion(tree string) (string, error) {
	f, err := os.Open(filepath.Join(tree, versionFile))
	if err != nil {
		return "", fmt.Errorf("reading the version of the release: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 128))
	if err != nil {
		return "", fmt.Errorf("reading the version of the release: %w", err)
	}
	version := strings.TrimSpace(string(text))
	if !installation.ValidVersion(version) {
		return "", fmt.Errorf("%s does not contain a version", f.Name())
	}
	return version, nil
}

// place installs a release when no other one runs. Programs of the same version
// continue with their open files.
func (u *Updater) place(ctx context.Context, tree, from, version string) (*Result, error) {
	id, err := u.newID()
	if err != nil {
		return nil, err
	}
	staging := u.cfg.Layout.quarantine(id)
	if err := os.RemoveAll(filepath.Dir(staging)); err != nil {
		return nil, fmt.Errorf("emptying the quarantine: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }() // the next run empties the quarantine
	if staging, err = u.cfg.Layout.makeQuarantine(id); err != nil {
		return nil, err
	}
	fresh := filepath.Join(staging, treeName)
	if err := copyTree(ctx, tree, fresh); err != nil {
		return nil, err
	}
	if err := u.inspect(ctx, fresh, version); err != nil {
		return nil, err
	}
	u.hook("before adopt")
	if err := u.cfg.Layout.adopt(fresh, version); err != nil {
		return nil, err
	}
	u.hook("adopted")
	for _, point := range []func(string) error{u.cfg.Layout.pointUpdater, u.cfg.Layout.point} {
		if err := point(version); err != nil {
			return nil, err
		}
		u.hook("updater in place")
	}
	return &Result{From: from, To: version, Step: installation.StepDone}, nil
}

// takeTree replaces download for a release in a folder.
func (r *run) takeTree(ctx context.Context, tree string) error {
	version, err := treeVersion(tree)
	if err != nil {
		return err
	}
	r.plan.To = version
	quarantine, err := r.cfg.Layout.makeQuarantine(r.id)
	if err != nil {
		return err
	}
	return copyTree(ctx, tree, filepath.Join(quarantine, treeName))
}

// copyTree copies a folder of regular files, with their right to be executed.
func copyTree(ctx context.Context, from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if entry.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a folder nor a regular file", path)
		}
		if err := copyFile(path, target, release.MaxUnpacked); err != nil {
			return err
		}
		if info.Mode().Perm()&0o100 != 0 {
			return os.Chmod(target, 0o755)
		}
		return os.Chmod(target, 0o644)
	})
	if err != nil {
		return fmt.Errorf("copying the release: %w", err)
	}
	return nil
}
