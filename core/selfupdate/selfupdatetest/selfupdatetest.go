// Package selfupdatetest makes installations for tests: real files as the package and the updater leave them, and signed
// releases.
package selfupdatetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// Day is the date of the first release.
var Day = time.Date(2025, 5, 4, 12, 0, 0, 0, time.UTC)

// Architecture of all releases.
const Architecture = "linux/amd64"

// Installation is a Hostler of a package below a folder, with a folder of releases as its source.
type Installation struct {
	t testing.TB
	// Dir holds all of it, Releases the source, File is the updater's configuration.
	Dir, Releases, File string
	Version             string
	Config              installation.Config
	// Signer signs releases, and the installation trusts it.
	Signer *release.Signer
	// days counts releases: each is a day younger than the one before.
	days int
}

// New installs a version that follows the channel stable.
func New(t testing.TB, version string) *Installation {
	t.Helper()
	dir := t.TempDir()
	i := &Installation{t: t, Dir: dir, Releases: filepath.Join(dir, "source"), File: filepath.Join(dir, "updater.json"), Version: version,
		Signer: NewSigner(t)}
	i.Config = installation.Config{
		Prefix: filepath.Join(dir, "opt"), StateDir: filepath.Join(dir, "updater"), Keys: filepath.Join(dir, "keys"),
		Request: filepath.Join(dir, "request.json"),
		Source:  i.Releases, Channel: "stable",
	}
	key, err := i.Signer.Key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{i.Releases, i.Config.StateDir, i.Config.Keys, filepath.Dir(i.program())} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	i.Write(filepath.Join(i.Config.Keys, "test"+release.KeySuffix), string(key))
	i.Write(i.program(), "#!/bin/sh\n")
	i.Configure(nil)
	return i
}

// NewSigner makes a key.
func NewSigner(t testing.TB) *release.Signer {
	t.Helper()
	s, err := release.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (i *Installation) program() string {
	return filepath.Join(i.Config.Prefix, "releases", i.Version, "bin", "hostlerd")
}

// Machine is one that runs the installed program.
func (i *Installation) Machine() selfupdate.Machine {
	return selfupdate.Machine{Root: i.Dir, Program: i.program(), Getenv: func(string) string { return "" }}
}

// Write replaces a file that only its owner may write.
func (i *Installation) Write(path, text string) {
	i.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		i.t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		i.t.Fatal(err)
	}
}

// Configure changes the updater's configuration; nil writes it as it is.
func (i *Installation) Configure(edit func(*installation.Config)) {
	i.t.Helper()
	if edit != nil {
		edit(&i.Config)
	}
	text, err := json.Marshal(i.Config)
	if err != nil {
		i.t.Fatal(err)
	}
	i.Write(i.File, string(text))
}

// Publish puts a release into the source in the place of the one before, signed by the installation's own key where no
// other is named. It is a day younger unless edit says otherwise.
func (i *Installation) Publish(version string, edit func(*release.Manifest), signers ...*release.Signer) {
	i.t.Helper()
	i.days++
	m := &release.Manifest{
		Schema: release.Schema, Version: version, Channel: "stable", Date: Day.AddDate(0, 0, i.days), Minimum: "1.0.0",
		NotesURL: "https://hostler.example/" + version,
		Files:    map[string]release.File{Architecture: {Name: "hostler-" + version + ".tar.gz", Size: 4711, SHA256: strings.Repeat("0a", 32)}},
	}
	if edit != nil {
		edit(m)
	}
	if len(signers) == 0 {
		signers = []*release.Signer{i.Signer}
	}
	if err := release.Publish(i.Releases, m, signers...); err != nil {
		i.t.Fatal(err)
	}
}

// Journal writes the updater's journal, one line of JSON each.
func (i *Installation) Journal(lines ...string) {
	i.t.Helper()
	i.Write(installation.Journal(i.Config.StateDir), strings.Join(lines, "\n")+"\n")
}

// Lock is an updater at work until the returned function runs.
func (i *Installation) Lock() func() {
	i.t.Helper()
	free, err := installation.Lock(i.Config.StateDir)
	if err != nil {
		i.t.Fatal(err)
	}
	return free
}

// Take is an updater that takes the request; nil when there is none.
func (i *Installation) Take() *installation.Request {
	i.t.Helper()
	r, err := installation.TakeRequest(i.Config.Request)
	if err != nil {
		i.t.Fatal(err)
	}
	return r
}

// Refuse is an updater that has taken a request and does not make a run of it.
func (i *Installation) Refuse(r installation.Refusal) {
	i.t.Helper()
	if err := installation.Refuse(i.Config.StateDir, r); err != nil {
		i.t.Fatal(err)
	}
}
