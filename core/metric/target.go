package metric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Target is an object whose figures are requested: host:1, vm:3, app:2,
// node:1/alpha (a host and the name of a node of its cluster), storage:1/nas,
// or storage:1/local/alpha for the storage of one node.
type Target struct {
	Kind Kind
	// ID is that of the host, VM or app; of a node and a storage that of a host of their cluster.
	ID            int64
	Storage, Node string
}

// errTarget is the only refusal of a target: it shows all forms at once.
var errTarget = errors.New("must be like host:1, vm:3, app:2, node:1/alpha, storage:1/nas or storage:1/local/alpha")

// ParseTarget reads a target.
func ParseTarget(text string) (Target, error) {
	kind, rest, ok := strings.Cut(text, ":")
	t := Target{Kind: Kind(kind)}
	if !ok || !slices.Contains(kinds, t.Kind) || len(text) > 400 {
		return t, errTarget
	}
	parts := strings.Split(rest, "/")
	id, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || id < 1 || parts[0][0] == '+' || slices.Contains(parts, "") || strings.ContainsRune(rest, 0) {
		return t, errTarget
	}
	t.ID = id
	switch {
	case t.Kind == Node && len(parts) == 2:
		t.Node = parts[1]
	case t.Kind == Storage && (len(parts) == 2 || len(parts) == 3):
		t.Storage = parts[1]
		if len(parts) == 3 {
			t.Node = parts[2]
		}
	case t.Kind != Node && t.Kind != Storage && len(parts) == 1:
	default:
		return t, errTarget
	}
	return t, nil
}

// String returns the target in its text form.
func (t Target) String() string {
	text := fmt.Sprintf("%s:%d", t.Kind, t.ID)
	if t.Storage != "" {
		text += "/" + t.Storage
	}
	if t.Node != "" {
		text += "/" + t.Node
	}
	return text
}

// found is a target with the keys of its samples: for a shared storage the rows
// of all its nodes.
type found struct {
	Target
	name string
	ids  []int64
	// shared is set of what is one thing though several rows keep it.
	shared bool
}

// asked are the targets of one kind by their ids, storages and nodes.
const asked = ` FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS t (id, storage, node, i) `

// allowed restricts them to those whose hosts are visible.
const allowed = ` WHERE ($4 OR h.team_id = ANY ($5))`

// finders find the targets of a kind: the index of the target, its name, the
// key of its samples, and whether several of these are one object.
var finders = map[Kind]string{
	Host: `SELECT t.i, h.name, h.id, true` + asked + `JOIN hosts h ON h.id = t.id` + allowed,
	VM: `SELECT t.i, g.name, g.id, true` + asked + `JOIN guests g ON g.id = t.id AND g.kind = 'vm' JOIN hosts h ON h.id = g.host_id` +
		allowed,
	App: `SELECT t.i, a.name, a.guest_id, true` + asked + `JOIN apps a ON a.id = t.id LEFT JOIN hosts h ON h.id = a.host_id` + allowed,
	Node: `SELECT t.i, n.name, n.id, true` + asked +
		`JOIN hosts h ON h.id = t.id JOIN nodes n ON n.cluster_id = h.cluster_id AND n.name = t.node` + allowed,
	Storage: `SELECT t.i, s.name, s.id, s.shared` + asked +
		`JOIN hosts h ON h.id = t.id JOIN storages s ON s.cluster_id = h.cluster_id AND s.name = t.storage` + allowed +
		` AND (t.node = '' OR s.node = t.node)`,
}

// find finds the targets with one statement for each kind. The problem is
// not_found for a target that does not exist or is not visible.
func find(ctx context.Context, d *db.DB, targets []Target, visible identity.VisibleTeams) ([]found, error) {
	all := make([]found, len(targets))
	at := map[Kind][]int{}
	for i, t := range targets {
		all[i].Target = t
		at[t.Kind] = append(at[t.Kind], i)
	}
	for _, kind := range kinds {
		if len(at[kind]) == 0 {
			continue
		}
		var ids []int64
		var storages, nodes []string
		for _, i := range at[kind] {
			ids, storages, nodes = append(ids, targets[i].ID), append(storages, targets[i].Storage), append(nodes, targets[i].Node)
		}
		rows, err := d.Pool.Query(ctx, finders[kind], ids, storages, nodes, visible.All, visible.Teams)
		if err != nil {
			return nil, db.Problem(fmt.Errorf("reading the targets: %w", err))
		}
		var i int64
		var name string
		var id *int64
		var one bool
		seen := map[int]bool{}
		for rows.Next() {
			if err := rows.Scan(&i, &name, &id, &one); err != nil {
				rows.Close()
				return nil, db.Problem(fmt.Errorf("reading a target: %w", err))
			}
			n := at[kind][i-1]
			if seen[n] && !one {
				rows.Close()
				return nil, problem.InvalidField("several nodes have their own storage with this name: specify the node, as in "+
					targets[n].String()+"/NODE", "value_error", "query", "target")
			}
			seen[n], all[n].name, all[n].shared = true, name, one
			if id != nil {
				all[n].ids = append(all[n].ids, *id)
			}
		}
		if err := rows.Err(); err != nil {
			return nil, db.Problem(fmt.Errorf("reading the targets: %w", err))
		}
		for _, n := range at[kind] {
			if !seen[n] {
				return nil, problem.New(problem.CodeNotFound, "the target %s was not found", targets[n])
			}
		}
	}
	return all, nil
}

// everyHost returns the visible hosts, by name.
func everyHost(ctx context.Context, d *db.DB, visible identity.VisibleTeams) ([]found, error) {
	rows, err := d.Pool.Query(ctx, "SELECT id, name FROM hosts WHERE $1 OR team_id = ANY ($2) ORDER BY name", visible.All, visible.Teams)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing hosts: %w", err))
	}
	defer rows.Close()
	var all []found
	for rows.Next() {
		h := found{Target: Target{Kind: Host}}
		if err := rows.Scan(&h.ID, &h.name); err != nil {
			return nil, db.Problem(fmt.Errorf("reading a host: %w", err))
		}
		h.ids = []int64{h.ID}
		all = append(all, h)
	}
	return all, db.Problem(rows.Err())
}
