package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// params are the parameters of a job.
type params struct {
	DraftID int64 `json:"draft_id"`
	// Self says that it was confirmed although the service may be cut off.
	Self bool `json:"self"`
	// Went is how far an earlier job of the draft came, which has ended without
	// ending it, and Again how many such there were.
	Went  *progress `json:"went,omitempty"`
	Again int       `json:"again,omitempty"`
}

// inBetween begins the confirmation for a draft whose changes no order makes
// safe.
const inBetween = "while the changes are applied, traffic may pass for a moment that passes neither before nor after: "

// anyHost accepts every host. It is for questions that need a token but no
// ability.
func anyHost(hypervisor.Host) error { return nil }

// Commit starts the job that makes the changes of a draft, and undoes them
// after the window unless somebody confirms.
//
// It asks for the draft's name as confirm in three cases: self_target if the
// service, its cluster or the caller may be cut off; in_use if something
// outside of the draft names what it deletes; confirm_required if every order
// of the changes may let something through for a moment that both states close.
// Other problems: not_found, forbidden, invalid_state while a job works on the
// draft, digest_conflict with the present state if a scope was changed since
// the draft was made, firewall_busy while another draft holds one of the
// scopes, plan_stale, capability_missing, and those of host.Call.
func (s *Store) Commit(ctx context.Context, id int64, window time.Duration, confirm *string) (guest.StartResult, error) {
	r, err := s.mayWrite(ctx, id)
	if err != nil {
		return guest.StartResult{}, err
	}
	_ = s.Settle(ctx) // what could not be settled still holds its scopes, as is said below
	draft := plan.Begin(ctx)
	if err := draft.Refuse(r.busy()); err != nil {
		return guest.StartResult{}, err
	}
	if err := draft.Refuse(s.Hosts.Require(ctx, r.HostID, endpoint.Lifecycle, anyHost)); err != nil {
		return guest.StartResult{}, err
	}
	if err := draft.Refuse(s.held(ctx, s.DB.Pool, r)); err != nil {
		return guest.StartResult{}, err
	}
	if err := draft.Refuse(s.unchanged(ctx, r)); err != nil {
		return guest.StartResult{}, err
	}
	j, err := s.checkTraffic(ctx, r)
	if err != nil {
		return guest.StartResult{}, err
	}
	c := plan.Confirmation{Phrase: r.Name, Given: confirm != nil && *confirm == r.Name, IsSelf: j.asks()}
	if len(j.doubts) > 0 {
		c.Code, c.Why = problem.CodeConfirmRequired, inBetween+strings.Join(j.doubts, "; ")+"; to proceed, send the draft's name as "+
			"confirm"
	}
	if len(j.used) > 0 {
		c.Code, c.Why = problem.CodeInUse, strings.Join(j.used, "; ")+"; to proceed, send the draft's name as confirm"
	}
	if j.asks() {
		c.Code, c.Why = problem.CodeSelfTarget, strings.Join(append([]string{j.text() + " To proceed, send the draft's name as confirm"},
			j.used...), "; ")
	}
	if err := draft.Finish(ctx, c, func(_ context.Context, p *plan.Plan) error { s.tell(ctx, r, j, window, p); return nil }); err != nil {
		return guest.StartResult{}, err
	}
	if err := idempotency.SaveData(ctx, j.asks()); err != nil {
		return guest.StartResult{}, err
	}
	var made *job.Job
	err = s.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if err := s.hold(ctx, tx, r); err != nil {
			return err
		}
		r.audit(ctx)
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("window_seconds", int(window.Seconds())) })
		made, err = s.Actor.Queue.Enqueue(ctx, tx, r.spec(params{DraftID: r.ID, Self: j.asks()}, int(window.Seconds())))
		if err != nil {
			return err
		}
		tag, err := tx.Pgx.Exec(ctx, `UPDATE firewall_drafts SET status = 'committing', job_id = $3, window_seconds = $4, deadline = NULL,
			confirmed_at = NULL, confirmed_by = '', outcome = '', updated_at = now()
			WHERE id = $1 AND version = $2 AND status IN ('open', 'undone')`, r.ID, r.Version, made.ID, int(window.Seconds()))
		if err != nil {
			return fmt.Errorf("writing a draft: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "someone else changed or committed the draft")
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View(), IsSelf: j.asks()}, nil
}

// spec returns the job that carries the draft out.
func (r *record) spec(p params, window int) job.Spec {
	return job.Spec{Kind: kind, Target: job.Target{Kind: "firewall_draft", ID: r.ID, Name: r.Name}, TeamID: r.TeamID, HostID: r.HostID,
		Exclusive: fmt.Sprintf("firewall_draft:%d", r.ID), Params: p, PublicParams: map[string]any{"draft_id": r.ID, "window_seconds": window}}
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// keys returns the keys of all scopes of a draft, by which drafts exclude each
// other.
func (r *record) keys() (all []string) {
	for i := range r.Scopes {
		all = append(all, r.Scopes[i].key())
	}
	return all
}

// held returns the problem firewall_busy while another draft holds one of the
// scopes.
func (s *Store) held(ctx context.Context, q querier, r *record) error {
	var other int64
	var name, key string
	err := q.QueryRow(ctx, `SELECT d.id, d.name, l.scope FROM firewall_draft_locks l JOIN firewall_drafts d ON d.id = l.draft_id
		WHERE l.cluster_id = $1 AND l.scope = ANY ($2) AND l.draft_id <> $3 LIMIT 1`, r.ClusterID, r.keys(), r.ID).Scan(&other, &name, &key)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading other drafts: %w", err))
	}
	at := slices.IndexFunc(r.Scopes, func(sc stored) bool { return sc.key() == key })
	return problem.New(problem.CodeFirewallBusy, "another draft is waiting for confirmation on %s: confirm it, or wait until it is undone",
		r.Scopes[at].title()).With("draft", other)
}

// hold takes all scopes of a draft; end releases them. The rows are inserted in
// order, so that two drafts cannot wait for each other.
func (s *Store) hold(ctx context.Context, tx *db.Tx, r *record) error {
	tag, err := tx.Pgx.Exec(ctx, `INSERT INTO firewall_draft_locks (cluster_id, scope, draft_id)
		SELECT $1, scope, $3 FROM unnest($2::text[]) AS scope ORDER BY scope ON CONFLICT DO NOTHING`, r.ClusterID, r.keys(), r.ID)
	if err != nil {
		return fmt.Errorf("locking the scopes of a draft: %w", err)
	}
	if int(tag.RowsAffected()) == len(r.Scopes) {
		return nil
	}
	if err := s.held(ctx, tx.Pgx, r); err != nil {
		return err
	}
	return problem.New(problem.CodeFirewallBusy, "another draft is waiting for confirmation on the same scopes; try again")
}

// read reads the present state of scopes. It refuses more than sdk.MaxState of
// them together, because the states are stored with the draft and with the job.
func (s *Store) read(ctx context.Context, hostID int64, scopes []sdk.Scope) ([]sdk.State, error) {
	now, err := firewall.WithFirewall(ctx, s.Firewalls, hostID, endpoint.Monitoring, func(ctx context.Context,
		fw sdk.Firewall) (all []sdk.State,
		err error) {
		size := 0
		for _, at := range scopes {
			state, err := sdk.ReadState(ctx, fw, at)
			if err != nil {
				return nil, err
			}
			if size += state.Size(); size > sdk.MaxState {
				return nil, problem.New(problem.CodeInvalidState, "the firewalls of these scopes have more than %d MiB in total; use "+
					"several drafts with fewer scopes", sdk.MaxState>>20)
			}
			all = append(all, state)
		}
		return all, nil
	})
	return now, host.UnknownNode(err)
}

// located returns the scope at its present place: a guest may have moved to
// another node. The problem is not_found if the guest has another identity now.
func (s *Store) located(ctx context.Context, of *stored) (sdk.Scope, error) {
	at := of.Before.Scope
	if of.GuestID == 0 {
		return at, nil
	}
	now, err := s.guestScope(ctx, of.GuestID)
	if err == nil && !now.Same(at) {
		err = problem.New(problem.CodeNotFound, "%s no longer exists", of.title())
	}
	return now, err
}

// unchanged returns the problem digest_conflict, with the present state, unless
// all scopes are as they were when the draft was made. What the user has seen
// and agreed to would otherwise not be what happens.
func (s *Store) unchanged(ctx context.Context, r *record) error {
	var scopes []sdk.Scope
	for i := range r.Scopes {
		at, err := s.located(ctx, &r.Scopes[i])
		if err == nil {
			err = plugin.Problem(s.same(ctx, r.HostID, &r.Scopes[i]))
		}
		if err != nil {
			return err
		}
		scopes = append(scopes, at)
	}
	now, err := s.read(ctx, r.HostID, scopes)
	if err != nil {
		return err
	}
	current := map[string][]string{}
	for i := range now {
		if !now[i].Equal(r.Scopes[i].Before) {
			current[r.Scopes[i].key()] = Text(now[i])
		}
	}
	if len(current) == 0 {
		return nil
	}
	return problem.New(problem.CodeDigestConflict, "the firewall has changed since the draft was created: send the changes again, and "+
		"they are applied to the current state").With("current", current)
}
