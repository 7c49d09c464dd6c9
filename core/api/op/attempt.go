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

// Recorder writes a row of the trail in a transaction of its own.
type Recorder interface {
	Record(ctx context.Context, entry audit.Entry) error
}

// attempt is the audit attempt of a request and whether op itself has recorded it.
type attempt struct {
	*audit.Attempt
	recorded bool
}

// recordTime is how long a row may take to be written after the request's own time is up.
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

// describe names the thing that was found, in a refused attempt on a foreign
// one too: its team may read the row.
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

// record writes the attempt's row unless the handler's transaction did: that
// row is the truth, whatever became of the answer after it. A nil p means
// success.
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

// recordBegin writes the row of an attempt that is about to succeed. Should it
// fail after all, record writes another.
func (a *API) recordBegin(ctx context.Context, q *request) error {
	err := a.record(ctx, q, nil)
	if q.attempt != nil {
		q.attempt.recorded = false
	}
	return err
}

// recordOpening is recordBegin for a socket. One whose end has a row too is
// under way until the next row of its attempt.
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

// auditsEnd reports whether each socket of the operation has a row of its end.
func (o *Operation) auditsEnd() bool { return o.Spec.Audit.End != "" }

// recordEnd writes the row of a socket's end, with what the handler has
// described meanwhile. The row tells of the error, which then has none of its
// own.
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

// action fills the path parameters into the declared action. A value that is no
// plain word, or none of the declared ones, becomes "invalid": a caller must
// not write what they like into the trail's action.
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

// short cuts a text of the client to what the audit trail stores. The client
// chooses its length.
func short(value string) string {
	const most = 200
	if len(value) > most {
		return strings.ToValidUTF8(value[:most], "")
	}
	return value
}

// remoteAddress is the IP address of the client, which Config.Proxy has found out.
func remoteAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
