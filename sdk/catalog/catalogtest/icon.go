package catalogtest

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// testIcon checks that every icon is an https address or can be fetched, stays
// below catalog.MaxIcon, and is not sent again if its ETag is known.
func testIcon(t *testing.T, s *suite) {
	fetcher, ok := catalog.As[catalog.IconFetcher](s.catalog)
	l := s.whole(t)
	for slug, e := range l.entries {
		if e.Icon == "" || strings.HasPrefix(e.Icon, "https://") {
			continue
		}
		if !ok {
			t.Errorf("the icon of %s is not an https address, and the source does not provide icons", slug)
			continue
		}
		icon, err := fetcher.Icon(t.Context(), e.Icon, "")
		if err != nil || len(icon.Data) == 0 || len(icon.Data) > catalog.MaxIcon || icon.Unchanged {
			t.Errorf("the icon of %s has %d bytes, %v", slug, len(icon.Data), err)
			continue
		}
		if icon.ETag == "" {
			continue
		}
		again, err := fetcher.Icon(t.Context(), e.Icon, icon.ETag)
		if err != nil || !again.Unchanged || len(again.Data) != 0 {
			t.Errorf("the icon of %s has not changed, but has %d bytes, %v", slug, len(again.Data), err)
		}
	}
	if !ok {
		t.Skip("the source does not provide icons")
	}
	for _, reference := range hostileNames {
		_, err := fetcher.Icon(t.Context(), reference, "")
		kind(t, reference, err, plugin.NotFound, plugin.Invalid)
	}
}

// testPopularity checks Ranker. An Unsupported error is fine, because an
// administrator can switch it off. Scores must not be NaN.
func testPopularity(t *testing.T, s *suite) {
	ranker, ok := catalog.As[catalog.Ranker](s.catalog)
	if !ok {
		t.Skip("the source does not know the popularity of entries")
	}
	scores, asOf, err := ranker.Popularity(t.Context(), 30)
	if err != nil {
		kind(t, "popularity", err, plugin.Unsupported) // it is switched off
		return
	}
	for _, score := range scores {
		if !catalog.ValidSlug(score.Slug) || score.Score != score.Score {
			t.Errorf("the score %+v is invalid", score)
		}
	}
	if len(scores) > 0 && asOf.IsZero() {
		t.Error("the scores have no date")
	}
}
