package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Purpose is what a bundle is for.
type Purpose string

// The purposes.
const (
	// Install makes a new container, from the node.
	Install Purpose = "install"
	// Update changes what is inside a container that Install has made, from within.
	Update Purpose = "update"
)

// BundleRequest says which bundle.
type BundleRequest struct {
	Slug string
	// Pin is the state of everything: that of the sync, or of the app.
	Pin     Pin
	Purpose Purpose
}

// BundlePart is one message of a bundle. Exactly one of its fields is set.
type BundlePart struct {
	Manifest *Manifest
	// Data is at most MaxBundleData bytes.
	Data []byte
}

// Limits of bundles.
const (
	MaxBundleData  = 1 << 20
	MaxBundleFiles = 5000
	MaxBundleSize  = 64 << 20
	MaxBundlePath  = 200
	// MaxUnpinned is the greatest number of places that no pin reaches, and MaxUnpinnedText the length of one's text in bytes.
	MaxUnpinned     = 2000
	MaxUnpinnedText = 300
)

// BundleFolder is where bundles lie on nodes and in containers, each in a folder with the name of its Place.
const BundleFolder = "/var/lib/hostler/bundles"

// Manifest says what a bundle is: every file with what the source's origin published and with what is shipped.
type Manifest struct {
	Slug    string
	Pin     Pin
	Purpose Purpose
	// Place is the name of the bundle's folder below BundleFolder, 64 small hexadecimal digits. Files that name each other do so by it, so
	// it cannot be the bundle's own checksum; BundlePlace makes it.
	Place string
	// Files are sorted by path as bytes.
	Files []File
	// Unpinned is what the files fetch that no pin reaches, as far as the source sees it.
	Unpinned []Fetch
}

// File is one file of a bundle.
type File struct {
	// Path is relative, with "/" between its parts, none of which is "", "." or "..".
	Path string
	// Executable makes its mode 0755, else 0644. There are no links, devices or folders of their own.
	Executable bool
	// Size is in bytes, and Sum the SHA-256 of what is shipped, in small hexadecimal digits.
	Size int64
	Sum  string
	// Origin is the SHA-256 of what was published, and Rewritten how many places of it were changed. A file that was not published, but is
	// the source's own, has no Origin.
	Origin    string
	Rewritten int
	// Class says whose file it is.
	Class FileClass
}

// FileClass is whose file it is: people look at an app's own files first.
type FileClass string

// The classes of files.
const (
	// OwnFile is the entry's alone, EngineFile is shared by all entries, and OverlayFile is the source's own.
	OwnFile     FileClass = "own"
	EngineFile  FileClass = "engine"
	OverlayFile FileClass = "overlay"
)

// Fetch is one place of a bundle that fetches something which nobody has pinned.
type Fetch struct {
	// File and Line are where it stands, and Text is the line, cut to 300 bytes.
	File string
	Line int
	Text string
}

// Sum is the bundle's own checksum: SHA-256 over a line with its place and then, for each file, the line "mode size sum path". It names
// the bytes that run and nothing else: the same files have the same sum whichever pin they come from.
func (m Manifest) Sum() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "hostler-bundle-1 %s\n", m.Place)
	for _, f := range m.Files {
		mode := "0644"
		if f.Executable {
			mode = "0755"
		}
		_, _ = fmt.Fprintf(h, "%s %d %s %s\n", mode, f.Size, f.Sum, f.Path)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Size is the size of all files, in bytes.
func (m Manifest) Size() (size int64) {
	for _, f := range m.Files {
		size += f.Size
	}
	return size
}

// BundlePlace makes the name of a bundle's folder of what its files were before they were rewritten: SHA-256 over the lines
// "sum path\n", sorted by path as bytes. Release names how the source rewrites, and changes with it.
func BundlePlace(release string, origins map[string]string) string {
	paths := make([]string, 0, len(origins))
	for p := range origins {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "hostler-place-1 %q\n", release)
	for _, p := range paths {
		_, _ = fmt.Fprintf(h, "%s %s\n", origins[p], p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CheckManifest says what is wrong with a manifest that answers a request; nil when nothing is.
func CheckManifest(m Manifest, request BundleRequest) error {
	switch {
	case m.Slug != request.Slug || m.Purpose != request.Purpose || !m.Pin.Equal(request.Pin):
		return bad("the bundle is another one than was asked for")
	case !isHex(m.Place, 64):
		return bad("the bundle's place is no checksum")
	case len(m.Files) == 0 || len(m.Files) > MaxBundleFiles:
		return bad("the bundle has %d files, and not 1 to %d", len(m.Files), MaxBundleFiles)
	}
	left := int64(MaxBundleSize)
	files := make(map[string]bool, len(m.Files))
	for i, f := range m.Files {
		if err := checkFile(f); err != nil {
			return err
		}
		if f.Size > left {
			return bad("the bundle is larger than %d MiB", MaxBundleSize>>20)
		}
		left -= f.Size
		if i > 0 && m.Files[i-1].Path >= f.Path {
			return bad("the files of the bundle are not sorted, or one comes twice: %.80q", f.Path)
		}
		files[f.Path] = true
	}
	// A file that is also a folder need not stand beside what is in it: "a-b" comes between "a" and "a/b".
	for _, f := range m.Files {
		for folder := path.Dir(f.Path); folder != "."; folder = path.Dir(folder) {
			if files[folder] {
				return bad("%.80q is a file and a folder", folder)
			}
		}
	}
	if len(m.Unpinned) > MaxUnpinned {
		return bad("the bundle names %d things that no pin reaches", len(m.Unpinned))
	}
	for _, fetch := range m.Unpinned {
		if !files[fetch.File] || fetch.Line < 1 || len(fetch.Text) > MaxUnpinnedText || !isLine(fetch.Text) {
			return bad("a place that no pin reaches is wrong: it is in no file of the bundle, or too long")
		}
	}
	return nil
}

func checkFile(f File) error {
	switch {
	case !ValidPath(f.Path):
		return bad("%.80q is no path of a bundle's file", f.Path)
	case f.Size < 0 || f.Rewritten < 0:
		return bad("the size of %.80q is negative, or how often it was rewritten", f.Path)
	case !isHex(f.Sum, 64) || f.Origin != "" && !isHex(f.Origin, 64):
		return bad("the checksum of %.80q is none", f.Path)
	case f.Class != OwnFile && f.Class != EngineFile && f.Class != OverlayFile:
		return bad("%.80q is of no class", f.Path)
	case f.Origin == "" && f.Class != OverlayFile:
		return bad("%.80q says nothing of its origin", f.Path)
	}
	return nil
}

// ValidPath reports whether p can be the path of a bundle's file: at most 200 bytes of UTF-8 without control characters or "\", relative,
// clean, and not out of its folder.
func ValidPath(p string) bool {
	if p == "" || len(p) > MaxBundlePath || !utf8.ValidString(p) || path.IsAbs(p) || path.Clean(p) != p || p == "." {
		return false
	}
	if p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "-") {
		return false
	}
	return strings.IndexFunc(p, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }) < 0
}
