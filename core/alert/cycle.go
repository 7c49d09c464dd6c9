package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// cycle is one evaluation of all rules.
type cycle struct {
	engine *Engine
	tx     pgx.Tx
	now    time.Time
	// fresh is how old a sample may be that tells of the present.
	fresh      time.Duration
	backupDays int
	// update is the release of the service that can be installed.
	update        string
	updateUnknown bool
	// seldom says that what is looked at seldom is looked at.
	seldom                 bool
	elapsed, elapsedSeldom float64

	rules    map[int64]*Rule
	states   map[key]*state
	observed map[key]*observation
	// presence is of things that have a state and no figures; those that it lacks are gone.
	presence map[string]presence
	// dark are the clusters of which no host answers.
	dark map[int64]bool
	// unsure are the rules and things whose state is not told now although their cluster answers.
	unsure map[key]bool
	causes []*cause

	changes changes
}

// state is what is stored about a rule and an object from one cycle to the
// next.
type state struct {
	key
	breach float64
	clear  *float64
	alert  *int64
	// open says that the alert is open; one that is not was resolved by hand.
	open    bool
	cluster *int64
}

// isSampled reports whether a kind is about a measured value.
func isSampled(kind Kind) bool { return slices.Contains(sampled, string(kind)) }

// begin forgets the findings of an earlier attempt: the transaction may be
// repeated.
func (c *cycle) begin(tx pgx.Tx) {
	c.tx = tx
	c.rules, c.states, c.observed, c.presence = map[int64]*Rule{}, map[key]*state{}, map[key]*observation{}, map[string]presence{}
	c.dark, c.unsure, c.causes, c.changes = map[int64]bool{}, map[key]bool{}, nil, changes{}
}

// run does the steps of a cycle in one transaction, so that all decisions are
// based on the same readings.
func (c *cycle) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		c.note, c.readRules, c.readStates, c.readDark, c.lookAtSamples, c.lookAtProblems, c.lookAhead, c.lookForSilent,
		c.lookForUnsure, c.readCauses,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c.lookForUpdate()
	c.decide()
	for _, step := range []func(context.Context) error{c.follow, c.resolve, c.raise, c.keepStates, c.unfold, c.tell, c.prune} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether a rule of one of the kinds is enabled.
func (c *cycle) wants(kinds ...string) bool {
	for _, r := range c.rules {
		if slices.Contains(kinds, string(r.Kind)) {
			return true
		}
	}
	return false
}

// afresh makes PostgreSQL plan a statement without arguments each time; the
// setting of note does not apply to it.
const afresh = pgx.QueryExecModeExec

// exec runs a statement of the cycle.
func (c *cycle) exec(ctx context.Context, what, sql string, args ...any) error {
	if _, err := c.tx.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// note stores the time of this cycle.
func (c *cycle) note(ctx context.Context) error {
	// The statements run too rarely for compilation to pay. The number of rows
	// differs by a factor of a thousand between cycles; a plan that was made
	// while nothing was open would be kept for a storm of alerts.
	plans := "force_custom_plan"
	if c.engine.KeepPlans {
		plans = "force_generic_plan"
	}
	if err := c.exec(ctx, "preparing", `SELECT set_config('jit', 'off', true), set_config('work_mem', '32MB', true),
		set_config('plan_cache_mode', $1, true)`, plans); err != nil {
		return err
	}
	return c.exec(ctx, "recording the cycle",
		"UPDATE alert_cycle SET last_at = $1, seldom_at = CASE WHEN $2 THEN $1 ELSE seldom_at END", c.now,
		c.seldom)
}

// readRules reads the enabled rules.
func (c *cycle) readRules(ctx context.Context) error {
	rows, err := c.tx.Query(ctx, "SELECT "+columns+" FROM alert_rules r WHERE enabled", afresh)
	if err != nil {
		return fmt.Errorf("reading rules: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanRule)
	if err != nil {
		return fmt.Errorf("reading rules: %w", err)
	}
	for _, r := range all {
		if kindOf(r.Kind) != nil { // one of a later release is left alone
			c.rules[r.ID] = r
		}
	}
	return nil
}

// readStates reads for how long each rule has been broken at each subject. The
// states are in the database, so another instance can continue.
func (c *cycle) readStates(ctx context.Context) error {
	rows, err := c.tx.Query(ctx, `SELECT s.rule_id, s.subject, s.breach_s, s.clear_s, s.alert_id, a.id IS NOT NULL AND a.resolved_at IS NULL,
		a.cluster_id FROM alert_states s LEFT JOIN alerts a ON a.id = s.alert_id`, afresh)
	if err != nil {
		return fmt.Errorf("reading states: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*state, error) {
		s := &state{}
		return s, row.Scan(&s.rule, &s.subject, &s.breach, &s.clear, &s.alert, &s.open, &s.cluster)
	})
	if err != nil {
		return fmt.Errorf("reading states: %w", err)
	}
	for _, s := range all {
		c.states[s.key] = s
	}
	return nil
}

// readDark reads the clusters of which no host answers. Nothing is decided
// about them, because an old figure is no reason to end an alert.
func (c *cycle) readDark(ctx context.Context) error {
	rows, err := c.tx.Query(ctx, `SELECT cluster_id FROM hosts WHERE cluster_id IS NOT NULL GROUP BY cluster_id
		HAVING NOT bool_or(status = 'online')`, afresh)
	if err != nil {
		return fmt.Errorf("reading hosts that answer: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("reading hosts that answer: %w", err)
	}
	for _, id := range all {
		c.dark[id] = true
	}
	return nil
}
