package op

import (
	"context"
	"sync"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/problem"
)

// Settings of the entry that reports a gap in the audit log.
const (
	// defaultGapRetry is the delay between two attempts to record a gap.
	defaultGapRetry = 5 * time.Second
	// maxGapActions is how many actions the entry of a gap names; further ones
	// are counted together.
	maxGapActions = 20
)

// gap counts attempts that changed nothing and whose entries could not be
// written, until an entry of the audit log reports their number. It is only in
// memory: if the service ends before that, only the log of the service has
// reported the gap. Changes cannot get lost this way, because their entries are
// in their own transactions.
type gap struct {
	retry time.Duration
	write func(ctx context.Context, entry audit.Entry) error
	tell  func(begun bool, missed int, err error)

	mu       sync.Mutex
	missed   int
	from, to time.Time
	actions  map[string]int
	reason   problem.Code
}

// add counts one attempt. The first one starts the attempts to record the gap.
func (g *gap) add(entry audit.Entry, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now().UTC()
	if g.missed == 0 {
		g.from, g.actions, g.reason = now, map[string]int{}, problem.CodeOf(err)
		g.tell(true, 1, err)
		time.AfterFunc(g.retry, g.end)
	}
	g.missed++
	g.to = now
	name := entry.Action
	if _, known := g.actions[name]; !known && len(g.actions) >= maxGapActions {
		name = "others"
	}
	g.actions[name]++
}

// end writes the row, or tries again later.
func (g *gap) end() {
	g.mu.Lock()
	missed := g.missed
	actions := make(map[string]any, len(g.actions))
	for name, n := range g.actions {
		actions[name] = n
	}
	entry := audit.Entry{
		ActorType: audit.ActorSystem, Action: "audit.gap", TargetKind: "audit", Result: audit.ResultFailed, Error: string(g.reason),
		Details: map[string]any{"missed": missed, "from": g.from.Format(time.RFC3339Nano), "to": g.to.Format(time.RFC3339Nano),
			"actions": actions},
	}
	g.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	err := g.write(ctx, entry)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		time.AfterFunc(g.retry, g.end)
		return
	}
	g.tell(false, missed, nil)
	if g.missed -= missed; g.missed == 0 {
		return
	}
	// More came while the row was written: a row of their own follows.
	for name, n := range actions {
		if g.actions[name] -= n.(int); g.actions[name] == 0 {
			delete(g.actions, name)
		}
	}
	g.from = g.to
	time.AfterFunc(g.retry, g.end)
}

// newGap returns the gap of an API. Its entry is written through the recorder.
func newGap(a *API) *gap {
	return &gap{retry: a.config.GapRetry, write: func(ctx context.Context, entry audit.Entry) error {
		return a.config.Recorder.Record(ctx, entry)
	}, tell: func(begun bool, missed int, err error) {
		if begun {
			a.log.Error("the audit log accepts no entries: refused attempts are now counted, and one entry will report their number",
				"error", err)
			return
		}
		a.log.Info("the audit log accepts entries again; one entry reports the attempts without an entry of their own", "missed", missed)
	}}
}

// write writes the entry of an attempt that changed nothing, or counts it in
// the gap.
func (a *API) write(ctx context.Context, entry audit.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if err := a.config.Recorder.Record(ctx, entry); err != nil {
		a.log.Debug("recording an attempt failed", "request_id", entry.RequestID, "action", entry.Action, "error", err)
		a.gap.add(entry, err)
	}
}
