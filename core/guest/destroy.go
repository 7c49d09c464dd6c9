package guest

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Destroy is the work that destroys a VM and its disks. Problems of its check:
// guest_running, protected, and volume_in_use for a template with linked
// clones.
var Destroy = Work[hypervisor.DestroySpec]{
	Kind: "delete", Guests: []hypervisor.GuestKind{hypervisor.VM}, Needs: endpoint.Lifecycle, Interrupts: true, Destroys: true,
	DataLoss:     "the VM and its disks are destroyed without a backup",
	PublicParams: showPurge, Plan: planDestroy,
	Check: func(ctx context.Context, on Subject, _ hypervisor.DestroySpec) error {
		switch on.Guest.Status {
		case hypervisor.GuestRunning, hypervisor.GuestPaused:
			return problem.New(problem.CodeGuestRunning, "%s is %s; stop it first", on.Guest.Name, on.Guest.Status)
		}
		return destructible(ctx, on)
	},
	Steps: []Step[hypervisor.DestroySpec]{destroyStep},
}

// Uninstall is the work that stops an app's container and destroys it. Problems
// of its check: protected, and volume_in_use for a template with linked clones.
var Uninstall = Work[hypervisor.DestroySpec]{
	Kind: "uninstall", Guests: []hypervisor.GuestKind{hypervisor.Container}, Needs: endpoint.Lifecycle, Interrupts: true, Destroys: true,
	DataLoss: "the app's container and its disks are destroyed without a backup",
	Plan:     planDestroy,
	Check:    func(ctx context.Context, on Subject, _ hypervisor.DestroySpec) error { return destructible(ctx, on) },
	Steps: []Step[hypervisor.DestroySpec]{
		{
			Name: "stop", Operation: hypervisor.Stop.Operation(), Note: func(hypervisor.DestroySpec) string { return "stopping the container" },
			Send: Using(func(l hypervisor.LifecycleManager, ctx context.Context, ref hypervisor.GuestRef,
				_ hypervisor.DestroySpec) (string, error) {
				return l.Act(ctx, ref, hypervisor.Stop)
			}),
			// A protected container must not be stopped for a destruction that
			// the hypervisor will refuse.
			State: func(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, _ hypervisor.DestroySpec) (s State, err error) {
				if s = lifecycleState(hypervisor.Stop, guest); s.Done == "" {
					s.Blocked, err = protected(ctx, at, guest)
				}
				return s, err
			},
		},
		destroyStep,
	},
	End: func(ctx context.Context, e *CompletedJob[hypervisor.DestroySpec]) error {
		if _, err := e.DB.Pool.Exec(ctx, "DELETE FROM apps WHERE id = $1", e.Run.Job().Target.ID); err != nil {
			return db.Problem(fmt.Errorf("deleting an app: %w", err))
		}
		return nil
	},
}

// Discard is the work that stops and destroys a container that a failed
// installation left behind. Problem of its check: protected.
var Discard = Work[hypervisor.DestroySpec]{
	Kind: "app.discard", Guests: Uninstall.Guests, Needs: Uninstall.Needs, Interrupts: true, Destroys: true,
	DataLoss: "the container left by the failed installation and its disks are destroyed without a backup",
	Plan:     planDestroy, Check: Uninstall.Check, Steps: Uninstall.Steps,
}

// destroyStep destroys a stopped guest.
var destroyStep = Step[hypervisor.DestroySpec]{
	Name: "destroy", Operation: hypervisor.OperationDestroy, Removes: true,
	Note: func(hypervisor.DestroySpec) string { return "destroying the guest and its disks" },
	Send: Using(hypervisor.Provisioner.Destroy),
	State: func(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, _ hypervisor.DestroySpec) (s State, err error) {
		switch guest.Status {
		case hypervisor.GuestRunning, hypervisor.GuestPaused:
			s.Blocked = "the guest is " + guest.Status
			return s, nil
		}
		s.Blocked, err = protected(ctx, at, guest)
		return s, err
	},
}

// protectedGuest says why a guest is not destroyed.
const protectedGuest = "the guest has protection enabled on the hypervisor"

// protected returns why the guest must not be destroyed, or an empty string. If
// the driver cannot read configurations, it returns an empty string; the
// hypervisor itself then refuses.
func protected(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest) (blocked string, err error) {
	reader, err := host.AsAbility[hypervisor.ConfigReader](at)
	if err != nil {
		return "", nil
	}
	config, err := reader.Config(ctx, guest.GuestRef)
	if err == nil && config.Protected {
		blocked = protectedGuest
	}
	return blocked, err
}

// showPurge returns the parameters that the API shows of the job.
func showPurge(spec hypervisor.DestroySpec) any { return map[string]bool{"purge": spec.Purge} }

// destructible returns the problem of a guest that the hypervisor would refuse
// to destroy.
func destructible(ctx context.Context, on Subject) error {
	if err := unprotected(ctx, on); err != nil {
		return err
	}
	return unlinked(ctx, on)
}

// unprotected returns the problem protected for a guest with the protection
// option.
func unprotected(ctx context.Context, on Subject) error {
	config, err := on.config(ctx)
	if err == nil && config.Protected {
		err = problem.New(problem.CodeProtected, "%s has protection enabled on the hypervisor; disable the protection option first",
			on.Guest.Name)
	}
	return err
}

// config reads the guest's configuration, once per request. It is empty if the
// driver cannot read configurations.
func (on Subject) config(ctx context.Context) (hypervisor.Config, error) {
	if on.read != nil && on.read.config != nil {
		return *on.read.config, nil
	}
	config, err := on.readConfig(ctx)
	if unsupported(err) {
		config, err = hypervisor.Config{}, nil
	}
	if err == nil && on.read != nil {
		on.read.config = &config
	}
	return config, err
}

// unsupported reports whether the driver lacks the ability.
func unsupported(err error) bool {
	return err != nil && problem.From(err).Code == problem.CodeUnsupported
}

// planDestroy adds to the plan what is lost with a guest: its disks with their
// sizes, its snapshots, and its place in schedules. It also says which backups
// remain.
func planDestroy(ctx context.Context, on Subject, spec hypervisor.DestroySpec, p *plan.Plan) error {
	g := on.Guest
	p.Add(plan.KindGuest, g.Name, "%s is destroyed.", g.Name)
	if spec.Purge {
		p.Add(plan.KindGuest, g.Name, "%s is also removed from the hypervisor's own backup jobs and high availability.", g.Name)
	} else {
		p.Add(plan.KindGuest, g.Name, "The entries for %s in the hypervisor's own backup jobs and high availability stay.", g.Name)
	}
	config, err := on.config(ctx)
	if err != nil {
		return warnOnError(p, err)
	}
	for _, d := range config.Disks {
		switch {
		case warnKept(p, g, d):
		case !d.Removable:
			p.AddSized(plan.KindDisk, d.Volume, sizeOf(d), "%s on the storage %s is destroyed with all its data.", diskWords(d), d.Storage)
		case string(d.Owner) == g.Ref:
			p.AddSized(plan.KindDisk, d.Volume, sizeOf(d), "The image in the drive %s on the storage %s, which the hypervisor created "+
				"for %s, is destroyed.", d.Key, d.Storage, g.Name)
		}
	}
	snapshots, err := Call(ctx, on, hypervisor.Snapshotter.Snapshots)
	if unsupported(err) {
		snapshots, err = nil, nil
	}
	if err != nil {
		return warnOnError(p, err)
	}
	for _, s := range inOrder(snapshots) {
		p.AddSince(plan.KindSnapshot, s.Name, s.TakenAt, "The snapshot %s is destroyed.", s.Name)
	}
	if err := on.backups(ctx, p, 0); err != nil {
		return err
	}
	return on.schedules(ctx, p)
}

// warnKept adds a warning for a disk that stays because it does not belong to
// the guest. It reports whether it did.
func warnKept(p *plan.Plan, g *Guest, d hypervisor.Disk) bool {
	switch {
	case d.Local:
		p.Warn("%s of %s belongs to the node and stays.", d.Key, g.Name)
	case !d.Kept || d.Removable:
		return false
	case d.Owner != "":
		p.Warn("The volume %s, which %s of %s uses, belongs to the guest %s and stays.", d.Volume, d.Key, g.Name, d.Owner)
	default:
		p.Warn("The volume %s, which %s of %s uses, belongs to no guest and stays.", d.Volume, d.Key, g.Name)
	}
	return true
}

// diskWords names a disk at the beginning of a sentence.
func diskWords(d hypervisor.Disk) string {
	switch {
	case d.Unused:
		return "The unused disk " + d.Key
	case d.Path != "" && d.Path != "/":
		return fmt.Sprintf("The disk %s (%s)", d.Key, d.Path)
	}
	return "The disk " + d.Key
}

// sizeOf returns the size of a disk in bytes, or nil if it is unknown.
func sizeOf(d hypervisor.Disk) *int64 {
	if d.SizeGB == nil {
		return nil
	}
	bytes := *d.SizeGB << 30
	return &bytes
}

// schedules adds the schedules that name the guest to the plan.
func (on Subject) schedules(ctx context.Context, p *plan.Plan) error {
	if on.db == nil {
		return nil
	}
	if err := schedule.PlanRemoval(ctx, on.db, p, inSchedules(on.target)); err != nil {
		return fmt.Errorf("planning the destruction of a guest: %w", err)
	}
	return nil
}

// inSchedules returns the guest in the form in which schedules name it.
func inSchedules(target job.Target) schedule.RemovedObjects {
	if target.Kind == targets[hypervisor.VM] {
		return schedule.RemovedObjects{VMs: []int64{target.ID}}
	}
	return schedule.RemovedObjects{Apps: []int64{target.ID}}
}
