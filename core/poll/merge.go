package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The statements that bring the tables of one cluster ($1) to what a poll
// staged. None of them depends on the number of guests in anything but rows.
const (
	// mergeNodes writes the nodes. A node belongs to the host that is enrolled
	// at it, or else to the cluster's first host. If the answer contains only
	// states ($14), the figures of an online node stay. $15 is the time of the
	// figures.
	mergeNodes = `INSERT INTO nodes AS n (cluster_id, host_id, name, status, address, fingerprint, level, cpu, cpus, memory, memory_total,
		disk, disk_total, uptime, seen_at, figures_at, status_since)
SELECT $1, COALESCE((SELECT min(h.id) FROM hosts h WHERE h.cluster_id = $1 AND h.entry_node = p.name), (SELECT min(h.id) FROM hosts h
	WHERE h.cluster_id = $1)),
	p.name, p.status, p.address, p.fingerprint, p.level, p.cpu, p.cpus, p.memory, p.memory_total, p.disk, p.disk_total, p.uptime, now(),
	CASE WHEN num_nonnulls(p.cpu, p.memory, p.disk) > 0 THEN $15::timestamptz END, now()
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::bigint[], $10::bigint[],
	$11::bigint[], $12::bigint[], $13::bigint[])
	AS p (name, status, address, fingerprint, level, cpu, cpus, memory, memory_total, disk, disk_total, uptime)
ON CONFLICT (cluster_id, name) DO UPDATE SET host_id = excluded.host_id, status = excluded.status,
	address = CASE WHEN excluded.address = '' THEN n.address ELSE excluded.address END,
	fingerprint = CASE WHEN excluded.fingerprint = '' THEN n.fingerprint ELSE excluded.fingerprint END,
	level = excluded.level, seen_at = excluded.seen_at,
	status_since = CASE WHEN n.status = excluded.status THEN n.status_since ELSE excluded.status_since END,
	facts_tried_at = CASE WHEN n.status = 'offline' AND excluded.status = 'online' THEN NULL ELSE n.facts_tried_at END,
	cpu = CASE WHEN ` + keepsNode + ` THEN n.cpu ELSE excluded.cpu END,
	cpus = COALESCE(excluded.cpus, CASE WHEN ` + keepsNode + ` THEN n.cpus END),
	memory = CASE WHEN ` + keepsNode + ` THEN n.memory ELSE excluded.memory END,
	memory_total = COALESCE(excluded.memory_total, CASE WHEN ` + keepsNode + ` THEN n.memory_total END),
	disk = CASE WHEN ` + keepsNode + ` THEN n.disk ELSE excluded.disk END,
	disk_total = COALESCE(excluded.disk_total, CASE WHEN ` + keepsNode + ` THEN n.disk_total END),
	uptime = COALESCE(excluded.uptime, CASE WHEN ` + keepsNode + ` THEN n.uptime END),
	figures_at = CASE WHEN ` + keepsNode + ` THEN n.figures_at ELSE excluded.figures_at END`
	keepsNode = `$14 AND excluded.status = 'online'`

	// updateGuests writes known guests. The figures of running guests differ in
	// every poll; other guests are written only if something changed. What a
	// job has just read itself is newer than the list, which the hypervisor
	// renews about every ten seconds.
	updateGuests = `UPDATE guests g SET host_id = p.host_id, ref = p.ref, vmid = p.vmid, node = p.node,
		name = CASE WHEN p.name = '' THEN g.name ELSE p.name END, status = ` + believed + `,
	template = p.template, lock = p.lock, pool = p.pool, tags = p.tags, cpu = p.cpu, cpus = p.cpus, memory = p.memory,
	memory_total = p.memory_total,
	disk = p.disk, disk_total = p.disk_total, net_in = p.net_in, net_out = p.net_out, disk_read = p.disk_read, disk_write = p.disk_write,
	uptime = p.uptime, cpu_seconds = p.cpu_seconds, cpu_seconds_at = p.cpu_seconds_at, figures_at = p.figures_at,
	changed_at = now()
FROM (SELECT p.*, COALESCE(n.host_id, (SELECT min(h.id) FROM hosts h WHERE h.cluster_id = $1)) AS host_id
	FROM poll_guests p LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node) p
WHERE g.cluster_id = $1 AND g.identity = p.identity
	AND (` + readBefore + `) AND (
	g.uptime IS DISTINCT FROM p.uptime OR g.cpu IS DISTINCT FROM p.cpu OR g.memory IS DISTINCT FROM p.memory OR g.status <> p.status
	OR g.net_in IS DISTINCT FROM p.net_in OR g.net_out IS DISTINCT FROM p.net_out OR g.disk_read IS DISTINCT
	FROM p.disk_read OR g.disk_write IS DISTINCT FROM p.disk_write
	OR g.disk IS DISTINCT FROM p.disk OR g.node <> p.node OR g.host_id <> p.host_id OR g.lock <> p.lock OR g.pool <> p.pool
	OR g.tags <> p.tags OR g.template <> p.template
	OR g.cpus IS DISTINCT FROM p.cpus OR g.memory_total IS DISTINCT FROM p.memory_total OR g.disk_total IS DISTINCT FROM p.disk_total
	OR g.ref <> p.ref OR g.vmid IS DISTINCT FROM p.vmid OR (p.name <> '' AND g.name <> p.name)
	OR g.cpu_seconds_at IS DISTINCT FROM p.cpu_seconds_at OR g.figures_at IS DISTINCT FROM p.figures_at)`

	// believed is SQL for the state of a guest. A backup of a stopped guest
	// starts its process without running it, and holds its lock, so that nobody
	// else can start it: such a guest stays stopped.
	believed = `CASE WHEN p.lock = 'backup' AND g.status = 'stopped' AND p.status <> 'unknown' THEN g.status ELSE p.status END`

	readBefore = `g.read_at IS NULL OR g.read_at < now() - interval '15 seconds' OR g.status = 'unknown'`

	// insertGuests adds new guests. A guest that a job has destroyed may still
	// be listed for as long as a list may be old, and is not added again.
	insertGuests = `INSERT INTO guests (cluster_id, host_id, kind, ref, uid, vmid, node, name, status, template, lock, pool, tags,
		cpu, cpus, memory, memory_total,
	disk, disk_total, net_in, net_out, disk_read, disk_write, uptime, cpu_seconds, cpu_seconds_at)
SELECT $1, COALESCE(n.host_id, (SELECT min(h.id) FROM hosts h WHERE h.cluster_id = $1)), p.kind, p.ref, p.uid, p.vmid, p.node,
	CASE WHEN p.name = '' THEN CASE p.kind WHEN 'vm' THEN 'VM ' ELSE 'CT ' END || p.ref ELSE p.name END,
	p.status, p.template, p.lock, p.pool, p.tags, p.cpu, p.cpus, p.memory, p.memory_total,
	p.disk, p.disk_total, p.net_in, p.net_out, p.disk_read, p.disk_write, p.uptime, p.cpu_seconds, p.cpu_seconds_at
FROM poll_guests p LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node
WHERE NOT EXISTS (SELECT FROM guests g WHERE g.cluster_id = $1 AND g.identity = p.identity)
	AND NOT EXISTS (SELECT FROM destroyed_guests d WHERE d.cluster_id = $1 AND d.identity = p.identity
		AND d.destroyed_at > now() - interval '15 seconds')
ORDER BY p.vmid NULLS LAST, p.ref, p.kind`

	doubtGuests = `UPDATE guests g SET status = 'unknown', cpu = NULL, cpus = NULL, memory = NULL, memory_total = NULL, disk = NULL,
		disk_total = NULL,
	net_in = NULL, net_out = NULL, disk_read = NULL, disk_write = NULL, uptime = NULL, changed_at = now()
WHERE g.cluster_id = $1 AND g.status <> 'unknown'`

	// mergeStorages writes the storages. If the answer contains only states
	// ($2), the used size of an available storage stays.
	mergeStorages = `INSERT INTO storages AS s (cluster_id, host_id, node, name, type, shared, status, content, used, total, seen_at,
	figures_at)
SELECT $1, COALESCE(n.host_id, (SELECT min(h.id) FROM hosts h WHERE h.cluster_id = $1)), p.node, p.name, p.type, p.shared, p.status,
	p.content, p.used, p.total, now(), CASE WHEN p.used IS NOT NULL THEN $3::timestamptz END
FROM poll_storages p LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node
ON CONFLICT (cluster_id, node, name) DO UPDATE SET host_id = excluded.host_id, type = excluded.type, shared = excluded.shared,
	status = excluded.status, content = excluded.content, seen_at = excluded.seen_at,
	used = CASE WHEN $2 AND excluded.status = 'available' THEN s.used ELSE excluded.used END,
	total = CASE WHEN $2 AND excluded.status = 'available' THEN COALESCE(excluded.total, s.total) ELSE excluded.total END,
	figures_at = CASE WHEN $2 AND excluded.status = 'available' THEN s.figures_at ELSE excluded.figures_at END`
)

// merge writes the staged rows into the tables of the cluster by a fixed number
// of statements. The error is a doubtError if rows are missing and nobody has
// asked for them yet.
func (g *good) merge(ctx context.Context, tx pgx.Tx, cluster int64) error {
	nodes, err := mergeNodeRows(ctx, tx, cluster, g.inv, g.measured)
	if err != nil {
		return err
	}
	if err := keepClock(ctx, tx, cluster, g.inv); err != nil {
		return err
	}
	if err := identify(ctx, tx, cluster, g.inv); err != nil {
		return err
	}
	omissions, err := omitted(ctx, tx, cluster, nodes)
	if err != nil {
		return err
	}
	if err := g.doubt(ctx, tx, cluster, nodes, omissions); err != nil {
		return err
	}
	if err := figures(ctx, tx, cluster, g.inv, g.measured); err != nil {
		return err
	}
	if !g.inv.cluster.StatesOnly {
		if _, err := tx.Exec(ctx, traffic, cluster); err != nil {
			return fmt.Errorf("adding up the traffic of guests: %w", err)
		}
	}
	for _, s := range []struct{ what, statement string }{{"updating guests", updateGuests}, {"adding guests", insertGuests}} {
		if _, err := tx.Exec(ctx, s.statement, cluster); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	if err := g.settle(ctx, tx, cluster, nodes, omissions); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, mergeStorages, cluster, g.inv.cluster.StatesOnly, g.measured); err != nil {
		return fmt.Errorf("writing storages: %w", err)
	}
	for _, s := range []struct{ what, statement string }{{"finding containers of apps", findApps},
		{"following containers of apps", followApps}} {
		if _, err := tx.Exec(ctx, s.statement, cluster); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	// A token that does not see everything proves nothing about what it does
	// not show.
	if g.limited() || g.inv.cluster.Partial {
		return nil
	}
	if _, err := tx.Exec(ctx, countAbsence, cluster, 3*g.interval); err != nil {
		return fmt.Errorf("counting how long containers of apps are missing: %w", err)
	}
	return nil
}

// mergeNodeRows writes the nodes of an inventory in one statement, and returns
// the names of new ones.
func mergeNodeRows(ctx context.Context, tx pgx.Tx, cluster int64, v *inventory, measured *time.Time) ([]string, error) {
	nodes := v.nodes
	n := len(nodes)
	name, status, address, fingerprint, level := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	cpu, cpus := make([]*float64, n), make([]*float64, n)
	memory, memoryTotal, disk, diskTotal, uptime := make([]*int64, n), make([]*int64, n), make([]*int64, n), make([]*int64, n),
		make([]*int64, n)
	for i, row := range nodes {
		name[i], status[i], address[i], fingerprint[i], level[i] = row.Name, row.Status, row.Address, row.Fingerprint, row.Level
		cpus[i], memoryTotal[i], diskTotal[i], uptime[i] = part(row.CPUs), amount(row.MemoryTotal), amount(row.DiskTotal), amount(row.Uptime)
		if !v.cluster.StatesOnly {
			cpu[i], memory[i], disk[i] = part(row.CPU), amount(row.Memory), amount(row.Disk)
		}
	}
	_, err := tx.Exec(ctx, mergeNodes, cluster, name, status, address, fingerprint, level, cpu, cpus, memory, memoryTotal, disk, diskTotal,
		uptime, v.cluster.StatesOnly, measured)
	if err != nil {
		return nil, fmt.Errorf("writing nodes: %w", err)
	}
	return name, nil
}

// part drops figures that cannot be true.
func part(v *float64) *float64 {
	if v == nil || !sane(*v) {
		return nil
	}
	return v
}

// amount drops negative figures.
func amount(v *int64) *int64 {
	if v == nil || *v < 0 {
		return nil
	}
	return v
}
