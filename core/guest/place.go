package guest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// maxName is the longest name of a new guest in characters, the length of a DNS
// label (RFC 1035 section 2.3.4).
const maxName = 63

// guestName is the form of names that every hypervisor accepts: a DNS name
// whose labels begin and end with a letter or digit.
var guestName = regexp.MustCompile(`^[A-Za-z0-9](-*[A-Za-z0-9])*(\.[A-Za-z0-9](-*[A-Za-z0-9])*)*$`)

// notInNames matches characters that are in no such name.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// copyName returns the default name of a copy. It is valid even if the name of
// the guest is not valid for new guests.
func copyName(name string) string {
	const suffix = "-copy"
	var labels []string
	for label := range strings.SplitSeq(notInNames.ReplaceAllString(name, "-"), ".") {
		if label = strings.Trim(label, "-"); label != "" {
			labels = append(labels, label)
		}
	}
	name = strings.Join(labels, ".")
	name = strings.TrimRight(name[:min(len(name), maxName-len(suffix))], ".-")
	return strings.TrimPrefix(name+suffix, "-")
}

// place collects where a new guest can be created and what is wrong with the
// order.
type place struct {
	hypervisor.Placement
	clusterID int64
	hostName  string
	faults    []problem.Fault
	// number is the field of the request body with the requested number.
	number string
	// warnings are conditions that the hypervisor accepts.
	warnings []string
}

// refuse records a fault of a field of the body.
func (p *place) refuse(field, kind, format string, args ...any) {
	p.faults = append(p.faults, problem.Fault{Loc: []any{"body", field}, Msg: fmt.Sprintf(format, args...), Type: kind})
}

// err returns the problem invalid with all faults, or nil.
func (p *place) err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return problem.Invalid(p.faults...)
}

// placeOn asks the host's hypervisor for a placement. The argument number is
// the name of the body's field for a requested number, which faults refer to.
func (a *Actor) placeOn(ctx context.Context, hostID int64, number string, query hypervisor.PlacementQuery) (*place, error) {
	p := &place{number: number}
	err := a.DB.Pool.QueryRow(ctx, "SELECT COALESCE(cluster_id, 0), name FROM hosts WHERE id = $1", hostID).Scan(&p.clusterID, &p.hostName)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the host's cluster: %w", err))
	}
	p.Placement, err = host.CallWithTimeout(ctx, a.Hosts, callLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
			return at.Placement(ctx, query)
		})
	if err != nil {
		return nil, plugin.Problem(err)
	}
	switch n := query.Number; {
	case !query.ID:
		return p, nil
	case n != nil && (*n < p.Limits.MinNumber || p.Limits.MaxNumber > 0 && *n > p.Limits.MaxNumber):
		fault := "less_than_equal"
		if *n < p.Limits.MinNumber {
			fault = "greater_than_equal"
		}
		p.refuse(number, fault, "must be from %d to %d", p.Limits.MinNumber, p.Limits.MaxNumber)
		return p, nil
	case p.ID == "" && n != nil:
		p.refuse(number, "value_error", "the ID %d is taken by another guest", *n)
		return p, nil
	case p.ID == "":
		p.refuse("name", "value_error", "the name %s is taken by another guest", query.Name)
		return p, nil
	}
	used, err := usedIDs(ctx, a.DB.Pool, p.clusterID)
	if err == nil {
		p.avoid(used, query.Number != nil)
	}
	return p, err
}

// reserve takes the ID of the place for the job that the transaction enqueues,
// or another free ID if a parallel request has taken it. If wanted is true, it
// records a fault instead. Requests that reserve IDs in the same cluster wait
// for each other until the end of their transactions.
func (p *place) reserve(ctx context.Context, tx *db.Tx, wanted bool) error {
	if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, $2::bigint::integer)", db.LockGuestID, p.clusterID); err != nil {
		return fmt.Errorf("waiting to reserve an ID: %w", err)
	}
	used, err := usedIDs(ctx, tx.Pgx, p.clusterID)
	if err != nil {
		return err
	}
	p.avoid(used, wanted)
	return p.err()
}

// usedIDs returns the IDs of a cluster's guests as far as they are known, and
// those that unfinished jobs are going to use. The hypervisor does not know the
// latter.
func usedIDs(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, clusterID int64) ([]string, error) {
	rows, err := q.Query(ctx, `SELECT params->'spec'->>'ID' FROM jobs
		WHERE status IN ('queued', 'running') AND kind IN ('vm.create', 'vm.clone', 'app.clone', 'backup.restore', 'app.install')
		AND host_id IN (SELECT id FROM hosts WHERE cluster_id = $1) AND params->'spec'->>'ID' IS NOT NULL
		UNION SELECT ref FROM guests WHERE cluster_id = $1`, clusterID)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the reserved IDs: %w", err))
	}
	used, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the reserved IDs: %w", err))
	}
	return used, nil
}

// avoid selects another number if the present one is used, or records a fault
// if that number was requested.
func (p *place) avoid(used []string, wanted bool) {
	switch {
	case !slices.Contains(used, string(p.ID)):
	case wanted:
		p.refuse(p.number, "value_error", "%s is taken by another guest, or reserved by a job", p.ID)
	case p.Number == nil:
		p.refuse("name", "value_error", "%s is taken by another guest, or reserved by a job", p.ID)
	default:
		taken := map[string]bool{}
		for _, id := range used {
			taken[id] = true
		}
		for n := *p.Number; p.Limits.MaxNumber <= 0 || n <= p.Limits.MaxNumber; n++ {
			if id := strconv.FormatInt(n, 10); !taken[id] {
				p.ID, p.Number = hypervisor.GuestID(id), &n
				return
			}
		}
		p.refuse(p.number, "value_error", "no number from %d to %d is free", *p.Number, p.Limits.MaxNumber)
	}
}

// checkName records a fault for a name that not every hypervisor accepts.
func (p *place) checkName(name string) {
	if len(name) > maxName || !guestName.MatchString(name) {
		p.refuse("name", "string_pattern_mismatch", "must have 1 to 63 letters, digits, . and -; each part between dots must start and "+
			"end with a letter or digit")
	}
}

// withName adds the faults of the guest's name to those of a node, so that the
// user sees all of them although the node cannot be asked.
func withName(err error, name string) error {
	p := &place{}
	if p.checkName(name); err == nil || len(p.faults) == 0 || problem.CodeOf(err) != problem.CodeInvalid {
		return err
	}
	return problem.Invalid(append(p.faults, problem.From(err).Faults...)...)
}

// checkStorage records a fault for a storage that does not exist or that the
// disks do not fit on.
func (p *place) checkStorage(field, name string, kind hypervisor.GuestKind, bytes int64) {
	i := slices.IndexFunc(p.Storages, func(s hypervisor.PlacementStorage) bool { return s.Name == name })
	switch {
	case i < 0:
		p.refuse(field, "value_error", "the node does not have this storage")
	case !p.Storages[i].VMs && kind == hypervisor.VM, !p.Storages[i].Containers && kind == hypervisor.Container:
		p.refuse(field, "value_error", "this storage does not accept disks of a %s", kind)
	case !p.Storages[i].Available:
		p.refuse(field, "value_error", "this storage is not available")
	default:
		p.checkRoom(p.Storages[i], bytes, field, "this storage has only %d GiB free", free(p.Storages[i])>>30)
	}
}

// checkRoom records a fault, with the given text, if a storage has too little
// space. For a thin storage it records a warning, because the hypervisor
// accepts that.
func (p *place) checkRoom(s hypervisor.PlacementStorage, bytes int64, field, format string, args ...any) {
	switch {
	case s.Free == nil || *s.Free >= bytes:
	case s.Thin:
		p.warnings = append(p.warnings, thinRoom(s, bytes))
	default:
		p.refuse(field, "value_error", format, args...)
	}
}

// thinRoom returns the warning for a thin storage with less free space than the
// disks can take.
func thinRoom(s hypervisor.PlacementStorage, bytes int64) string {
	return fmt.Sprintf("The storage %s has %d GiB free, but the disks can grow to %d GiB. Guests stop when the storage is full.",
		host.Clean(s.Name), free(s)>>30, gibibytes(bytes))
}

// free returns the known free space of a storage in bytes.
func free(s hypervisor.PlacementStorage) int64 {
	if s.Free == nil {
		return 0
	}
	return *s.Free
}

// gibibytes rounds bytes up to GiB.
func gibibytes(bytes int64) int64 { return (bytes + 1<<30 - 1) >> 30 }

// onlineNode returns the requested node, or the host's own, or the first one
// that is online. A node that the host's cluster does not have, or that is
// offline, is invalid.
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
		return "", problem.New(problem.CodeInvalidState, "no node of the host is known to be online; sync the host first")
	}
	return "", problem.InvalidField("the host does not have this node", "value_error", "body", field)
}
