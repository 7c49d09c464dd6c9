package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// NodeRef is a node together with the host by which it is asked.
type NodeRef struct {
	HostID, ClusterID, TeamID int64
	Host, Cluster, Node       string
}

// Exclusive returns the key that every job on the node holds, so that only one
// runs at a time.
func (p *NodeRef) Exclusive() string { return fmt.Sprintf("node:%d:%s", p.ClusterID, p.Node) }

// FindNode finds a node in the inventory of a host's cluster. The problem is
// not_found for an unknown host, and for a node that no poll has seen.
func FindNode(ctx context.Context, d *db.DB, hostID int64, node string) (NodeRef, error) {
	p := NodeRef{HostID: hostID, Node: node}
	var cluster *int64
	var known bool
	err := d.Pool.QueryRow(ctx, `SELECT h.cluster_id, h.team_id, h.name, coalesce(c.name, ''), n.name IS NOT NULL
		FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id
		LEFT JOIN nodes n ON n.cluster_id = h.cluster_id AND n.name = $2 WHERE h.id = $1`, hostID, node).
		Scan(&cluster, &p.TeamID, &p.Host, &p.Cluster, &known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return p, problem.New(problem.CodeNotFound, "host not found")
	case err != nil:
		return p, db.Problem(fmt.Errorf("reading the host: %w", err))
	case cluster == nil || !known:
		return p, problem.New(problem.CodeNotFound, "node not found")
	}
	p.ClusterID = *cluster
	return p, nil
}
