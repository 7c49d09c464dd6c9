package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// locate reads where the guest was last seen, and under which id.
func (a *act) locate(ctx context.Context) error {
	ref := hypervisor.GuestRef{Kind: a.asked.Kind}
	err := a.DB.Pool.QueryRow(ctx, "SELECT host_id, node, ref, COALESCE(uid, '') FROM guests WHERE id = $1 AND kind = $2",
		a.asked.GuestID, a.asked.Kind).Scan(&a.hostID, &ref.Node, &ref.ID, &ref.UID)
	// A row without a UID never gets another id.
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !ref.Same(a.asked.ref()) && (ref.UID == "" || a.asked.UID != "") {
		return job.Fail("%s %s is no longer there", a.asked.Kind, a.asked.Ref)
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guest: %w", err))
	}
	a.ref = ref
	return nil
}

// relocate finds a guest that is not where it was last seen: in the row, when a poll was faster, or else in the
// hypervisor's own list. It reports whether the guest is on another node than before, or has another id.
func (a *act) relocate(ctx context.Context) (moved bool, err error) {
	before := a.ref
	if err := a.locate(ctx); err != nil || elsewhere(a.ref, before) {
		return true, err
	}
	found, err := ask(ctx, a, func(ctx context.Context, host hypervisor.Host) (hypervisor.GuestRef, error) {
		return find(ctx, host, before)
	})
	if err != nil {
		return false, err
	}
	if found.Node == "" {
		return false, job.Fail("the hypervisor has no %s %s any more", before.Kind, before.ID)
	}
	a.ref = found
	return elsewhere(found, before), nil
}

// elsewhere reports whether a guest is asked for in another way than before.
func elsewhere(now, before hypervisor.GuestRef) bool {
	return now.Node != before.Node || now.ID != before.ID
}

// find looks for a guest in the hypervisor's own list; its node is empty when the list lacks it. With a UID it is known under every
// id, and another guest is not taken for it.
func find(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef) (found hypervisor.GuestRef, err error) {
	err = host.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
		for _, guest := range page.Guests {
			// The list may tell of some guest without a UID; a UID that fits is worth more than an id.
			if guest.Same(ref) && (found.Node == "" || found.UID == "") {
				found = guest.GuestRef
			}
		}
		return nil
	})
	found.UID = cmp.Or(ref.UID, found.UID)
	return found, err
}
