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

// changeLimit bounds all requests of a change, and what is read before and after each.
const changeLimit = 2 * time.Minute

// listing is a list of a scope's firewall, such as its rules, one row of which
// is changed at a time. Every change begins with reading the list, is sent with
// the digest that was read, and ends with reading the list again: so the
// answer's digest is that of a list which the caller can know, and none where
// somebody else has changed it since.
type listing[R any] struct {
	// things is what the list has, for people.
	things string
	// ordered says that rows have places, and do not only stand somewhere.
	ordered bool
	read    func(ctx context.Context) (rows []R, digest string, err error)
	// show is the list as the API shows it.
	show func(rows []R, digest *string) any
	// tell is a row for the trail, without what it does not have.
	tell func(R) map[string]any
	// same reports whether two rows are; nil compares all of them.
	same func(a, b R) bool
}

// state is a list at some time. An empty digest is one that is not known, or
// that the backend does not have.
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

// request is what changes something. It is sent once, with a digest, and says
// when it is about to be.
type request func(ctx context.Context, digest string, sent func()) error

// requestOf is a request of a firewall that can be changed in the way of A,
// with the lifecycle token.
func requestOf[A any](s *Store, on Scope, do func(ctx context.Context, able A, scope sdk.Scope, digest string) error) request {
	return func(ctx context.Context, digest string, sent func()) error {
		_, err := askAs(ctx, s, endpoint.Lifecycle, on, func(ctx context.Context, able A, scope sdk.Scope) (struct{}, error) {
			sent()
			return struct{}{}, do(ctx, able, scope, digest)
		})
		return named(err)
	}
}

// named makes of what the backend says of names and places what callers know of them.
func named(err error) error {
	e, ok := errors.AsType[*plugin.Error](err)
	switch {
	case !ok:
	case e.Kind == plugin.Conflict && slices.Contains([]string{sdk.FieldName, sdk.FieldRename, sdk.FieldCIDR}, e.Field):
		return taken().Because(err)
	case e.Kind == plugin.Invalid && e.Field == sdk.FieldTo:
		return problem.InvalidField("there is no such place", "value_error", "body", "moveto").Because(err)
	}
	return err
}

// taken returns the problem of a name that exists.
func taken() *problem.Error {
	return problem.New(problem.CodeConflict, "there is one of that name already")
}

// begin reads the list and holds it against the digest that the caller has,
// where that is not empty.
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

// conflict is the problem of a digest that is another by now, with what is there instead.
func (l *listing[R]) conflict(rows []R, digest string, cause error) error {
	now := host.CleanOrNil(digest)
	return problem.New(problem.CodeDigestConflict, "%s were changed by somebody else since they were read; current has what is there now, "+
		"and nothing was done", l.things).With("current", l.show(rows, now)).With("digest", now).Because(cause)
}

// apply makes one change, once, and gives the list afterwards with the place of
// the row that was changed. Where the answer is lost, the list shows whether it
// was done.
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

// lost judges a request whose answer was lost: done says that the list is as
// wanted now, and before that it is as before.
func (l *listing[R]) lost(err error, done, before bool, unread error) error {
	if unread == nil && !done && !before {
		unread = problem.New(problem.CodeConflict, "somebody else has changed them too: they are neither as before nor as wanted")
	}
	return change.Lost(err, l.things, done, unread)
}

// alike reports whether two lists have the same rows, in the same order where there is one.
func (l *listing[R]) alike(a, b []R) bool {
	onlyA, onlyB := l.differences(a, b)
	return len(onlyA)+len(onlyB) == 0
}

// settled reports whether rows are those that are wanted, and where the one is
// that was changed: the hypervisor may have written that one in a form of its
// own.
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

// differences are the places of the rows that only one of two lists has.
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

// find is the place of the first row that is the same as one; -1 for none.
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

// describe writes a change into the trail: the row before and after, nil for none.
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

// name names the scope in a row of the trail; that of a guest or a cluster is
// what the operation is on.
func (on Scope) name(e *audit.Entry) {
	e.Detail("scope", string(on.sdk.Kind))
	switch on.sdk.Kind {
	case sdk.NodeScope:
		e.TargetKind, e.TargetName = "node", on.sdk.Node
	case sdk.GroupScope:
		e.Detail("group", on.sdk.Group)
	}
}

// perform does what changes the firewall of a scope: other changes of it are
// kept off, and the audit row is written before anything is sent. A guest that
// is gone at the hypervisor is not_found: its firewall would take the change
// all the same.
func (s *Store) perform(ctx context.Context, on Scope, do func(ctx context.Context) error) error {
	exclusive, err := s.Exclusive(ctx, on)
	if err != nil {
		return err
	}
	return change.Change{DB: s.DB, Exclusive: exclusive, Limit: changeLimit, Tell: tell}.Do(ctx, func(ctx context.Context) error {
		if on.guest != nil {
			if err := guest.Same(ctx, s.Hosts, on.guest); err != nil {
				return err
			}
		}
		return do(ctx)
	})
}

// tell adds to the trail what stands of a change that was done in part.
func tell(err error, row *audit.Entry) *problem.Error {
	known := problem.From(err)
	for _, member := range []string{"done", "failed", "pos"} {
		if value, is := known.Members[member]; is {
			row.Detail(member, value)
		}
	}
	return known
}

// row is the row at a place; nil for none.
func row[R any](rows []R, at int) *R {
	if at < 0 || at >= len(rows) {
		return nil
	}
	return &rows[at]
}

// one makes a change of one row that needs one request. decide is given the
// list as it is, and says what is to be done.
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

// editList makes one change of a list whose firewall must be an A, once nothing
// is wrong with it by itself, and shows the row that was changed: as it is now,
// or as it was where it is no more.
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
