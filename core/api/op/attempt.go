package op

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Recorder writes an entry of the audit log in its own transaction.
type Recorder interface {
	Record(ctx context.Context, entry audit.Entry) error
}

// attempt is the audit attempt of a request, and whether this package has
// recorded it.
type attempt struct {
	*audit.Attempt
	recorded bool
}

// recordTime is how long writing an entry may take after the request's own time
// is up.
const recordTime = 5 * time.Second

// begin opens the audit attempt of an operation that declares an action.
func (q *request) begin(ctx context.Context, r *http.Request, caller *identity.Caller, params route.Params) context.Context {
	spec := &q.operation.Spec
	if spec.Audit.Action == "" {
		return ctx
	}
	entry := audit.Entry{
		ActorType: audit.ActorAnonymous,
		Action:    q.operation.action(params),
		Address:   remoteAddress(r),
		RequestID: q.id,
	}
	if caller != nil {
		entry.ActorType, entry.ActorID, entry.ActorEmail = audit.ActorUser, &caller.UserID, caller.Email
		if caller.KeyID != 0 {
			entry.ActorType = audit.ActorAPIKey
			entry.Details = map[string]any{"key_id": caller.KeyID, "key_name": caller.KeyName}
		}
	}
	if spec.On >= Host {
		entry.TargetKind, entry.TargetID = spec.On.resolved().String(), short(params.Get(spec.On.param()))
	}
	if spec.On == Node || spec.On == Group {
		entry.Detail(spec.On.String(), short(params.Get(spec.On.String())))
	}
	if name := spec.Audit.Target; name != "" {
		value := short(params.Get(name))
		kind, isID := strings.CutSuffix(name, "_id")
		switch {
		case entry.TargetKind != "":
			if entry.Details == nil {
				entry.Details = map[string]any{}
			}
			entry.Details[name] = value
		case isID:
			entry.TargetKind, entry.TargetID = kind, value
		default:
			entry.TargetName = value
		}
	}
	ctx, opened := audit.Begin(ctx, entry)
	q.attempt = &attempt{Attempt: opened}
	return ctx
}

// describe adds the found object to the audit attempt. That also happens if the
// caller cannot see the object: its team may read the entry.
func (q *request) describe(ctx context.Context, found Resource) {
	if q.attempt == nil {
		return
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = found.Name
		if found.TeamID != 0 {
			e.TeamID = &found.TeamID
		}
		if found.HostID != 0 {
			e.HostID = &found.HostID
		}
	})
}

// record writes the entry of an attempt, unless the handler's transaction has
// written one: that entry is the truth, whatever became of the response. A nil
// p means success.
func (a *API) record(ctx context.Context, q *request, p *problem.Error) error {
	if q.attempt == nil || q.attempt.recorded || q.attempt.Written() {
		return nil
	}
	q.attempt.recorded = true
	entry := q.attempt.Entry()
	entry.Result = audit.ResultOK
	if p != nil {
		entry.Result, entry.Error = audit.ResultRefused, string(p.Code)
		if p.Status() >= http.StatusInternalServerError {
			entry.Result = audit.ResultFailed
		}
		if open := db.UnsettledOutcome(p); open != nil {
			a.recordSettled(entry, open)
			return nil
		}
		// What has failed may have done something: it has a row however often
		// it comes, but for callers who are not known.
		if (entry.Result == audit.ResultRefused || entry.ActorID == nil) && !a.attemptLimiter.admit(entry) {
			return nil
		}
		a.write(ctx, entry)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return a.config.Recorder.Record(ctx, entry)
}

// recordBegin writes the entry of an attempt that is about to succeed. If it
// then fails, record writes another one.
func (a *API) recordBegin(ctx context.Context, q *request) error {
	err := a.record(ctx, q, nil)
	if q.attempt != nil {
		q.attempt.recorded = false
	}
	return err
}

// recordOpening is recordBegin for a socket. If the end of the socket gets an
// entry, too, the first one starts a span that the second one closes.
func (a *API) recordOpening(ctx context.Context, q *request) error {
	if !q.operation.auditsEnd() {
		return a.recordBegin(ctx, q)
	}
	lasting := audit.Span{Key: rand.Text(), End: q.operation.Spec.Audit.End}
	audit.Describe(ctx, func(e *audit.Entry) { e.Span = &lasting })
	err := a.recordBegin(ctx, q)
	audit.Describe(ctx, func(e *audit.Entry) { e.Span = &audit.Span{Key: lasting.Key} })
	return err
}

// auditsEnd reports whether the end of each socket of the operation gets an
// entry.
func (o *Operation) auditsEnd() bool { return o.Spec.Audit.End != "" }

// recordEnd writes the entry of a socket's end, with the details that the
// handler has added meanwhile. The entry contains the error, which therefore
// gets none of its own.
func (a *API) recordEnd(ctx context.Context, q *request, err error) {
	entry := q.attempt.Entry()
	entry.Action, entry.Result = q.operation.Spec.Audit.End, audit.ResultOK
	if err != nil {
		p := a.problem(context.WithoutCancel(ctx), err)
		entry.Result, entry.Error = audit.ResultFailed, string(p.Code)
	}
	a.write(ctx, entry)
	q.attempt.recorded = true
}

var (
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
	plainWord   = regexp.MustCompile(`^[a-z][a-z_-]{0,31}$`)
)

// action fills path parameters into the declared action. A value that is not a
// plain word, or not one of the declared values, becomes "invalid": callers
// must not be able to write arbitrary text into the action of an audit entry.
func (o *Operation) action(params route.Params) string {
	if !strings.Contains(o.Spec.Audit.Action, "{") { // as most are: a regular expression would cost each request some allocations
		return o.Spec.Audit.Action
	}
	return placeholder.ReplaceAllStringFunc(o.Spec.Audit.Action, func(p string) string {
		name := p[1 : len(p)-1]
		value := params.Get(name)
		if allowed := o.enums[name]; !plainWord.MatchString(value) || (allowed != nil && !slices.Contains(allowed, any(value))) {
			return "invalid"
		}
		return value
	})
}

// short cuts a text from the client to the length that the audit log stores.
func short(value string) string {
	const most = 200
	if len(value) > most {
		return strings.ToValidUTF8(value[:most], "")
	}
	return value
}

// remoteAddress returns the IP address of the client, as Config.Proxy has
// determined it.
func remoteAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
