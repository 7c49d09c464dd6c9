package command_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// A flag for a time takes a date and a duration too. In the query of a list, a duration counts back from now; in a body, forward.
func TestTimes_AreDatesTimesOrDurations(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/audit", 200, `[]`)
	f.answer("GET /api/v1/audit/export", 200, ``)
	run := f.start(t)
	sent := func(words ...string) time.Time {
		t.Helper()
		if status, _, said := run("", words...); status != 0 {
			t.Fatalf("%q: %d %s", words, status, said)
		}
		last := f.asked[len(f.asked)-1]
		_, query, _ := strings.Cut(last, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, values.Get("from_"))
		if err != nil {
			t.Fatalf("%q: %v in %s", words, err, last)
		}
		return at
	}
	day := time.Date(2030, 1, 31, 0, 0, 0, 0, time.Local)
	for _, verb := range []string{"list", "export"} {
		if at := sent("audit", verb, "--from", "2030-01-31"); !at.Equal(day) {
			t.Errorf("a date of audit %s: %s", verb, at)
		}
		earliest := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
		at := sent("audit", verb, "--from", "24h")
		if at.Before(earliest) || at.After(time.Now().Add(-24*time.Hour)) {
			t.Errorf("a duration of audit %s: %s", verb, at)
		}
		before := len(f.asked)
		if status, _, said := run("", "audit", verb, "--from", "yesterday"); status != 2 || len(f.asked) != before {
			t.Errorf("audit %s: %d %s", verb, status, said)
		}
	}
}

func TestAuditExport_RefusesFormatThatTheServiceDoesNotHave(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/audit/export", 200, ``)
	run := f.start(t)
	for _, format := range []string{"csv", "jsonl"} {
		if status, _, said := run("", "audit", "export", "--format", format); status != 0 {
			t.Errorf("%s: %d %s", format, status, said)
		}
	}
	if status, _, said := run("", "audit", "export", "--format", "ndjson"); status != 2 || !strings.Contains(said, "csv, jsonl") {
		t.Errorf("ndjson: %d %s", status, said)
	}
}
