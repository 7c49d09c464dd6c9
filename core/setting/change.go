package setting

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Changes are new values by name, as JSON; null puts a setting back to its default.
type Changes map[string]json.RawMessage

const (
	// maxFaults told of one set of changes, and maxName of an unknown name that is repeated, in bytes.
	maxFaults = 20
	maxName   = 64
)

// Hosts knows which hosts the service may be said to run on; *host.Store does.
type Hosts interface {
	// CheckSelf keeps the host in place until the transaction ends; one that is not there is problem not_found.
	CheckSelf(ctx context.Context, tx *db.Tx, id int64) error
}

// Store lists and changes settings for callers.
type Store struct {
	DB    *db.DB
	Hosts Hosts
}

// List is the function of the same name.
func (s *Store) List(ctx context.Context) ([]Value, error) { return List(ctx, s.DB) }

// Update makes all of the changes or none, with one row in the audit log that names the keys whose stored value is another
// now. Every fault of every key is in one problem of code invalid; so is a set of no changes. A caller who is no owner of the
// instance may not change how long the audit log or its addresses are kept: forbidden.
func (s *Store) Update(ctx context.Context, changes Changes) ([]Value, error) {
	if len(changes) == 0 {
		return nil, problem.InvalidField("nothing to change", "nothing_to_change", "body")
	}
	var by *int64
	if caller := identity.FromContext(ctx); caller != nil && caller.UserID != 0 {
		by = &caller.UserID
		for _, name := range []string{AuditRetention.Name(), AuditAddressDays.Name()} {
			if _, given := changes[name]; given && caller.Instance() < identity.Owner {
				return nil, problem.New(problem.CodeForbidden, "%s requires the role owner, like clearing the audit log", name).
					With("role", identity.Owner.String())
			}
		}
	}
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		steps, faults := plan(changes)
		if err := s.checkHost(ctx, tx, changes, &faults); err != nil {
			return err
		}
		if len(faults) > 0 {
			return problem.Invalid(faults...)
		}
		changed, err := apply(ctx, tx, steps, by)
		if err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) { e.TargetKind, e.Details = "settings", map[string]any{"keys": changed} })
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.List(ctx)
}

// checkHost adds the fault of a host that is not there. A value that is no id has its fault already.
func (s *Store) checkHost(ctx context.Context, tx *db.Tx, changes Changes, faults *[]problem.Fault) error {
	raw, given := changes[SelfHost.Name()]
	if !given || s.Hosts == nil {
		return nil
	}
	id, err := SelfHost.decode(raw)
	if err != nil || id == nil {
		return nil
	}
	err = s.Hosts.CheckSelf(ctx, tx, *id)
	if err != nil && problem.CodeOf(err) == problem.CodeNotFound {
		*faults = append(*faults, problem.Fault{Loc: []any{"body", SelfHost.Name()}, Msg: "must be an existing host", Type: "value_error"})
		return nil
	}
	return err
}

// step is one change that was found good; raw is nil to clear.
type step struct {
	name string
	raw  []byte
}

// plan checks all changes. The steps are in the order of names, so that two callers lock rows in the same order.
func plan(changes Changes) (steps []step, faults []problem.Fault) {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		raw, fault := check(name, changes[name])
		switch {
		case fault == nil:
			steps = append(steps, step{name, raw})
		case len(faults) < maxFaults:
			faults = append(faults, *fault)
		}
	}
	return steps, faults
}

// check is the value as it is stored, or what is wrong with it.
func check(name string, raw json.RawMessage) ([]byte, *problem.Fault) {
	fault := func(msg, kind string) *problem.Fault {
		if len(name) > maxName {
			name = strings.ToValidUTF8(name[:maxName], "") + "…"
		}
		return &problem.Fault{Loc: []any{"body", name}, Msg: msg, Type: kind}
	}
	at := slices.IndexFunc(all, func(k untyped) bool { return k.Name() == name })
	if at < 0 {
		return nil, fault("setting not found", "unknown_setting")
	}
	if string(raw) == "null" {
		return nil, nil
	}
	value, err := all[at].any(raw)
	if err != nil {
		return nil, fault(err.Error(), "value_error")
	}
	normal, err := json.Marshal(value)
	if err != nil {
		return nil, fault("cannot be stored", "value_error")
	}
	return normal, nil
}

func apply(ctx context.Context, tx *db.Tx, steps []step, by *int64) ([]string, error) {
	changed := []string{}
	for _, s := range steps {
		done, err := s.apply(ctx, tx, by)
		if err != nil {
			return nil, err
		}
		if done {
			changed = append(changed, s.name)
		}
	}
	return changed, nil
}

func (s step) apply(ctx context.Context, tx *db.Tx, by *int64) (changed bool, err error) {
	if s.raw == nil {
		return clear(ctx, tx, s.name)
	}
	return write(ctx, tx, s.name, s.raw, by)
}

// clear reports whether the setting was set.
func clear(ctx context.Context, tx *db.Tx, name string) (bool, error) {
	cleared, err := tx.Pgx.Exec(ctx, "DELETE FROM settings WHERE key = $1", name)
	if err != nil {
		return false, fmt.Errorf("clearing the setting %s: %w", name, err)
	}
	return cleared.RowsAffected() > 0, nil
}

// write reports whether the stored value is another now. One that stays keeps who set it, and when.
func write(ctx context.Context, tx *db.Tx, name string, raw []byte, by *int64) (bool, error) {
	done, err := tx.Pgx.Exec(ctx, `INSERT INTO settings AS s (key, value, updated_by) VALUES ($1, $2::jsonb, $3)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_by = excluded.updated_by, updated_at = now()
		WHERE s.value <> excluded.value`, name, string(raw), by)
	if err != nil {
		return false, fmt.Errorf("storing the setting %s: %w", name, err)
	}
	return done.RowsAffected() > 0, nil
}
