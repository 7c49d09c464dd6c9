package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// interrupt adds to a plan that the running guest will be unavailable, and
// since when it has been running: a long uptime makes people look twice.
func (on Subject) interrupt(p *plan.Plan) {
	g := on.Guest
	switch g.Status {
	case hypervisor.GuestRunning, hypervisor.GuestPaused:
		p.AddSince(plan.KindUptime, g.Name, g.since(), "%s is %s and is interrupted.", g.Name, g.Status)
	case hypervisor.GuestUnknown:
		p.Warn("It is unknown whether %s is running.", g.Name)
	}
	if g.IsSelf {
		p.Warn("The service itself runs in %s and is interrupted too.", g.Name)
	}
}

// since returns the time at which the guest was started, as the last poll saw
// it. It is zero if unknown.
func (g *Guest) since() time.Time {
	if g.UptimeS == nil || g.FiguresAt == nil {
		return time.Time{}
	}
	return g.FiguresAt.Add(-time.Duration(*g.UptimeS) * time.Second)
}

// warnOnError turns an error of the plan's own look at the hypervisor into a
// warning. A plan should say what it can, even if the hypervisor is
// unreachable. Other errors are returned.
func warnOnError(p *plan.Plan, err error) error {
	if err == nil {
		return nil
	}
	if known := problem.From(err); known.Status() >= 500 && known.Code != problem.CodeInternal {
		p.Warn("The hypervisor did not answer: %s", known.Detail)
		return nil
	}
	return err
}

// planRollBack adds what a rollback loses: everything since the snapshot and,
// on some storages, later snapshots.
func planRollBack(ctx context.Context, on Subject, spec hypervisor.RollbackSpec, p *plan.Plan) error {
	all, err := Call(ctx, on, hypervisor.Snapshotter.Snapshots)
	if err != nil {
		return warnOnError(p, err)
	}
	target := named(all, spec.Name)
	if target == nil {
		return noSnapshot()
	}
	p.AddSince(plan.KindData, spec.Name, target.TakenAt, "All data that %s has written since the snapshot %s is lost.",
		on.Guest.Name, spec.Name)
	for _, s := range inOrder(all) {
		if s.Name != spec.Name && follows(all, s, spec.Name) {
			p.AddSince(plan.KindSnapshot, s.Name, s.TakenAt, "The snapshot %s is newer; the current state will no longer be based on it.",
				s.Name)
		}
	}
	if !target.Memory && on.Guest.Status == hypervisor.GuestRunning {
		p.Warn("%s will not be running afterwards: the snapshot does not include memory.", on.Guest.Name)
	}
	return nil
}

// follows reports whether a snapshot was taken after the one with the name,
// according to the tree or else by time.
func follows(all []hypervisor.Snapshot, s hypervisor.Snapshot, name string) bool {
	for range all { // a tree is no deeper
		if s.Parent == name {
			return true
		}
		parent := named(all, s.Parent)
		if parent == nil {
			break
		}
		s = *parent
	}
	target := named(all, name)
	return target != nil && s.Parent == "" && s.TakenAt.After(target.TakenAt)
}

// planDeleteSnapshot adds the snapshot that will be deleted.
func planDeleteSnapshot(ctx context.Context, on Subject, name string, p *plan.Plan) error {
	s, err := findSnapshot(ctx, on, name)
	if err != nil {
		return warnOnError(p, err)
	}
	if s == nil {
		return noSnapshot()
	}
	p.AddSince(plan.KindSnapshot, name, s.TakenAt, "The snapshot %s of %s is deleted. You cannot go back to it.", name, on.Guest.Name)
	return nil
}
