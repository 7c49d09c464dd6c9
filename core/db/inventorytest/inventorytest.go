// Package inventorytest writes inventory into the databases of tests: clusters with their hosts, nodes, storages and guests, the apps
// that containers are and the jobs that work on them. Rows get the ids 1, 2, … of a fresh database in the order in which they stand.
package inventorytest

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// DefaultTeam is the team that is always there.
const DefaultTeam int64 = 1

// Cluster is one cluster, or a machine alone when it has no name, as the last poll found it.
type Cluster struct {
	Name string
	// Team is the team of the cluster and its hosts; the default one when zero. Another is made when it is not there.
	Team int64
	// Unseen is a cluster that no poll has read.
	Unseen   bool
	Hosts    []Host
	Nodes    []Node
	Storages []Storage
	Guests   []Guest
}

// Host is an enrolled host.
type Host struct {
	Name string
	// Address is Name with the port 8006 when empty, and Driver "fake".
	Address, Driver string
	// Node is the node that it is: guests there are its own.
	Node string
	// Status is "pending" when empty, as of a host that was not polled.
	Status string
	// Capabilities have a token that nobody can open.
	Capabilities []string
}

// Guest is a VM, or a container when it says so.
type Guest struct {
	Container bool
	// VMID is null when zero. Ref is its text when empty, and UID null.
	VMID     int64
	Ref, UID string
	// Node is where it is: its host is the one with that node, or the cluster's first.
	Node, Name string
	// Status is "running" when empty.
	Status     string
	Template   bool
	Tags       []string
	Pool, Lock string
	// Figures of which zero stands for one that is not known.
	CPU            float64
	Memory, Uptime int64
	// App makes the container an app of that name, and Job is the kind of an unfinished job on the guest.
	App, Job string
}

// Write writes the clusters.
func Write(t testing.TB, d *db.DB, clusters ...Cluster) {
	t.Helper()
	for i := range clusters {
		clusters[i].write(t, d)
	}
}

func (c *Cluster) write(t testing.TB, d *db.DB) {
	t.Helper()
	team := cmp.Or(c.Team, DefaultTeam)
	Team(t, d, team)
	cluster := dbtest.Value[int64](t, d,
		`INSERT INTO clusters (team_id, name, quorate, seen_at, figures_at)
		SELECT $1, $2, true, at, at FROM (SELECT CASE WHEN $3 THEN NULL ELSE now() END AS at) t RETURNING id`,
		team, c.Name, c.Unseen)
	var first int64
	at := map[string]int64{}
	for _, h := range c.Hosts {
		id := dbtest.Value[int64](t, d, `INSERT INTO hosts (team_id, cluster_id, driver, name, address, entry_node, status)
			VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
			team, cluster, cmp.Or(h.Driver, "fake"), h.Name, cmp.Or(h.Address, h.Name+":8006"), h.Node, cmp.Or(h.Status, "pending"))
		for _, capability := range h.Capabilities {
			dbtest.Exec(t, d, `INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES ($1, $2, 'x', '\x00')`, id, capability)
		}
		first = cmp.Or(first, id)
		if h.Node != "" {
			at[h.Node] = id
		}
	}
	on := func(node string) int64 { return cmp.Or(at[node], first) }
	for i := range c.Nodes {
		c.Nodes[i].write(t, d, cluster, on(c.Nodes[i].Name))
	}
	for i := range c.Storages {
		c.Storages[i].write(t, d, cluster, on(c.Storages[i].Node))
	}
	for i := range c.Guests {
		c.Guests[i].write(t, d, team, cluster, on(c.Guests[i].Node))
	}
}

func (g *Guest) write(t testing.TB, d *db.DB, team, cluster, host int64) {
	t.Helper()
	kind, view := "vm", "vm"
	if g.Container {
		kind, view = "container", "app"
	}
	tags := g.Tags
	if tags == nil {
		tags = []string{}
	}
	id := dbtest.Value[int64](t, d,
		`INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, uid, node, name, status, template, tags, pool, lock, cpu, memory, uptime)
		VALUES ($1, $2, $3, nullif($4::bigint, 0), $5, nullif($6, ''), $7, $8, $9, $10, $11, $12, $13, nullif($14::double precision, 0),
		nullif($15::bigint, 0), nullif($16::bigint, 0)) RETURNING id`,
		cluster, host, kind, g.VMID, cmp.Or(g.Ref, fmt.Sprint(g.VMID)), g.UID, g.Node, g.Name, cmp.Or(g.Status, "running"), g.Template, tags,
		g.Pool, g.Lock, g.CPU, g.Memory, g.Uptime)
	target := id
	if g.App != "" {
		target = dbtest.Value[int64](t, d, adopt+" WHERE id = $1 RETURNING id", id, g.App)
	}
	if g.Job != "" {
		dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, exclusive) VALUES ($1, `+
			`'running', $2, $3, $4, $5, $6, $7)`,
			g.Job, team, host, view, target, cmp.Or(g.App, g.Name), fmt.Sprint("guest:", id))
	}
}

// adopt makes apps of guests.
const adopt = `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, name)
	SELECT host_id, cluster_id, id, ref, uid, vmid, $2 FROM guests`

// Adopt makes an app of the container with a number in a cluster, without the service's own checks. It gives the app's id.
func Adopt(t testing.TB, d *db.DB, cluster, vmid int64, name string) (id int64) {
	t.Helper()
	return dbtest.Value[int64](t, d, adopt+" WHERE kind = 'container' AND cluster_id = $1 AND vmid = $3 RETURNING id", cluster, name, vmid)
}

// MissingApp makes an app of a container that no poll has listed.
func MissingApp(t testing.TB, d *db.DB, cluster, vmid int64, name string) (id int64) {
	t.Helper()
	return dbtest.Value[int64](t, d, `INSERT INTO apps (host_id, cluster_id, guest_ref, vmid, name)
		SELECT min(id), $1, $2::bigint::text, $2, $3 FROM hosts WHERE cluster_id = $1 RETURNING id`, cluster, vmid, name)
}

// Team makes the team when it is not there.
func Team(t testing.TB, d *db.DB, id int64) {
	t.Helper()
	dbtest.Exec(t, d, "INSERT INTO teams (id, name, slug) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING", id, fmt.Sprint("team", id))
}

// User makes the user 1, whom the callers of apitest.Callers are.
func User(t testing.TB, d *db.DB) {
	t.Helper()
	dbtest.Exec(t, d, "INSERT INTO users (email, email_key, password_hash) VALUES ('a@example.org', 'a', '')")
}

// Many writes a cluster with one host and that many VMs and containers on ten nodes, for tests of speed. Every second
// container is an app.
func Many(t testing.TB, d *db.DB, vms, containers int) {
	t.Helper()
	Write(t, d, Cluster{Name: "big", Hosts: []Host{{Name: "rack1"}}})
	dbtest.Exec(t, d, `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status, tags, cpu, cpus, memory,
		memory_total, disk, disk_total,
			net_in, net_out, disk_read, disk_write, uptime)
		SELECT 1, 1, CASE WHEN i > $1 THEN 'container' ELSE 'vm' END, 99 + i, 99 + i, 'node' || i % 10, 'guest-' || i, 'running', '{prod,web}',
		0.25 + i / 100000.0, 4,
			2147483648 + i, 4294967296, 0, 34359738368, i * 1000, i * 999, i * 998, i * 997, 86400 + i
		FROM generate_series(1, $1::int + $2::int) i`, vms, containers)
	dbtest.Exec(t, d, `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, vmid, name)
		SELECT 1, 1, id, ref, vmid, 'app-' || vmid FROM guests WHERE kind = 'container' AND vmid % 2 = 0`)
	dbtest.Exec(t, d, "ANALYZE")
}
