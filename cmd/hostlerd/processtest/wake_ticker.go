package processtest

import (
	"fmt"
	"net/http"
	"testing"
)

// wakeTicker wakes the ticker of the client's instance, which would else look a few seconds later: it writes a schedule that is
// off. ids has one of these for each client.
type wakeTicker struct {
	ids map[*client]int64
	n   int
}

func (n *wakeTicker) wake(t testing.TB, clients ...*client) {
	t.Helper()
	if n.ids == nil {
		n.ids = map[*client]int64{}
	}
	for _, c := range clients {
		if n.ids[c] == 0 {
			var made struct{ ID int64 }
			c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/schedules",
				map[string]any{"name": "nudge", "cron": "0 0 1 1 *", "job_kind": "sessions.prune", "enabled": false}, &made)
			n.ids[c] = made.ID
			continue
		}
		n.n++
		c.must(t, http.StatusOK, http.MethodPatch, fmt.Sprintf("/api/v1/schedules/%d", n.ids[c]),
			map[string]any{"name": fmt.Sprint("nudge ", n.n)}, nil)
	}
}

// newSchedule writes one that is due at no time soon.
func newSchedule(t testing.TB, c *client, kind string, params map[string]any) int64 {
	t.Helper()
	var made struct{ ID int64 }
	c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/schedules",
		map[string]any{"name": "test " + kind, "cron": "0 0 1 1 *", "job_kind": kind, "params": params}, &made)
	return made.ID
}
