package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// maxShown is the largest part of a file that is shown, in bytes.
const maxShown = 1 << 20

// File is a file of a bundle as it is shown.
type File struct {
	PlanFile
	Text *string `json:"text" doc:"Content; null if it is not text"`
	Cut  bool    `json:"cut" doc:"true if the text is only the first MiB of the file"`
}

// File returns one file of a stored bundle of an entry. The content is verified
// against its checksum. The problem is not_found.
func (s *Store) File(ctx context.Context, path, sum, file string) (*File, error) {
	f, err := s.find(ctx, path)
	if err != nil {
		return nil, err
	}
	b, err := s.Bundles.Get(ctx, f.source, f.slug, sum)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(b.Manifest.Files, func(f sdk.File) bool { return f.Path == file })
	if at < 0 {
		return nil, problem.New(problem.CodeNotFound, "the bundle does not have this file")
	}
	found := b.Manifest.Files[at]
	data, err := s.Bundles.Read(ctx, found)
	if err != nil {
		return nil, err
	}
	told := &File{PlanFile: PlanFile{Path: found.Path, Class: string(found.Class), Executable: found.Executable, Size: found.Size,
		SHA256: found.Sum, Origin: text(found.Origin), Rewritten: found.Rewritten}}
	if bundle.IsText(data) {
		shown := string(data)
		if len(shown) > maxShown {
			shown, told.Cut = strings.ToValidUTF8(shown[:maxShown], ""), true
		}
		told.Text = &shown
	}
	return told, nil
}
