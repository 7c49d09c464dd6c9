package catalog

import (
	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
)

func syncStepToProto(s SyncStep) *catalogv1.SyncResponse {
	message := &catalogv1.SyncResponse{Removed: wire.Text(s.Removed)}
	if b := s.Begin; b != nil {
		message.Begin = &catalogv1.Begin{
			Pin: pinToProto(b.Pin), Whole: b.Whole, Unchanged: b.Unchanged, Categories: wire.Each(b.Categories, categoryToProto),
		}
	}
	if s.Entry != nil {
		message.Entry = entryToProto(*s.Entry)
	}
	if e := s.End; e != nil {
		message.End = &catalogv1.End{Cursor: wire.Text(e.Cursor), Entries: int64(e.Entries), Digest: wire.Text(e.Digest)}
	}
	return message
}

func syncStepFromProto(m *catalogv1.SyncResponse) SyncStep {
	s := SyncStep{Removed: m.GetRemoved()}
	if b := m.GetBegin(); b != nil {
		s.Begin = &Begin{
			Pin: pinFromProto(b.GetPin()), Whole: b.GetWhole(), Unchanged: b.GetUnchanged(),
			Categories: wire.Each(b.GetCategories(), categoryFromProto),
		}
	}
	if m.GetEntry() != nil {
		e := entryFromProto(m.GetEntry())
		s.Entry = &e
	}
	if e := m.GetEnd(); e != nil {
		s.End = &End{Cursor: e.GetCursor(), Entries: int(e.GetEntries()), Digest: e.GetDigest()}
	}
	return s
}

func categoryToProto(c Category) *catalogv1.Category {
	return &catalogv1.Category{Key: wire.Text(c.Key), Name: wire.Text(c.Name)}
}

func categoryFromProto(c *catalogv1.Category) Category {
	return Category{Key: c.GetKey(), Name: c.GetName()}
}

func bundlePartToProto(p BundlePart) *catalogv1.BundleResponse {
	message := &catalogv1.BundleResponse{Data: p.Data}
	if p.Manifest != nil {
		message.Manifest = manifestToProto(*p.Manifest)
	}
	return message
}

func bundlePartFromProto(m *catalogv1.BundleResponse) BundlePart {
	p := BundlePart{Data: m.GetData()}
	if m.GetManifest() != nil {
		manifest := manifestFromProto(m.GetManifest())
		p.Manifest = &manifest
	}
	return p
}

func manifestToProto(m Manifest) *catalogv1.Manifest {
	return &catalogv1.Manifest{
		Slug: wire.Text(m.Slug), Pin: pinToProto(m.Pin), Purpose: wire.Text(string(m.Purpose)), Place: wire.Text(m.Place),
		Files: wire.Each(m.Files, fileToProto), Unpinned: wire.Each(m.Unpinned, fetchToProto),
	}
}

func manifestFromProto(m *catalogv1.Manifest) Manifest {
	return Manifest{
		Slug: m.GetSlug(), Pin: pinFromProto(m.GetPin()), Purpose: Purpose(m.GetPurpose()), Place: m.GetPlace(),
		Files: wire.Each(m.GetFiles(), fileFromProto), Unpinned: wire.Each(m.GetUnpinned(), fetchFromProto),
	}
}

func fileToProto(f File) *catalogv1.File {
	return &catalogv1.File{
		Path: wire.Text(f.Path), Executable: f.Executable, Size: f.Size, Sum: wire.Text(f.Sum), Origin: wire.Text(f.Origin),
		Rewritten: int64(f.Rewritten), Class: wire.Text(string(f.Class)),
	}
}

func fileFromProto(f *catalogv1.File) File {
	return File{
		Path: f.GetPath(), Executable: f.GetExecutable(), Size: f.GetSize(), Sum: f.GetSum(), Origin: f.GetOrigin(),
		Rewritten: int(f.GetRewritten()), Class: FileClass(f.GetClass()),
	}
}

func fetchToProto(f Fetch) *catalogv1.Fetch {
	return &catalogv1.Fetch{File: wire.Text(f.File), Line: int64(f.Line), Text: wire.Text(f.Text)}
}

func fetchFromProto(f *catalogv1.Fetch) Fetch {
	return Fetch{File: f.GetFile(), Line: int(f.GetLine()), Text: f.GetText()}
}
