package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// missing is the SQL condition that successful polls have not found the
// container of app a for 15 minutes. absent_for counts only time covered by
// polls, so an app does not become missing while its host is unreachable.
const missing = `(a.guest_id IS NULL AND a.absent_for >= interval '15 minutes')`

// selectApps joins an app with the cache row of its container, its host and the
// job that works on it. The host is that of the container's node if the
// container exists. The caller appends the condition. The columns are in the
// order of fields.
const selectApps = `SELECT a.id, a.name, a.slug, a.vmid, a.guest_ref,
	CASE WHEN j.id IS NOT NULL THEN 'pending' WHEN g.id IS NOT NULL THEN g.status WHEN ` + missing + ` THEN 'missing' ELSE 'unknown' END,
	CASE WHEN ` + missing + ` THEN a.absent_since END, j.id, g.id IS NOT NULL,
	h.id, h.name, c.name, g.node, g.name, coalesce(g.lock, ''), coalesce(g.tags, '{}'), g.cpu, g.cpus, g.memory,
	g.memory_total, g.disk, g.disk_total, g.net_in, g.net_out, g.uptime, a.web_port, a.web_path, a.web_protocol,
	CASE WHEN g.id IS NOT NULL THEN ` + guest.SeenAt + ` END, ` + guest.FiguresAt + `,
	g.addresses, g.addresses_at, a.adopted_at, a.cluster_id, g.id
	FROM apps a
	LEFT JOIN guests g ON g.id = a.guest_id
	LEFT JOIN hosts h ON h.id = coalesce(g.host_id, a.host_id)
	LEFT JOIN clusters c ON c.id = a.cluster_id
	LEFT JOIN jobs j ON j.exclusive = 'guest:' || g.id AND j.status IN ('queued', 'running')
	WHERE `

// fields returns the destinations of the columns of selectApps.
func (a *App) fields() []any {
	return []any{&a.ID, &a.Name, &a.Slug, &a.VMID, &a.GuestRef, &a.Status, &a.MissingSince, &a.JobID, &a.Present, &a.HostID, &a.Host,
		&a.Cluster, &a.Node, &a.GuestName, &a.Lock, &a.Tags, &a.CPU, &a.CPUs, &a.MemoryBytes, &a.MemoryTotalBytes, &a.DiskBytes,
		&a.DiskTotalBytes, &a.NetInBytes, &a.NetOutBytes, &a.UptimeS, &a.WebPort, &a.WebPath, &a.WebProtocol, &a.SeenAt, &a.FiguresAt,
		&a.Addresses, &a.AddressesAt, &a.AdoptedAt, &a.clusterID, &a.guestID}
}

// Filter narrows List. A zero field does not filter.
type Filter struct {
	HostID int64
	Status string
	// Query is a part of the name of the app, of its container or of its
	// catalog entry. Case does not matter.
	Query string
}

// List returns the apps that may be seen, by name and without a limit. Only
// users who see all teams see an app that has lost its host, because such an
// app belongs to no team.
func (s *Store) List(ctx context.Context, f Filter, visible identity.VisibleTeams) ([]App, error) {
	all, err := s.read(ctx, `($1 OR h.team_id = ANY($2)) AND ($3::bigint = 0 OR h.id = $3) ORDER BY lower(a.name), a.id`, visible.All,
		visible.Teams, f.HostID)
	if err != nil {
		return nil, err
	}
	// The status is worked out from three tables, and the names are searched as Go folds them; apps are few.
	query := strings.ToLower(f.Query)
	return slices.DeleteFunc(all, func(a App) bool {
		return f.Status != "" && a.Status != f.Status || query != "" && !a.matches(query)
	}), nil
}

func (a *App) matches(query string) bool {
	for _, text := range []*string{&a.Name, a.GuestName, a.Slug} {
		if text != nil && strings.Contains(strings.ToLower(*text), query) {
			return true
		}
	}
	return false
}

// Get returns one app, or the problem not_found. The caller must check whether
// the app may be seen.
func (s *Store) Get(ctx context.Context, id int64) (*App, error) {
	all, err := s.read(ctx, "a.id = $1", id)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, problem.New(problem.CodeNotFound, "app not found")
	}
	return &all[0], nil
}

// read queries apps with a condition, which may end with an ORDER BY, and fills
// IsSelf.
func (s *Store) read(ctx context.Context, where string, args ...any) ([]App, error) {
	rows, err := s.Guests.DB.Pool.Query(ctx, selectApps+where, args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading apps: %w", err))
	}
	all, err := db.CollectRows(rows, func(row pgx.CollectableRow) (a App, err error) {
		err = row.Scan(a.fields()...)
		return a, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading apps: %w", err))
	}
	return all, s.markSelf(ctx, all)
}

// markSelf sets IsSelf of the app whose container the service runs in.
func (s *Store) markSelf(ctx context.Context, all []App) error {
	if len(all) == 0 {
		return nil
	}
	self, err := s.Guests.Self.Guests(ctx)
	if err != nil || len(self) == 0 {
		return err
	}
	for i := range all {
		all[i].IsSelf = all[i].guestID != nil && slices.Contains(self, *all[i].guestID)
	}
	return nil
}

// Discovered lists the containers that may be seen and are no apps yet, templates among them. A container of a cluster that several hosts
// front is listed once, with the host registered at its node. A host ID limits the list to that host; 0 does not.
func (s *Store) Discovered(ctx context.Context, hostID int64, visible identity.VisibleTeams) ([]guest.Guest, error) {
	return s.Guests.List(ctx, guest.Filter{Kind: guest.Container, HostID: hostID, Unadopted: true}, visible)
}
