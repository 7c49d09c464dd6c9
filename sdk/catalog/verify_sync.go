package catalog

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// Limits of syncs. MaxCursor is in bytes.
const (
	MaxEntries    = 20000
	MaxCategories = 1000
	MaxCursor     = 64 << 10
)

// SyncResult is the result of a complete, verified sync.
type SyncResult struct {
	Begin Begin
	End   End
	// Digests are the digests of all entries at the pin by slug, including those
	// that were not delivered.
	Digests map[string]string
	// Added is the number of entries that were delivered. Removed lists the slugs of
	// known entries that do not exist any more, in no particular order.
	Added   int
	Removed []string
}

// VerifySync runs a sync and checks everything that the source says: the order of
// the steps, each entry, that no entry comes twice, and the number and digest of
// all entries. Known contains the digests of the entries that the caller has from
// the sync of the request's cursor, by slug. VerifySync does not change the map.
//
// It passes the steps to each, one by one. They count only if VerifySync returns
// without an error, because the final check may fail. Wrong data is Protocol. An
// error from each ends the sync and is returned.
//
// A source that reports Unchanged must still report the digest of the catalog. A
// caller whose entries have another digest gets Protocol and retries with an empty
// cursor.
func VerifySync(ctx context.Context, c Catalog, request SyncRequest, known map[string]string, each func(SyncStep) error) (SyncResult,
	error) {
	v := &syncCheck{request: request, known: known, came: map[string]bool{}, gone: map[string]bool{}, digests: map[string]string{}}
	var failed error
	err := c.Sync(ctx, request, func(step SyncStep) error {
		if failed == nil {
			failed = v.step(step)
		}
		if failed == nil {
			failed = each(step)
		}
		return failed // a source that goes on all the same gets it again
	})
	switch {
	case failed != nil:
		return SyncResult{}, failed
	case err != nil:
		return SyncResult{}, err
	case ctx.Err() != nil:
		return SyncResult{}, ctx.Err()
	case v.begin == nil:
		return SyncResult{}, bad("the sync is empty")
	case v.end == nil:
		return SyncResult{}, bad("the sync is incomplete: its end is missing")
	}
	synced := SyncResult{Begin: *v.begin, End: *v.end, Digests: v.digests, Added: len(v.came)}
	for slug := range known {
		if _, there := v.digests[slug]; !there {
			synced.Removed = append(synced.Removed, slug)
		}
	}
	return synced, nil
}

// syncCheck is the state of a sync that is being verified.
type syncCheck struct {
	request    SyncRequest
	known      map[string]string
	begin      *Begin
	end        *End
	categories map[string]bool
	came, gone map[string]bool
	digests    map[string]string
}

// step checks that exactly one field is set and that the steps come in the right
// order.
func (v *syncCheck) step(step SyncStep) error {
	set := 0
	for _, is := range []bool{step.Begin != nil, step.Entry != nil, step.Removed != "", step.End != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return bad("a step of the sync has %d values instead of one", set)
	case v.end != nil:
		return bad("the sync continues after its end")
	case (v.begin == nil) != (step.Begin != nil):
		return bad("the sync must start with exactly one begin step")
	case step.Begin != nil:
		return v.begins(*step.Begin)
	case step.End != nil:
		return v.ends(*step.End)
	case v.begin.Unchanged:
		return bad("a sync that is marked as unchanged contains changes")
	case step.Entry != nil:
		return v.entry(*step.Entry)
	default:
		return v.removed(step.Removed)
	}
}

// begins checks the first step.
func (v *syncCheck) begins(b Begin) error {
	switch {
	case !b.Pin.Valid():
		return bad("the pin of the sync is invalid")
	case len(v.request.Wanted) > 0 && !b.Pin.Equal(v.request.Wanted):
		return bad("the sync has another pin than requested")
	case !b.Whole && v.request.Cursor == "":
		return bad("the sync contains only changes, but the request was for all entries")
	case b.Whole && b.Unchanged:
		return bad("the sync is marked as both complete and unchanged")
	case len(b.Categories) > MaxCategories:
		return bad("the sync has too many categories: %d", len(b.Categories))
	}
	v.categories = make(map[string]bool, len(b.Categories))
	for _, c := range b.Categories {
		if c.Key == "" || !isLine(c.Key) || !isLine(c.Name) || v.categories[c.Key] {
			return bad("the category %.40q is invalid or occurs twice", c.Key)
		}
		v.categories[c.Key] = true
	}
	if !b.Whole {
		for slug, digest := range v.known {
			v.digests[slug] = digest
		}
	}
	v.begin = &b
	return nil
}

// entry checks an entry and adds its digest.
func (v *syncCheck) entry(e Entry) error {
	if err := CheckEntry(e); err != nil {
		return err
	}
	for _, key := range e.Categories {
		if !v.categories[key] {
			return bad("%s is in the category %.40q, which the sync does not define", e.Slug, key)
		}
	}
	if v.came[e.Slug] || v.gone[e.Slug] {
		return bad("%s occurs twice", e.Slug)
	}
	v.came[e.Slug] = true
	v.digests[e.Slug] = e.Digest
	if len(v.digests) > MaxEntries {
		return bad("there are more than %d entries", MaxEntries)
	}
	return nil
}

// removed checks the removal of a known entry.
func (v *syncCheck) removed(slug string) error {
	_, there := v.digests[slug]
	switch {
	case !ValidSlug(slug):
		return bad("%.80q is not a valid slug", slug)
	case v.begin.Whole || !there || v.came[slug] || v.gone[slug]:
		return bad("%s is removed although it did not exist, or occurs twice", slug)
	}
	v.gone[slug] = true
	delete(v.digests, slug)
	return nil
}

// ends compares the source's count and digest with the received entries.
func (v *syncCheck) ends(e End) error {
	switch {
	case len(e.Cursor) > MaxCursor || !isText(e.Cursor):
		return bad("the cursor of the sync is too long or not valid text")
	case e.Entries != len(v.digests):
		return bad("there are %d entries after the sync, but the source reports %d", len(v.digests), e.Entries)
	case e.Digest != CatalogDigest(v.digests):
		return bad("the digest of all entries does not match the one that the source reports")
	}
	v.end = &e
	return nil
}

// CheckAnswer returns Protocol if an entry is malformed or has another slug than
// the requested one.
func CheckAnswer(e Entry, slug string) error {
	if e.Slug != slug {
		return plugin.Errorf(plugin.Protocol, "the entry does not match the request")
	}
	return CheckEntry(e)
}
