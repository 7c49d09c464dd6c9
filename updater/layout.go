package updater

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Layout is where things are. All folders are on one file system with their neighbours: what is renamed within Prefix and
// within StateDir must not cross one.
type Layout struct {
	// Prefix holds releases/<version>, the link current to one of them, and quarantine.
	Prefix string
	// StateDir belongs to root: journal, backups, what was seen, the lock.
	StateDir string
	// Keys is the folder of trusted public keys.
	Keys string
	// Secrets are files of the service that a backup copies beside the database's dump: above all the key of its secrets.
	Secrets []string
	// Request is the file by which the service asks for an update.
	Request string
}

func (l Layout) check() error {
	for _, path := range []string{l.Prefix, l.StateDir, l.Keys} {
		if !filepath.IsAbs(path) {
			return errors.New("the updater's folders need absolute paths")
		}
	}
	return nil
}

func (l Layout) releases() string              { return filepath.Join(l.Prefix, "releases") }
func (l Layout) release(version string) string { return filepath.Join(l.releases(), version) }
func (l Layout) current() string               { return filepath.Join(l.Prefix, "current") }
func (l Layout) quarantine(run string) string  { return filepath.Join(l.Prefix, "quarantine", run) }
func (l Layout) backups() string               { return filepath.Join(l.StateDir, "backups") }
func (l Layout) backup(run string) string      { return filepath.Join(l.backups(), run) }
func (l Layout) journal() string               { return filepath.Join(l.StateDir, "journal.jsonl") }
func (l Layout) seen() string                  { return filepath.Join(l.StateDir, "seen.json") }
func (l Layout) lock() string                  { return filepath.Join(l.StateDir, "lock") }

// Status is the file that tells everyone how the last run stands; see Status.
func (l Layout) Status() string { return filepath.Join(l.StateDir, "status.json") }

// program is a release's service.
func (l Layout) program(version string) string {
	return filepath.Join(l.release(version), "bin", "hostlerd")
}

var versionName = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// installed is the version that current points to.
func (l Layout) installed() (string, error) {
	target, err := os.Readlink(l.current())
	if err != nil {
		return "", fmt.Errorf("looking at the current release: %w", err)
	}
	version := filepath.Base(target)
	if !versionName.MatchString(version) {
		return "", fmt.Errorf("%s does not point to a release", l.current())
	}
	return version, nil
}

// point makes current point to a release, in one step: whoever starts the service meets the old or the new one.
func (l Layout) point(version string) error {
	if _, err := os.Stat(l.program(version)); err != nil {
		return fmt.Errorf("the release %s is not there: %w", version, err)
	}
	fresh := l.current() + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing an old link: %w", err)
	}
	if err := os.Symlink(filepath.Join("releases", version), fresh); err != nil {
		return fmt.Errorf("making the link to %s: %w", version, err)
	}
	if err := os.Rename(fresh, l.current()); err != nil {
		return fmt.Errorf("switching the link to %s: %w", version, err)
	}
	return syncDir(l.Prefix)
}

// syncDir makes a rename in the folder outlive a power cut.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("opening %s: %w", dir, err)
	}
	err = errors.Join(f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("writing %s to the disk: %w", dir, err)
	}
	return nil
}
