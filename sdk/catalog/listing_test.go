package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
)

func entries(n int, description string) []catalog.Entry {
	var list []catalog.Entry
	for i := range n {
		e := catalog.Entry{Slug: fmt.Sprintf("app-%d", i), Name: "App", Type: catalog.ContainerEntry, Description: description,
			App: catalog.Pin{{Repository: "a/b", Commit: strings.Repeat(fmt.Sprint(i%2), 40)}}}
		e.Digest = catalog.EntryDigest(e)
		list = append(list, e)
	}
	return list
}

// listed makes a catalog of a listing.
type listed struct {
	catalog.Catalog
	catalog.Listing
}

func (l listed) Sync(ctx context.Context, request catalog.SyncRequest, each func(catalog.SyncStep) error) error {
	return l.Send(ctx, request.Cursor, each)
}

// Whoever follows a listing by its cursors has what whoever asks for everything has, also when there are too many entries for a cursor.
func TestListing(t *testing.T) {
	t.Parallel()
	pin := catalog.Pin{{Repository: "a/b", Commit: strings.Repeat("a", 40)}}
	for _, n := range []int{1, 7, 3000} {
		before, after := entries(n, "old"), entries(n, "old")
		after[0] = entries(1, "new")[0]
		after = append(after, entries(n+1, "added")[n])
		if n > 1 {
			after = append(after[:1], after[2:]...)
		}
		sync := func(list []catalog.Entry, cursor string, known map[string]string) catalog.SyncResult {
			s, err := catalog.VerifySync(t.Context(), listed{Listing: catalog.Listing{Pin: pin, Entries: list}},
				catalog.SyncRequest{Cursor: cursor}, known, func(catalog.SyncStep) error { return nil })
			if err != nil {
				t.Fatalf("%d entries: %v", n, err)
			}
			return s
		}
		first := sync(before, "", nil)
		earlier, ok := catalog.ParseCursor(first.End.Cursor)
		if !ok || earlier.Digest != first.End.Digest || n < 3000 && (!earlier.Pin.Equal(pin) || len(earlier.Entries) != n ||
			!earlier.Entries["app-0"].App.Equal(before[0].App)) {
			t.Errorf("the cursor of %d entries tells %d, %v", n, len(earlier.Entries), ok)
		}
		if same := sync(before, first.End.Cursor, first.Digests); !same.Begin.Unchanged || same.Added != 0 {
			t.Errorf("%d entries that have not changed: %+v", n, same.Begin)
		}
		changed := sync(after, first.End.Cursor, first.Digests)
		whole := sync(after, "", nil)
		if changed.End.Digest != whole.End.Digest || !maps.Equal(changed.Digests, whole.Digests) || n < 3000 && changed.Added != 2 || n > 1 &&
			len(changed.Removed) != 1 {
			t.Errorf("%d entries: %d came, %q are gone, %+v", n, changed.Added, changed.Removed, changed.Begin)
		}
	}
}

// Who has something else than the cursor says is told, and asks for everything.
func TestListingOfAnotherCaller(t *testing.T) {
	t.Parallel()
	pin := catalog.Pin{{Repository: "a/b", Commit: strings.Repeat("a", 40)}}
	l := listed{Listing: catalog.Listing{Pin: pin, Entries: entries(3, "old")}}
	nothing := func(catalog.SyncStep) error { return nil }
	first, err := catalog.VerifySync(t.Context(), l, catalog.SyncRequest{}, nil, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.VerifySync(t.Context(), l, catalog.SyncRequest{Cursor: first.End.Cursor}, nil, nothing); err == nil {
		t.Error("who has nothing is told that nothing has changed")
	}
	enough := errors.New("enough")
	if _, err := catalog.VerifySync(t.Context(), l, catalog.SyncRequest{}, nil,
		func(catalog.SyncStep) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the caller's error is %v", err)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("listing-1 " + strings.Repeat("0", 64) + " 2\na/b@" + strings.Repeat("a", 40) + "\n\nx 0123456789abcdef 1\n")
	f.Add("listing-1 " + strings.Repeat("0", 64))
	f.Add("listing-1 " + strings.Repeat("0", 64) + " 99999999999999999999")
	f.Fuzz(func(t *testing.T, cursor string) {
		l := listed{Listing: catalog.Listing{Pin: catalog.Pin{{Repository: "a/b", Commit: strings.Repeat("a", 40)}}, Entries: entries(2, "x")}}
		_ = l.Send(t.Context(), cursor, func(step catalog.SyncStep) error {
			if step.Entry != nil {
				return catalog.CheckEntry(*step.Entry)
			}
			return nil
		})
	})
}
