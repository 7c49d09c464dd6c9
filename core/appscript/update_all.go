package appscript

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// StopAfter is the default number of failures after which no further update of
// a batch begins.
const StopAfter = 2

// SkippedApp is an app that is not updated, with the reason.
type SkippedApp struct {
	AppID  int64  `json:"app_id" example:"3"`
	App    string `json:"app" example:"wiki"`
	Reason string `json:"reason" example:"current" doc:"The first that applies: edited, no_entry, no_commit, no_script or current; otherwise the error id that a single update of this app would return, such as consent_required, guest_busy or ssh_not_enrolled"`
	Detail string `json:"detail"`
}

// UpdateAllResult is the result of a request to update all apps.
type UpdateAllResult struct {
	Jobs    []job.View   `json:"jobs" doc:"One job for each app that was not skipped; they run one after the other"`
	Skipped []SkippedApp `json:"skipped" doc:"Apps without a job, and the reasons"`
}

// kept is stored for the answer to a repeated request.
type kept struct {
	Jobs    []int64      `json:"jobs"`
	Skipped []SkippedApp `json:"skipped"`
}

// several are updates that were requested together.
type several struct {
	ready   []*order
	skipped []SkippedApp
	// stopAfter is after how many failures the others are not begun.
	stopAfter int
}

// UpdateAll requests an update of every app that has one and that the caller
// may update. consent is the caller's agreement to all of their bundles.
// stopAfter 0 stands for StopAfter. A caller who asks for the plan gets a
// plan.Result as error.
func (s *Store) UpdateAll(ctx context.Context, consent bool, stopAfter int) (UpdateAllResult, error) {
	a, err := s.stale(ctx, consent, stopAfter)
	if err != nil {
		return UpdateAllResult{}, err
	}
	if err := plan.Begin(ctx).Finish(ctx, plan.Confirmation{}, a.tell); err != nil {
		return UpdateAllResult{}, err
	}
	done := UpdateAllResult{}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		made, skipped, err := s.enqueueAll(ctx, tx, a)
		if err != nil {
			return err
		}
		done = UpdateAllResult{Jobs: []job.View{}, Skipped: append(append([]SkippedApp{}, a.skipped...), skipped...)}
		ids := []int64{}
		for _, j := range made {
			done.Jobs, ids = append(done.Jobs, j.View()), append(ids, j.ID)
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind = "app"
			e.Details = map[string]any{"jobs": ids, "skipped": len(done.Skipped), "consent": consent}
		})
		if err := idempotency.SaveData(ctx, kept{ids, done.Skipped}); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	return done, err
}

// ReplayUpdateAll returns the result of UpdateAll again, with the present state of
// its jobs. Jobs that the caller may no longer see are left out.
func (s *Store) ReplayUpdateAll(ctx context.Context, made idempotency.Result) (UpdateAllResult, error) {
	var was kept
	if err := made.Decode(&was); err != nil {
		return UpdateAllResult{}, err
	}
	done := UpdateAllResult{Jobs: []job.View{}, Skipped: was.Skipped}
	if len(was.Jobs) == 0 {
		return done, nil
	}
	found, _, err := s.Queue.List(ctx, job.Filter{IDs: was.Jobs, PerPage: len(was.Jobs)}, identity.FromContext(ctx).Visible())
	if err != nil {
		return UpdateAllResult{}, err
	}
	slices.SortFunc(found, func(a, b *job.Job) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range found {
		done.Jobs = append(done.Jobs, j.View())
	}
	return done, nil
}

// listed is one app of the caller.
type listed struct {
	ID     int64
	Name   string
	Slug   *string
	TeamID int64
}

// stale finds the apps that have an update, and why the others have none. Each
// app is checked as if its update were requested alone.
func (s *Store) stale(ctx context.Context, consent bool, stopAfter int) (*several, error) {
	a := &several{stopAfter: cmp.Or(stopAfter, StopAfter), skipped: []SkippedApp{}}
	apps, err := s.listed(ctx)
	if err != nil {
		return nil, err
	}
	newest, entries, err := s.scripts(ctx, apps)
	if err != nil {
		return nil, err
	}
	caller := identity.FromContext(ctx)
	for _, l := range apps {
		c := &candidate{appID: l.ID, newest: newest[l.ID]}
		if l.Slug != nil {
			c.entry = entries[*l.Slug]
		}
		reason := c.reason()
		if reason == "" && c.base() == nil {
			reason = ReasonNoScript
		}
		if reason != "" {
			a.skip(l, reason, reasons[reason])
			continue
		}
		if caller != nil && caller.On(l.TeamID) < identity.Operator {
			a.skip(l, string(problem.CodeForbidden), "this requires the role "+identity.Operator.String())
			continue
		}
		o, err := s.check(ctx, l.ID, l.TeamID, consent)
		if err == nil {
			err = o.agreed()
		}
		if err != nil {
			p := problem.From(err)
			if p.Code == problem.CodeInternal || p.Code == problem.CodeDatabaseUnavailable || ctx.Err() != nil {
				return nil, err
			}
			a.skip(l, string(p.Code), p.Detail)
			continue
		}
		a.ready = append(a.ready, o)
	}
	return a, nil
}

// skip records an app that is not updated, and why.
func (a *several) skip(l listed, reason, detail string) {
	a.skipped = append(a.skipped, SkippedApp{AppID: l.ID, App: l.Name, Reason: reason, Detail: detail})
}

// listed returns all apps that the caller may see. An app without a host
// belongs to the instance.
func (s *Store) listed(ctx context.Context) ([]listed, error) {
	visible := identity.VisibleTeams{All: true}
	if caller := identity.FromContext(ctx); caller != nil {
		visible = caller.Visible()
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT a.id, a.name, a.slug, coalesce(h.team_id, 1) FROM apps a LEFT JOIN guests g ON g.id = a.guest_id
		LEFT JOIN hosts h ON h.id = coalesce(g.host_id, a.host_id) WHERE $1 OR h.team_id = ANY($2) ORDER BY a.id`, visible.All, visible.Teams)
	var all []listed
	if err == nil {
		all, err = db.CollectRows(rows, pgx.RowToStructByPos[listed])
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the apps: %w", err))
	}
	return all, nil
}

// scripts returns the newest versions of the scripts of apps, and their present
// entries in the catalog.
func (s *Store) scripts(ctx context.Context, apps []listed) (map[int64]*Version, map[string]*catalog.Current, error) {
	var ids []int64
	paths := []string{}
	for _, l := range apps {
		ids = append(ids, l.ID)
		if l.Slug != nil && !slices.Contains(paths, *l.Slug) {
			paths = append(paths, *l.Slug)
		}
	}
	entries, err := s.Catalog.Current(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	newest := map[int64]*Version{}
	rows, err := s.DB.Pool.Query(ctx, `SELECT DISTINCT ON (v.app_id) v.app_id, v.number, v.origin, v.app_commit, coalesce(v.source, ''),
		coalesce(v.slug, '') FROM app_script_versions v
		WHERE v.app_id = ANY($1) ORDER BY v.app_id, v.number DESC`, ids)
	if err == nil {
		_, err = db.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
			v, id := &Version{}, int64(0)
			err = row.Scan(&id, &v.Version, &v.Source, &v.Commit, &v.catalogSource, &v.slug)
			newest[id] = v
			return none, err
		})
	}
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("reading the scripts of apps: %w", err))
	}
	return newest, entries, nil
}

// tell writes the plan.
func (a *several) tell(_ context.Context, p *plan.Plan) error {
	for _, o := range a.ready {
		p.Add(plan.KindApp, o.request.Target.Name, "%s is updated after a snapshot or backup. Changed files of its entry: %d.",
			o.request.Target.Name, o.diff.Own.Files)
	}
	for _, skipped := range a.skipped {
		p.Warn("%s is skipped: %s", skipped.App, skipped.Detail)
	}
	p.Warn("The updates run one after the other; after %d failures no more are started.", a.stopAfter)
	return nil
}

// about fills the audit entry of one update of a batch.
func (o *order) about(e *audit.Entry) {
	target := o.request.Target
	e.Action = UpdateKind
	e.TargetKind, e.TargetID, e.TargetName = target.Kind, strconv.FormatInt(target.ID, 10), target.Name
	e.TeamID, e.HostID = &o.request.TeamID, &o.request.Guest.HostID
	e.Details = map[string]any{"bundle": o.params.Sum, "commit": o.params.Commit, "consent": o.given && !o.consent.Given}
}

// enqueueAll enqueues the jobs. Apps that have become busy are skipped. Each
// job has its own audit entry.
func (s *Store) enqueueAll(ctx context.Context, tx *db.Tx, a *several) (made []*job.Job, skipped []SkippedApp, err error) {
	together := batch{stopAfter: a.stopAfter}
	for _, o := range a.ready {
		own := audit.BeginAnother(ctx, o.about)
		j, err := s.enqueue(own, tx, o, together)
		if code := problem.CodeOf(err); err != nil && (code == problem.CodeGuestBusy || code == problem.CodeConflict ||
			code == problem.CodeNotFound) {
			skipped = append(skipped, SkippedApp{AppID: o.appID, App: o.request.Target.Name, Reason: string(code),
				Detail: problem.From(err).Detail})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if err := audit.Write(own, tx); err != nil {
			return nil, nil, err
		}
		if together.id == 0 {
			together.id = j.ID
		}
		made = append(made, j)
	}
	return made, skipped, nil
}
