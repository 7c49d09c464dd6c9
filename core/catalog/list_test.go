package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/catalog"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

// shop is a catalog with a bit of everything.
func shop() catalogtest.State {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	return catalogtest.State{Categories: []sdk.Category{{Key: "media", Name: "Media & Streaming"}, {Key: "net", Name: "Network"}},
		Entries: []sdk.Entry{
			{Slug: "adguard", Name: "AdGuard Home", Categories: []string{"net"}, Tags: []string{"adblock"}, Created: day(3), Updated: day(4)},
			{Slug: "jellyfin", Name: "Jellyfin", Categories: []string{"media"}, Description: "A media server", Created: day(1), Updated: day(9)},
			{Slug: "plex", Name: "Plex", Categories: []string{"media", "net"}, Created: day(2)},
			{Slug: "wiki", Name: "Wiki", Description: "Pages that play no media"},
			{Slug: "alpine-wiki", Name: "Alpine Wiki", VariantOf: "wiki"},
			{Slug: "alpine-old", Name: "Alpine Old", VariantOf: "old"},
			{Slug: "old", Name: "Old", Removed: "its authors are gone"},
			{Slug: "alpine-it-tools", Name: "Alpine IT Tools", VariantOf: "it-tools"},
			{Slug: "off", Name: "Off", Disabled: "it is broken"},
			{Slug: "machine", Name: "Machine", Type: sdk.VMEntry},
		}}
}

func TestList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mem.Add(shop())
	f.refreshed()
	for name, c := range map[string]struct {
		filter catalog.Filter
		want   string
	}{
		"all":            {catalog.Filter{}, "adguard alpine-it-tools alpine-old alpine-wiki jellyfin machine off old plex wiki"},
		"ct":             {catalog.Filter{EntryType: "ct"}, "adguard alpine-it-tools alpine-old jellyfin off old plex wiki"},
		"vm":             {catalog.Filter{EntryType: "vm"}, "machine"},
		"no type":        {catalog.Filter{EntryType: "nothing"}, ""},
		"category":       {catalog.Filter{Category: "media"}, "jellyfin plex"},
		"newest":         {catalog.Filter{Category: "net", Sort: "newest"}, "adguard plex"},
		"updated":        {catalog.Filter{EntryType: "ct", Sort: "updated"}, "jellyfin adguard alpine-it-tools alpine-old off old plex wiki"},
		"any other sort": {catalog.Filter{Category: "media", Sort: "' OR 1=1"}, "jellyfin plex"},
		"popularity":     {catalog.Filter{Category: "media", Sort: "popularity"}, "jellyfin plex"},
		"a word":         {catalog.Filter{Query: "MEDIA"}, "jellyfin plex wiki"},
		"two words":      {catalog.Filter{Query: "media server"}, "jellyfin"},
		"the best first": {catalog.Filter{Query: "wiki"}, "wiki alpine-wiki"},
		"but sorted":     {catalog.Filter{Query: "wiki", Sort: "name"}, "alpine-wiki wiki"},
		"a tag":          {catalog.Filter{Query: "adblock"}, "adguard"},
		"a typo":         {catalog.Filter{Query: "jelyfin"}, "jellyfin"},
		"two swapped":    {catalog.Filter{Query: "adgaurd"}, "adguard"},
		"while typing":   {catalog.Filter{Query: "jelyf"}, "jellyfin"},
		"short words":    {catalog.Filter{Query: "plx"}, ""},
		"one of four":    {catalog.Filter{Query: "plax"}, "plex"},
		"nothing":        {catalog.Filter{Query: "zzzzzzzz"}, ""},
		"blanks":         {catalog.Filter{Query: "  ", Category: "media"}, "jellyfin plex"},
		"no pattern":     {catalog.Filter{Query: "%"}, ""},
	} {
		if got := f.slugs(c.filter); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	status, err := f.Status(t.Context())
	if err != nil || marshal(t, status.Categories) != `[{"key":"media","name":"Media \u0026 Streaming","entries":2},`+
		`{"key":"net","name":"Network","entries":2}]` {
		t.Errorf("%s, %v", marshal(t, status.Categories), err)
	}
	wiki, err := f.Entry(t.Context(), "wiki")
	if err != nil || strings.Join(wiki.Variants, " ") != "alpine-wiki" || !wiki.Installable {
		t.Errorf("%+v, %v", wiki, err)
	}
	off, err := f.Entry(t.Context(), "off")
	if err != nil || off.Installable || *off.Disabled != "it is broken" {
		t.Errorf("%+v, %v", off, err)
	}
}

// Many are listed by one statement, however many there are.
func TestListAsksOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mem.Add(many(600))
	f.refreshed()
	items, err := f.List(t.Context(), catalog.Filter{EntryType: "ct"})
	if text := marshal(t, items); err != nil || len(items) != 600 || len(text) > 300<<10 {
		t.Errorf("%d entries are %d bytes: %v", len(items), len(text), err)
	}
}

// many is a catalog of so many entries of the size of real ones.
func many(n int) catalogtest.State {
	var s catalogtest.State
	for i := range 26 {
		s.Categories = append(s.Categories, sdk.Category{Key: fmt.Sprintf("category-%d", i), Name: fmt.Sprintf("Category %d", i)})
	}
	for i := range n {
		s.Entries = append(s.Entries, sdk.Entry{
			Slug: fmt.Sprintf("application-%d", i), Name: fmt.Sprintf("Application %d of many", i), Tags: []string{"server", fmt.Sprintf("tag%d",
				i%40)},
			Description: strings.Repeat(fmt.Sprintf("What the application %d does is told in a few sentences. ", i), 6),
			Categories:  []string{fmt.Sprintf("category-%d", i%26)}, Created: time.Unix(1_700_000_000+int64(i)*86400, 0),
			Website: "https://example.com",
			Docs:    "https://docs.example.com", Web: &sdk.Web{Protocol: "http", Port: 8080}, Updatable: true,
			Notes: []sdk.Note{{Level: sdk.InfoNote, Text: "Read the documentation first."}},
		})
	}
	return s
}

func BenchmarkList(b *testing.B) {
	f := newFixture(b)
	f.mem.Add(many(1000))
	f.refreshed()
	for name, filter := range map[string]catalog.Filter{"all": {EntryType: "ct"}, "word": {Query: "application 7"},
		"typo": {Query: "aplicaton maany"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if items, err := f.List(b.Context(), filter); err != nil || len(items) == 0 {
					b.Fatal(len(items), err)
				}
			}
		})
	}
}

func BenchmarkRefresh(b *testing.B) {
	f := newFixture(b)
	for b.Loop() {
		b.StopTimer()
		f.Exec("DELETE FROM catalog_entries; UPDATE catalog_sources SET cursor = ''")
		f.mem.Add(many(1000))
		b.StartTimer()
		f.refreshed()
	}
}
