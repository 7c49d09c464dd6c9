package op

import (
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
	for key := range map[attemptKey]bool{{"auth.login", "invalid"}: true, {"auth.login", "rate_limited"}: true} {
		s.end(key)
		if e := <-written; e.Action != "auth.login" || e.Details["further_attempts"] != 7 || e.Address+e.RequestID+e.TargetID != "" ||
			e.Error != key.code {
			t.Errorf("%+v", e)
		}
	}
	s.end(attemptKey{"setup", "already_set_up"})
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
