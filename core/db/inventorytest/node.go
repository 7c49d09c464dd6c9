package inventorytest

import (
	"cmp"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// Node is one machine of a cluster. Figures of which zero stands for one that is not known.
type Node struct {
	Name, Address string
	// Status is "online" when empty.
	Status                               string
	CPU, CPUs                            float64
	Memory, MemoryTotal, Disk, DiskTotal int64
	Uptime                               int64
}

// Storage is a storage as one node has it; one that is shared stands once for each node.
type Storage struct {
	Node, Name string
	Shared     bool
	// Status is "available" when empty.
	Status      string
	Used, Total int64
}

func (n *Node) write(t testing.TB, d *db.DB, cluster, host int64) {
	t.Helper()
	dbtest.Exec(t, d, `INSERT INTO nodes (cluster_id, host_id, name, status, address, cpu, cpus, memory, memory_total, disk, disk_total,
		uptime, seen_at, figures_at)
		VALUES ($1, $2, $3, $4, $5, nullif($6::double precision, 0), nullif($7::double precision, 0), nullif($8::bigint, 0),
		nullif($9::bigint, 0),
			nullif($10::bigint, 0), nullif($11::bigint, 0), nullif($12::bigint, 0), now(), CASE WHEN $6 + $8 + $10 > 0 THEN now() END)`,
		cluster, host, n.Name, cmp.Or(n.Status, "online"), n.Address, n.CPU, n.CPUs, n.Memory, n.MemoryTotal, n.Disk, n.DiskTotal, n.Uptime)
}

func (s *Storage) write(t testing.TB, d *db.DB, cluster, host int64) {
	t.Helper()
	dbtest.Exec(t, d, `INSERT INTO storages (cluster_id, host_id, node, name, shared, status, used, total, seen_at, figures_at)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($7::bigint, 0), nullif($8::bigint, 0), now(), CASE WHEN $7 > 0 THEN now() END)`,
		cluster, host, s.Node, s.Name, s.Shared, cmp.Or(s.Status, "available"), s.Used, s.Total)
}
