package catalogtest

import (
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// testEntry compares up to twenty entries with those of the sync, by digest.
func testEntry(t *testing.T, s *suite) {
	l := s.whole(t)
	tried := 0
	for slug, want := range l.entries {
		if tried++; tried > 20 {
			return
		}
		e, err := s.catalog.Entry(t.Context(), slug, l.Begin.Pin)
		if err == nil {
			err = catalog.CheckAnswer(e, slug)
		}
		if err != nil || e.Digest != want.Digest {
			t.Errorf("the entry %s is %+v, %v, but in the sync %+v", slug, e, err, want)
		}
	}
}

// testEntryNotFound checks unknown slugs and an unknown pin.
func testEntryNotFound(t *testing.T, s *suite) {
	l := s.whole(t)
	for _, slug := range hostileNames {
		_, err := s.catalog.Entry(t.Context(), slug, l.Begin.Pin)
		kind(t, slug, err, plugin.NotFound)
	}
	for slug := range l.entries {
		_, err := s.catalog.Entry(t.Context(), slug, unknownPin(l.Begin.Pin))
		kind(t, "an unknown pin", err, plugin.NotFound)
		break
	}
}
