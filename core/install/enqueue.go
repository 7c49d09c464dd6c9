package install

import (
	"context"
	"fmt"
	"maps"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/secret"
)

// params returns the parameters of the job. The queue encrypts the fields of
// the type secret.String.
func (r *request) params() *params {
	m := &r.offer.Bundle.Manifest
	p := &params{HostID: r.HostID, ClusterID: r.place.ClusterID, Node: r.offer.Host.Node, Path: r.Path, Title: r.offer.Entry.Name,
		Source: r.offer.Source, Slug: r.offer.Slug, Pin: m.Pin.String(), AppPin: r.offer.Entry.App.String(), Sum: r.offer.Bundle.Sum,
		Name: r.Name,
		Mark: r.mark, Overrides: r.shown(), Launch: launchOf(r.launch, r.secrets())}
	p.Spec.ID = string(r.place.ID)
	for _, s := range r.secrets() {
		p.Secrets = append(p.Secrets, secret.New(s))
	}
	return p
}

// secrets returns the values of the secret overrides.
func (r *request) secrets() (all []string) {
	for _, o := range r.offer.Entry.Overrides {
		if value := r.Overrides[o.Key]; o.Secret && value != "" {
			all = append(all, value)
		}
	}
	return all
}

// shown returns the overrides, with nil instead of a secret.
func (r *request) shown() map[string]*string {
	all := map[string]*string{}
	for key, value := range maps.All(r.Overrides) {
		all[key] = &value
	}
	for _, o := range r.offer.Entry.Overrides {
		if _, given := all[o.Key]; given && o.Secret {
			all[o.Key] = nil
		}
	}
	return all
}

// asked returns the request as a retry of the job would send it. Secrets are
// null, which the API refuses: they must be given again.
func (r *request) asked() map[string]any {
	all := map[string]any{"slug": r.Path, "host_id": r.HostID, "name": r.Name, "consent": true, "sum": r.offer.Bundle.Sum,
		"storage": r.place.Storage, "template_storage": r.place.TemplateStorage, "bridge": r.place.Bridge}
	if r.CTID != nil {
		all["ctid"] = *r.CTID
	}
	if len(r.Overrides) > 0 {
		all["overrides"] = r.shown()
	}
	if len(r.Answers) > 0 {
		all["answers"] = nil
	}
	if r.Yes {
		all["yes"] = true
	}
	return all
}

// tell writes the plan: what runs as root, which container it creates, and what
// is not pinned.
func (r *request) tell(_ context.Context, p *plan.Plan) error {
	h := &r.offer.Host
	p.Add(plan.KindHost, h.Name, "%d files of the bundle %s run as root on the machine of %s, the node %s.",
		len(r.offer.Bundle.Manifest.Files), r.offer.Bundle.Sum, h.Name, h.Node)
	if r.place != nil {
		p.Add(plan.KindGuest, r.Name, "They create a container with disks on %s, from a template on %s, on the bridge %s.",
			r.place.Storage,
			r.place.TemplateStorage, r.place.Bridge)
	}
	if r.template != "" {
		p.Warn("%s", r.template)
	}
	for _, right := range r.offer.Entry.Privileges {
		p.Warn("Additional privilege: %s.", right.Text)
	}
	if n := len(r.offer.Bundle.Manifest.Unpinned); n > 0 {
		p.Warn("The scripts download unpinned content in %d places.", n)
	}
	return nil
}

// enqueue stores the consent, reserves the ID and makes the job in one
// transaction.
func (r *request) enqueue(ctx context.Context) (guest.StartResult, error) {
	p := r.params()
	caller := identity.FromContext(ctx)
	if caller != nil {
		p.UserID, p.Email = &caller.UserID, caller.Email
	}
	var made *job.Job
	err := r.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if err := r.Bundles.GiveConsent(ctx, tx, r.HostID, r.offer.Key(), p.Sum); err != nil {
			return err
		}
		if err := r.place.Reserve(ctx, tx); err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetID, e.TargetName = "host", fmt.Sprint(r.HostID), r.offer.Host.Name
			e.Detail("slug", r.Path)
			e.Detail("name", r.Name)
			e.Detail("sum", p.Sum)
			e.Detail("pin", p.Pin)
			e.Detail("consent", true)
		})
		exclusive := ""
		if p.Spec.ID != "" {
			exclusive = fmt.Sprintf("id:%d:%s", p.ClusterID, p.Spec.ID)
		}
		made, err = r.Actor.Queue.Enqueue(ctx, tx, job.Spec{
			Kind: Kind, Target: job.Target{Kind: "host", ID: r.HostID, Name: r.offer.Host.Name}, TeamID: r.teamID, HostID: r.HostID,
			Exclusive: exclusive, Params: p, PublicParams: r.asked(),
		})
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View()}, nil
}
