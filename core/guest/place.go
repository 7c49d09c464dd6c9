package guest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// GuestName is the form of a new guest's name that every hypervisor takes: a DNS name of at most 63 characters.
const GuestName = "^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$"

var guestName = regexp.MustCompile(GuestName)

// place is a place for a new guest on a host's cluster, with what is wrong with the order so far.
type place struct {
	hypervisor.Placement
	db        *db.DB
	clusterID int64
	hostName  string
	faults    []problem.Fault
}

// refuse notes what is wrong with a field of the body.
func (p *place) refuse(field, kind, format string, args ...any) {
	p.faults = append(p.faults, problem.Fault{Loc: []any{"body", field}, Msg: fmt.Sprintf(format, args...), Type: kind})
}

// err is all that is wrong, or nil.
func (p *place) err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return problem.Invalid(p.faults...)
}

// placeOn asks the host's hypervisor for a place. A wanted number that is taken is problem conflict.
func (a *Actor) placeOn(ctx context.Context, hostID int64, query hypervisor.PlacementQuery) (*place, error) {
	p := &place{db: a.DB}
	err := a.DB.Pool.QueryRow(ctx, "SELECT COALESCE(cluster_id, 0), name FROM hosts WHERE id = $1", hostID).Scan(&p.clusterID, &p.hostName)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the host's cluster: %w", err))
	}
	p.Placement, err = host.AskWithin(ctx, a.Hosts, lookLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
			return at.Placement(ctx, query)
		})
	if err != nil {
		return nil, plugin.Problem(err)
	}
	if query.Number != nil && (*query.Number < p.Limits.MinNumber || p.Limits.MaxNumber > 0 && *query.Number > p.Limits.MaxNumber) {
		return p, nil // the field is refused with all others
	}
	if p.ID == "" && query.Number != nil {
		return nil, problem.New(problem.CodeConflict, "the number %d is taken by another guest", *query.Number)
	}
	if p.ID == "" {
		return nil, problem.New(problem.CodeConflict, "the name %s is taken by another guest", query.Name)
	}
	return p, p.avoid(ctx, query.Number != nil)
}

// avoid takes another number where an unfinished job is about to use the one that the hypervisor says is free.
func (p *place) avoid(ctx context.Context, wanted bool) error {
	rows, err := p.db.Pool.Query(ctx, `SELECT params->'spec'->>'ID' FROM jobs
		WHERE status IN ('queued', 'running') AND kind IN ('vm.create', 'vm.clone', 'app.clone', 'backup.restore')
		AND host_id IN (SELECT id FROM hosts WHERE cluster_id = $1) AND params->'spec'->>'ID' IS NOT NULL
		UNION SELECT ref FROM guests WHERE cluster_id = $1`, p.clusterID)
	if err != nil {
		return db.Problem(fmt.Errorf("looking for ids that are to be used: %w", err))
	}
	used, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return db.Problem(fmt.Errorf("looking for ids that are to be used: %w", err))
	}
	if !slices.Contains(used, string(p.ID)) {
		return nil
	}
	if wanted || p.Number == nil {
		return problem.New(problem.CodeConflict, "%s is taken by another guest, or by one that a job is making", p.ID)
	}
	taken := map[string]bool{}
	for _, id := range used {
		taken[id] = true
	}
	for n := *p.Number; ; n++ {
		if id := strconv.FormatInt(n, 10); !taken[id] {
			p.ID, p.Number = hypervisor.GuestID(id), &n
			return nil
		}
	}
}

// checkNumber refuses a number that guests cannot have.
func (p *place) checkNumber(field string, number *int64) {
	if number != nil && (*number < p.Limits.MinNumber || p.Limits.MaxNumber > 0 && *number > p.Limits.MaxNumber) {
		p.refuse(field, "less_than_equal", "must be from %d to %d", p.Limits.MinNumber, p.Limits.MaxNumber)
	}
}

// checkStorage refuses a storage that is not there, or that the disks of such a guest do not fit on.
func (p *place) checkStorage(field, name string, kind hypervisor.GuestKind, bytes int64) {
	i := slices.IndexFunc(p.Storages, func(s hypervisor.PlacementStorage) bool { return s.Name == name })
	switch {
	case i < 0:
		p.refuse(field, "value_error", "the node has no such storage")
	case !p.Storages[i].VMs && kind == hypervisor.VM, !p.Storages[i].Containers && kind == hypervisor.Container:
		p.refuse(field, "value_error", "this storage holds no disks of a %s", kind)
	case !p.Storages[i].Available:
		p.refuse(field, "value_error", "this storage is not available")
	case p.Storages[i].Free != nil && *p.Storages[i].Free < bytes:
		p.refuse(field, "value_error", "this storage has room for %d GiB", *p.Storages[i].Free>>30)
	}
}

// onlineNode refuses a node that the host's cluster does not have, or that is off; empty is the host's own, or the first that is on.
func (a *Actor) onlineNode(ctx context.Context, hostID int64, field string, wanted *string) (string, error) {
	rows, err := a.DB.Pool.Query(ctx, `SELECT n.name, n.status FROM hosts h JOIN nodes n ON n.cluster_id = h.cluster_id WHERE h.id = $1
		ORDER BY n.name <> h.entry_node, n.name`, hostID)
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading nodes: %w", err))
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Status string }])
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading nodes: %w", err))
	}
	for _, n := range nodes {
		switch {
		case wanted == nil && n.Status == hypervisor.NodeOnline:
			return n.Name, nil
		case wanted != nil && n.Name == *wanted && n.Status != hypervisor.NodeOnline:
			return "", problem.InvalidField("this node is "+n.Status, "value_error", "body", field)
		case wanted != nil && n.Name == *wanted:
			return n.Name, nil
		}
	}
	if wanted == nil {
		return "", problem.New(problem.CodeInvalidState, "no node of the host is known to be online; sync it first")
	}
	return "", problem.InvalidField("the host has no such node", "value_error", "body", field)
}
