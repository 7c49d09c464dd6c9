package op

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/problem"
)

var errFull = problem.New(problem.CodeDatabaseFull, "full")

// told is what the rows of a gap say.
func told(entries []audit.Entry) []string {
	var rows []string
	for _, e := range entries {
		rows = append(rows, fmt.Sprint(e.Details["missed"], " ", e.Details["actions"], " ", e.Error))
	}
	return rows
}

// A row that cannot be written is tried again until it can, and what comes while it is written has a row of its own.
func TestGapGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var rows []audit.Entry
		tries, ends := 0, 0
		g := &gap{retry: time.Second, tell: func(begun bool, _ int, _ error) {
			if !begun {
				ends++
			}
		}}
		g.write = func(_ context.Context, e audit.Entry) error {
			switch tries++; tries {
			case 1:
				return errors.New("still full")
			case 2:
				g.add(audit.Entry{Action: "thing.start"}, errFull)
				g.add(audit.Entry{Action: "thing.stop"}, errFull)
			}
			rows = append(rows, e)
			return nil
		}
		for range 3 {
			g.add(audit.Entry{Action: "thing.start"}, errFull)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"3 map[thing.start:3] database_full", "2 map[thing.start:1 thing.stop:1] database_full"}
		if got := told(rows); fmt.Sprint(got) != fmt.Sprint(want) || tries != 3 || ends != 2 {
			t.Errorf("%d tries, %d ends, rows %q, want %q", tries, ends, got, want)
		}
		g.add(audit.Entry{Action: "thing.stop"}, errFull)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := told(rows); len(got) != 3 || got[2] != "1 map[thing.stop:1] database_full" {
			t.Errorf("a gap after the end of another: %q", got)
		}
	})
}

// The row names a bounded number of actions and counts the others together.
func TestGapNamesFewActions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var rows []audit.Entry
		g := &gap{retry: time.Second, tell: func(bool, int, error) {}, write: func(_ context.Context, e audit.Entry) error {
			rows = append(rows, e)
			return nil
		}}
		want := map[string]any{"others": 2 * 5}
		for range 2 {
			for i := range maxGapActions + 5 {
				name := fmt.Sprint("thing.", i)
				g.add(audit.Entry{Action: name}, errFull)
				if i < maxGapActions {
					want[name] = 2
				}
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(rows) != 1 || rows[0].Details["missed"] != 2*(maxGapActions+5) {
			t.Fatalf("%+v", rows)
		}
		if got := rows[0].Details["actions"].(map[string]any); !maps.Equal(got, want) {
			t.Errorf("actions %v, want %v", got, want)
		}
	})
}
