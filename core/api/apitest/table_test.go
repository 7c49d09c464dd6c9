package apitest

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	table := NewTable("# Notes.\n", "PATH", "ROLE", "AUDIT")
	table.Add("/b", "owner", "b.make")
	table.Add("/a", "viewer", "")
	const want = "# Notes.\nPATH\tROLE\tAUDIT\n/a\tviewer\t-\n/b\towner\tb.make\n"
	if got := string(table.Bytes()); got != want {
		t.Fatalf("%q", got)
	}
	listing := NewListing("", "OF", "WHAT")
	listing.Add("b", "z")
	listing.Add("a", "y")
	listing.Add("b", "x")
	if got := string(listing.Bytes()); got != "OF\tWHAT\na\ty\nb\tz\nb\tx\n" {
		t.Fatalf("%q", got)
	}
	for _, tt := range []struct {
		name     string
		table    *Table
		file     string
		part     bool
		complain string
	}{
		{"as it is", table, want, false, ""},
		{"as a merge left it", table, "# Notes.\nPATH\tROLE\tAUDIT\n/b\towner\tb.make\n/a\tviewer\t-\n", false, ""},
		{"a row changed", table, strings.Replace(want, "owner", "admin", 1), false, "- /b\tadmin\tb.make\n+ /b\towner\tb.make\n"},
		{"a row more", table, want + "/c\towner\t-\n", false, "- /c\towner\t-\n"},
		{"a row less", table, strings.Replace(want, "/a\tviewer\t-\n", "", 1), false, "+ /a\tviewer\t-\n"},
		{"both sides of a merge", table, want + "/b\tadmin\tb.make\n", false, "- /b\tadmin\tb.make\n"},
		{"a row twice", table, want + "/b\towner\tb.make\n", false, "in another order or duplicated"},
		{"other columns", table, strings.Replace(want, "ROLE", "WHO", 1), false, "the file does not begin with"},
		{"more things in the file of which this is a part", table, want + "/c\towner\t-\n", true, ""},
		{"more of a thing in the file of which this is a part", table, want + "/b\towner\tb.break\n", true, "- /b\towner\tb.break\n"},
		{"things in another order", listing, "OF\tWHAT\nb\tz\nb\tx\na\ty\n", false, ""},
		{"what is said of a thing in another order", listing, "OF\tWHAT\na\ty\nb\tx\nb\tz\n", false, "in another order or duplicated"},
	} {
		got := tt.table.differs([]byte(tt.file), tt.part)
		if tt.complain == "" && got != "" || !strings.Contains(got, tt.complain) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a cell with a tab is written")
		}
	}()
	table.Add("/c\td")
}
