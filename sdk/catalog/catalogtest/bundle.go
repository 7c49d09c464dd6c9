package catalogtest

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// read reads a bundle with all contents.
func read(t *testing.T, c catalog.Catalog, request catalog.BundleRequest) (m catalog.Manifest, contents map[string]string, err error) {
	t.Helper()
	contents = map[string]string{}
	m, err = catalog.ReadBundle(t.Context(), c, request, catalog.BundleStore{File: func(f catalog.File, r io.Reader) error {
		data, err := io.ReadAll(r)
		contents[f.Path] = string(data)
		return err
	}})
	return m, contents, err
}

// purposes returns the purposes for which an entry has a bundle.
func purposes(e catalog.Entry) []catalog.Purpose {
	if e.Updatable {
		return []catalog.Purpose{catalog.Install, catalog.Update}
	}
	return []catalog.Purpose{catalog.Install}
}

// testBundle checks that a pin always gives the same bytes, also with an empty
// cache, and that the app's own pin works like the pin of the whole source. It
// reads up to five entries. A person reviews a bundle before it runs, so what
// runs later must be the same.
func testBundle(t *testing.T, s *suite) {
	l := s.whole(t)
	config := s.Catalog
	config.Cache = t.TempDir()
	other := s.open(t, config)
	for i, e := range l.installable(t) {
		if i == 5 {
			return
		}
		for _, purpose := range purposes(e) {
			request := catalog.BundleRequest{Slug: e.Slug, Pin: l.Begin.Pin, Purpose: purpose}
			first, contents, err := read(t, s.catalog, request)
			if err != nil {
				t.Errorf("the bundle to %s %s: %v", purpose, e.Slug, err)
				continue
			}
			for name, c := range map[string]catalog.Catalog{"again": s.catalog, "with an empty cache": other} {
				second, same, err := read(t, c, request)
				if err != nil || second.Sum() != first.Sum() || second.Place != first.Place || len(same) != len(contents) {
					t.Errorf("%s the bundle to %s %s differs: %v", name, purpose, e.Slug, err)
				}
			}
			own := 0
			for _, f := range first.Files {
				if f.Class == catalog.OwnFile {
					own++
				}
			}
			if own == 0 {
				t.Errorf("the bundle to %s %s contains no file of the app", purpose, e.Slug)
			}
			request.Pin = e.App
			if _, _, err := read(t, s.catalog, request); err != nil {
				t.Errorf("the bundle to %s %s at the pin of the app: %v", purpose, e.Slug, err)
			}
		}
	}
}

// testBundleNotFound checks requests for bundles that do not exist: unknown
// slugs, pins and purposes.
func testBundleNotFound(t *testing.T, s *suite) {
	l := s.whole(t)
	slug := l.installable(t)[0].Slug
	for _, name := range hostileNames {
		_, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: name, Pin: l.Begin.Pin, Purpose: catalog.Install})
		kind(t, name, err, plugin.NotFound)
	}
	_, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: slug, Pin: unknownPin(l.Begin.Pin), Purpose: catalog.Install})
	kind(t, "an unknown pin", err, plugin.NotFound)
	_, _, err = read(t, s.catalog, catalog.BundleRequest{Slug: slug, Pin: l.Begin.Pin, Purpose: "remove"})
	kind(t, "an unknown purpose", err, plugin.NotFound, plugin.Invalid)
	_, _, err = read(t, s.catalog, catalog.BundleRequest{Slug: slug, Purpose: catalog.Install})
	kind(t, "no pin", err, plugin.NotFound, plugin.Invalid)
}

// testBundleRemoved checks that a removed entry has no bundle.
func testBundleRemoved(t *testing.T, s *suite) {
	l := s.whole(t)
	for slug, e := range l.entries {
		if e.Removed != "" {
			_, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: slug, Pin: l.Begin.Pin, Purpose: catalog.Install})
			kind(t, slug, err, plugin.NotFound)
		}
	}
}

// testBundleEnded checks that a bundle ends with the caller's error or context
// and makes no further calls.
func testBundleEnded(t *testing.T, s *suite) {
	l := s.whole(t)
	request := catalog.BundleRequest{Slug: l.installable(t)[0].Slug, Pin: l.Begin.Pin, Purpose: catalog.Install}
	calls := 0
	err := s.catalog.Bundle(t.Context(), request, func(catalog.BundlePart) error { calls++; return errEnough })
	if !errors.Is(err, errEnough) || calls != 1 {
		t.Errorf("after the caller's error %d calls, %v", calls, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.catalog.Bundle(canceled, request, func(catalog.BundlePart) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// testBundleOlder checks that a bundle at an older pin is unchanged after the
// source changed. It must never silently become the newer one.
func testBundleOlder(t *testing.T, s *suite) {
	if s.Change == nil {
		t.Skip("the test cannot change the source")
	}
	before := s.whole(t)
	sums := map[string]string{}
	for _, e := range before.installable(t) {
		m, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: e.Slug, Pin: before.Begin.Pin, Purpose: catalog.Install})
		if err != nil {
			t.Fatal(err)
		}
		sums[e.Slug] = m.Sum()
	}
	s.Change(t)
	s.whole(t)
	for slug, sum := range sums {
		m, _, err := read(t, s.catalog, catalog.BundleRequest{Slug: slug, Pin: before.Begin.Pin, Purpose: catalog.Install})
		if err != nil || m.Sum() != sum {
			t.Errorf("after a change the bundle of %s at the previous pin is %s, %v", slug, m.Sum(), err)
		}
	}
}
