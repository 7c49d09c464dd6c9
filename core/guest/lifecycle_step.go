package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const stepName = "act"

// step is the one request of a lifecycle job.
func (a *act) step() job.Step {
	return job.Step{
		Name: stepName,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return a.Hosts.Open(ctx, a.hostID, endpoint.Lifecycle)
		},
		Before: a.before,
		Send: func(ctx context.Context, host hypervisor.Host) (string, error) {
			lifecycler, ok := hypervisor.As[hypervisor.Lifecycler](host)
			if !ok {
				return "", plugin.Errorf(plugin.Unsupported, "the host's driver cannot start or stop guests")
			}
			return lifecycler.Act(ctx, a.ref, a.params.Action)
		},
		Query:  hypervisor.TaskQuery{Guest: &a.ref},
		Ours:   a.ours,
		Absent: a.absent,
	}
}

// before reads the guest and refuses to act on another one than was asked for: a VM id is free again once its guest was
// deleted.
func (a *act) before(ctx context.Context) (clock time.Time, done bool, err error) {
	guest, err := a.read(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	if guest.Name != "" && a.params.Name != "" && guest.Name != a.params.Name {
		return time.Time{}, false, job.Fail("%s %d is now called %q and was %q when this was asked for; nothing was done",
			a.params.Kind, a.params.VMID, guest.Name, a.params.Name)
	}
	if a.Self != nil && interrupts[a.params.Action] && !a.params.ConfirmedSelf {
		self, err := a.Self(ctx, a.params.GuestID)
		if err != nil {
			return time.Time{}, false, err
		}
		if self {
			return time.Time{}, false, job.Fail("the service itself runs in this guest, and that was not confirmed; nothing was done")
		}
	}
	if wants := wanted[a.params.Action]; wants != "" && guest.Status == wants {
		a.run.Note("nothing to do: the guest is %s", wants)
		return guest.At, true, nil
	}
	if a.sender.TokenID, err = a.tokenID(ctx); err != nil {
		return time.Time{}, false, err
	}
	if err := a.run.SaveProgress(ctx, a.sender); err != nil {
		return time.Time{}, false, err
	}
	return guest.At, false, nil
}

// defaultReadLimit bounds one question that changes nothing. A driver that hangs would keep one of the few places for
// jobs for ever.
const defaultReadLimit = 2 * time.Minute

// asking opens the host with the monitoring token for one question under the limit.
func (a *act) asking(ctx context.Context, question func(context.Context, hypervisor.Host) error) error {
	limit := a.ReadLimit
	if limit == 0 {
		limit = defaultReadLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	host, err := a.Hosts.Open(limited, a.hostID, endpoint.Monitoring)
	if err == nil {
		defer func() { _ = host.Close() }()
		err = question(limited, host)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return plugin.Errorf(plugin.Timeout, "the hypervisor did not answer within %s: %w", limit, err)
	}
	return err
}

// read asks the hypervisor for the guest's state.
func (a *act) read(ctx context.Context) (guest hypervisor.Guest, err error) {
	err = a.asking(ctx, func(ctx context.Context, host hypervisor.Host) (err error) {
		guest, err = host.Guest(ctx, a.ref)
		return err
	})
	return guest, err
}

// ours knows a task by its operation and by the token that the action was sent with.
func (a *act) ours(task hypervisor.Task) bool {
	if task.Operation != a.params.Action.Operation() {
		return false
	}
	token := a.sender.TokenID
	return token == "" || task.TokenID == token || task.User+"!"+task.TokenID == token
}

// absent says that a list tells nothing of the tasks of another token.
func (a *act) absent(ctx context.Context) error {
	now, err := a.tokenID(ctx)
	if err != nil {
		return err
	}
	if now != a.sender.TokenID {
		return errors.New("the host's lifecycle token was changed meanwhile, and the new one may not see the old one's tasks")
	}
	return nil
}

// tokenID is the id of the host's present lifecycle token, empty when there is none.
func (a *act) tokenID(ctx context.Context) (id string, err error) {
	err = a.DB.Pool.QueryRow(ctx, "SELECT token_id FROM host_credentials WHERE host_id = $1 AND capability = $2",
		a.hostID, endpoint.Lifecycle).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading the token's id: %w", err))
	}
	return id, nil
}

// locate reads where the guest was last seen.
func (a *act) locate(ctx context.Context) error {
	ref := hypervisor.GuestRef{Kind: a.params.Kind, ID: a.params.VMID}
	err := a.DB.Pool.QueryRow(ctx, "SELECT host_id, node FROM guests WHERE id = $1 AND kind = $2 AND vmid = $3",
		a.params.GuestID, a.params.Kind, a.params.VMID).Scan(&a.hostID, &ref.Node)
	if errors.Is(err, pgx.ErrNoRows) {
		return job.Fail("%s %d is no longer there", a.params.Kind, a.params.VMID)
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guest: %w", err))
	}
	a.ref = ref
	return nil
}

// relocate finds a guest that is not where it was last seen: in the row, when a poll was faster, or else in the
// hypervisor's own list.
func (a *act) relocate(ctx context.Context) error {
	before := a.ref
	if err := a.locate(ctx); err != nil || a.ref.Node != before.Node {
		return err
	}
	err := a.asking(ctx, func(ctx context.Context, host hypervisor.Host) error {
		return host.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
			for _, guest := range page.Guests {
				if guest.Kind == before.Kind && guest.ID == before.ID {
					a.ref.Node = guest.Node
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if a.ref.Node == before.Node {
		return job.Fail("the hypervisor has no %s %d any more", before.Kind, before.ID)
	}
	return nil
}

// show writes the guest's new state into its row.
func (a *act) show(ctx context.Context, guest hypervisor.Guest) error {
	_, err := a.DB.Pool.Exec(ctx, `UPDATE guests SET status = $2, lock = $3, node = $4, cpu = $5, memory = $6, uptime = $7, changed_at = now(), read_at = now()
		WHERE id = $1 AND vmid = $8`,
		a.params.GuestID, guest.Status, guest.Lock, guest.Node, guest.CPU, guest.Memory, guest.Uptime, a.params.VMID)
	if err != nil {
		return fmt.Errorf("showing the guest's new state: %w", err)
	}
	return nil
}
