// Package storage manages the storages of hypervisors: their list and usage,
// their definitions, and their content.
//
// The list comes from the inventory that the polls store. Definitions and
// content are read from the hypervisor for each request and are never stored.
//
// A storage is identified by a host and its name in that host's cluster. A
// shared storage has the same content on each node. Any other storage has the
// same definition on each node, but different content; operations on its
// content need the node.
//
// Store is the main type. Storage and Node are entries of the list, Volume is
// one object on a storage, and Detail is one definition.
//
// Changes of definitions are sent once and resolved by reading back (see
// Store.Attach). Deletions and downloads are jobs.
package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Store reads the inventory and asks the hypervisors for everything else. It is
// safe for concurrent use. The fields down to Guests are required.
type Store struct {
	DB     *db.DB
	Hosts  *host.Store
	Actor  *guest.Actor
	Guests *guest.Store
	// Deleted is called after a backup was deleted, so that the cache of
	// package backup is refreshed; nil is allowed.
	Deleted func(ctx context.Context, hostID int64, storage, node string) error
	// Sync polls a host, so that lists show a storage that was just attached;
	// nil leaves that to the next poll.
	Sync func(ctx context.Context, hostID int64) error
}

// Node is the state of a storage on one node.
type Node struct {
	Node       string     `json:"node" example:"pve1"`
	HostID     int64      `json:"host_id" example:"1" doc:"The host registered at the node, or else the first host of its cluster"`
	Status     string     `json:"status" enum:"available,unknown" doc:"unknown if the node cannot use it or no host reports it"`
	UsedBytes  *int64     `json:"used_bytes" doc:"Used bytes; null if not known"`
	TotalBytes *int64     `json:"total_bytes"`
	AsOf       time.Time  `json:"as_of" doc:"When the hypervisor last reported it"`
	FiguresAt  *time.Time `json:"figures_at" doc:"When the usage figures were measured; null if there are none"`
	// DaysUntilFull is filled in by addGrowth.
	DaysUntilFull *float64 `json:"days_until_full" example:"41.5" doc:"Days until it is full at the rate of the last two weeks; null if usage does not grow steadily or there is too little data"`

	id int64
}

// Storage is a storage of a cluster, as the last polls found it.
type Storage struct {
	HostID     int64     `json:"host_id" example:"1" doc:"A host through which it is reached"`
	Host       string    `json:"host" example:"lab" doc:"Name of the host"`
	ClusterID  int64     `json:"cluster_id" example:"1"`
	Cluster    string    `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	Name       string    `json:"name" example:"nas"`
	Type       string    `json:"type" example:"nfs" doc:"Type, as the hypervisor names it"`
	Shared     bool      `json:"shared" doc:"true if all nodes have the same content. Otherwise each node has its own content under the same definition"`
	Status     string    `json:"status" enum:"available,unknown" doc:"available if at least one of its nodes can use it"`
	Content    []string  `json:"content" example:"[\"images\",\"iso\"]" doc:"Content types that it can store, as the hypervisor names them; empty if the hypervisor does not distinguish them"`
	UsedBytes  *int64    `json:"used_bytes" doc:"Used bytes, counted once if shared, otherwise the sum of all nodes; null if not known"`
	TotalBytes *int64    `json:"total_bytes"`
	AsOf       time.Time `json:"as_of" doc:"When the hypervisor last reported the storage on all of its nodes"`
	Nodes      []Node    `json:"nodes" doc:"State on each node"`

	DaysUntilFull *float64 `json:"days_until_full" example:"41.5" doc:"Days until it is full: the lowest value of its nodes; null if none is known"`
}

// Filter narrows List. A zero field does not filter.
type Filter struct {
	HostID                     int64
	Node, Name, Content, State string
}

// selectStates reads storages with their clusters and hosts, without a
// condition.
const selectStates = `SELECT s.cluster_id, c.name, s.host_id, h.name, s.node, s.name, s.type, s.shared, s.status, s.content,
	s.used, s.total, s.seen_at, s.figures_at, s.id FROM storages s JOIN hosts h ON h.id = s.host_id JOIN clusters c ON c.id = s.cluster_id`

// List returns a page of the visible storages, by cluster and name, and the
// number of storages on all pages. A shared storage appears once.
func (s *Store) List(ctx context.Context, f Filter, visible identity.VisibleTeams, offset, limit int) ([]Storage, int, error) {
	all, err := s.read(ctx, ` WHERE ($1 OR h.team_id = ANY ($2)) AND ($3::bigint = 0 OR s.cluster_id =
		(SELECT cluster_id FROM hosts WHERE id = $3))`,
		visible.All, visible.Teams, f.HostID)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(t Storage) bool {
		return f.Name != "" && t.Name != f.Name || f.State != "" && t.Status != f.State ||
			f.Content != "" && !slices.Contains(t.Content, f.Content) ||
			f.Node != "" && !slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Node == f.Node })
	})
	from := min(offset, len(all))
	page := all[from:min(from+limit, len(all))]
	return page, len(all), s.addGrowth(ctx, page)
}

// read returns the storages of the matching rows.
func (s *Store) read(ctx context.Context, where string, args ...any) ([]Storage, error) {
	rows, err := s.DB.Pool.Query(ctx, selectStates+where+" ORDER BY c.name, s.cluster_id, s.name, s.node", args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing storages: %w", err))
	}
	all := []Storage{}
	_, err = db.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
		var t Storage
		var n Node
		err = row.Scan(&t.ClusterID, &t.Cluster, &n.HostID, &t.Host, &n.Node, &t.Name, &t.Type, &t.Shared, &n.Status, &t.Content,
			&n.UsedBytes, &n.TotalBytes, &n.AsOf, &n.FiguresAt, &n.id)
		if err != nil {
			return none, fmt.Errorf("reading a storage: %w", err)
		}
		n.AsOf = n.AsOf.UTC()
		if n.FiguresAt != nil {
			*n.FiguresAt = n.FiguresAt.UTC()
		}
		if n.Status != available {
			n.Status = "unknown"
		}
		t.HostID = n.HostID
		if last := len(all) - 1; last >= 0 && all[last].ClusterID == t.ClusterID && all[last].Name == t.Name {
			all[last].add(n, t.Host)
			return none, nil
		}
		t.Status, t.AsOf, t.Content = "unknown", n.AsOf, cleanAll(t.Content)
		t.Name, t.Type = host.Clean(t.Name), host.Clean(t.Type)
		t.add(n, t.Host)
		all = append(all, t)
		return none, nil
	})
	if long, is := errors.AsType[*db.ListTooLarge](err); is {
		long.Fits = 0 // pages are cut afterwards
	}
	return all, db.Problem(err)
}

// available is the state of a storage that can be used.
const available = "available"

// cleanAll cleans texts from the hypervisor and sorts them.
func cleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = host.Clean(text)
	}
	slices.Sort(out)
	return out
}

// add adds the row of one node.
func (t *Storage) add(n Node, hostName string) {
	if n.HostID < t.HostID {
		t.HostID, t.Host = n.HostID, hostName
	}
	if n.AsOf.Before(t.AsOf) {
		t.AsOf = n.AsOf
	}
	t.Nodes = append(t.Nodes, n)
	if n.Status != available {
		return
	}
	t.Status = available
	if t.Shared {
		if n.UsedBytes != nil {
			t.UsedBytes, t.TotalBytes = n.UsedBytes, n.TotalBytes
		}
		return
	}
	t.UsedBytes, t.TotalBytes = sum(t.UsedBytes, n.UsedBytes), sum(t.TotalBytes, n.TotalBytes)
}

// sum adds two numbers, either of which may be unknown.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmpNil(a, b)
	}
	n := *a + *b
	return &n
}

// cmpNil gives the first number that is not nil.
func cmpNil(a, b *int64) *int64 {
	if a == nil {
		return b
	}
	return a
}

// place is a storage with what is needed to reach it.
type place struct {
	hostID, clusterID, teamID int64
	name                      string
	// entry is the node to which the host is connected; it may be unknown.
	entry string
	// nodes are the nodes of the cluster. known is the storage in the
	// inventory; nil if it is not there.
	nodes []clusterNode
	known *Storage
}

// clusterNode is a node through which a storage may be reached.
type clusterNode struct {
	name   string
	online bool
}

// find finds a host and the name of a storage, also if the inventory does not
// have the storage.
func (s *Store) find(ctx context.Context, hostID int64, name string) (place, error) {
	p := place{hostID: hostID, name: name}
	var cluster *int64
	err := s.DB.Pool.QueryRow(ctx, "SELECT cluster_id, team_id, entry_node FROM hosts WHERE id = $1", hostID).
		Scan(&cluster, &p.teamID, &p.entry)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, problem.New(problem.CodeNotFound, "host not found")
	}
	if err != nil {
		return p, db.Problem(fmt.Errorf("reading the host: %w", err))
	}
	if cluster == nil {
		return p, problem.New(problem.CodeNotFound, "the host's storages have not been read yet")
	}
	p.clusterID = *cluster
	rows, err := s.DB.Pool.Query(ctx, "SELECT name, status = 'online' FROM nodes WHERE cluster_id = $1 ORDER BY name", p.clusterID)
	if err != nil {
		return p, db.Problem(fmt.Errorf("reading the nodes: %w", err))
	}
	p.nodes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n clusterNode, err error) {
		return n, row.Scan(&n.name, &n.online)
	})
	if err != nil {
		return p, db.Problem(fmt.Errorf("reading the nodes: %w", err))
	}
	found, err := s.read(ctx, " WHERE s.cluster_id = $1 AND s.name = $2", p.clusterID, name)
	if err != nil {
		return p, err
	}
	if len(found) > 0 {
		p.known = &found[0]
	}
	return p, nil
}

// require returns the problem not_found for a storage that the inventory does
// not have.
func (p *place) require() error {
	if p.known == nil {
		return problem.New(problem.CodeNotFound, "storage not found")
	}
	return nil
}

// shared reports whether all nodes have the same storage.
func (p *place) shared() bool { return p.known != nil && p.known.Shared }

// at reports whether a node has the storage, as far as the inventory knows.
func (p *place) at(node string) bool {
	return p.known == nil || slices.ContainsFunc(p.known.Nodes, func(n Node) bool { return n.Node == node })
}

// on returns the requested node, or else the best one: a node on which the
// storage can be used, the host's own first.
func (p *place) on(wanted string) (string, error) {
	if wanted != "" {
		if !slices.ContainsFunc(p.nodes, func(n clusterNode) bool { return n.name == wanted }) {
			return "", problem.New(problem.CodeNotFound, "node not found")
		}
		if !p.at(wanted) {
			return "", problem.New(problem.CodeNotFound, "the node does not have this storage")
		}
		return wanted, nil
	}
	best, rank := "", -1
	for _, n := range p.nodes {
		if !p.at(n.name) {
			continue
		}
		points := 0
		if n.online {
			points += 4
		}
		if p.known != nil && slices.ContainsFunc(p.known.Nodes, func(o Node) bool { return o.Node == n.name && o.Status == available }) {
			points += 2
		}
		if strings.EqualFold(n.name, p.entry) {
			points++
		}
		if points > rank {
			best, rank = n.name, points
		}
	}
	if best == "" {
		return "", problem.New(problem.CodeNotFound, "no node has this storage")
	}
	return best, nil
}

// only is on for requests in which the node must not be guessed: without a
// requested node it accepts only a storage that is the same on each node.
func (p *place) only(wanted string) (string, error) {
	if wanted == "" && !p.shared() && p.known != nil && len(p.known.Nodes) > 1 {
		return "", problem.InvalidField("several nodes have their own storage with this name: specify the node", "missing",
			"query", "node")
	}
	return p.on(wanted)
}
