package op

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// Settings of the search for the outcome of a change whose commit was not
// acknowledged.
const (
	// settleTime is how long the service tries to find out the outcome.
	settleTime = time.Hour
	// maxSettling is the maximum number of changes that are checked at the same
	// time.
	maxSettling = 64
)

// recordSettled records an attempt in the background, once it is known whether
// its change was committed. A committed change has written its entry of the
// audit log in its own transaction. A change that was not committed gets the
// entry of a failure, with outcome=undone. If the outcome stays unknown, the
// log says so.
func (a *API) recordSettled(entry audit.Entry, open db.Outcome) {
	select {
	case a.settling <- struct{}{}:
	default:
		a.log.Error("too many changes with an unknown result; not checking this one", "request_id", entry.RequestID, "action",
			entry.Action)
		return
	}
	go func() {
		defer func() { <-a.settling }()
		ctx, cancel := context.WithTimeout(context.Background(), settleTime)
		defer cancel()
		committed, known := open.Settle(ctx)
		switch {
		case !known:
			a.log.Error("it is unknown whether a change was made; its entry in the audit log shows it",
				"request_id", entry.RequestID, "action",
				entry.Action)
		case committed:
			a.log.Info("a change was made although its commit was not answered", "request_id", entry.RequestID, "action", entry.Action)
		default:
			entry.Detail("outcome", "undone")
			a.write(ctx, entry)
		}
	}()
}
