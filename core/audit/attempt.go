// Package audit keeps the audit log: who did what to which object, from
// where, and how it ended.
//
// # Attempts
//
// core/api/op opens an Attempt for every operation that declares an audit
// action. The package that makes the change calls Write in its transaction, so
// that the change and its row are stored together or not at all. If the handler
// fails before that, op records the refused attempt itself.
//
// # Content
//
// Details are redacted: a key that names a secret keeps no value, and neither
// does a value that looks like a secret. List and Each read the audit log,
// restricted to the teams whose admin the reader is.
//
// # Integrity
//
// A Chain of hashes shows whether somebody has changed the audit log in the
// database. Writers need not know about it; a Sealer adds their rows to it.
// Underway makes sure that lasting things, such as consoles, get a row for
// their end.
package audit

import (
	"context"
	"maps"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// These are the results of an attempt.
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

// Entry is one row of the audit log before it is written.
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
	// TeamID is the team whose members with the right to read the audit log may see
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
	// Span is of what lasts, in the rows of its beginning and its end; nil
	// in others. Recorder alone looks at it.
	Span *Span
}

// Detail adds a fact and keeps the others.
func (e *Entry) Detail(key string, value any) {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
}

// Attempt is an Entry that is being filled, in the context of a request. It is
// safe for concurrent use.
type Attempt struct {
	mu      sync.Mutex
	entry   Entry
	written bool
	onWrite func(ctx context.Context, tx *db.Tx, entry Entry) error
}

// attemptKey is the key of the attempt in a context.
type attemptKey struct{}

// Begin opens an attempt and returns a context with it.
func Begin(ctx context.Context, entry Entry) (context.Context, *Attempt) {
	a := &Attempt{entry: entry}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// BeginAnother opens another attempt of the same caller and request, about another
// object, which fill writes into it: a request that acts on several objects has
// one row for each. Without an attempt in the context it does nothing.
func BeginAnother(ctx context.Context, fill func(*Entry)) context.Context {
	a := FromContext(ctx)
	if a == nil {
		return ctx
	}
	entry := a.Entry()
	fill(&entry)
	ctx, _ = Begin(ctx, entry)
	return ctx
}

// FromContext returns the attempt of the request, or nil.
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

// OnWrite makes every Write of the attempt call f, in the transaction of the
// change and after the row. What f writes is stored with the change or not at
// all, and an error of f undoes the change. It must be set before the attempt
// is used.
func (a *Attempt) OnWrite(f func(ctx context.Context, tx *db.Tx, entry Entry) error) { a.onWrite = f }

// commit marks the attempt as recorded, so that no second row is written for
// it.
func (a *Attempt) commit() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = true
}

// Written reports whether a row of this attempt was committed.
func (a *Attempt) Written() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.written
}

// Entry returns a copy of the attempt's present entry.
func (a *Attempt) Entry() Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	entry := a.entry
	entry.Details = maps.Clone(entry.Details)
	return entry
}
