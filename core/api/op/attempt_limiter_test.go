package op

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
)

func TestStrangersShareRows(t *testing.T) {
	t.Parallel()
	written := make(chan audit.Entry, 10)
	s := &attemptLimiter{rows: 3, window: time.Hour, windows: map[attemptKey]*attemptCount{}, write: func(e audit.Entry) { written <- e }}
	own := map[string]int{}
	for range 10 {
		for _, code := range []string{"invalid", "rate_limited"} {
			if s.admit(audit.Entry{Action: "auth.login", Error: code, Address: "192.0.2.1", RequestID: "x", TargetID: "1",
				Result: audit.ResultRefused}) {
				own[code]++
			}
		}
	}
	s.admit(audit.Entry{Action: "setup", Error: "already_set_up"})
	if own["invalid"] != 3 || own["rate_limited"] != 3 {
		t.Errorf("rows of their own: %v, want 3 each", own)
	}
	for _, key := range []attemptReason{{"auth.login", "invalid"}, {"auth.login", "rate_limited"}} {
		s.end(attemptKey{attemptReason: key})
		if e := <-written; e.Action != "auth.login" || e.Details["further_attempts"] != 7 || e.Address+e.RequestID+e.TargetID != "" ||
			e.Error != key.code {
			t.Errorf("%+v", e)
		}
	}
	s.end(attemptKey{attemptReason: attemptReason{"setup", "already_set_up"}})
	if len(s.windows) != 0 {
		t.Errorf("windows are left: %v", s.windows)
	}
	if len(written) != 0 {
		t.Errorf("a window without further attempts wrote %+v", <-written)
	}
	if !s.admit(audit.Entry{Action: "auth.login", Error: "invalid"}) {
		t.Error("a new window has no rows")
	}
}

func TestRefusalsOfAUserShareRows(t *testing.T) {
	t.Parallel()
	written := make(chan audit.Entry, 100)
	s := &attemptLimiter{rows: 3, window: time.Hour, windows: map[attemptKey]*attemptCount{}, write: func(e audit.Entry) { written <- e }}
	refused := func(user int64, action, code string) bool {
		return s.admit(audit.Entry{ActorType: audit.ActorAPIKey, ActorID: &user, ActorEmail: "viewer@example.com", Action: action, Error: code,
			TeamID: &user, HostID: &user, TargetID: "1", Address: "192.0.2.1", Result: audit.ResultRefused,
			Details: map[string]any{"key_id": 1}})
	}
	own := 0
	for range 10 { // the operations share what a user has
		for _, action := range []string{"vm.start", "vm.stop"} {
			if refused(7, action, "forbidden") {
				own++
			}
		}
	}
	if own != 3 || !refused(8, "vm.start", "forbidden") {
		t.Errorf("%d rows of their own, want 3; another user has their own", own)
	}
	s.end(attemptKey{user: 7})
	for range 2 {
		e := <-written
		want := map[string]int{"vm.start": 8, "vm.stop": 9}[e.Action]
		if e.Details["further_attempts"] != want || e.Error != "forbidden" || *e.ActorID != 7 || e.ActorType != audit.ActorAPIKey ||
			e.Result != audit.ResultRefused || e.TeamID != nil || e.HostID != nil || e.Address+e.TargetID != "" || len(e.Details) != 1 {
			t.Errorf("%+v", e)
		}
	}
	// Who tries all operations gets a bounded number of rows too.
	for i := range 50 {
		refused(8, fmt.Sprintf("act.%d", i), "forbidden")
	}
	s.end(attemptKey{user: 8})
	rows := map[string]any{}
	for len(written) > 0 {
		e := <-written
		rows[e.Action] = e.Details["further_attempts"]
	}
	if len(rows) != maxReasons+1 || rows[severalAttempts] != 50-2-maxReasons {
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	if len(s.windows) != 0 {
		t.Errorf("windows are left: %v", s.windows)
	}
}
