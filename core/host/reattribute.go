package host

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Reattribute gives the objects of a host in a cluster that it leaves to the
// first other host of the cluster. The next poll attributes them again. Without
// this the foreign keys would delete the objects together with the host, and
// with them their measurements.
func Reattribute(ctx context.Context, tx pgx.Tx, hostID, cluster int64) error {
	for _, table := range []string{"guests", "nodes", "storages", "apps", "backup_storages"} {
		statement := fmt.Sprintf("UPDATE %s SET host_id = (SELECT min(id) FROM hosts WHERE cluster_id = $1 AND id <> $2) "+
			"WHERE cluster_id = $1 AND host_id = $2", table)
		if _, err := tx.Exec(ctx, statement, cluster, hostID); err != nil {
			return fmt.Errorf("assigning %s to another host: %w", table, err)
		}
	}
	return nil
}
