package alert

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// These limit what a cycle reads.
const (
	MaxRules   = 500
	MaxWindows = 500
)

// Rules returns a page of the rules in the order of their creation, and the
// number of all.
func (s *Store) Rules(ctx context.Context, offset, limit int) (rules []*Rule, total int, err error) {
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM alert_rules").QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+columns+" FROM alert_rules r ORDER BY id OFFSET $1 LIMIT $2", offset, limit).Query(func(rows pgx.Rows) error {
		rules, err = db.CollectRows(rows, scanRule)
		return err
	})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing rules: %w", err))
	}
	return rules, total, nil
}

// Rule returns one rule. The problem is not_found.
func (s *Store) Rule(ctx context.Context, id int64) (*Rule, error) {
	return oneRule(ctx, s.DB.Pool, id, "")
}

// oneRule reads one rule, with a lock clause if it will be changed.
func oneRule(ctx context.Context, q rowsQuerier, id int64, lock string) (*Rule, error) {
	rows, err := q.Query(ctx, "SELECT "+columns+" FROM alert_rules r WHERE id = $1"+lock, id)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a rule: %w", err))
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRule)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "rule not found")
	}
	return r, db.Problem(err)
}

// CreateRule stores a rule. Problems: invalid, conflict above MaxRules.
func (s *Store) CreateRule(ctx context.Context, d RuleInput) (made *Rule, err error) {
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := db.CheckRowLimit(ctx, tx, "alert_rules", "rules", MaxRules); err != nil {
			return err
		}
		if d, err = checked(ctx, tx, nil, d); err != nil {
			return err
		}
		var id int64
		if err := tx.Pgx.QueryRow(ctx, `INSERT INTO alert_rules (name, description, kind, team_id, host_id, kinds, tags, targets, threshold,
			clear_level, for_s, clear_for_s, severity, labels, enabled) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
			RETURNING id`, d.args()...).Scan(&id); err != nil {
			return fmt.Errorf("writing the rule: %w", err)
		}
		if made, err = oneRule(ctx, tx.Pgx, id, ""); err != nil {
			return err
		}
		return audited(ctx, tx, "alert_rule", id, made.Name, map[string]any{"kind": made.Kind, "enabled": made.Enabled})
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// UpdateRule changes a rule by the function. A rule that came with the service
// belongs to its editors from then on: no later release changes it. Problems:
// not_found, and those of CreateRule.
func (s *Store) UpdateRule(ctx context.Context, id int64, change func(*RuleInput)) (written *Rule, err error) {
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		was, err := oneRule(ctx, tx.Pgx, id, " FOR UPDATE")
		if err != nil {
			return err
		}
		d, err := was.draft()
		if err != nil {
			return err
		}
		change(&d)
		if d, err = checked(ctx, tx, was.On.words(), d); err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, `UPDATE alert_rules SET name = $1, description = $2, kind = $3, team_id = $4, host_id = $5, kinds = $6,
			tags = $7, targets = $8, threshold = $9, clear_level = $10, for_s = $11, clear_for_s = $12, severity = $13, labels = $14,
			enabled = $15, seeded = false, updated_at = clock_timestamp() WHERE id = $16`, append(d.args(), id)...); err != nil {
			return fmt.Errorf("writing the rule: %w", err)
		}
		if written, err = oneRule(ctx, tx.Pgx, id, ""); err != nil {
			return err
		}
		return audited(ctx, tx, "alert_rule", id, written.Name, map[string]any{"kind": written.Kind, "enabled": written.Enabled})
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// DeleteRule deletes a rule. Its open alerts are resolved by the next cycle.
// The problem is not_found.
func (s *Store) DeleteRule(ctx context.Context, id int64) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		was, err := oneRule(ctx, tx.Pgx, id, " FOR UPDATE")
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM alert_rules WHERE id = $1", id); err != nil {
			return fmt.Errorf("removing the rule: %w", err)
		}
		return audited(ctx, tx, "alert_rule", id, was.Name, map[string]any{"kind": was.Kind})
	})
}

// args returns the draft's values in the order of the statements.
func (d *RuleInput) args() []any {
	return []any{d.Name, d.Description, d.Kind, d.On.TeamID, d.On.HostID, d.On.Kinds, d.On.Tags, d.On.Targets, d.Threshold,
		d.ClearLevel, d.ForS,
		d.ClearForS, d.Severity, d.labels(), d.Enabled}
}

// checked returns a draft that may be stored. was are the entries of the rule's scope so far.
func checked(ctx context.Context, tx *db.Tx, was []string, d RuleInput) (RuleInput, error) {
	f := faults(d.Faults())
	f.scope(was, d.On.words())
	if err := there(ctx, tx, &f, d.On.TeamID, d.On.HostID); err != nil {
		return d, err
	}
	if len(f) > 0 {
		return d, problem.Invalid(f...)
	}
	return d.tidied(), nil
}

// there checks that the team and the host of a scope exist, and locks them
// against deletion until the transaction ends.
func there(ctx context.Context, tx *db.Tx, f *faults, team, host *int64) error {
	for _, of := range []struct {
		id          *int64
		table, word string
	}{{team, "teams", "team"}, {host, "hosts", "host"}} {
		if of.id == nil {
			continue
		}
		var one int
		err := tx.Pgx.QueryRow(ctx, "SELECT 1 FROM "+of.table+" WHERE id = $1 FOR KEY SHARE", *of.id).Scan(&one)
		if errors.Is(err, pgx.ErrNoRows) {
			f.add("unknown "+of.word, "on", of.word+"_id")
		} else if err != nil {
			return fmt.Errorf("reading the %s: %w", of.word, err)
		}
	}
	return nil
}

// audited writes the audit entry of a change.
func audited(ctx context.Context, tx *db.Tx, kind string, id int64, name string, details map[string]any) error {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetID, e.TargetName = kind, strconv.FormatInt(id, 10), name
		for key, value := range details {
			e.Detail(key, value)
		}
	})
	return audit.Write(ctx, tx)
}
