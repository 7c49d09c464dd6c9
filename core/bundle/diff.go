package bundle

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	sdk "github.com/hostler/hostler/sdk/catalog"
)

const (
	// maxCompared is the largest file of which the lines are compared, in bytes.
	maxCompared = 1 << 20
	// maxDiff bounds the text of all differences of two bundles together, in bytes.
	maxDiff = 512 << 10
)

// Change is what is different of a file in two bundles; the JSON names are those of the API.
type Change struct {
	Path   string `json:"path" example:"ct/wiki.sh"`
	Class  string `json:"class" enum:"own,engine,overlay" example:"own" doc:"Owner of the file: the entry, all entries of the source, or the source"`
	Change string `json:"change" enum:"added,removed,changed" example:"changed"`
	// Added and Removed are in lines.
	Added   int     `json:"added" example:"3" doc:"Number of added lines; 0 if lines are not compared"`
	Removed int     `json:"removed" example:"1"`
	Diff    *string `json:"diff" doc:"Unified diff; null if the file is not text or is larger than 1 MiB, or if all diffs together would exceed 512 KiB"`
}

// Compare gives what is different from one bundle to another: the entry's own files first, then those of the source, and the engine's
// last. Where files name their own bundle's folder, that is not told as a difference.
func (s *Store) Compare(ctx context.Context, before, after sdk.Manifest) ([]Change, error) {
	was, is := map[string]sdk.File{}, map[string]sdk.File{}
	paths := map[string]sdk.FileClass{}
	for _, f := range before.Files {
		was[f.Path], paths[f.Path] = f, f.Class
	}
	for _, f := range after.Files {
		is[f.Path], paths[f.Path] = f, f.Class
	}
	changes := []Change{}
	left := maxDiff
	for _, path := range inOrder(paths) {
		old, there := was[path]
		now, here := is[path]
		if there && here && old.Sum == now.Sum && old.Executable == now.Executable {
			continue
		}
		a, err := s.comparable(ctx, old, there, before.Place)
		if err != nil {
			return nil, err
		}
		b, err := s.comparable(ctx, now, here, after.Place)
		if err != nil {
			return nil, err
		}
		c := Change{Path: path, Class: string(paths[path]), Change: "changed"}
		switch {
		case !there:
			c.Change = "added"
		case !here:
			c.Change = "removed"
		case a != nil && b != nil && bytes.Equal(a, b) && old.Executable == now.Executable:
			continue // it names its own folder, which is another one
		}
		if a != nil && b != nil {
			c.compare(a, b, &left)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// inOrder are paths in the order in which people look at them.
func inOrder(classes map[string]sdk.FileClass) []string {
	order := []sdk.FileClass{sdk.OwnFile, sdk.OverlayFile, sdk.EngineFile}
	paths := make([]string, 0, len(classes))
	for path := range classes {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if byClass := slices.Index(order, classes[a]) - slices.Index(order, classes[b]); byClass != 0 {
			return byClass
		}
		return strings.Compare(a, b)
	})
	return paths
}

// comparable is a file's text without the name of its bundle's folder, nil for what is no text or too large, and empty for one that is
// not there.
func (s *Store) comparable(ctx context.Context, f sdk.File, there bool, place string) ([]byte, error) {
	if !there {
		return []byte{}, nil
	}
	if f.Size > maxCompared {
		return nil, nil
	}
	data, err := s.Read(ctx, f)
	if err != nil || !IsText(data) {
		return nil, err
	}
	return bytes.ReplaceAll(data, []byte(place), []byte("BUNDLE")), nil
}

// IsText reports whether a file is one that can be shown.
func IsText(data []byte) bool { return utf8.Valid(data) && !bytes.ContainsRune(data, 0) }

func (c *Change) compare(a, b []byte, left *int) {
	from, to := "a/"+c.Path, "b/"+c.Path
	switch c.Change {
	case "added":
		from = "/dev/null"
	case "removed":
		to = "/dev/null"
	}
	var diff string
	diff, c.Added, c.Removed = Unified(from, to, string(a), string(b))
	if len(diff) <= *left {
		*left -= len(diff)
		c.Diff = &diff
	}
}

// Unified is what is different from one text to another in the unified form, under these names, with the numbers of lines that are added
// and removed. It is empty for texts that are the same.
func Unified(from, to, a, b string) (diff string, added, removed int) {
	diff = udiff.Unified(from, to, a, b)
	_, body, _ := strings.Cut(diff, "\n") // the two lines of names
	_, body, _ = strings.Cut(body, "\n")
	for line := range strings.Lines(body) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return diff, added, removed
}
