package pveapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
)

// TestTotalsAreCounts: what is no count of rows must not become one.
func TestTotalsAreCounts(t *testing.T) {
	t.Parallel()
	for total, want := range map[string]int{
		"7": 7, `"7"`: 7, "0": 0, "-1": 0, "-9223372036854775808": 0, "null": 0, `"many"`: 0, "[1]": 0,
		"2147483647": 2147483647, "2147483648": 2147483647, "999999999999999999": 2147483647,
	} {
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"data":[],"total":%s}`, total) })
		meta, err := client.Get(t.Context(), "/x", nil, nil)
		if err != nil || meta.Total != want {
			t.Errorf("total %s: %+v, %v, want %d", total, meta, err, want)
		}
	}
}

// TestWhoGivesUpIsNotToldOfABrokenAnswer: what is left of an answer after the caller has gone says nothing of the server.
func TestWhoGivesUpIsNotToldOfABrokenAnswer(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"a":1},broken`) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer, err := client.Stream(ctx, "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	err = answer.Rows(&mapRow{}, func() error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the caller's own cancellation", err)
	}
}
