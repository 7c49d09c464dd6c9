package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"time"

	"golang.org/x/mod/semver"
)

// Names of a release's files.
const (
	ManifestName  = "manifest.json"
	SignatureName = "manifest.json.sig"
)

// Schema is the version of the manifest's form. A manifest of another one is not for this program.
const Schema = 1

// Limits of what is fetched, in bytes.
const (
	MaxManifest = 256 << 10
	MaxTarball  = 1 << 30
	// MaxUnpacked bounds all files of a tarball together, and MaxEntries their number.
	MaxUnpacked = 4 << 30
	MaxEntries  = 10_000
)

// Manifest says what a release is.
type Manifest struct {
	Schema int `json:"schema"`
	// Version is a semantic version without "v", such as 1.4.0 or 1.5.0-rc.1.
	Version string `json:"version"`
	// Channel is the stream of releases that it belongs to, such as stable.
	Channel string    `json:"channel"`
	Date    time.Time `json:"date"`
	// Minimum is the oldest version that can be updated to this one.
	Minimum  string `json:"minimum"`
	NotesURL string `json:"notes_url,omitempty"`
	// Migrations are those that the release brings: of the database's schema before and after it.
	Migrations Migrations `json:"migrations"`
	// Files maps an architecture, in the words of Go such as linux/amd64, to its tarball.
	Files map[string]File `json:"files"`
	// Keys are further public keys in PEM that are trusted once this release is
	// installed, Withdrawn the ids of keys that are not trusted any more from
	// then on.
	Keys      []string `json:"keys,omitempty"`
	Withdrawn []string `json:"withdrawn,omitempty"`
}

// Migrations is the range of schema versions that a release can work with.
type Migrations struct {
	// From is the oldest schema that its migrations start from, To the schema that it makes.
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// File is one tarball.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

var (
	channelName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	architecture = regexp.MustCompile(`^[a-z0-9]{1,16}/[a-z0-9]{1,16}$`)
	fileName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\.tar\.gz$`)
	hexSum       = regexp.MustCompile(`^[0-9a-f]{64}$`)
	keyID        = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// ParseManifest reads a manifest whose signature was found good. Unknown
// members are left alone, so that a later release may say more to later
// programs.
func ParseManifest(raw []byte) (*Manifest, error) {
	if len(raw) > MaxManifest {
		return nil, fmt.Errorf("the manifest is larger than %d bytes", MaxManifest)
	}
	var m Manifest
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading the manifest: it is more than one JSON value")
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("the manifest is not valid: %w", err)
	}
	return &m, nil
}

// check refuses a manifest that cannot be right. It is called after the
// signature was verified, because a signer errs too.
func (m *Manifest) check() error {
	if m.Schema != Schema {
		return fmt.Errorf("it has schema %d, but this program supports only %d", m.Schema, Schema)
	}
	var errs []error
	if !validVersion(m.Version) {
		errs = append(errs, errors.New("version is not a semantic version"))
	}
	if !validVersion(m.Minimum) {
		errs = append(errs, errors.New("minimum is not a semantic version"))
	} else if Compare(m.Minimum, m.Version) > 0 {
		errs = append(errs, errors.New("minimum is newer than the release itself"))
	}
	if !channelName.MatchString(m.Channel) {
		errs = append(errs, errors.New("channel is not a name of lower-case letters, digits and hyphens"))
	}
	if m.Date.IsZero() || m.Date.Year() > 9999 {
		errs = append(errs, errors.New("date is missing"))
	}
	if m.NotesURL != "" && !isHTTPS(m.NotesURL) {
		errs = append(errs, errors.New("notes_url is not an https address"))
	}
	if m.Migrations.From < 0 || m.Migrations.To < m.Migrations.From {
		errs = append(errs, errors.New("migrations is not a valid range"))
	}
	errs = append(errs, m.checkFiles(), m.checkKeys())
	return errors.Join(errs...)
}

// checkFiles checks the list of archives.
func (m *Manifest) checkFiles() error {
	if len(m.Files) == 0 || len(m.Files) > 32 {
		return errors.New("files has no tarball, or too many")
	}
	names := map[string]bool{}
	for arch, f := range m.Files {
		switch {
		case !architecture.MatchString(arch):
			return errors.New("files has a key that is not an architecture such as linux/amd64")
		case !fileName.MatchString(f.Name) || names[f.Name]:
			return fmt.Errorf("the file of %s needs a unique name that ends in .tar.gz", arch)
		case f.Size < 1 || f.Size > MaxTarball:
			return fmt.Errorf("the size of the file of %s is not between 1 and %d bytes", arch, MaxTarball)
		case !hexSum.MatchString(f.SHA256):
			return fmt.Errorf("the file of %s has no SHA-256 in lower-case hexadecimal digits", arch)
		}
		names[f.Name] = true
	}
	return nil
}

// checkKeys checks the keys that the release brings and withdraws.
func (m *Manifest) checkKeys() error {
	if len(m.Keys) > 16 || len(m.Withdrawn) > 64 {
		return errors.New("keys or withdrawn has too many keys")
	}
	for _, text := range m.Keys {
		if _, err := ParseKey([]byte(text)); err != nil {
			return fmt.Errorf("keys: %w", err)
		}
	}
	for _, id := range m.Withdrawn {
		if !keyID.MatchString(id) {
			return errors.New("withdrawn has an entry that is not a key ID")
		}
	}
	return nil
}

// Tarball is the tarball of an architecture such as linux/amd64.
func (m *Manifest) Tarball(arch string) (File, error) {
	f, ok := m.Files[arch]
	if !ok {
		return File{}, fmt.Errorf("release %s has no file for %s", m.Version, arch)
	}
	return f, nil
}

// Compare orders two semantic versions without "v" like strings.Compare. What
// is no version is before all that are.
func Compare(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// validVersion wants all three numbers and no build metadata, which has no order.
func validVersion(v string) bool {
	return len(v) <= 64 && semver.Canonical("v"+v) == "v"+v
}

// isHTTPS reports whether a text is an https address.
func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

// Checksum is the SHA-256 of a manifest's bytes in hexadecimal, by which one is told from another.
func Checksum(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
