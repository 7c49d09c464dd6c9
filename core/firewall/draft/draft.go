package draft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Store keeps drafts and runs the jobs that carry them out. It is safe for
// concurrent use.
type Store struct {
	DB        *db.DB
	Hosts     *host.Store
	Firewalls *firewall.Store
	Actor     *guest.Actor
	// Self knows the guest that the service runs in; nil knows none.
	Self *guest.Self
	// Logger gets what users do not see; nil logs nothing.
	Logger hclog.Logger
	// Heartbeat is told of each turn of Run; nil is told nothing.
	Heartbeat *heartbeat.Monitor
	// Tick is the time between two looks while a job waits for somebody; zero
	// is 500 ms. Retry is the time between two tries while a hypervisor does
	// not answer; zero is 2 s.
	Tick, Retry time.Duration
}

// These are the states of a draft. doc.go explains their order.
const (
	open       = "open"
	committing = "committing"
	waiting    = "waiting"
	undoing    = "undoing"
	applied    = "applied"
	undone     = "undone"
	unknown    = "unknown"
)

// stored is a scope of a draft, as it is stored: its state before and after.
type stored struct {
	Kind    string `json:"kind"`
	ID      int64  `json:"id,omitempty"`
	GuestID int64  `json:"guest_id,omitempty"`
	Name    string `json:"name"`
	// GuestName is the guest's own name when the draft was made; empty for
	// other scopes, and in drafts of older releases.
	GuestName string    `json:"guest_name,omitempty"`
	Before    sdk.State `json:"before"`
	After     sdk.State `json:"after"`
}

// key names a scope within its cluster. A VM and its app have the same key:
// they share one firewall.
func (s *stored) key() string {
	switch s.Kind {
	case "vm", "app":
		return fmt.Sprintf("guest:%d", s.GuestID)
	case "cluster":
		return "cluster"
	}
	return s.Kind + ":" + s.Name
}

// title names a scope in a sentence.
func (s *stored) title() string {
	if s.Kind == "cluster" {
		return "the cluster"
	}
	return "the " + map[string]string{"vm": "VM", "app": "app", "node": "node", "group": "group"}[s.Kind] + " " + s.Name
}

// record is a draft as it is stored.
type record struct {
	ID, HostID, ClusterID, TeamID   int64
	Name, Cluster                   string
	Version                         int64
	Role, Status                    string
	Changes                         []Change
	Scopes                          []stored
	JobID                           *int64
	Window                          *int
	Deadline, ConfirmedAt           *time.Time
	ConfirmedBy, Outcome, CreatedBy string
	CreatedAt, UpdatedAt            time.Time
	// Due says that the deadline is over, by the database's clock.
	Due bool
	// Left says that a job carried it out which has ended, or is gone, without ending the draft.
	Left bool
}

// left is SQL for a draft on which no job works although one should.
const left = `(d.status IN ('committing', 'waiting', 'undoing') AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = d.job_id
	AND j.status IN ('queued', 'running')))`

// columns are the columns and tables of a record, in the order of scan.
const columns = `d.id, d.host_id, d.cluster_id, h.team_id, d.name, coalesce(c.name, ''), d.version, d.role, d.status, d.changes, d.scopes,
	d.job_id, d.window_seconds, d.deadline, d.confirmed_at, d.confirmed_by, d.outcome, d.created_by, d.created_at, d.updated_at,
	coalesce(d.deadline <= clock_timestamp(), false), ` + left + `
	FROM firewall_drafts d JOIN hosts h ON h.id = d.host_id JOIN clusters c ON c.id = d.cluster_id`

// scan reads one row with columns.
func scan(row pgx.CollectableRow) (r record, err error) {
	var changes, scopes []byte
	if err = row.Scan(&r.ID, &r.HostID, &r.ClusterID, &r.TeamID, &r.Name, &r.Cluster, &r.Version, &r.Role, &r.Status, &changes, &scopes,
		&r.JobID, &r.Window, &r.Deadline, &r.ConfirmedAt, &r.ConfirmedBy, &r.Outcome, &r.CreatedBy, &r.CreatedAt, &r.UpdatedAt,
		&r.Due, &r.Left); err != nil {
		return r, err
	}
	return r, errors.Join(json.Unmarshal(changes, &r.Changes), json.Unmarshal(scopes, &r.Scopes))
}

// MaxDrafts limits the drafts of one team's hosts that are neither applied nor
// undone. Prune deletes the others after some time.
const MaxDrafts = 500

// Create checks a draft against the present state and stores it. Problems:
// invalid, not_found, forbidden, capability_missing, unsupported, conflict
// above MaxDrafts, and those of host.Call.
func (s *Store) Create(ctx context.Context, q Request) (Draft, error) {
	r, err := s.compose(ctx, q)
	if err != nil {
		return Draft{}, err
	}
	if caller := identity.FromContext(ctx); caller != nil {
		r.CreatedBy = caller.Email
	}
	changes, scopes, err := r.encode()
	if err != nil {
		return Draft{}, err
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		var count int
		err := tx.Pgx.QueryRow(ctx, `SELECT count(*) FROM firewall_drafts d JOIN hosts h ON h.id = d.host_id
			WHERE h.team_id = $1 AND d.status NOT IN ($2, $3)`, r.TeamID, applied, undone).Scan(&count)
		if err != nil {
			return fmt.Errorf("counting drafts: %w", err)
		}
		if count >= MaxDrafts { // a few more at the same moment do no harm
			return problem.New(problem.CodeConflict, "cannot create another draft: the team has %d drafts that are neither applied nor undone; "+
				"delete %d first", count, count-MaxDrafts+1)
		}
		err = tx.Pgx.QueryRow(ctx, `INSERT INTO firewall_drafts (host_id, cluster_id, name, changes, scopes, role, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`, r.HostID, r.ClusterID, r.Name, changes, scopes, r.Role, r.CreatedBy).Scan(&r.ID)
		if err != nil {
			return fmt.Errorf("writing a draft: %w", err)
		}
		r.audit(ctx)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return Draft{}, err
	}
	return s.Get(ctx, r.ID)
}

// encode returns the JSON columns of a draft.
func (r *record) encode() (changes, scopes []byte, err error) {
	changes, err1 := json.Marshal(r.Changes)
	scopes, err2 := json.Marshal(r.Scopes)
	return changes, scopes, errors.Join(err1, err2)
}

// audit writes the draft and its differences into the audit entry: afterwards
// this is the only record of what it changed.
func (r *record) audit(ctx context.Context) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetID, e.TargetName = "firewall_draft", fmt.Sprint(r.ID), r.Name
		e.TeamID, e.HostID = &r.TeamID, &r.HostID
		for i := range r.Scopes {
			s := &r.Scopes[i]
			e.Detail(s.key(), differences(s.Before, s.After))
		}
	})
}

// find reads a draft that the caller may see. If its job has left it, it is
// settled first, so that no request sees a state that nothing will change.
func (s *Store) find(ctx context.Context, id int64) (*record, error) {
	r, err := s.stands(ctx, id)
	if err != nil || !r.Left {
		return r, err
	}
	if err := s.settle(ctx, id); err != nil {
		return nil, db.Problem(err)
	}
	return s.stands(ctx, id)
}

// stands reads a draft as it is, without settling it.
func (s *Store) stands(ctx context.Context, id int64) (*record, error) {
	visible := identity.FromContext(ctx).Visible()
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+" WHERE d.id = $1 AND ($2 OR h.team_id = ANY ($3))", id, visible.All, visible.Teams)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a draft: %w", err))
	}
	r, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "draft not found")
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a draft: %w", err))
	}
	return &r, nil
}

// mayWrite is find for a caller who wants to change the draft. The problem is
// forbidden without the role that the draft needs on its host and on the
// present hosts of all its guests.
func (s *Store) mayWrite(ctx context.Context, id int64) (*record, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	role := identity.Operator
	if r.Role == identity.Admin.String() {
		role = identity.Admin
	}
	for i := range r.Scopes { // a guest may be another team's by now, or gone: then there is nothing of it to guard
		if r.Scopes[i].GuestID == 0 {
			continue
		}
		var hostID int64
		err := s.DB.Pool.QueryRow(ctx, "SELECT host_id FROM guests WHERE id = $1", r.Scopes[i].GuestID).Scan(&hostID)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, db.Problem(fmt.Errorf("reading the host of a guest: %w", err))
		}
		if _, err := schedule.Require(ctx, s.DB, scope.Host, hostID, identity.Operator); err != nil {
			return nil, err
		}
	}
	_, err = schedule.Require(ctx, s.DB, scope.Host, r.HostID, role)
	return r, err
}

// Get returns one draft. The problem is not_found.
func (s *Store) Get(ctx context.Context, id int64) (Draft, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	return r.show(), nil
}

// busy returns the problem invalid_state of a draft on which a job works, or
// that was carried out for good.
func (r *record) busy() error {
	switch r.Status {
	case open, undone:
		return nil
	case committing, waiting, undoing:
		return problem.New(problem.CodeInvalidState, "a job is applying the draft (status: %s)", r.Status).With("job", r.JobID)
	}
	return problem.New(problem.CodeInvalidState, "the draft was already applied: create another one")
}

// staleDraft returns the problem of a draft that was changed by somebody else,
// with its present state.
func staleDraft(now Draft) error {
	return problem.New(problem.CodeDigestConflict, "someone else changed the draft").With("current", now)
}

// Replace replaces the changes of a draft, based on its version, and compares
// with the present state again. Problems: those of Create, digest_conflict with
// the present draft if the version is another, invalid_state while a job works
// on it or after it was applied.
func (s *Store) Replace(ctx context.Context, id, version int64, name *string, changes []Change) (Draft, error) {
	was, err := s.mayWrite(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	if err := was.busy(); err != nil {
		return Draft{}, err
	}
	if was.Version != version {
		return Draft{}, staleDraft(was.show())
	}
	q := Request{HostID: was.HostID, Name: was.Name, Changes: changes}
	if name != nil {
		q.Name = *name
	}
	r, err := s.compose(ctx, q)
	if err != nil {
		return Draft{}, err
	}
	r.ID = id
	encoded, scopes, err := r.encode()
	if err != nil {
		return Draft{}, err
	}
	changed := false
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, `UPDATE firewall_drafts SET name = $3, changes = $4, scopes = $5, role = $6, version = version + 1,
			status = 'open',
			outcome = '', updated_at = now() WHERE id = $1 AND version = $2 AND status IN ('open', 'undone')`, id, version, r.Name, encoded, scopes,
			r.Role)
		if err != nil {
			return fmt.Errorf("writing a draft: %w", err)
		}
		if changed = tag.RowsAffected() == 1; !changed {
			return problem.New(problem.CodeDigestConflict, "someone else changed the draft")
		}
		r.audit(ctx)
		return audit.Write(ctx, tx)
	})
	now, unread := s.Get(ctx, id)
	if !changed && err != nil && unread == nil {
		return Draft{}, staleDraft(now)
	}
	return now, errors.Join(err, unread)
}

// Delete deletes a draft. Problems: not_found, forbidden, and invalid_state
// while a job works on it.
func (s *Store) Delete(ctx context.Context, id int64) error {
	r, err := s.mayWrite(ctx, id)
	if err != nil {
		return err
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, "DELETE FROM firewall_drafts WHERE id = $1 AND status NOT IN ('committing', 'waiting', 'undoing')", id)
		if err != nil {
			return fmt.Errorf("deleting a draft: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "a job is applying the draft: wait for it or cancel it")
		}
		r.audit(ctx)
		return audit.Write(ctx, tx)
	})
}

// Confirm keeps the changes of a draft that waits. A second confirmation
// succeeds without effect. The condition on the deadline is part of the
// statement, by the database's clock, so that a confirmation and the end of the
// window cannot both win. Problems: not_found, forbidden, invalid_state if it
// does not wait, or no longer.
func (s *Store) Confirm(ctx context.Context, id int64) (Draft, error) {
	r, err := s.mayWrite(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	by := ""
	if caller := identity.FromContext(ctx); caller != nil {
		by = caller.Email
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, `UPDATE firewall_drafts SET confirmed_at = coalesce(confirmed_at, clock_timestamp()),
			confirmed_by = CASE WHEN confirmed_at IS NULL THEN $2 ELSE confirmed_by END, updated_at = now()
			WHERE id = $1 AND status = 'waiting' AND (confirmed_at IS NOT NULL OR deadline > clock_timestamp())`, id, by)
		if err != nil {
			return fmt.Errorf("confirming a draft: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "the draft is not waiting for confirmation (status: %s)", r.Status).
				With("status", r.Status)
		}
		audit.Describe(ctx, func(e *audit.Entry) { e.JobID = r.JobID })
		r.audit(ctx)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return Draft{}, err
	}
	return s.Get(ctx, id)
}

// kind is the kind of the jobs.
const kind = "firewall.draft"

// Register makes the store the worker of its jobs. They run in the queue beside
// the others, because they mostly wait and must not take the place of work.
func (s *Store) Register(q *job.Queue) { q.RegisterUnslotted(kind, job.WorkerFunc(s.perform)) }
