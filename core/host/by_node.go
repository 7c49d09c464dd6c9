package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/endpoint"
)

// ByNode returns the host to which requests about a node are best sent with a
// capability's credential: a host of the same cluster, team and driver that is
// the node itself, is online and has the credential. If there is none, it
// returns the host itself, which forwards requests for other members. Sending
// directly saves a hop, and works while the other node is down.
func ByNode(ctx context.Context, d *db.DB, hostID int64, node string, capability endpoint.Capability) (id int64, err error) {
	err = d.Pool.QueryRow(ctx, `SELECT o.id FROM hosts h JOIN hosts o ON o.id = h.id OR o.cluster_id = h.cluster_id
			AND o.team_id = h.team_id AND o.driver = h.driver AND o.status = 'online' AND o.entry_node = $2
			AND EXISTS (SELECT FROM host_credentials c WHERE c.host_id = o.id AND c.capability = $3)
		WHERE h.id = $1 ORDER BY o.entry_node = $2 DESC, o.id = h.id DESC, o.id LIMIT 1`, hostID, node, capability).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		// Opening a host that was removed reports that.
		return hostID, nil
	case err != nil:
		return 0, db.Problem(fmt.Errorf("reading the host of a node: %w", err))
	}
	return id, nil
}
