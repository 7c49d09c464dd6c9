package updater

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/updater/installation"
)

// Layout holds the places of files. What is renamed within Prefix, and within
// StateDir, must be on one file system.
type Layout struct {
	// Prefix holds releases/<version>, the link current to one of them, and quarantine.
	Prefix string
	// StateDir belongs to root: journal, backups, what was seen, the lock.
	StateDir string
	// Keys is the folder of trusted public keys.
	Keys string
	// Secrets are files of the service that a backup copies beside the
	// database's dump: above all the key of its secrets.
	Secrets []string
}

// check refuses paths that are not absolute: updater and service have different
// working directories.
func (l Layout) check() error {
	for _, path := range []string{l.Prefix, l.StateDir, l.Keys} {
		if !filepath.IsAbs(path) {
			return errors.New("the updater's folders need absolute paths")
		}
	}
	return nil
}

// releases holds one folder for each installed release.
func (l Layout) releases() string { return filepath.Join(l.Prefix, "releases") }

// release is the folder of one.
func (l Layout) release(version string) string { return filepath.Join(l.releases(), version) }

// current is the symbolic link to the release that runs. It is exchanged by a
// rename, so that it leads somewhere at every moment.
func (l Layout) current() string { return filepath.Join(l.Prefix, "current") }

// updater is the updater's own copy, which a release's exchange leaves alone.
func (l Layout) updater() string { return filepath.Join(l.Prefix, "updater") }

// quarantine is where a release waits until it was checked.
func (l Layout) quarantine(run string) string { return filepath.Join(l.Prefix, "quarantine", run) }

// backups holds one folder for each run.
func (l Layout) backups() string { return filepath.Join(l.StateDir, "backups") }

// backup is the folder of one run's backup.
func (l Layout) backup(run string) string { return filepath.Join(l.backups(), run) }

// seen is the file that notes the newest release seen of each channel, against
// a server that offers an old one.
func (l Layout) seen() string { return filepath.Join(l.StateDir, "seen.json") }

// program returns the path of a release's service.
func (l Layout) program(version string) string {
	return filepath.Join(l.release(version), "bin", "hostlerd")
}

// installed returns the version to which current points.
func (l Layout) installed() (string, error) {
	target, err := os.Readlink(l.current())
	if err != nil {
		return "", fmt.Errorf("reading the link to the current release: %w", err)
	}
	version := filepath.Base(target)
	if !installation.ValidVersion(version) || target != filepath.Join("releases", version) && target != l.release(version) {
		return "", fmt.Errorf("%s does not point to a release but to %q", l.current(), target)
	}
	return version, nil
}

// updaterVersion returns the release of the updater in use; empty if the link
// does not exist.
func (l Layout) updaterVersion() string {
	target, err := os.Readlink(l.updater())
	if err != nil {
		return ""
	}
	return filepath.Base(filepath.Dir(filepath.Dir(target)))
}

// point makes current point to a release, in one step: a start meets the old or
// the new one.
func (l Layout) point(version string) error {
	if _, err := os.Stat(l.program(version)); err != nil {
		return fmt.Errorf("the release %s does not exist: %w", version, err)
	}
	return l.link(l.current(), filepath.Join("releases", version))
}

// pointUpdater makes the updater's link point into a release. It moves only
// after the release has been healthy, so that the program that ends a broken
// update is the one that began it.
func (l Layout) pointUpdater(version string) error {
	target := filepath.Join("releases", version, "bin", "hostler-updater")
	if _, err := os.Stat(filepath.Join(l.Prefix, target)); err != nil {
		return fmt.Errorf("the release %s does not contain an updater: %w", version, err)
	}
	return l.link(l.updater(), target)
}

// link replaces a link in one step. The old link stays beside it, so that the
// way back needs no space on the disk.
func (l Layout) link(path, target string) error {
	if have, err := os.Readlink(path); err == nil && have == target {
		return nil
	}
	other := path + ".previous"
	if have, err := os.Readlink(other); err != nil || have != target {
		if err := os.Remove(other); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an old link: %w", err)
		}
		if err := os.Symlink(target, other); err != nil {
			return fmt.Errorf("creating the link to %s: %w", target, err)
		}
	}
	err := unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOENT) {
		err = os.Rename(other, path)
	}
	if err != nil {
		return fmt.Errorf("switching the link to %s: %w", target, err)
	}
	if err := installation.SyncDir(l.Prefix); err != nil {
		return fmt.Errorf("writing the link to the disk: %w", err)
	}
	return nil
}

// makeQuarantine makes the folder of a run in the quarantine. The folder around
// it is readable, because verified programs are tried there as the service's
// user.
func (l Layout) makeQuarantine(run string) (string, error) {
	dir := l.quarantine(run)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("creating the quarantine: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating the quarantine: %w", err)
	}
	return dir, nil
}
