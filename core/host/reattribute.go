package host

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Reattribute gives what is attributed to a host in a cluster that it leaves to the cluster's first other host, until the
// next poll attributes it anew.
func Reattribute(ctx context.Context, tx pgx.Tx, hostID, cluster int64) error {
	for _, table := range []string{"guests", "nodes", "storages", "apps", "backup_storages"} {
		statement := fmt.Sprintf("UPDATE %s SET host_id = (SELECT min(id) FROM hosts WHERE cluster_id = $1 AND id <> $2) "+
			"WHERE cluster_id = $1 AND host_id = $2", table)
		if _, err := tx.Exec(ctx, statement, cluster, hostID); err != nil {
			return fmt.Errorf("giving %s to another host: %w", table, err)
		}
	}
	return nil
}
