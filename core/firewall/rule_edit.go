package firewall

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// RuleChangeResult is the answer to a change of a rule.
type RuleChangeResult struct {
	Position *int    `json:"pos" minimum:"0" example:"2" doc:"Position of the rule, or former position of a deleted rule. Null if another user has changed the list since"`
	Digest   *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the list after the change. Null if another user has changed the list since and positions may differ; read the list again"`
	Rule     Rule    `json:"rule" doc:"The rule after the change, or the deleted rule"`
	Note     *string `json:"note" example:"The rule is disabled; set enable to 1 to enable it." doc:"Note about the result"`
}

// Notes in the answer about a changed rule.
const (
	noteOff     = "The rule is disabled: it only takes effect when enable is 1."
	noteElse    = "Someone else changed the list since, or it could not be read afterwards: read it again."
	noteNoOrder = "The rules of this firewall have no order: pos identifies the rule only together with the digest."
)

// rules returns the listing of a scope's rules.
func (s *Store) rules(on Scope, ordered bool) *listing[sdk.Rule] {
	return &listing[sdk.Rule]{
		things: "the rules", ordered: ordered,
		read: func(ctx context.Context) ([]sdk.Rule, string, error) { return s.readRules(ctx, on) },
		show: func(rows []sdk.Rule, digest *string) any { return showRules(rows, digest) },
		tell: tellRule,
		same: func(a, b sdk.Rule) bool {
			a.Position, b.Position = 0, 0
			return a == b
		},
	}
}

// tellRule returns a rule for the audit entry, field by field: a secret in a
// comment then hides only the comment.
func tellRule(r sdk.Rule) map[string]any {
	told := map[string]any{"pos": r.Position, sdk.FieldDirection: r.Direction, sdk.FieldAction: r.Action, sdk.FieldEnabled: 0}
	if r.Enabled {
		told[sdk.FieldEnabled] = 1
	}
	for _, t := range append(texts(&r), struct{ field, text string }{sdk.FieldComment, r.Comment}) {
		if t.text != "" {
			told[t.field] = t.text
		}
	}
	return told
}

// editable returns the listing of rules that can be changed individually.
func (s *Store) editable(ctx context.Context, on Scope) (*listing[sdk.Rule], error) {
	if err := require[sdk.RuleEditor](ctx, s, on); err != nil {
		return nil, err
	}
	err := require[sdk.RuleMover](ctx, s, on)
	if err != nil && !lacks(err) {
		return nil, err
	}
	return s.rules(on, err == nil), nil
}

// lacks reports whether a firewall lacks an ability, at the scope or
// everywhere.
func lacks(err error) bool {
	code := problem.CodeOf(err)
	return err != nil && (code == problem.CodeUnsupported || code == problem.CodeUnsupportedAtScope)
}

// numbered sets the positions of rules.
func numbered(rows []sdk.Rule) []sdk.Rule {
	for i := range rows {
		rows[i].Position = i
	}
	return rows
}

// changedRule returns the answer to a change, with the rule at an index of the
// list.
func changedRule(now state[sdk.Rule], at int, rule sdk.Rule, notes ...string) RuleChangeResult {
	out := RuleChangeResult{}
	if now.known {
		if at >= 0 && at < len(now.rows) {
			rule = now.rows[at]
		}
		out.Digest = host.CleanOrNil(now.digest)
	} else {
		notes = append(notes, noteElse)
	}
	if now.known && at >= 0 {
		out.Position = &at
	}
	out.Rule = showRule(&rule, out.Digest)
	if len(notes) > 0 {
		note := strings.Join(notes, " ")
		out.Note = &note
	}
	return out
}

// CreateRule makes a rule; it is disabled unless Enabled is set, and its
// Position is ignored. Without a place it stays where the hypervisor puts new
// rules. With a place the rule is made disabled, moved, and then enabled, so
// that it never applies at a wrong place. If a later step fails, the problem is
// that of the step, and its members done, failed, pos, digest and rule tell the
// present state. Other problems: invalid, digest_conflict with current and
// digest, guest_busy during another change of the scope, outcome_unknown,
// capability_missing, unsupported, unsupported_at_scope, and those of Rules.
func (s *Store) CreateRule(ctx context.Context, on Scope, rule sdk.Rule, place *int, digest string) (RuleChangeResult, error) {
	if err := invalid(ruleFaults(on.sdk.Kind, &rule)); err != nil {
		return RuleChangeResult{}, err
	}
	l, err := s.editable(ctx, on)
	if err != nil {
		return RuleChangeResult{}, err
	}
	if place != nil && !l.ordered {
		return RuleChangeResult{}, require[sdk.RuleMover](ctx, s, on)
	}
	was, err := l.begin(ctx, digest)
	if err != nil {
		return RuleChangeResult{}, err
	}
	if place != nil && (*place < 0 || *place > len(was.rows)) {
		return RuleChangeResult{}, problem.InvalidField(fmt.Sprintf("must be at most %d, the number of rules",
			len(was.rows)), "less_than_equal",
			"body", "pos")
	}
	rule.Position = 0
	l.describe(ctx, on, nil, &rule)
	if place != nil {
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("to", *place) })
	}
	var out RuleChangeResult
	err = s.perform(ctx, on, func(ctx context.Context) (err error) {
		c := creation{s: s, on: on, l: l, was: was, want: rule, place: place}
		out, err = c.do(ctx)
		return err
	})
	return out, err
}

// creation is the creation of one rule.
type creation struct {
	s     *Store
	on    Scope
	l     *listing[sdk.Rule]
	was   state[sdk.Rule]
	want  sdk.Rule
	place *int
	// done are the steps that were done.
	done []string
}

// do creates the rule. One that is to be moved is created switched off first,
// so that it has no effect at a wrong place.
func (c *creation) do(ctx context.Context) (RuleChangeResult, error) {
	made := c.want
	if c.place != nil {
		made.Enabled = false
	}
	now, at, err := c.create(ctx, made)
	if err != nil {
		return RuleChangeResult{}, err
	}
	c.done = append(c.done, "create")
	if c.place == nil {
		return c.answer(now, at), nil
	}
	if at != *c.place {
		if now, at, err = c.step(ctx, now, at, "move", *c.place, false); err != nil {
			return RuleChangeResult{}, err
		}
	}
	if c.want.Enabled {
		if now, at, err = c.step(ctx, now, at, "enable", at, true); err != nil {
			return RuleChangeResult{}, err
		}
	}
	return c.answer(now, at), nil
}

// answer returns the rule as it was created, with notes.
func (c *creation) answer(now state[sdk.Rule], at int) RuleChangeResult {
	var notes []string
	if !c.want.Enabled {
		notes = append(notes, noteOff)
	}
	if !c.l.ordered {
		notes = append(notes, noteNoOrder)
	}
	return changedRule(now, at, c.want, notes...)
}

// create makes the rule where the backend puts it, and returns the list
// afterwards. at is -1 if the place is unknown.
func (c *creation) create(ctx context.Context, rule sdk.Rule) (now state[sdk.Rule], at int, err error) {
	after, left := "", false
	err = requestOf(c.s, c.on, func(ctx context.Context, able sdk.RuleEditor, scope sdk.Scope, digest string) (err error) {
		at, after, err = able.CreateRule(ctx, scope, rule, digest)
		return err
	})(ctx, c.was.digest, func() { left = true })
	switch {
	case err == nil && at >= 0 && at <= len(c.was.rows):
		rows := numbered(slices.Insert(slices.Clone(c.was.rows), at, rule))
		return state[sdk.Rule]{rows: rows, digest: after, known: true}, at, nil
	case err != nil && problem.CodeOf(err) == problem.CodeDigestConflict:
		rows, digest, unread := c.l.read(ctx)
		if unread != nil {
			return now, -1, err
		}
		return now, -1, c.l.conflict(rows, digest, err)
	case err != nil && (!left || job.Refused(err)):
		return now, -1, err
	}
	rows, digest, unread := c.l.read(ctx)
	if at = -1; unread == nil {
		at = c.inserted(rows, rule)
	}
	if err != nil {
		if err = c.l.lost(err, at >= 0, unread == nil && c.l.alike(c.was.rows, rows), unread); err != nil {
			return now, -1, err
		}
	}
	return state[sdk.Rule]{rows: rows, digest: digest, known: unread == nil && at >= 0}, at, nil
}

// inserted returns the index of the rule that a list has besides the earlier
// ones; -1 if more was changed.
func (c *creation) inserted(now []sdk.Rule, rule sdk.Rule) int {
	if len(now) != len(c.was.rows)+1 {
		return -1
	}
	for at := range now {
		if c.l.equal(now[at], rule) && c.l.alike(c.was.rows, numbered(slices.Delete(slices.Clone(now), at, at+1))) {
			return at
		}
	}
	return -1
}

// step makes the next request after the rule was made: it moves or enables the
// rule.
func (c *creation) step(ctx context.Context, was state[sdk.Rule], at int, name string, to int, on bool) (state[sdk.Rule], int, error) {
	if !was.known || at < 0 {
		err := problem.New(problem.CodeDigestConflict, "someone else changed the rules in the meantime")
		return was, at, c.partial(ctx, err, name)
	}
	e := edit[sdk.Rule]{before: at, at: to, want: moved(was.rows, at, to)}
	if on {
		e.want[to].Enabled = true
		e.send = requestOf(c.s, c.on, func(ctx context.Context, able sdk.RuleEditor, scope sdk.Scope, digest string) error {
			return able.ChangeRule(ctx, scope, to, sdk.RuleChange{Set: sdk.RuleFields{Enabled: &on}, Digest: digest})
		})
	} else {
		e.send = requestOf(c.s, c.on, func(ctx context.Context, able sdk.RuleMover, scope sdk.Scope, digest string) error {
			return able.MoveRule(ctx, scope, at, to, digest)
		})
	}
	now, place, err := c.l.apply(ctx, was, e)
	if err != nil {
		return was, at, c.partial(ctx, err, name)
	}
	c.done = append(c.done, name)
	return now, place, nil
}

// partial returns the problem of a step that failed after the rule was made,
// with the present state.
func (c *creation) partial(ctx context.Context, err error, failed string) error {
	told := *problem.From(plugin.Problem(err))
	told.Members = maps.Clone(told.Members)
	if told.Code == problem.CodeInvalid || told.Code == problem.CodeNotFound { // of the step, and not of the request
		for _, fault := range told.Faults {
			told.Detail = fault.Msg
		}
		told = *problem.New(problem.CodeHypervisorError, "%s", told.Detail).With("reason", plugin.ReasonRefused)
	}
	out := RuleChangeResult{Rule: showRule(&c.want, nil)}
	where := "an unknown position"
	if rows, digest, unread := c.l.read(ctx); unread == nil {
		if at := c.own(rows); at >= 0 {
			out = changedRule(state[sdk.Rule]{rows: rows, digest: digest, known: true}, at, c.want)
			where = fmt.Sprintf("place %d", at)
		}
	}
	told.Detail = fmt.Sprintf("the rule was created at %s, but this step failed: %s: %s", where, failed, told.Detail)
	return (&told).With("done", c.done).With("failed", failed).With("pos", out.Position).With("digest", out.Digest).With("rule", out.Rule).
		WithCause(err)
}

// own returns the index of the rule that was made, enabled or not; -1 if it
// cannot be told.
func (c *creation) own(rows []sdk.Rule) int {
	at := -1
	for i, row := range rows {
		if row.Enabled = c.want.Enabled; !c.l.equal(row, c.want) {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// moved returns the rules after one has moved.
func moved(rows []sdk.Rule, from, to int) []sdk.Rule {
	rows = slices.Clone(rows)
	row := rows[from]
	return numbered(slices.Insert(slices.Delete(rows, from, from+1), to, row))
}

// ChangeRule changes a rule in its place. Problems: not_found for a position
// without a rule, and those of CreateRule.
func (s *Store) ChangeRule(ctx context.Context, on Scope, place int, patch RulePatch) (RuleChangeResult, error) {
	c, err := patch.change(on.sdk.Kind)
	if err != nil {
		return RuleChangeResult{}, err
	}
	return s.editRule(ctx, on, place, patch.Digest, func(was []sdk.Rule) (edit[sdk.Rule], error) {
		after, err := sdk.RuleChange{Set: c.Set, Clear: c.Clear}.Apply(was[place])
		if faults := ruleFaults(on.sdk.Kind, &after); len(faults) > 0 {
			return edit[sdk.Rule]{}, problem.Invalid(faults...)
		}
		if err != nil {
			return edit[sdk.Rule]{}, err
		}
		want := slices.Clone(was)
		want[place] = after
		return edit[sdk.Rule]{before: place, at: place, want: want,
			send: requestOf(s, on, func(ctx context.Context, able sdk.RuleEditor, scope sdk.Scope, digest string) error {
				return able.ChangeRule(ctx, scope, place, sdk.RuleChange{Set: c.Set, Clear: c.Clear, Digest: digest})
			})}, nil
	})
}

// DeleteRule deletes a rule; those below move up. Problems are those of
// ChangeRule.
func (s *Store) DeleteRule(ctx context.Context, on Scope, place int, digest string) (RuleChangeResult, error) {
	return s.editRule(ctx, on, place, digest, func(was []sdk.Rule) (edit[sdk.Rule], error) {
		want := numbered(slices.Delete(slices.Clone(was), place, place+1))
		return edit[sdk.Rule]{before: place, at: -1, want: want,
			send: requestOf(s, on, func(ctx context.Context, able sdk.RuleEditor, scope sdk.Scope, digest string) error {
				return able.DeleteRule(ctx, scope, place, digest)
			})}, nil
	})
}

// MoveRule moves a rule to a position, counted after the move. A position
// outside of the list is invalid; other problems are those of ChangeRule.
func (s *Store) MoveRule(ctx context.Context, on Scope, from, to int, digest string) (RuleChangeResult, error) {
	if err := require[sdk.RuleMover](ctx, s, on); err != nil {
		return RuleChangeResult{}, err
	}
	return s.editRule(ctx, on, from, digest, func(was []sdk.Rule) (edit[sdk.Rule], error) {
		if to < 0 || to >= len(was) {
			return edit[sdk.Rule]{}, problem.InvalidField(fmt.Sprintf("must be at most %d, the last position",
				len(was)-1), "less_than_equal",
				"body", "moveto")
		}
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("to", to) })
		return edit[sdk.Rule]{before: from, at: to, want: moved(was, from, to),
			send: requestOf(s, on, func(ctx context.Context, able sdk.RuleMover, scope sdk.Scope, digest string) error {
				return able.MoveRule(ctx, scope, from, to, digest)
			})}, nil
	})
}

// editRule makes one change of the rule at a position.
func (s *Store) editRule(ctx context.Context, on Scope, place int, digest string, decide func(was []sdk.Rule) (edit[sdk.Rule], error)) (
	RuleChangeResult, error) {
	l, err := s.editable(ctx, on)
	if err != nil {
		return RuleChangeResult{}, err
	}
	var before, after *sdk.Rule
	now, at, err := one(ctx, s, on, l, digest, func(was []sdk.Rule) (edit[sdk.Rule], error) {
		if place < 0 || place >= len(was) {
			return edit[sdk.Rule]{}, problem.New(problem.CodeNotFound, "rule %d not found: the firewall has %d rules",
				place, len(was))
		}
		e, err := decide(was)
		before, after = row(was, e.before), row(e.want, e.at)
		return e, err
	})
	if err != nil {
		return RuleChangeResult{}, err
	}
	if after == nil {
		out := changedRule(now, -1, *before)
		if out.Digest != nil || now.known {
			out.Position = &place
		}
		return out, nil
	}
	var notes []string
	if !after.Enabled && before.Enabled != after.Enabled {
		notes = append(notes, noteOff)
	}
	return changedRule(now, at, *after, notes...), nil
}
