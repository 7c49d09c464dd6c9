package audit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// kept writes a row with details, and gives them as the row has them, with their bytes. A list shows less of them.
func kept(t *testing.T, d *db.DB, details map[string]any) (shown map[string]any, size int) {
	t.Helper()
	entry := audit.Entry{ActorType: audit.ActorSystem, Action: "some.thing", Result: audit.ResultOK, Details: details}
	if err := d.Tx(t.Context(), func(tx *db.Tx) error { return audit.WriteEntry(tx, entry) }); err != nil {
		t.Fatal(err)
	}
	rows, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows[0].Details); n > audit.MaxListedDetails {
		t.Errorf("a list shows %d bytes", n)
	}
	row, err := audit.Get(t.Context(), d, rows[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(row.Details, &shown); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	return shown, len(text)
}

// Details of any length are kept with all that is short, with the beginning of what is long, and with how long they were.
func TestLongDetailsAreShortened(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("+ in DROP source 192.0.2.%d proto tcp dport 23", i))
	}
	details := map[string]any{"window_seconds": 60, "guest:1": lines, "guest:2": []string{"- a", "+ b"},
		"nested": map[string]any{"name": "web", "content": map[string]any{"rules": lines, "shared": true}}, "note": strings.Repeat("é", 4000)}
	whole, err := json.Marshal(audit.Redact(details))
	if err != nil {
		t.Fatal(err)
	}
	shown, size := kept(t, d, details)
	if size > audit.MaxDetails || size < audit.MaxDetails/2 {
		t.Errorf("%d bytes are kept of %d", size, len(whole))
	}
	if got := shown[audit.TruncatedFrom]; got != float64(len(whole)) {
		t.Errorf("they are said to be shortened from %v bytes, want %d", got, len(whole))
	}
	if got := fmt.Sprint(shown["window_seconds"], shown["guest:2"]); got != "60 [- a + b]" {
		t.Errorf("what is short is %s", got)
	}
	list := shown["guest:1"].([]any)
	last := len(list) - 1
	if list[0] != lines[0] || last < 10 || list[last] != fmt.Sprintf("… and %d more", len(lines)-last) {
		t.Errorf("of a list there are %d entries, the last %v", len(list), list[last])
	}
	content := shown["nested"].(map[string]any)["content"].(map[string]any)
	if rules := content["rules"].([]any); content["shared"] != true || len(rules) < 10 {
		t.Errorf("of an object there is %v", content)
	}
	if note := shown["note"].(string); !strings.HasSuffix(note, "é…") {
		t.Errorf("a text ends with %q", note[len(note)-10:])
	}
	if shown, _ := kept(t, d, map[string]any{"note": "short"}); fmt.Sprint(shown) != "map[note:short]" {
		t.Errorf("short details are %v", shown)
	}
}

// A list has little of a row's details: all that is short, the beginning of what is long, and how long they were when they were written.
func TestListShortensDetails(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, repeat := range []int{300, 30_000} { // what a row keeps, and what is truncated before
		details := map[string]any{"window_seconds": 60, "id": int64(1) << 60, "note": strings.Repeat("abcde", repeat)}
		whole, err := json.Marshal(audit.Redact(details))
		if err != nil {
			t.Fatal(err)
		}
		kept(t, d, details)
		rows, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		text := string(rows[0].Details)
		if len(text) > audit.MaxListedDetails || !strings.Contains(text, `"id":1152921504606846976`) ||
			!strings.Contains(text, `"window_seconds":60`) || !strings.Contains(text, `"note":"abcdeabcde`) ||
			!strings.Contains(text, fmt.Sprintf(`"truncated_from_bytes":%d`, len(whole))) {
			t.Errorf("%d times: %s", repeat, text)
		}
	}
}

// Rows of earlier releases keep details of any length: a list shows their beginning.
func TestListOfRowsWithLongDetails(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `INSERT INTO audit (actor_type, action, result, details)
		VALUES ('system', 'some.thing', 'ok', jsonb_build_object('text', repeat('long ', 100000)))`)
	rows, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true})
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal(rows[0].Details, &shown); err != nil {
		t.Fatal(err)
	}
	beginning, _ := shown["beginning"].(string)
	if len(rows[0].Details) > audit.MaxListedDetails || shown[audit.TruncatedFrom] != float64(500012) ||
		!strings.HasPrefix(beginning, `{"text": "long long`) {
		t.Errorf("%d bytes: %.200s", len(rows[0].Details), rows[0].Details)
	}
}

// However details are built, a row keeps no more of them than it may.
func TestShortenedDetailsFit(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		details := map[string]any{}
		for i := range 1 + r.IntN(6) {
			details[fmt.Sprint("key", i)] = randomDetail(r, 0)
		}
		if shown, size := kept(t, d, details); size > audit.MaxDetails {
			t.Errorf("seed %d: %d bytes are kept: %.300s", seed, size, fmt.Sprint(shown))
		}
	}
}

func randomDetail(r *rand.Rand, depth int) any {
	switch n := r.IntN(5); {
	case n == 0:
		return r.IntN(1e6)
	case n < 3 || depth > 2:
		return strings.Repeat([]string{"a", "é", "<", "\n", "\U0001F600"}[r.IntN(5)], r.IntN(2000))
	case n == 3:
		list := []any{}
		for range r.IntN(9) {
			list = append(list, randomDetail(r, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for i := range r.IntN(9) {
		m[strings.Repeat("k", r.IntN(100))+fmt.Sprint(i)] = randomDetail(r, depth+1)
	}
	return m
}
