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

// columns are the columns of a Guest in the order of Guest.fields. An
// unfinished job makes the status "pending"; see join.
const columns = `g.id, g.kind, g.name, g.vmid, g.ref, COALESCE(g.uid, ''), CASE WHEN j.id IS NULL THEN g.status ELSE 'pending' END, j.id,
	g.host_id, h.name, c.name, g.cluster_id, g.node, g.template, g.lock, g.pool, g.tags, g.cpu, g.cpus,
	g.memory, g.memory_total, g.disk, g.disk_total, g.net_in, g.net_out, g.disk_read, g.disk_write, g.uptime, ` + SeenAt +
	", " + FiguresAt + ", g.addresses, g.addresses_at"

// SeenAt is an SQL expression for the time at which the hypervisor last
// reported the guest g of the cluster c: the last successful poll of the
// cluster, unless that poll did not contain the guest, or a job that has read
// the guest since.
const SeenAt = "GREATEST(g.read_at, COALESCE(g.listed_at, c.seen_at, g.changed_at))"

// FiguresAt is an SQL expression for the time at which the usage figures of the
// guest g of the cluster c were measured: with those of the cluster, unless the
// guest has a time of its own. It is null if there are no figures.
const FiguresAt = `CASE WHEN num_nonnulls(g.cpu, g.memory, g.disk, g.net_in, g.net_out, g.disk_read, g.disk_write) > 0
	THEN COALESCE(g.figures_at, c.figures_at) END`

// join contains the tables of columns. There are few unfinished jobs, and a
// partial index has them, so the join does not cost more with a long history of
// jobs.
const join = `guests g
	JOIN hosts h ON h.id = g.host_id
	JOIN clusters c ON c.id = g.cluster_id
	LEFT JOIN jobs j ON j.exclusive = 'guest:' || g.id AND j.status IN ('queued', 'running')`

// fields returns the scan targets for columns, in the same order.
func (g *Guest) fields() []any {
	return []any{&g.ID, &g.Kind, &g.Name, &g.VMID, &g.Ref, &g.uid, &g.Status, &g.JobID, &g.HostID, &g.Host, &g.Cluster, &g.clusterID,
		&g.Node, &g.Template, &g.Lock, &g.Pool, &g.Tags, &g.CPU, &g.CPUs, &g.MemoryBytes, &g.MemoryTotalBytes, &g.DiskBytes,
		&g.DiskTotalBytes, &g.NetInBytes, &g.NetOutBytes, &g.DiskReadBytes, &g.DiskWriteBytes, &g.UptimeS, &g.SeenAt, &g.FiguresAt,
		&g.Addresses, &g.AddressesAt}
}

// Filter narrows List. A zero field does not narrow it.
type Filter struct {
	Kind   string
	HostID int64
	Status string
	// Query is searched, ignoring case, in the name, node, tags, ID and number.
	Query string
	// Unadopted selects containers that are not apps.
	Unadopted bool
}

// Store reads guests from the database.
type Store struct {
	DB   *db.DB
	Self *Self
}

// List returns the guests that the caller may see, sorted by cluster and
// number, in one query.
func (s *Store) List(ctx context.Context, f Filter, visible identity.VisibleTeams) ([]Guest, error) {
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

// order sorts by what people recognise: the cluster, then the number.
const order = " ORDER BY g.cluster_id, g.vmid NULLS LAST, g.ref, g.kind"

// conditions returns the WHERE conditions of the filter for the tables of join.
// The text is also searched in the further columns.
func (f Filter) conditions(visible identity.VisibleTeams, further ...string) (where conditions) {
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

// collect reads the rows of a query with columns. The scan targets are created
// once and shared by all rows: with ten thousand guests they would otherwise be
// most of the garbage.
func collect(rows pgx.Rows) ([]Guest, error) {
	var g Guest
	fields := g.fields()
	return db.CollectRows(rows, func(row pgx.CollectableRow) (Guest, error) {
		g = Guest{}
		err := row.Scan(fields...)
		return g, err
	})
}

// markSelf sets IsSelf of the guest that the service runs in. It reads nothing
// if the list is empty.
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

// Get returns one guest of a kind. The caller checks who may see it. An unknown
// guest is the problem not_found.
func (s *Store) Get(ctx context.Context, kind string, id int64) (*Guest, error) {
	return s.one(ctx, "g.kind = $1 AND g.id = $2", kind, id)
}

// ByID returns one guest of any kind, app or not. The caller checks who may see
// it. An unknown guest is the problem not_found.
func (s *Store) ByID(ctx context.Context, id int64) (*Guest, error) {
	return s.one(ctx, "g.id = $1", id)
}

// one returns the only guest that matches a condition.
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
		return nil, problem.New(problem.CodeNotFound, "guest not found")
	}
	return &all[0], s.markSelf(ctx, all)
}

// likeEscape escapes the characters with a meaning in LIKE, because the search
// text is the user's.
var likeEscape = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// conditions collects the parts of a WHERE clause. Each ? in a part becomes the
// number of the next parameter.
type conditions struct {
	parts []string
	args  []any
}

// add appends a condition if wanted is true.
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

// visible limits the rows to the teams of the caller.
func (c *conditions) visible(v identity.VisibleTeams) {
	c.add(!v.All, "h.team_id = ANY(?)", v.Teams)
}

// clause returns the WHERE clause, or an empty string without conditions.
func (c *conditions) clause() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}
