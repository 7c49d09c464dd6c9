package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// BundleFile is a file that a source adds to a bundle.
type BundleFile struct {
	Path       string
	Executable bool
	// Content is what is delivered. Origin is what was published; nil means that
	// both are the same.
	Content, Origin []byte
	Rewritten       int
	// Class is the class of the file. Empty means OverlayFile below "overlay/" and
	// OwnFile elsewhere.
	Class FileClass
}

// BundleBuilder creates a bundle with its manifest from files:
//
//	b := catalog.NewBundle(request, "rules-3")
//	b.Add(catalog.BundleFile{Path: "install.sh", Executable: true, Content: script})
//	return b.Send(each)
//
// It is not safe for concurrent use.
type BundleBuilder struct {
	request  BundleRequest
	release  string
	files    []BundleFile
	unpinned []Fetch
}

// NewBundle returns an empty bundle. Release names the version of the source's
// rewriting rules; see BundlePlace.
func NewBundle(request BundleRequest, release string) *BundleBuilder {
	return &BundleBuilder{request: request, release: release}
}

// Add adds a file. Send validates it.
func (b *BundleBuilder) Add(f BundleFile) { b.files = append(b.files, f) }

// Unpinned records a download in a file that no pin covers.
func (b *BundleBuilder) Unpinned(f Fetch) { b.unpinned = append(b.unpinned, f) }

// Place returns the name of the bundle's folder for the files added so far. It
// depends on the published contents only, so it stays the same when Rewrite inserts
// the folder into the files.
func (b *BundleBuilder) Place() string {
	origins := make(map[string]string, len(b.files))
	for _, f := range b.files {
		origins[f.Path] = sumOf(f.origin())
	}
	return BundlePlace(b.release, origins)
}

// origin returns the published content.
func (f BundleFile) origin() []byte {
	if f.Origin != nil {
		return f.Origin
	}
	return f.Content
}

// Rewrite changes the delivered content of every file except overlay files. The
// function replace returns the new content and the number of places that it
// changed.
func (b *BundleBuilder) Rewrite(replace func(path string, content []byte) ([]byte, int)) {
	for i := range b.files {
		f := &b.files[i]
		if f.class() == OverlayFile {
			continue
		}
		origin := f.origin()
		content, n := replace(f.Path, f.Content)
		f.Content, f.Origin, f.Rewritten = content, origin, f.Rewritten+n
	}
}

// class returns the class of the file, by its folder if none is set.
func (f BundleFile) class() FileClass {
	switch {
	case f.Class != "":
		return f.Class
	case strings.HasPrefix(f.Path, "overlay/"):
		return OverlayFile
	default:
		return OwnFile
	}
}

// Manifest returns the manifest for the files added so far.
func (b *BundleBuilder) Manifest() Manifest {
	slices.SortFunc(b.files, func(x, y BundleFile) int { return strings.Compare(x.Path, y.Path) })
	m := Manifest{
		Slug: b.request.Slug, Pin: b.request.Pin, Purpose: b.request.Purpose, Place: b.Place(), Unpinned: b.unpinned,
		Files: make([]File, 0, len(b.files)),
	}
	for _, f := range b.files {
		file := File{
			Path: f.Path, Executable: f.Executable, Size: int64(len(f.Content)), Sum: sumOf(f.Content), Rewritten: f.Rewritten,
			Class: f.class(),
		}
		if file.Class != OverlayFile {
			file.Origin = sumOf(f.origin())
		}
		m.Files = append(m.Files, file)
	}
	return m
}

// Send validates the bundle and delivers it in the form of Catalog.Bundle. It
// returns an error of each, or Protocol if the bundle breaks a limit.
func (b *BundleBuilder) Send(each func(BundlePart) error) error {
	m := b.Manifest()
	if err := CheckManifest(m, b.request); err != nil {
		return err
	}
	if err := each(BundlePart{Manifest: &m}); err != nil {
		return err
	}
	for _, f := range b.files {
		for data := range slices.Chunk(f.Content, MaxBundleData) {
			if err := each(BundlePart{Data: data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sumOf returns the SHA-256 of data in hexadecimal digits.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
