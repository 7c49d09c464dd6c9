package guest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// columns of a Guest in the order of scan. pending decides the status: see join.
const columns = `g.id, g.kind, g.name, g.vmid, g.ref, COALESCE(g.uid, ''), CASE WHEN j.id IS NULL THEN g.status ELSE 'pending' END, j.id,
	g.host_id, h.name, c.name, g.cluster_id, g.node, g.template, g.lock, g.pool, g.tags, g.cpu, g.cpus,
	g.memory, g.memory_total, g.disk, g.disk_total, g.net_in, g.net_out, g.disk_read, g.disk_write, g.uptime, ` + SeenAt +
	", " + FiguresAt + ", g.addresses, g.addresses_at"

// SeenAt is, in SQL, when the hypervisor last told of the guest g of the cluster c: the cluster's last good poll, unless
// that left the guest out, or a job that has read the guest since.
const SeenAt = "GREATEST(g.read_at, COALESCE(g.listed_at, c.seen_at, g.changed_at))"

// FiguresAt is, in SQL, when the used figures of the guest g of the cluster c were measured: with the cluster's, unless the guest's
// own time says otherwise. It is null when there are none.
const FiguresAt = `CASE WHEN num_nonnulls(g.cpu, g.memory, g.disk, g.net_in, g.net_out, g.disk_read, g.disk_write) > 0
	THEN COALESCE(g.figures_at, c.figures_at) END`

// join is the tables of columns. The unfinished jobs are few and come from their partial index once.
const join = `guests g
	JOIN hosts h ON h.id = g.host_id
	JOIN clusters c ON c.id = g.cluster_id
	LEFT JOIN jobs j ON j.exclusive = 'guest:' || g.id AND j.status IN ('queued', 'running')`

func (g *Guest) fields() []any {
	return []any{&g.ID, &g.Kind, &g.Name, &g.VMID, &g.Ref, &g.uid, &g.Status, &g.JobID, &g.HostID, &g.Host, &g.Cluster, &g.clusterID,
		&g.Node, &g.Template, &g.Lock, &g.Pool, &g.Tags, &g.CPU, &g.CPUs, &g.MemoryBytes, &g.MemoryTotalBytes, &g.DiskBytes,
		&g.DiskTotalBytes, &g.NetInBytes, &g.NetOutBytes, &g.DiskReadBytes, &g.DiskWriteBytes, &g.UptimeS, &g.SeenAt, &g.FiguresAt,
		&g.Addresses, &g.AddressesAt}
}

// Filter narrows List. Zero values narrow nothing.
type Filter struct {
	Kind   string
	HostID int64
	Status string
	// Query is looked for in name, node, tags and the hypervisor's id and number, in any case.
	Query string
	// Unadopted leaves only containers that are no apps.
	Unadopted bool
}

// Store reads guests.
type Store struct {
	DB   *db.DB
	Self *Self
}

// List gives the guests that may be seen, by cluster and the hypervisor's number or else id, in one query.
func (s *Store) List(ctx context.Context, f Filter, visible identity.Visible) ([]Guest, error) {
	where := f.conditions(visible)
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+" FROM "+join+where.clause()+order, where.args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing guests: %w", err))
	}
	all, err := collect(rows)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing guests: %w", err))
	}
	return all, s.markSelf(ctx, all)
}

const order = " ORDER BY g.cluster_id, g.vmid NULLS LAST, g.ref, g.kind"

// conditions are those of the filter on the tables of join. The text is looked for in further columns too.
func (f Filter) conditions(visible identity.Visible, further ...string) (where conditions) {
	where.visible(visible)
	where.add(f.Kind != "", "g.kind = ?", f.Kind)
	where.add(f.HostID != 0, "g.host_id = ?", f.HostID)
	where.add(f.Status == StatusPending, "j.id IS NOT NULL")
	where.add(f.Status != "" && f.Status != StatusPending, "j.id IS NULL AND g.status = ?", f.Status)
	if f.Query != "" {
		pattern := "%" + likeEscape.Replace(f.Query) + "%"
		searched, patterns := []string{}, []any{}
		for _, column := range append([]string{"g.name", "g.node", "g.ref", "g.vmid::text", "array_to_string(g.tags, ' ')"}, further...) {
			searched, patterns = append(searched, column+" ILIKE ?"), append(patterns, pattern)
		}
		where.add(true, "("+strings.Join(searched, " OR ")+")", patterns...)
	}
	where.add(f.Unadopted, `g.kind = 'container'
		AND NOT EXISTS (SELECT FROM apps a WHERE a.guest_id = g.id)`)
	return where
}

// collect scans rows into one growing slice. The scan targets are made once: ten thousand rows share them.
func collect(rows pgx.Rows) ([]Guest, error) {
	var g Guest
	fields := g.fields()
	return db.CollectRows(rows, func(row pgx.CollectableRow) (Guest, error) {
		g = Guest{}
		err := row.Scan(fields...)
		return g, err
	})
}

func (s *Store) markSelf(ctx context.Context, all []Guest) error {
	if len(all) == 0 {
		return nil
	}
	self, err := s.Self.Guests(ctx)
	if err != nil || len(self) == 0 {
		return err
	}
	for i := range all {
		all[i].markSelf(self)
	}
	return nil
}

func (g *Guest) markSelf(self []int64) { g.IsSelf = slices.Contains(self, g.ID) }

// Get gives one guest of a kind. Whether it may be seen is the caller's to check. An unknown one is problem not_found.
func (s *Store) Get(ctx context.Context, kind string, id int64) (*Guest, error) {
	return s.one(ctx, "g.kind = $1 AND g.id = $2", kind, id)
}

// ByID gives one guest, of any kind and whether it is an app or not. Whether it may be seen is the caller's to check. An unknown one is
// problem not_found.
func (s *Store) ByID(ctx context.Context, id int64) (*Guest, error) {
	return s.one(ctx, "g.id = $1", id)
}

func (s *Store) one(ctx context.Context, where string, args ...any) (*Guest, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+" FROM "+join+" WHERE "+where, args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a guest: %w", err))
	}
	all, err := collect(rows)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a guest: %w", err))
	}
	if len(all) == 0 {
		return nil, problem.New(problem.CodeNotFound, "there is no such guest")
	}
	return &all[0], s.markSelf(ctx, all)
}

// likeEscape keeps a search text from meaning anything to LIKE.
var likeEscape = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// conditions is a WHERE clause in the making; each ? becomes the next parameter.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(wanted bool, condition string, args ...any) {
	if !wanted {
		return
	}
	var b strings.Builder
	for _, r := range condition {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		c.args = append(c.args, args[0])
		args = args[1:]
		b.WriteString("$" + strconv.Itoa(len(c.args)))
	}
	c.parts = append(c.parts, b.String())
}

func (c *conditions) visible(v identity.Visible) {
	c.add(!v.All, "h.team_id = ANY(?)", v.Teams)
}

func (c *conditions) clause() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}
