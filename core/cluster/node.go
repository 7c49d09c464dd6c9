// Package cluster reads what concerns all hosts together: the nodes of all
// clusters, and the summary with totals, open problems and forecasts.
//
// It reads the inventory that the polls stored and never contacts a hypervisor.
// Every query takes the teams that the caller may see as $1 and $2. Package
// alert uses ProblemsSQL for its rules, so that the summary and the alerts find
// the same problems.
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

// Store reads the inventory as the last polls left it. The zero value with a DB
// is ready for use. A store caches forecasts, so keep one store instead of
// making one per request. It is safe for concurrent use.
type Store struct {
	DB *db.DB

	forecast forecast
}

// Node is a member of a cluster or a standalone machine. Figures that are not
// known are null. The JSON names are those of the API.
type Node struct {
	// ID is the ID of the row, which the live feed uses. The API identifies a
	// node by its cluster and its name.
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

// selectNodes counts guests once per host and storages once per node in
// subqueries, so that the joins do not multiply rows. The entry of a host is
// the node that the host names, or its first node if it names none or one that
// it does not have.
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

// Nodes returns the nodes of visible hosts, by cluster and name. A hostID other
// than 0 limits the list to that host.
func (s *Store) Nodes(ctx context.Context, hostID int64, visible identity.VisibleTeams) ([]Node, error) {
	return s.nodes(ctx, visible, []int64{}, hostID)
}

// NodesByID returns the nodes with these row IDs. It leaves out those that do
// not exist. The caller must check whether they may be seen.
func (s *Store) NodesByID(ctx context.Context, ids []int64) ([]Node, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.nodes(ctx, identity.VisibleTeams{All: true, Teams: []int64{}}, ids, 0)
	return slices.DeleteFunc(found, func(n Node) bool { return !slices.Contains(ids, n.ID) }), err
}

// nodes returns the nodes of visible hosts. With ids it returns all nodes of
// the hosts to which these nodes belong, and not only these nodes: which node
// is the entry of a host can be decided only among all of its nodes.
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
