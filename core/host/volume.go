package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Volume names a volume on a storage.
type Volume struct {
	// Node is the node that sees the storage. It matters only for storages that
	// every node has for itself.
	Node, Storage string
	// Name is the file's name, or the hypervisor's ID for a backup.
	Name string
}

// Exclusive returns the key that every job which writes or deletes the volume
// holds, for job.Spec.Exclusive. It is the same through every host of a
// cluster, and for a shared storage through every node. The problem is
// not_found for an unknown host.
func (v Volume) Exclusive(ctx context.Context, d *db.DB, hostID int64) (string, error) {
	var cluster int64
	var shared bool
	err := d.Pool.QueryRow(ctx, `SELECT COALESCE(h.cluster_id, 0),
		EXISTS (SELECT FROM storages s WHERE s.cluster_id = h.cluster_id AND s.name = $2 AND s.shared) FROM hosts h WHERE h.id = $1`,
		hostID, v.Storage).Scan(&cluster, &shared)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", problem.New(problem.CodeNotFound, "the host does not exist")
	}
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading the cluster of a storage: %w", err))
	}
	node := v.Node
	if shared {
		node = ""
	}
	return fmt.Sprintf("volume:%d:%s:%s:%s", cluster, v.Storage, node, v.Name), nil
}
