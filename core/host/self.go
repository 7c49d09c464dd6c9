package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/setting"
)

// SelfGuest finds the guest in which the service itself runs; *guest.Self
// implements it.
type SelfGuest interface {
	// Nodes names the nodes on which that guest stands, of the cluster of the
	// host that the setting self.host_id names: usually one. There is none when
	// the guest is not known.
	Nodes(ctx context.Context) ([]string, error)
}

// SelfOn reports whether the service runs on a node of the host's cluster: on
// the node of its own guest, or, if that is unknown, on the entry node of the
// host in the setting self.host_id, because the service may run on the node
// itself. Operations that stop a node ask for this first.
func (s *Store) SelfOn(ctx context.Context, id int64, node string) (bool, error) {
	self, err := setting.Get(ctx, s.db, setting.SelfHost)
	if err != nil || self == nil {
		return false, err
	}
	var entry string
	err = s.db.Pool.QueryRow(ctx, `SELECT self.entry_node FROM hosts self JOIN hosts h ON h.id = $1
		AND (h.id = self.id OR h.cluster_id = self.cluster_id)
		WHERE self.id = $2`, id, *self).Scan(&entry)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil // another cluster, or the host that was named is gone
	}
	if err != nil {
		return false, db.Problem(fmt.Errorf("reading the service's own host: %w", err))
	}
	if s.own != nil {
		nodes, err := s.own.Nodes(ctx)
		if err != nil {
			return false, err
		}
		if len(nodes) > 0 {
			return slices.Contains(nodes, node), nil
		}
	}
	return entry != "" && entry == node, nil
}

// CheckSelf checks that a host exists, in any state, and locks it against
// removal until the transaction ends. The problem is not_found.
func (s *Store) CheckSelf(ctx context.Context, tx *db.Tx, id int64) error { return lock(ctx, tx, id) }

// SetSelf stores on which host the service runs; nil stores that it runs on
// none of them.
func (s *Store) SetSelf(ctx context.Context, id *int64) error {
	var by *int64
	if caller := identity.FromContext(ctx); caller != nil && caller.UserID != 0 {
		by = &caller.UserID
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		if id != nil {
			if err := s.CheckSelf(ctx, tx, *id); err != nil {
				return err
			}
			audit.Describe(ctx, func(entry *audit.Entry) { entry.TargetKind, entry.TargetID, entry.HostID = "host", fmt.Sprint(*id), id })
		}
		if err := setting.Set(ctx, tx, setting.SelfHost, id, by); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
}
