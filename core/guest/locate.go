package guest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// locate reads where the guest was last seen.
func (a *act) locate(ctx context.Context) error {
	ref := hypervisor.GuestRef{Kind: a.asked.Kind, ID: a.asked.VMID}
	err := a.DB.Pool.QueryRow(ctx, "SELECT host_id, node FROM guests WHERE id = $1 AND kind = $2 AND vmid = $3",
		a.asked.GuestID, a.asked.Kind, a.asked.VMID).Scan(&a.hostID, &ref.Node)
	if errors.Is(err, pgx.ErrNoRows) {
		return job.Fail("%s %d is no longer there", a.asked.Kind, a.asked.VMID)
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guest: %w", err))
	}
	a.ref = ref
	return nil
}

// relocate finds a guest that is not where it was last seen: in the row, when a poll was faster, or else in the
// hypervisor's own list. It reports whether the guest is on another node than before.
func (a *act) relocate(ctx context.Context) (moved bool, err error) {
	before := a.ref
	if err := a.locate(ctx); err != nil || a.ref.Node != before.Node {
		return true, err
	}
	node, err := ask(ctx, a, func(ctx context.Context, host hypervisor.Host) (string, error) { return nodeOf(ctx, host, before) })
	if err != nil {
		return false, err
	}
	if node == "" {
		return false, job.Fail("the hypervisor has no %s %d any more", before.Kind, before.ID)
	}
	a.ref.Node = node
	return node != before.Node, nil
}

// nodeOf is the node that a guest is on by the hypervisor's own list; empty when the list lacks it.
func nodeOf(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef) (node string, err error) {
	err = host.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
		for _, guest := range page.Guests {
			if guest.Kind == ref.Kind && guest.ID == ref.ID {
				node = guest.Node
			}
		}
		return nil
	})
	return node, err
}
