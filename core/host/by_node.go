package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/endpoint"
)

// ByNode is the host that requests about a node are best sent to with a capability's token: one of the same cluster, team and driver that
// is the node itself, answers and has such a token. Where there is none it is the host itself, which passes on what is another member's.
func ByNode(ctx context.Context, d *db.DB, hostID int64, node string, capability endpoint.Capability) (id int64, err error) {
	err = d.Pool.QueryRow(ctx, `SELECT o.id FROM hosts h JOIN hosts o ON o.id = h.id OR o.cluster_id = h.cluster_id
			AND o.team_id = h.team_id AND o.driver = h.driver AND o.status = 'online' AND o.entry_node = $2
			AND EXISTS (SELECT FROM host_credentials c WHERE c.host_id = o.id AND c.capability = $3)
		WHERE h.id = $1 ORDER BY o.entry_node = $2 DESC, o.id = h.id DESC, o.id LIMIT 1`, hostID, node, capability).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return hostID, nil // it is gone, which opening it tells
	case err != nil:
		return 0, db.Problem(fmt.Errorf("looking for the host of a node: %w", err))
	}
	return id, nil
}
