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

// locate reads from the database where the guest was last seen and what its ID
// is. It fails the job if the row is gone or belongs to another guest.
func (a *guestRun) locate(ctx context.Context) error {
	ref := hypervisor.GuestRef{Kind: a.requested.Kind}
	err := a.DB.Pool.QueryRow(ctx, "SELECT host_id, node, ref, COALESCE(uid, '') FROM guests WHERE id = $1 AND kind = $2",
		a.requested.GuestID, a.requested.Kind).Scan(&a.hostID, &ref.Node, &ref.ID, &ref.UID)
	// The reference must be the one that was requested. A row without UID keeps
	// its ID for ever, so a different ID there was never requested by a job
	// that has a UID.
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !ref.Same(a.requested.ref()) && (ref.UID == "" || a.requested.UID != "") {
		return job.Fail("%s %s no longer exists", a.requested.Kind, a.requested.Ref)
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guest: %w", err))
	}
	a.ref = ref
	return nil
}

// relocate finds a guest that is not where it was last seen: first in the row,
// which a poll may have updated, then in the hypervisor's own list. It reports
// whether the guest has another node or ID than before.
func (a *guestRun) relocate(ctx context.Context) (moved bool, err error) {
	before := a.ref
	if err := a.locate(ctx); err != nil || elsewhere(a.ref, before) {
		return true, err
	}
	found, err := callHost(ctx, a, func(ctx context.Context, host hypervisor.Host) (hypervisor.GuestRef, error) {
		return find(ctx, host, before)
	})
	if err != nil {
		return false, err
	}
	if found.Node == "" {
		return false, job.Fail("the hypervisor no longer has %s %s", before.Kind, before.ID)
	}
	a.ref = found
	return elsewhere(found, before), nil
}

// elsewhere reports whether a guest is addressed differently than before.
func elsewhere(now, before hypervisor.GuestRef) bool {
	return now.Node != before.Node || now.ID != before.ID
}

// find searches the hypervisor's own list for a guest. The result has no node
// if the list does not contain it. A guest with a UID is found under any ID,
// and no other guest is taken for it.
func find(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef) (found hypervisor.GuestRef, err error) {
	err = host.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
		for _, guest := range page.Guests {
			// The list may contain guests without UID. A match of the UID is
			// better than a match of the ID.
			if guest.Same(ref) && (found.Node == "" || found.UID == "") {
				found = guest.GuestRef
			}
		}
		return nil
	})
	found.UID = cmp.Or(ref.UID, found.UID)
	return found, err
}
