// Package cluster reads what concerns all hosts together: the nodes of all clusters, and figures over everything.
package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Store reads the inventory as the last polls left it.
type Store struct {
	DB *db.DB

	forecast forecast
}

// Node is one machine of a cluster, or a machine alone. Figures that are not known are null. The JSON names are those of the API.
type Node struct {
	// ID is that of the row; the API knows a node by its cluster and its name.
	ID               int64      `json:"-"`
	Node             string     `json:"node" example:"pve1"`
	HostID           int64      `json:"host_id" example:"1" doc:"The host registered at the node, or else the first host of its cluster"`
	Host             string     `json:"host" example:"lab" doc:"Name of the host"`
	ClusterID        int64      `json:"cluster_id" example:"1"`
	Cluster          string     `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	TeamID           int64      `json:"team_id" example:"1"`
	Status           string     `json:"status" enum:"online,offline,unknown" doc:"unknown: no host of its cluster responds, or the response lacks the node"`
	Address          string     `json:"address" example:"192.0.2.11" doc:"Address of the node as its cluster reports it; empty if not reported"`
	IsEntry          bool       `json:"is_entry" doc:"true for the node through which the service connects to the host; one node per host"`
	CPU              *float64   `json:"cpu" doc:"CPU usage as a fraction of all cores, 0 to 1" example:"0.25"`
	CPUs             *float64   `json:"cpus" example:"16"`
	MemoryBytes      *int64     `json:"memory_bytes"`
	MemoryTotalBytes *int64     `json:"memory_total_bytes"`
	DiskBytes        *int64     `json:"disk_bytes" doc:"Used bytes on all storages available to the node. A shared storage counts on each of its nodes; the summary has the total"`
	DiskTotalBytes   *int64     `json:"disk_total_bytes" doc:"Size in bytes of all storages available to the node"`
	UptimeS          *int64     `json:"uptime_s"`
	Apps             int64      `json:"apps" example:"3" doc:"Number of apps on the host, the same for each of its nodes"`
	VMs              int64      `json:"vms" example:"7" doc:"Number of VMs on the host, the same for each of its nodes"`
	SeenAt           time.Time  `json:"seen_at" doc:"When the hypervisor last reported the node"`
	FiguresAt        *time.Time `json:"figures_at" doc:"When the oldest of its usage figures was measured, storages included; some hypervisors measure less often than they list. Null if there are none"`
}

// selectNodes counts guests once for each host and storages once for each node, whatever their number. A host's entry is the node that
// it says, or its first where it says none or one that is not its own.
const selectNodes = `
SELECT n.id, n.name, h.id, h.name, c.id, c.name, h.team_id, n.status, n.address,
	row_number() OVER (PARTITION BY h.id ORDER BY n.name <> h.entry_node, n.name) = 1,
	n.cpu, n.cpus, n.memory, n.memory_total, s.used, s.total, n.uptime, coalesce(a.n, 0), coalesce(v.n, 0), n.seen_at,
	LEAST(n.figures_at, s.figures_at)
FROM nodes n
JOIN hosts h ON h.id = n.host_id
JOIN clusters c ON c.id = n.cluster_id
LEFT JOIN (SELECT cluster_id, node, sum(used)::bigint AS used, sum(total)::bigint AS total, min(figures_at) AS figures_at
	FROM storages GROUP BY cluster_id, node) s
	ON s.cluster_id = n.cluster_id AND s.node = n.name
LEFT JOIN (SELECT host_id, count(*) AS n FROM apps GROUP BY host_id) a ON a.host_id = h.id
LEFT JOIN (SELECT host_id, count(*) AS n FROM guests WHERE kind = 'vm' GROUP BY host_id) v ON v.host_id = h.id
WHERE ($1 OR h.team_id = ANY ($2)) AND (cardinality($3::bigint[]) = 0 OR h.id IN (SELECT host_id FROM nodes WHERE id = ANY ($3)))
	AND ($4::bigint = 0 OR h.id = $4)
ORDER BY c.name, c.id, n.name`

// Nodes returns the nodes of visible hosts by cluster and name, each once. A host ID limits the list to that host; 0 does not.
func (s *Store) Nodes(ctx context.Context, hostID int64, visible identity.VisibleTeams) ([]Node, error) {
	return s.nodes(ctx, visible, []int64{}, hostID)
}

// NodesByID gives these nodes; those that are not there are left out. Whether they may be seen is the caller's to check.
func (s *Store) NodesByID(ctx context.Context, ids []int64) ([]Node, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.nodes(ctx, identity.VisibleTeams{All: true, Teams: []int64{}}, ids, 0)
	return slices.DeleteFunc(found, func(n Node) bool { return !slices.Contains(ids, n.ID) }), err
}

// nodes gives the nodes of hosts that may be seen: all of them, or those of the hosts to which the nodes with these ids belong, for
// which of them is a host's entry is told by all of its nodes. A host ID limits them to that host; 0 does not.
func (s *Store) nodes(ctx context.Context, visible identity.VisibleTeams, ids []int64, hostID int64) ([]Node, error) {
	rows, err := s.DB.Pool.Query(ctx, selectNodes, visible.All, visible.Teams, ids, hostID)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing nodes: %w", err))
	}
	nodes, err := db.CollectRows(rows, func(row pgx.CollectableRow) (n Node, err error) {
		return n, row.Scan(&n.ID, &n.Node, &n.HostID, &n.Host, &n.ClusterID, &n.Cluster, &n.TeamID, &n.Status, &n.Address, &n.IsEntry,
			&n.CPU, &n.CPUs, &n.MemoryBytes, &n.MemoryTotalBytes, &n.DiskBytes, &n.DiskTotalBytes, &n.UptimeS, &n.Apps, &n.VMs, &n.SeenAt,
			&n.FiguresAt)
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing nodes: %w", err))
	}
	return nodes, nil
}
