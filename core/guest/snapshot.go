package guest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// TakeSnapshot is the work that takes a snapshot. Problems of its check:
// invalid for a malformed name, and conflict for a name that is taken.
var TakeSnapshot = Work[hypervisor.SnapshotSpec]{
	Kind: "snapshot_create", Needs: endpoint.Lifecycle,
	PublicParams: func(spec hypervisor.SnapshotSpec) any {
		return struct {
			Name        string `json:"name"`
			Description string `json:"description,omitempty"`
			Memory      bool   `json:"vmstate,omitempty"`
		}(spec)
	},
	Check: func(ctx context.Context, on Subject, spec hypervisor.SnapshotSpec) error {
		if err := checkSnapshotName(spec.Name); err != nil {
			return err
		}
		s, err := findSnapshot(ctx, on, spec.Name)
		if err == nil && s != nil {
			return problem.New(problem.CodeConflict, "%s already has a snapshot with this name", on.Guest.Name)
		}
		return err
	},
	Steps: []Step[hypervisor.SnapshotSpec]{{
		Name: "take", Operation: hypervisor.OperationSnapshotCreate, Send: Using(hypervisor.Snapshotter.TakeSnapshot),
		Note: func(spec hypervisor.SnapshotSpec) string { return "taking the snapshot " + spec.Name },
		State: onSnapshot(func(s hypervisor.SnapshotSpec) string { return s.Name }, func(name string,
			found *hypervisor.Snapshot) (s State) {
			switch {
			case found == nil:
				s.Repeatable = true
			case found.Incomplete:
				s.Blocked = fmt.Sprintf("the guest has an incomplete snapshot named %q", name)
			default:
				s.Blocked = fmt.Sprintf("the guest has a snapshot named %q", name)
				s.Created = s.Blocked
			}
			return s
		}),
	}},
	End: func(ctx context.Context, e *CompletedJob[hypervisor.SnapshotSpec]) error {
		return recordCreated(ctx, e.DB, e.Run, e.Asked.GuestID, madeSnapshot, e.Spec.Name)
	},
}

// DeleteSnapshot is the work that deletes a snapshot by its name. An unknown
// one is the problem not_found.
var DeleteSnapshot = Work[string]{
	Kind: "snapshot_delete", Needs: endpoint.Lifecycle, PublicParams: showName, Plan: planDeleteSnapshot,
	Check: func(ctx context.Context, on Subject, name string) error {
		s, err := findSnapshot(ctx, on, name)
		if err == nil && s == nil {
			return noSnapshot()
		}
		return err
	},
	Steps: []Step[string]{{
		Name: "delete", Operation: hypervisor.OperationSnapshotDelete,
		Note: func(name string) string { return "deleting the snapshot " + name },
		Send: Using(hypervisor.Snapshotter.DeleteSnapshot),
		State: onSnapshot(func(name string) string { return name }, func(name string, found *hypervisor.Snapshot) (s State) {
			switch {
			case found == nil:
				s.Done = fmt.Sprintf("the guest has no snapshot named %q", name)
			case found.Incomplete:
				s.Left = fmt.Sprintf("the snapshot %q is incomplete and can only be deleted", name)
				s.Repeatable, s.Since = true, found.TakenAt
			default:
				s.Repeatable, s.Since = true, found.TakenAt
			}
			return s
		}),
	}},
	End: func(ctx context.Context, e *CompletedJob[string]) error {
		return forgetCreated(ctx, e.DB, e.Asked.GuestID, madeSnapshot, e.Spec)
	},
}

// RollBack is the work that rolls a guest back to a snapshot. An unknown one is
// the problem not_found, an incomplete one invalid_state.
var RollBack = Work[hypervisor.RollbackSpec]{
	Kind: "snapshot_rollback", Needs: endpoint.Lifecycle, Interrupts: true,
	DataLoss: "all data written since the snapshot is lost", Plan: planRollBack,
	PublicParams: func(spec hypervisor.RollbackSpec) any { return showName(spec.Name) },
	Check: func(ctx context.Context, on Subject, spec hypervisor.RollbackSpec) error {
		s, err := findSnapshot(ctx, on, spec.Name)
		switch {
		case err != nil:
			return err
		case s == nil:
			return noSnapshot()
		case s.Incomplete:
			return problem.New(problem.CodeInvalidState, "the snapshot is incomplete; you cannot roll back to it")
		}
		return nil
	},
	Steps: []Step[hypervisor.RollbackSpec]{{
		Name: "roll_back", Operation: hypervisor.OperationSnapshotRollback,
		Note: func(spec hypervisor.RollbackSpec) string { return "rolling back to the snapshot " + spec.Name },
		Send: Using(hypervisor.Snapshotter.RollBack),
		State: onSnapshot(func(s hypervisor.RollbackSpec) string { return s.Name }, func(name string,
			found *hypervisor.Snapshot) (s State) {
			switch {
			case found == nil:
				s.Blocked = fmt.Sprintf("the guest has no snapshot named %q", name)
			case found.Incomplete:
				s.Blocked = fmt.Sprintf("the snapshot %q is incomplete", name)
			}
			return s
		}),
	}},
}

// Snapshot is a snapshot as the API shows it.
type Snapshot struct {
	Name        string     `json:"name" example:"before-upgrade"`
	Parent      *string    `json:"parent" example:"fresh" doc:"Name of the snapshot that this one is based on; null for the first"`
	Description string     `json:"description"`
	TakenAt     *time.Time `json:"snaptime" example:"2026-01-31T12:00:00Z" doc:"When it was taken; null if the hypervisor does not report it"`
	Memory      bool       `json:"vmstate" doc:"true if it includes the guest's memory"`
	Incomplete  bool       `json:"incomplete" doc:"true if it was not completely taken or deleted; it can be deleted but not restored"`
}

// Snapshots reads the guest's snapshots from the hypervisor, oldest first,
// without the present state.
func (a *Actor) Snapshots(ctx context.Context, g *Guest) ([]Snapshot, error) {
	found, err := Call(ctx, Subject{Guest: g, hosts: a.Hosts}, hypervisor.Snapshotter.Snapshots)
	if err != nil {
		return nil, err
	}
	found = inOrder(found)
	all := make([]Snapshot, len(found))
	for i, s := range found {
		all[i] = Snapshot{Name: host.Clean(s.Name), Description: host.Clean(s.Description), Memory: s.Memory, Incomplete: s.Incomplete}
		if parent := host.Clean(s.Parent); parent != "" {
			all[i].Parent = &parent
		}
		if !s.TakenAt.IsZero() {
			at := s.TakenAt.UTC()
			all[i].TakenAt = &at
		}
	}
	return all, nil
}

// inOrder sorts snapshots by time, oldest first.
func inOrder(all []hypervisor.Snapshot) []hypervisor.Snapshot {
	slices.SortStableFunc(all, func(a, b hypervisor.Snapshot) int { return a.TakenAt.Compare(b.TakenAt) })
	return all
}

// showName returns the parameters that the API shows of a job on a snapshot.
func showName(name string) any { return map[string]string{"name": name} }

// noSnapshot returns the problem not_found.
func noSnapshot() error { return problem.New(problem.CodeNotFound, "snapshot not found") }

// findSnapshot reads the snapshot with that name from the hypervisor. It returns nil
// without error if there is none.
func findSnapshot(ctx context.Context, on Subject, name string) (*hypervisor.Snapshot, error) {
	all, err := Call(ctx, on, hypervisor.Snapshotter.Snapshots)
	return named(all, name), err
}

// named returns the snapshot with that name, or nil.
func named(all []hypervisor.Snapshot, name string) *hypervisor.Snapshot {
	if i := slices.IndexFunc(all, func(s hypervisor.Snapshot) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// onSnapshot builds the State function of a step from one that judges the
// snapshot, nil if there is none.
func onSnapshot[P any](name func(P) string, of func(name string, found *hypervisor.Snapshot) State) func(context.Context,
	hypervisor.Host, hypervisor.Guest, P) (State, error) {
	return func(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, spec P) (State, error) {
		able, err := host.AsAbility[hypervisor.Snapshotter](at)
		if err != nil {
			return State{}, err
		}
		all, err := able.Snapshots(ctx, guest.GuestRef)
		if err != nil {
			return State{}, err
		}
		return of(name(spec), named(all, name(spec))), nil
	}
}

// SnapshotName is a regular expression for names that every hypervisor accepts,
// 2 to 40 characters.
const SnapshotName = "^[A-Za-z][A-Za-z0-9_-]{1,39}$"

var snapshotName = regexp.MustCompile(SnapshotName)

// checkSnapshotName returns invalid for a name that hypervisors do not accept.
// The name "current" is refused too, because it stands for the present state in
// the lists of Proxmox VE.
func checkSnapshotName(name string) error {
	if !snapshotName.MatchString(name) {
		return problem.InvalidField("must be a letter and 1 to 39 letters, digits, - or _", "string_pattern_mismatch", "body", "name")
	}
	if name == "current" {
		return problem.InvalidField("is reserved for the current state", "value_error", "body", "name")
	}
	return nil
}
