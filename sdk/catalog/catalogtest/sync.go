package catalogtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

func testInfo(t *testing.T, s *suite) {
	info, err := s.source.Info(t.Context())
	if err != nil || info.Name == "" || info.Version == "" || info.Title == "" || info.Trust == "" {
		t.Errorf("info is %+v, %v: name, version, title and trust text are required", info, err)
	}
	described, err := catalog.Describe(t.Context(), s.source, s.CatalogType)
	if err != nil || described.Name != info.Name || !slices.EqualFunc(described.Options, info.Options, sameOption) {
		t.Errorf("the info is %+v, and the second time %+v, %v", info, described, err)
	}
}

func sameOption(a, b catalog.Option) bool { return a.Key == b.Key && a.Type == b.Type }

func testOptions(t *testing.T, s *suite) {
	config := s.Catalog
	config.Options = map[string]string{"no_such_option_is_there": "x"}
	for key, value := range s.Catalog.Options {
		config.Options[key] = value
	}
	_, err := s.source.Open(t.Context(), config)
	kind(t, "an unknown option", err, plugin.Invalid)
	var known *plugin.Error
	if errors.As(err, &known) && known.Field != "no_such_option_is_there" {
		t.Errorf("the field of an unknown option is %q", known.Field)
	}
}

func testHealth(t *testing.T, s *suite) {
	if err := s.catalog.Health(t.Context()); err != nil {
		t.Error("health:", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.catalog.Health(canceled); !errors.Is(err, context.Canceled) {
		t.Error("canceled health:", err)
	}
}

func testSyncWhole(t *testing.T, s *suite) {
	first := s.whole(t)
	if !first.Begin.Whole || len(first.entries) < 2 {
		t.Errorf("a sync of all entries has %d entries and begins with %+v", len(first.entries), first.Begin)
	}
	first.installable(t)
	again := s.whole(t)
	if again.End.Digest != first.End.Digest || !again.Begin.Pin.Equal(first.Begin.Pin) {
		t.Error("nothing has changed, but a second sync differs")
	}
	for slug, e := range first.entries {
		if e.VariantOf != "" && first.Digests[e.VariantOf] == "" {
			t.Errorf("%s is a variant of %s, which does not exist", slug, e.VariantOf)
		}
		if e.Successor != "" && first.Digests[e.Successor] == "" {
			t.Errorf("the successor of %s is %s, which does not exist", slug, e.Successor)
		}
	}
}

func testSyncCursor(t *testing.T, s *suite) {
	first := s.whole(t)
	for _, cursor := range []string{"no such cursor", "0", "../../x"} {
		if l := s.sync(t, catalog.SyncRequest{Cursor: cursor}, first.Digests); !l.Begin.Whole || l.End.Digest != first.End.Digest {
			t.Errorf("with the unknown cursor %q the sync begins with %+v", cursor, l.Begin)
		}
	}
	if first.End.Cursor == "" {
		return // each sync brings everything
	}
	l := s.sync(t, catalog.SyncRequest{Cursor: first.End.Cursor}, first.Digests)
	if l.Begin.Whole || l.Added != 0 || len(l.Removed) != 0 || l.End.Digest != first.End.Digest || l.End.Entries != len(first.Digests) {
		t.Errorf("nothing has changed, but %d entries were added and %d removed: %+v, %+v", l.Added, len(l.Removed), l.Begin, l.End)
	}
}

func testSyncPin(t *testing.T, s *suite) {
	first := s.whole(t)
	if l := s.sync(t, catalog.SyncRequest{Wanted: first.Begin.Pin}, nil); l.End.Digest != first.End.Digest {
		t.Error("the digest at the same pin differs")
	}
	unknown := unknownPin(first.Begin.Pin)
	err := s.catalog.Sync(t.Context(), catalog.SyncRequest{Wanted: unknown}, func(catalog.SyncStep) error { return nil })
	kind(t, "an unknown pin", err, plugin.NotFound)
}

func testSyncEnded(t *testing.T, s *suite) {
	calls := 0
	err := s.catalog.Sync(t.Context(), catalog.SyncRequest{}, func(catalog.SyncStep) error { calls++; return errEnough })
	if !errors.Is(err, errEnough) || calls != 1 {
		t.Errorf("after the caller's error %d calls, %v", calls, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err = s.catalog.Sync(canceled, catalog.SyncRequest{}, func(catalog.SyncStep) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func testSyncAtOnce(t *testing.T, s *suite) {
	var group sync.WaitGroup
	digests := make([]string, 4)
	for i := range digests {
		group.Go(func() {
			synced, err := catalog.VerifySync(t.Context(), s.catalog, catalog.SyncRequest{}, nil, func(catalog.SyncStep) error { return nil })
			if err != nil {
				t.Error(err)
			}
			digests[i] = synced.End.Digest
		})
	}
	group.Wait()
	if len(slices.Compact(digests)) != 1 {
		t.Errorf("four syncs at once gave %q", digests)
	}
}

// Changes on top of what was there give what is there.
func testSyncChanges(t *testing.T, s *suite) {
	if s.Change == nil {
		t.Skip("the test cannot change the source")
	}
	before := s.whole(t)
	s.Change(t)
	delta := s.sync(t, catalog.SyncRequest{Cursor: before.End.Cursor}, before.Digests)
	after := s.whole(t)
	if delta.End.Digest != after.End.Digest || after.Begin.Pin.Equal(before.Begin.Pin) || after.End.Digest == before.End.Digest {
		t.Errorf("after a change a sync of changes results in %q and a full sync in %q, before it "+
			"was %q", delta.End.Digest, after.End.Digest, before.End.Digest)
	}
	if !delta.Begin.Whole && delta.Added >= len(after.entries) {
		t.Error("the sync contains all entries, also unchanged ones")
	}
	same := 0
	for slug, old := range before.entries {
		if e, ok := after.entries[slug]; ok && e.App.Equal(old.App) {
			same++
		}
	}
	if same == 0 {
		t.Error("the pins of all apps have changed, also of apps whose own files are the same")
	}
	// The cursor goes on, and the old state is still what it was, where the source can give it.
	s.sync(t, catalog.SyncRequest{Cursor: delta.End.Cursor}, after.Digests)
	old, err := catalog.VerifySync(t.Context(), s.catalog, catalog.SyncRequest{Wanted: before.Begin.Pin}, nil,
		func(catalog.SyncStep) error { return nil })
	if err == nil && old.Begin.Pin.Equal(after.Begin.Pin) {
		t.Error("the old pin returns the new state")
	} else if err != nil {
		kind(t, "the old pin", err, plugin.NotFound)
	}
}
