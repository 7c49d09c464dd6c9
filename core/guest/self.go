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

// containerLabel is the AppArmor profile that a hypervisor starts a container under: "lxc-101_</var/lib/lxc>" at Proxmox VE,
// "lxd-web1_</var/lib/lxd>" or "incus-customers_web1_</var/lib/incus>", of the project customers, at LXD and Incus.
var containerLabel = regexp.MustCompile(`^(lxc|lxd|incus)-([^<>]+)_</`)

func containerID(label string) hypervisor.GuestID {
	m := containerLabel.FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	id := m[2]
	if at := strings.LastIndexByte(id, '_'); at > 0 && m[1] != "lxc" { // a name has no underscore, a project may
		id = id[:at] + "/" + id[at+1:]
	}
	return hypervisor.GuestID(id)
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
