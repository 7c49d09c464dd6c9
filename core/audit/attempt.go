// Package audit keeps the trail: who did what to which thing, from where, and
// how it ended.
//
// core/api/op opens an Attempt for every operation that declares an audit
// action. The noun that makes the change calls Write inside its own
// transaction, so that the change and its row are one. When the handler fails
// before that, op records the refused attempt itself. Details pass through
// redaction: a key that names a secret keeps no value, nor does a value that
// looks like one. List and Each read the trail, narrowed to the teams whose
// admin the reader is. A Chain of hashes shows whether anyone has changed it in
// the database.
package audit

import (
	"context"
	"maps"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// Results of an attempt.
const (
	ResultOK      = "ok"
	ResultRefused = "refused" // the service said no: role, input, state, confirmation
	ResultFailed  = "failed"  // the service tried and the hypervisor or the service itself failed
)

// Actor types.
const (
	ActorUser   = "user"
	ActorAPIKey = "api_key"
	ActorSystem = "system"
	// ActorAnonymous is a caller who is not known yet, such as one who fails to log in.
	ActorAnonymous = "anonymous"
)

// Entry is one row of the trail before it is written.
type Entry struct {
	ActorType string
	// ActorID is the user's id; nil for the system and for anonymous attempts.
	ActorID *int64
	// ActorEmail stays readable when the user is deleted.
	ActorEmail string
	Action     string
	TargetKind string
	TargetID   string
	TargetName string
	// TeamID is the team whose members with the right to read the trail may see
	// the row; nil means the instance.
	TeamID *int64
	HostID *int64
	JobID  *int64
	Result string
	// Error is the problem's code when the result is not ok.
	Error     string
	Address   string
	RequestID string
	// Details are further facts; they are redacted when the row is written, see
	// Redact, and shortened to MaxDetails.
	Details map[string]any
	// Lasting is of what lasts, in the rows of its beginning and its end; nil
	// in others. Recorder alone looks at it.
	Lasting *Lasting
}

// Detail adds one further fact beside those that are there.
func (e *Entry) Detail(key string, value any) {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
}

// Attempt is an Entry in the making, carried by the context of a request.
type Attempt struct {
	mu      sync.Mutex
	entry   Entry
	written bool
	onWrite func(ctx context.Context, tx *db.Tx, entry Entry) error
}

// attemptKey is the key of the attempt in a context.
type attemptKey struct{}

// Begin opens an attempt and puts it into the context.
func Begin(ctx context.Context, entry Entry) (context.Context, *Attempt) {
	a := &Attempt{entry: entry}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// As opens a further attempt of the same caller and request, about something
// else that fill writes into it: a request that acts on many things has a row
// for each. Without an attempt in the context it does nothing.
func As(ctx context.Context, fill func(*Entry)) context.Context {
	a := FromContext(ctx)
	if a == nil {
		return ctx
	}
	entry := a.Entry()
	fill(&entry)
	ctx, _ = Begin(ctx, entry)
	return ctx
}

// FromContext is the attempt of the request; nil where none was opened.
func FromContext(ctx context.Context) *Attempt {
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	return a
}

// Describe adds facts to the attempt of the context: target, team, job,
// details. Without an attempt it does nothing.
func Describe(ctx context.Context, fill func(*Entry)) {
	if a := FromContext(ctx); a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		fill(&a.entry)
	}
}

// OnWrite has f called by every Write of the attempt, in the transaction that
// makes the change and after its row: what f writes there is kept with the
// change or not at all, and its error undoes the change. It is set before the
// attempt is used.
func (a *Attempt) OnWrite(f func(ctx context.Context, tx *db.Tx, entry Entry) error) { a.onWrite = f }

// commit marks the attempt as recorded, so that no second row is written for
// it.
func (a *Attempt) commit() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = true
}

// Written reports whether a row of this attempt was written and committed.
func (a *Attempt) Written() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.written
}

// Entry is a copy of what is known of the attempt so far.
func (a *Attempt) Entry() Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	entry := a.entry
	entry.Details = maps.Clone(entry.Details)
	return entry
}
