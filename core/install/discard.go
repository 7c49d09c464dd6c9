package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Discard starts a job that destroys a container that a failed install left. It
// finds the container by the tag of the install, as the hypervisor reports it
// now. If there are several, each takes a request. confirm must be the
// container's name.
//
// Problems in addition to those of guest.Work: not_found; invalid_state for a
// job that is not an install, has not ended or has made an app, and if no
// container is left.
func (s *Store) Discard(ctx context.Context, jobID, teamID int64, guests *guest.Store, confirm *string) (guest.StartResult, error) {
	w, err := s.left(ctx, jobID)
	if err != nil {
		return guest.StartResult{}, plan.Begin(ctx).RefuseAndStop(ctx, err, plan.Confirmation{})
	}
	found, err := w.marked(ctx)
	if err == nil && len(found) == 0 {
		found, err = w.remembered(ctx)
	}
	if err != nil {
		return guest.StartResult{}, plan.Begin(ctx).RefuseAndStop(ctx, plugin.Problem(err), plan.Confirmation{})
	}
	if len(found) == 0 {
		gone := problem.New(problem.CodeInvalidState, "the hypervisor no longer has a container of this installation")
		return guest.StartResult{}, plan.Begin(ctx).RefuseAndStop(ctx, gone, plan.Confirmation{})
	}
	g, err := s.row(ctx, w, found[0], guests)
	if err != nil {
		return guest.StartResult{}, plan.Begin(ctx).RefuseAndStop(ctx, err, plan.Confirmation{})
	}
	r := guest.Request{Target: job.Target{Kind: "job", ID: jobID, Name: g.Name}, Guest: g, TeamID: teamID, Confirm: confirm}
	return guest.Discard.Start(ctx, s.Actor, r, hypervisor.DestroySpec{Purge: true})
}

// left returns the parameters of an install that has ended without an app.
func (s *Store) left(ctx context.Context, jobID int64) (*work, error) {
	var kind string
	var status job.Status
	var text []byte
	err := s.DB.Pool.QueryRow(ctx, "SELECT kind, status, params FROM jobs WHERE id = $1", jobID).Scan(&kind, &status, &text)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "job %d not found", jobID)
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the job: %w", err))
	}
	switch {
	case kind != Kind:
		return nil, problem.New(problem.CodeInvalidState, "job %d is not an installation", jobID)
	case !status.Finished():
		return nil, problem.New(problem.CodeInvalidState, "job %d has not ended; cancel it first", jobID)
	case status == job.Succeeded:
		return nil, problem.New(problem.CodeInvalidState, "job %d created an app: uninstall the app instead", jobID)
	}
	w := &work{Store: s}
	if err := json.Unmarshal(text, &w.params); err != nil {
		return nil, fmt.Errorf("decoding the parameters of job %d: %w", jobID, err)
	}
	return w, nil
}

// remembered returns the tagged containers that the polls found and that still
// exist. It matters for a token that lacks the right to see them: the list of
// the hypervisor then omits them, but reading one fails with the missing
// privilege.
func (w *work) remembered(ctx context.Context) ([]hypervisor.Guest, error) {
	rows, err := w.DB.Pool.Query(ctx, `SELECT node, ref, coalesce(uid, ''), name FROM guests
		WHERE cluster_id = $1 AND kind = 'container' AND $2 = ANY (tags) ORDER BY id LIMIT 10`, w.ClusterID, w.Mark)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading containers with a marker: %w", err))
	}
	known, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g hypervisor.Guest, err error) {
		g.Kind = hypervisor.Container
		return g, row.Scan(&g.Node, &g.ID, &g.UID, &g.Name)
	})
	if err != nil || len(known) == 0 {
		return nil, db.Problem(err)
	}
	return host.CallWithTimeout(ctx, w.Hosts, askLimit, w.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (found []hypervisor.Guest, err error) {
			for _, g := range known {
				now, err := at.Guest(ctx, g.GuestRef)
				if sdk.KindOf(err) == sdk.NotFound {
					continue
				}
				if err != nil {
					return nil, err
				}
				if slices.Contains(now.Tags, w.Mark) {
					found = append(found, now)
				}
			}
			return found, nil
		})
}

// row returns the cache row of a container. If there is none yet, it polls the
// host once.
func (s *Store) row(ctx context.Context, w *work, g hypervisor.Guest, guests *guest.Store) (*guest.Guest, error) {
	for polled := false; ; polled = true {
		var id int64
		var app bool
		err := s.DB.Pool.QueryRow(ctx, `SELECT g.id, EXISTS (SELECT FROM apps a WHERE a.guest_id = g.id) FROM guests g
			WHERE g.cluster_id = $1 AND g.kind = 'container' AND g.ref = $2 AND g.uid IS NOT DISTINCT FROM nullif($3, '')
			ORDER BY g.listed_at DESC NULLS LAST, g.id DESC LIMIT 1`, w.ClusterID, string(g.ID), g.UID).Scan(&id, &app)
		switch {
		case err == nil && app:
			return nil, problem.New(problem.CodeInvalidState, "someone has adopted the container %s: uninstall that app instead", name(g))
		case err == nil:
			return guests.Get(ctx, guest.Container, id)
		case !errors.Is(err, pgx.ErrNoRows):
			return nil, db.Problem(fmt.Errorf("reading a container: %w", err))
		case polled || s.Sync == nil:
			return nil, problem.New(problem.CodeInvalidState, "the container %s is not in the inventory yet; sync the host", name(g))
		}
		if err := s.Sync(ctx, w.HostID); err != nil {
			return nil, plugin.Problem(err)
		}
	}
}
