package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// BundleFile is one file that a source puts into a bundle.
type BundleFile struct {
	Path       string
	Executable bool
	// Content is what is shipped, and Origin what was published, nil when it is the same.
	Content, Origin []byte
	Rewritten       int
	// Class is the file's; empty is OverlayFile for what lies below "overlay/", and OwnFile for all else.
	Class FileClass
}

// BundleBuilder makes a bundle of files. Sources that are written in Go need not make a Manifest by hand.
type BundleBuilder struct {
	request  BundleRequest
	release  string
	files    []BundleFile
	unpinned []Fetch
}

// NewBundle begins a bundle. Release names how the source makes files into what is shipped, as BundlePlace has it.
func NewBundle(request BundleRequest, release string) *BundleBuilder {
	return &BundleBuilder{request: request, release: release}
}

// Add adds a file. Nothing is checked before Send.
func (b *BundleBuilder) Add(f BundleFile) { b.files = append(b.files, f) }

// Unpinned says what a file fetches that no pin reaches.
func (b *BundleBuilder) Unpinned(f Fetch) { b.unpinned = append(b.unpinned, f) }

// Place is that of the files added so far, which stays the same when only their Content changes.
func (b *BundleBuilder) Place() string {
	origins := make(map[string]string, len(b.files))
	for _, f := range b.files {
		origins[f.Path] = sumOf(f.origin())
	}
	return BundlePlace(b.release, origins)
}

func (f BundleFile) origin() []byte {
	if f.Origin != nil {
		return f.Origin
	}
	return f.Content
}

// Rewrite changes what is shipped of every file but those of the overlay; replace gives the new content and in how many places it is
// another one.
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

// Manifest is the manifest of the files added so far.
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

// Send checks the bundle and hands it over as Catalog.Bundle does.
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

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
