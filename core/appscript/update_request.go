package appscript

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// UpdateKind is the kind of jobs that update apps.
const UpdateKind = "app.update"

// order is an update that was checked.
type order struct {
	*candidate
	request guest.Request
	params  params
	bundle  *bundle.Bundle
	key     bundle.Key
	// consent is what is agreed to; given says that the caller does so now.
	consent *Consent
	given   bool
	diff    *Diff
}

// params are the parameters of an update's job.
type params struct {
	Asked guest.RequestedGuest `json:"asked"`
	AppID int64                `json:"app_id"`
	// Version is the version of the app's script that was the newest.
	Version int `json:"version"`
	// HostID is the host whose machine the container is on, and for which the consent is.
	HostID int64 `json:"host_id"`
	// Source, Slug, Pin and Sum name the bundle; Commit is the state of the entry's own files.
	Source string `json:"source"`
	Slug   string `json:"slug"`
	Pin    string `json:"pin"`
	Sum    string `json:"sum"`
	Commit string `json:"commit"`
	// Launch is how it is run, but for its environment.
	Launch      sdk.Launch `json:"launch"`
	Environment []variable `json:"environment"`
	// OS and OSVersion are what the entry wants of the container; empty for nothing.
	OS        string `json:"os,omitempty"`
	OSVersion string `json:"os_version,omitempty"`
	// Snapshot says that one may be taken, and Storage is where a backup may be
	// made; empty for none.
	Snapshot bool   `json:"snapshot"`
	Storage  string `json:"storage,omitempty"`
	// By is who asked.
	By string `json:"by"`
}

// variable is one variable of the program's environment. Its value is sealed
// together with the job's parameters.
type variable struct {
	Name   string        `json:"name"`
	Value  secret.String `json:"value"`
	Secret bool          `json:"secret,omitempty"`
}

// key returns the key of the update's bundle.
func (p *params) key() (bundle.Key, error) {
	pin, ok := sdk.ParsePin(p.Pin)
	if !ok {
		return bundle.Key{}, fmt.Errorf("the pin of an update is not valid")
	}
	return bundle.Key{Source: p.Source, Slug: p.Slug, Purpose: sdk.Update, Pin: pin}, nil
}

// asked is the request, as the operation received it.
type asked struct {
	Consent bool `json:"consent,omitempty"`
}

// Update requests an update of an app by the bundle that the catalog has now.
// consent is the caller's agreement that it runs. A caller who asks for the
// plan gets a plan.Result as error. Problems: not_found, invalid_state with a
// reason, ssh_not_enrolled, consent_required with the text to agree to,
// guest_busy, capability_missing and unsupported if there would be no way back,
// and those of catalog.Store.UpdateBundle.
func (s *Store) Update(ctx context.Context, appID, team int64, consent bool) (guest.StartResult, error) {
	draft := plan.Begin(ctx)
	o, err := s.check(ctx, appID, team, consent)
	if err != nil {
		return guest.StartResult{}, draft.RefuseAndStop(ctx, err, plan.Confirmation{})
	}
	if o.request.Guest.JobID != nil && draft.PlanOnly() {
		busy := problem.New(problem.CodeGuestBusy, "job %d is working on %s", *o.request.Guest.JobID, o.request.Target.Name)
		if err := draft.Refuse(busy); err != nil {
			return guest.StartResult{}, err
		}
	}
	if err := draft.Refuse(o.agreed()); err != nil {
		return guest.StartResult{}, err
	}
	if err := draft.Finish(ctx, plan.Confirmation{}, o.tell); err != nil {
		return guest.StartResult{}, err
	}
	var made *job.Job
	err = s.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if made, err = s.enqueue(ctx, tx, o, batch{}); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View()}, nil
}

// check finds out whether an app can be updated, and by which bundle. It does
// not look at the consent.
func (s *Store) check(ctx context.Context, appID, team int64, consent bool) (*order, error) {
	r, err := s.Apps.Request(ctx, appID, team, nil)
	if err != nil {
		return nil, err
	}
	g := r.Guest
	if err := s.Hosts.RequireSSH(ctx, g.HostID); problem.CodeOf(err) == problem.CodeUnsupported {
		return nil, err // nothing of what else is missing would help
	}
	c, err := s.candidate(ctx, appID)
	if err != nil {
		return nil, err
	}
	if reason := c.refused(); reason != "" {
		return nil, refuse(reason)
	}
	if c.entry.Entry.Disabled != "" {
		return nil, problem.New(problem.CodeInvalidState, "the app's authors have disabled it: %s", host.Clean(c.entry.Entry.Disabled)).
			With("reason", "disabled")
	}
	switch {
	case g.IsSelf:
		return nil, problem.New(problem.CodeInvalidState, "the service itself runs in this app and could not roll it "+
			"back").With("reason", "self")
	case g.Status == hypervisor.GuestStopped || g.Status == hypervisor.GuestPaused:
		return nil, problem.New(problem.CodeInvalidState, "the container of the app is %s: start it first", g.Status).With("reason", g.Status)
	}
	o := &order{candidate: c, request: r, given: consent}
	p := &o.params
	if p.HostID, err = host.HostOfNode(ctx, s.DB, g.HostID, g.Node); err != nil {
		return nil, err
	}
	if err := s.Hosts.RequireSSH(ctx, p.HostID); err != nil {
		return nil, err
	}
	if p.Snapshot, p.Storage, err = s.Actor.Reversible(ctx, g); err != nil {
		return nil, err
	}
	return o, s.choose(ctx, o)
}

// choose finds the bundle of an update, and how it is run.
func (s *Store) choose(ctx context.Context, o *order) (err error) {
	if o.bundle, err = s.Catalog.UpdateBundle(ctx, o.entry); err != nil {
		return err
	}
	m := &o.bundle.Manifest
	launch, err := s.Catalog.UpdateLaunch(ctx, o.entry, m, o.request.Guest.Name)
	if err != nil {
		return err
	}
	if o.diff, err = s.diff(ctx, o.base(), o.bundle); err != nil {
		return err
	}
	p, g := &o.params, o.request.Guest
	var hostName string
	if err := s.DB.Pool.QueryRow(ctx, "SELECT name FROM hosts WHERE id = $1", p.HostID).Scan(&hostName); err != nil {
		return db.Problem(fmt.Errorf("reading a host: %w", err))
	}
	if o.consent, err = s.consent(ctx, p.HostID, hostName, o.entry, o.bundle); err != nil {
		return err
	}
	at := g.At()
	p.Asked = guest.RequestedGuest{GuestID: g.ID, Kind: hypervisor.GuestKind(g.Kind), Ref: at.ID, UID: at.UID, Name: g.Name}
	if caller := identity.FromContext(ctx); caller != nil {
		p.By = caller.Email
	}
	p.AppID, p.Version = o.appID, o.newest.number()
	p.Source, p.Slug, p.Pin, p.Sum, p.Commit = o.entry.Source, o.entry.Slug, m.Pin.String(), o.bundle.Sum, o.entry.Commit
	p.OS, p.OSVersion = o.entry.Entry.Defaults.OS, o.entry.Entry.Defaults.OSVersion
	for _, v := range launch.Environment {
		p.Environment = append(p.Environment, variable{v.Name, secret.New(v.Value), v.Secret})
	}
	launch.Environment = nil
	p.Launch = launch
	o.key, err = p.key()
	return err
}

// agreed returns the problem consent_required if nobody has agreed that the
// bundle runs on the host, neither before nor with this request.
func (o *order) agreed() error {
	if o.consent.Given || o.given {
		return nil
	}
	return problem.New(problem.CodeConsentRequired, "nobody has approved this bundle for the host; review the plan and send consent").
		With("sum", o.bundle.Sum).With("text", o.consent.Text).With("text_version", o.consent.Version)
}

// tell writes the plan, beginning with the differences.
func (o *order) tell(_ context.Context, p *plan.Plan) error {
	name := o.request.Target.Name
	if o.base() == nil {
		p.Warn("It is unknown which state of %s is in %s: make sure that this is the right entry.", o.entry.Path, name)
	}
	for _, class := range []struct {
		of string
		n  catalog.DiffCount
	}{{"files of the entry itself", o.diff.Own}, {"files that the entries of the source share", o.diff.Engine},
		{"files that the source adds", o.diff.Overlay}} {
		if class.n.Files > 0 {
			p.Warn("Changed %s: %d. Lines added: %d, removed: %d.", class.of, class.n.Files, class.n.Added, class.n.Removed)
		}
	}
	way := "A snapshot of %s is taken first."
	if !o.params.Snapshot {
		way = "A backup of %s is made first, on " + o.params.Storage + "."
	}
	p.Add(plan.KindSnapshot, name, way, name)
	p.Add(plan.KindApp, name, "The bundle %.12s runs as root inside %s and updates it.", o.bundle.Sum, name)
	p.Warn("If the update fails, or the app does not answer afterwards as before, %s is rolled back: data written since then is lost.",
		name)
	return nil
}

// batch is what several updates that were requested together have in common.
type batch struct {
	// id is that of the first job, 0 for that itself; stopAfter is after how
	// many failures the others are not begun, and 0 alone.
	id        int64
	stopAfter int
}

// enqueue stores the consent, if it is given now, and enqueues the job.
func (s *Store) enqueue(ctx context.Context, tx *db.Tx, o *order, b batch) (*job.Job, error) {
	if err := lock(ctx, tx, o.appID); err != nil {
		return nil, err
	}
	newest, err := version(ctx, tx.Pgx, o.appID, 0)
	if err != nil {
		return nil, err
	}
	if newest.number() != o.newest.number() {
		return nil, problem.New(problem.CodeConflict, "the app's script has a newer version: request the plan again")
	}
	if o.given && !o.consent.Given {
		if err := s.Bundles.GiveConsent(ctx, tx, o.params.HostID, o.key, o.bundle.Sum); err != nil {
			return nil, err
		}
	}
	p := o.params
	made, err := s.Queue.Enqueue(ctx, tx, job.Spec{Kind: UpdateKind, Target: o.request.Target, TeamID: o.request.TeamID,
		HostID: o.request.Guest.HostID, Exclusive: guest.Exclusive(p.Asked.GuestID), Params: p, PublicParams: asked{Consent: o.given}})
	if err != nil {
		return nil, err
	}
	if b.stopAfter > 0 && b.id == 0 {
		b.id = made.ID
	}
	_, err = tx.Pgx.Exec(ctx, `INSERT INTO app_updates (job_id, app_id, source, slug, bundle, pin, app_commit, batch, stop_after)
		VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8::bigint, 0), nullif($9::integer, 0))`, made.ID, o.appID, p.Source, p.Slug, p.Sum, p.Pin,
		p.Commit, b.id, b.stopAfter)
	if err != nil {
		return nil, fmt.Errorf("writing an update: %w", err)
	}
	if b.stopAfter == 0 {
		audit.Describe(ctx, func(e *audit.Entry) {
			e.Detail("bundle", p.Sum)
			e.Detail("commit", p.Commit)
			e.Detail("consent", o.given && !o.consent.Given)
		})
	}
	return made, nil
}
