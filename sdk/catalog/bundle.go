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

// Purpose is the purpose of a bundle.
type Purpose string

// The purposes of bundles.
const (
	// Install creates a new container. It runs on the node.
	Install Purpose = "install"
	// Update changes the contents of a container that Install created. It runs
	// inside the container.
	Update Purpose = "update"
)

// BundleRequest identifies a bundle.
type BundleRequest struct {
	// Slug is the slug of the entry.
	Slug string
	// Pin is the state of all repositories: that of the sync, or that of the app.
	Pin     Pin
	Purpose Purpose
}

// BundlePart is one message of a bundle. Exactly one field is set.
type BundlePart struct {
	// Manifest comes first.
	Manifest *Manifest
	// Data is a part of the files' contents, at most MaxBundleData bytes.
	Data []byte
}

// Limits of bundles. Sizes are in bytes.
const (
	MaxBundleData  = 1 << 20
	MaxBundleFiles = 5000
	MaxBundleSize  = 64 << 20
	MaxBundlePath  = 200
	// MaxUnpinned is the largest number of unpinned fetches, and MaxUnpinnedText
	// the length of the text of one in bytes.
	MaxUnpinned     = 2000
	MaxUnpinnedText = 300
)

// BundleFolder is the folder for bundles on nodes and in containers. Each bundle
// has a folder below it whose name is its Place.
const BundleFolder = "/var/lib/hostler/bundles"

// Manifest lists every file of a bundle, with the checksum of what was published
// and of what is delivered.
type Manifest struct {
	// Slug, Pin and Purpose repeat the request.
	Slug    string
	Pin     Pin
	Purpose Purpose
	// Place is the name of the bundle's folder below BundleFolder, 64 lower-case
	// hexadecimal digits. Files refer to each other by this folder, so the name
	// cannot be the checksum of the bundle itself. BundlePlace computes it.
	Place string
	// Files are sorted by path, compared as bytes.
	Files []File
	// Unpinned lists what the files download that no pin covers, as far as the
	// source recognises it. People see the list before they agree.
	Unpinned []Fetch
}

// File is one file of a bundle.
type File struct {
	// Path is relative. Its parts are separated by "/", and none is "", "." or
	// "..". See ValidPath.
	Path string
	// Executable selects the mode 0755 instead of 0644. A bundle contains no links,
	// devices or empty folders.
	Executable bool
	// Size is in bytes. Sum is the SHA-256 of the delivered content in lower-case
	// hexadecimal digits.
	Size int64
	Sum  string
	// Origin is the SHA-256 of the published content. Rewritten is the number of
	// places that were changed in it. A file that the source itself added has no
	// Origin.
	Origin    string
	Rewritten int
	// Class says whose file it is.
	Class FileClass
}

// FileClass says whose file it is. People review the files of the app first.
type FileClass string

// The classes of files.
const (
	// OwnFile belongs to the entry alone. EngineFile is shared by all entries.
	// OverlayFile is added by the source.
	OwnFile     FileClass = "own"
	EngineFile  FileClass = "engine"
	OverlayFile FileClass = "overlay"
)

// Fetch is one place of a bundle that downloads something which no pin covers.
type Fetch struct {
	// File and Line are its position, and Text is the line, cut to 300 bytes.
	File string
	Line int
	Text string
}

// Sum returns the checksum of the bundle: the SHA-256 of a line with its place and
// then, for each file, the line "mode size sum path". It depends on the bytes that
// run and on nothing else: the same files have the same sum at every pin.
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

// Size returns the total size of all files in bytes.
func (m Manifest) Size() (size int64) {
	for _, f := range m.Files {
		size += f.Size
	}
	return size
}

// BundlePlace computes the name of a bundle's folder from its files before they are
// rewritten: the SHA-256 of the lines "sum path\n", sorted by path as bytes. The
// argument origins maps paths to checksums. Release names the version of the
// source's rewriting rules and must change with them, because other rules give
// other files.
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

// CheckManifest returns Protocol for a manifest that is wrong or does not answer
// the request.
func CheckManifest(m Manifest, request BundleRequest) error {
	switch {
	case m.Slug != request.Slug || m.Purpose != request.Purpose || !m.Pin.Equal(request.Pin):
		return bad("the bundle does not match the request")
	case !isHex(m.Place, 64):
		return bad("the bundle's place is not a SHA-256")
	case len(m.Files) == 0 || len(m.Files) > MaxBundleFiles:
		return bad("the bundle has %d files; 1 to %d are allowed", len(m.Files), MaxBundleFiles)
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
			return bad("the files of the bundle are not sorted, or a path occurs twice: %.80q", f.Path)
		}
		files[f.Path] = true
	}
	// A file whose path is also a folder need not be next to the folder's files in
	// the sorted list: "a-b" sorts between "a" and "a/b".
	for _, f := range m.Files {
		for folder := path.Dir(f.Path); folder != "."; folder = path.Dir(folder) {
			if files[folder] {
				return bad("%.80q is both a file and a folder", folder)
			}
		}
	}
	if len(m.Unpinned) > MaxUnpinned {
		return bad("the bundle lists too many unpinned downloads: %d", len(m.Unpinned))
	}
	for _, fetch := range m.Unpinned {
		if !files[fetch.File] || fetch.Line < 1 || len(fetch.Text) > MaxUnpinnedText || !isLine(fetch.Text) {
			return bad("an unpinned download is invalid: its file is not in the bundle, or its text is too long")
		}
	}
	return nil
}

// checkFile validates one file of a manifest.
func checkFile(f File) error {
	switch {
	case !ValidPath(f.Path):
		return bad("%.80q is not a valid path of a bundle file", f.Path)
	case f.Size < 0 || f.Rewritten < 0:
		return bad("the size or the number of rewrites of %.80q is negative", f.Path)
	case !isHex(f.Sum, 64) || f.Origin != "" && !isHex(f.Origin, 64):
		return bad("the checksum of %.80q is invalid", f.Path)
	case f.Class != OwnFile && f.Class != EngineFile && f.Class != OverlayFile:
		return bad("%.80q has no valid class", f.Path)
	case f.Origin == "" && f.Class != OverlayFile:
		return bad("%.80q has no checksum of its origin", f.Path)
	}
	return nil
}

// ValidPath reports whether p can be the path of a file in a bundle: at most 200
// bytes of printable UTF-8 without "\", relative, clean, not outside its folder,
// and not beginning with "-", so that no program takes it for an option.
func ValidPath(p string) bool {
	if p == "" || len(p) > MaxBundlePath || !utf8.ValidString(p) || path.IsAbs(p) || path.Clean(p) != p || p == "." {
		return false
	}
	if p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "-") {
		return false
	}
	return strings.IndexFunc(p, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }) < 0
}
