package firewall

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/change"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// changeLimit limits all requests of a change, including the reads before and
// after it.
const changeLimit = 2 * time.Minute

// listing is a list of a scope's firewall, such as its rules, of which one row
// is changed at a time. Every change reads the list, sends the change with the
// digest of that list, and reads the list again. So the digest in the answer is
// that of a list which the caller can know; there is none if somebody else has
// changed the list since.
type listing[R any] struct {
	// things is what the list has, for people.
	things string
	// ordered says that rows have places, and do not only stand somewhere.
	ordered bool
	read    func(ctx context.Context) (rows []R, digest string, err error)
	// show is the list as the API shows it.
	show func(rows []R, digest *string) any
	// tell is a row for the audit log, without what it does not have.
	tell func(R) map[string]any
	// same reports whether two rows are; nil compares all of them.
	same func(a, b R) bool
}

// state is a list at one time. An empty digest is unknown, or the backend has
// none.
type state[R any] struct {
	rows   []R
	digest string
	// known is false where somebody else has changed the list since, or it could not be read.
	known bool
}

// edit is one change of a list.
type edit[R any] struct {
	// before is where the row is that is changed, -1 for a new one. want are
	// the rows as they shall be, and at is where it is among them, -1 where it
	// is taken out.
	before int
	want   []R
	at     int
	send   request
	// free says that it is made by a name of its own: nothing of anybody can be
	// overwritten, so that it is sent with a digest only where the caller has
	// one. To compare it, a hypervisor may want to be read with the token that
	// changes.
	free bool
}

// request sends a change, once, with a digest. It calls sent immediately before
// that.
type request func(ctx context.Context, digest string, sent func()) error

// requestOf returns the request for a firewall with the ability A, with the
// lifecycle token.
func requestOf[A any](s *Store, on Scope, do func(ctx context.Context, able A, scope sdk.Scope, digest string) error) request {
	return func(ctx context.Context, digest string, sent func()) error {
		_, err := askAs(ctx, s, endpoint.Lifecycle, on, func(ctx context.Context, able A, scope sdk.Scope) (struct{}, error) {
			sent()
			return struct{}{}, do(ctx, able, scope, digest)
		})
		return named(err)
	}
}

// named turns the backend's errors about names and positions into problems.
func named(err error) error {
	e, ok := errors.AsType[*plugin.Error](err)
	switch {
	case !ok:
	case e.Kind == plugin.Conflict && slices.Contains([]string{sdk.FieldName, sdk.FieldRename, sdk.FieldCIDR}, e.Field):
		return taken().WithCause(err)
	case e.Kind == plugin.Invalid && e.Field == sdk.FieldTo:
		return problem.InvalidField("this position does not exist", "value_error", "body", "moveto").WithCause(err)
	}
	return err
}

// taken returns the problem of a name that exists.
func taken() *problem.Error {
	return problem.New(problem.CodeConflict, "this name already exists")
}

// begin reads the list and compares it with the caller's digest, unless that is
// empty.
func (l *listing[R]) begin(ctx context.Context, digest string) (state[R], error) {
	rows, now, err := l.read(ctx)
	if err != nil {
		return state[R]{}, err
	}
	if digest != "" && digest != now {
		return state[R]{}, l.conflict(rows, now, nil)
	}
	return state[R]{rows: rows, digest: now, known: true}, nil
}

// conflict returns the problem digest_conflict with the present list.
func (l *listing[R]) conflict(rows []R, digest string, cause error) error {
	now := host.CleanOrNil(digest)
	return problem.New(problem.CodeDigestConflict, "someone else changed %s since you read them; nothing was done, and current "+
		"contains the new state", l.things).With("current", l.show(rows, now)).With("digest", now).WithCause(cause)
}

// apply makes one change, once, and returns the list afterwards and the index
// of the changed row. If the answer is lost, the list shows whether the change
// was made.
func (l *listing[R]) apply(ctx context.Context, was state[R], e edit[R]) (state[R], int, error) {
	left := false
	err := e.send(ctx, was.digest, func() { left = true })
	if err != nil && problem.CodeOf(err) == problem.CodeDigestConflict {
		rows, digest, unread := l.read(ctx)
		if unread != nil {
			return was, 0, err
		}
		return was, 0, l.conflict(rows, digest, err)
	}
	if err != nil && (!left || job.Refused(err)) {
		return was, 0, err
	}
	rows, digest, unread := l.read(ctx)
	now, at, settled := state[R]{rows: rows, digest: digest, known: true}, e.at, false
	if unread == nil {
		at, settled = l.settled(e.want, rows, e.at)
	}
	if err != nil {
		if err = l.lost(err, l.alike(e.want, rows), l.alike(was.rows, rows), unread); err != nil {
			return was, 0, err
		}
	}
	if !settled {
		return state[R]{rows: e.want}, e.at, nil
	}
	return now, at, nil
}

// lost judges a request whose answer was lost. done reports that the list is as
// wanted now, and before that it is unchanged.
func (l *listing[R]) lost(err error, done, before bool, unread error) error {
	if unread == nil && !done && !before {
		unread = problem.New(problem.CodeConflict, "someone else changed them too: they are neither as before nor as requested")
	}
	return change.ResolveLost(err, l.things, done, unread)
}

// alike reports whether two lists have the same rows, in the same order if the
// list has one.
func (l *listing[R]) alike(a, b []R) bool {
	onlyA, onlyB := l.differences(a, b)
	return len(onlyA)+len(onlyB) == 0
}

// settled reports whether the rows are as wanted, and returns the index of the
// changed one. The hypervisor may have stored that row in another form.
func (l *listing[R]) settled(want, now []R, at int) (int, bool) {
	onlyWant, onlyNow := l.differences(want, now)
	switch {
	case len(onlyWant) != len(onlyNow) || len(onlyWant) > 1 || len(want) != len(now):
		return at, false
	case len(onlyWant) == 1:
		return onlyNow[0], onlyWant[0] == at
	case at >= 0 && !l.ordered:
		return l.find(now, want[at]), true
	}
	return at, true
}

// differences returns the indexes of the rows that only one of two lists has.
func (l *listing[R]) differences(a, b []R) (onlyA, onlyB []int) {
	if l.ordered {
		for i := range max(len(a), len(b)) {
			if i < len(a) && i < len(b) && l.equal(a[i], b[i]) {
				continue
			}
			if i < len(a) {
				onlyA = append(onlyA, i)
			}
			if i < len(b) {
				onlyB = append(onlyB, i)
			}
		}
		return onlyA, onlyB
	}
	found := make([]bool, len(b))
	for i := range a {
		at := -1
		for j := range b {
			if !found[j] && l.equal(a[i], b[j]) {
				at = j
				break
			}
		}
		if at < 0 {
			onlyA = append(onlyA, i)
		} else {
			found[at] = true
		}
	}
	for j := range b {
		if !found[j] {
			onlyB = append(onlyB, j)
		}
	}
	return onlyA, onlyB
}

// find returns the index of the first row equal to a given one; -1 if there is
// none.
func (l *listing[R]) find(rows []R, row R) int {
	return slices.IndexFunc(rows, func(other R) bool { return l.equal(other, row) })
}

// equal compares two rows.
func (l *listing[R]) equal(a, b R) bool {
	if l.same != nil {
		return l.same(a, b)
	}
	return reflect.DeepEqual(a, b)
}

// describe writes a change into the audit entry: the row before and after, nil
// for none.
func (l *listing[R]) describe(ctx context.Context, on Scope, before, after *R) {
	audit.Describe(ctx, func(e *audit.Entry) {
		on.name(e)
		e.Detail("before", l.told(before))
		e.Detail("after", l.told(after))
	})
}

// told returns a row for the audit row.
func (l *listing[R]) told(row *R) any {
	if row == nil {
		return nil
	}
	return l.tell(*row)
}

// name adds the scope to an audit entry, unless it is the target of the
// operation.
func (on Scope) name(e *audit.Entry) {
	e.Detail("scope", string(on.sdk.Kind))
	switch on.sdk.Kind {
	case sdk.NodeScope:
		e.TargetKind, e.TargetName = "node", on.sdk.Node
	case sdk.GroupScope:
		e.Detail("group", on.sdk.Group)
	}
}

// perform runs a change of a scope's firewall. It excludes other changes of the
// scope, and writes the audit entry before anything is sent, so that no change
// is without a record. A guest that does not exist at the hypervisor is
// not_found: its firewall would accept the change.
func (s *Store) perform(ctx context.Context, on Scope, do func(ctx context.Context) error) error {
	exclusive, err := s.Exclusive(ctx, on)
	if err != nil {
		return err
	}
	return change.Change{DB: s.DB, Exclusive: exclusive, Limit: changeLimit, Problem: tell}.Do(ctx, func(ctx context.Context) error {
		if on.guest != nil {
			if err := guest.CheckSameGuest(ctx, s.Hosts, on.guest); err != nil {
				return err
			}
		}
		return do(ctx)
	})
}

// tell adds the results of a partial change to the audit entry.
func tell(err error, row *audit.Entry) *problem.Error {
	known := problem.From(err)
	for _, member := range []string{"done", "failed", "pos"} {
		if value, is := known.Members[member]; is {
			row.Detail(member, value)
		}
	}
	return known
}

// row returns the row at an index; nil for -1.
func row[R any](rows []R, at int) *R {
	if at < 0 || at >= len(rows) {
		return nil
	}
	return &rows[at]
}

// one makes a change of one row with one request. decide gets the present list,
// and returns the change.
func one[R any](ctx context.Context, s *Store, on Scope, l *listing[R], digest string, decide func(was []R) (edit[R], error)) (
	now state[R], at int, err error) {
	was, err := l.begin(ctx, digest)
	if err != nil {
		return was, 0, err
	}
	e, err := decide(was.rows)
	if err != nil {
		return was, 0, err
	}
	if e.free && digest == "" {
		was.digest = ""
	}
	l.describe(ctx, on, row(was.rows, e.before), row(e.want, e.at))
	err = s.perform(ctx, on, func(ctx context.Context) (err error) {
		now, at, err = l.apply(ctx, was, e)
		return err
	})
	return now, at, err
}

// editList makes one change of a list whose firewall has the ability A, if the
// request has no faults. It returns the changed row, as it is now, or as it was
// if it was deleted.
func editList[A, R, V any](ctx context.Context, s *Store, on Scope, l *listing[R], show func(R, *string) V, digest string,
	faults []problem.Fault, decide func(was []R) (edit[R], error)) (shown V, err error) {
	if err := invalid(faults); err != nil {
		return shown, err
	}
	if err := require[A](ctx, s, on); err != nil {
		return shown, err
	}
	var was []R
	var e edit[R]
	now, at, err := one(ctx, s, on, l, digest, func(rows []R) (edit[R], error) {
		was = rows
		var err error
		e, err = decide(rows)
		return e, err
	})
	if err != nil {
		return shown, err
	}
	var sum *string
	if now.known {
		sum = host.CleanOrNil(now.digest)
	}
	changed := row(now.rows, at)
	if changed == nil {
		changed = row(was, e.before)
	}
	return show(*changed, sum), nil
}
