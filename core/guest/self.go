package guest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Self knows which guest the service itself runs in: a guest of the host that the setting self.host_id names, or of its
// cluster, that is recognised by what the machine says of itself.
type Self struct {
	DB *db.DB
	// Hostname is this machine's name without its domain; empty recognises nothing by name.
	Hostname string
	// Container is the hypervisor's id of the container that this process runs in; empty when it runs in none.
	Container hypervisor.GuestID
}

var _ host.OwnGuest = (*Self)(nil)

// DetectSelf asks this machine.
func DetectSelf(d *db.DB) *Self {
	s := &Self{DB: d}
	if name, err := os.Hostname(); err == nil {
		s.Hostname, _, _ = strings.Cut(name, ".")
	}
	if label, err := os.ReadFile("/proc/self/attr/current"); err == nil {
		s.Container = containerID(string(label))
	}
	return s
}

// lxcLabel is the AppArmor profile that Proxmox VE starts a container under, such as "lxc-101_</var/lib/lxc>".
var lxcLabel = regexp.MustCompile(`^lxc-(\d{3,9})_<`)

func containerID(label string) hypervisor.GuestID {
	m := lxcLabel.FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	return hypervisor.GuestID(m[1])
}

// Is reports whether the service runs in the guest.
func (s *Self) Is(ctx context.Context, guestID int64) (bool, error) {
	ids, err := s.Guests(ctx)
	return slices.Contains(ids, guestID), err
}

// Guests are the ids of the guests that this service runs in: usually one or none. Where a name fits several all of
// them count: asking once too often costs a word.
func (s *Self) Guests(ctx context.Context) ([]int64, error) {
	host, err := setting.Get(ctx, s.DB, setting.SelfHost)
	if err != nil || host == nil {
		return nil, err
	}
	rows, err := s.DB.Pool.Query(ctx, `
		SELECT g.id FROM guests g JOIN hosts h ON h.id = $1 AND h.cluster_id = g.cluster_id
		WHERE CASE WHEN $2 <> '' THEN g.kind = 'container' AND g.ref = $2 ELSE $3 <> ''
		AND lower(split_part(g.name, '.', 1)) = lower($3) END`,
		*host, s.Container, s.Hostname)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("looking for our own guest: %w", err))
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("looking for our own guest: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, db.Problem(rows.Err())
}

// Nodes are the names of the nodes that those guests stand on, as the last poll found them.
func (s *Self) Nodes(ctx context.Context) ([]string, error) {
	ids, err := s.Guests(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := s.DB.Pool.Query(ctx, "SELECT DISTINCT node FROM guests WHERE id = ANY ($1) ORDER BY node", ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("looking for our own node: %w", err))
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("looking for our own node: %w", err))
	}
	return nodes, nil
}
