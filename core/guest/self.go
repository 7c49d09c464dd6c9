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

// Self knows which guest the service runs in: a guest of the host in the
// setting self.host_id, or of that host's cluster, that matches what this
// machine knows about itself.
type Self struct {
	DB *db.DB
	// Hostname is the name of this machine without its domain. An empty one
	// matches no guest.
	Hostname string
	// Container is the hypervisor's ID of the container that this process runs
	// in. It is empty outside of containers.
	Container hypervisor.GuestID
}

var _ host.SelfGuest = (*Self)(nil)

// DetectSelf reads the name of this machine and the label of its container.
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

// containerLabel matches the AppArmor profile under which a hypervisor starts a
// container: "lxc-101_</var/lib/lxc>", "lxd-web1_</var/lib/lxd>", or
// "incus-customers_web1_</var/lib/incus>" for a container in the project
// customers.
var containerLabel = regexp.MustCompile(`^(lxc|lxd|incus)-([^<>]+)_</`)

// containerID returns the ID in an AppArmor label, or an empty ID.
func containerID(label string) hypervisor.GuestID {
	m := containerLabel.FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	id := m[2]
	// A container's name cannot contain an underscore, a project's name can.
	if at := strings.LastIndexByte(id, '_'); at > 0 && m[1] != "lxc" {
		id = id[:at] + "/" + id[at+1:]
	}
	return hypervisor.GuestID(id)
}

// Is reports whether the service runs in the guest.
func (s *Self) Is(ctx context.Context, guestID int64) (bool, error) {
	ids, err := s.Guests(ctx)
	return slices.Contains(ids, guestID), err
}

// Guests returns the IDs of the guests that the service may run in, usually one
// or none. If the name matches several guests, all of them count: an
// unnecessary confirmation is better than a service that stops itself.
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
		return nil, db.Problem(fmt.Errorf("finding the service's own guest: %w", err))
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("finding the service's own guest: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, db.Problem(rows.Err())
}

// Nodes returns the names of the nodes of those guests, as the last poll saw
// them.
func (s *Self) Nodes(ctx context.Context) ([]string, error) {
	ids, err := s.Guests(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := s.DB.Pool.Query(ctx, "SELECT DISTINCT node FROM guests WHERE id = ANY ($1) ORDER BY node", ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("finding the service's own node: %w", err))
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("finding the service's own node: %w", err))
	}
	return nodes, nil
}
