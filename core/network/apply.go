package network

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// applyKind is the kind of jobs that put staged changes into force.
const applyKind = "network.apply"

// resolveLimit limits the look-up of a host's name.
const resolveLimit = 3 * time.Second

// applyParams are the parameters of such a job.
type applyParams struct {
	HostID int64  `json:"host_id"`
	Node   string `json:"node"`
	// Diff is the confirmed diff without the times in its head. Self says that
	// the service may be cut off by the change.
	Diff string `json:"diff"`
	Self bool   `json:"self"`
	// Want are the interfaces that must exist afterwards, Gone the names of
	// those that must not. Restore has the commands for the node's console.
	Want    []hypervisor.Interface `json:"want"`
	Gone    []string               `json:"gone"`
	Restore string                 `json:"restore"`
	// UndoHost is the host on whose machine the rollback timer runs for
	// UndoAfterS seconds; 0 if there is none.
	UndoHost   int64 `json:"undo_host,omitempty"`
	UndoAfterS int64 `json:"undo_after_s,omitempty"`
}

// Register makes the store the worker of jobs that apply a network. Call it
// before the queue starts.
func (s *Store) Register(q *job.Queue) { q.Register(applyKind, job.WorkerFunc(s.apply)) }

// timeless returns a diff without the lines of its head, which contain times.
func timeless(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") {
			_, _ = b.WriteString(line)
		}
	}
	return b.String()
}

// Apply requests a job that applies the staged configuration of a node, or
// returns only the plan. confirm must be the node's name. Without it the
// problem is self_target if the service may be cut off, otherwise
// confirm_required.
//
// If the service has SSH access to the node, a rollback timer on the node
// restores the old network after undoAfter, unless the service reaches the node
// before that and stops the timer. nil means the default, and zero means no
// timer.
//
// Other problems: not_found, invalid_state if nothing is staged, plan_stale,
// those of Create, and if undoAfter is given also ssh_not_enrolled,
// consent_required and unsupported.
func (s *Store) Apply(ctx context.Context, hostID int64, node string, confirm *string, undoAfter *time.Duration) (guest.StartResult,
	error) {
	if d := undoAfter; d != nil && *d != 0 && (*d < MinUndoAfter || *d > MaxUndoAfter) {
		return guest.StartResult{}, problem.Invalid(problem.Fault{Loc: []any{"body", "undo_after_s"}, Type: "value_error",
			Msg: fmt.Sprintf("must be 0 for none, or %d to %d", int(MinUndoAfter.Seconds()), int(MaxUndoAfter.Seconds()))})
	}
	p, err := s.find(ctx, hostID, node)
	if err != nil {
		return guest.StartResult{}, err
	}
	draft := plan.Begin(ctx)
	if err := draft.RefuseAndStop(ctx, s.able(ctx, hostID), plan.Confirmation{}); err != nil {
		return guest.StartResult{}, err
	}
	n, err := s.read(ctx, &p)
	if err := draft.RefuseAndStop(ctx, err, plan.Confirmation{}); err != nil {
		return guest.StartResult{}, err
	}
	if n.Diff == "" {
		err := draft.Refuse(problem.New(problem.CodeInvalidState, "the node %s has no staged changes", node))
		if err != nil {
			return guest.StartResult{}, err
		}
	}
	v, err := s.judgePath(ctx, &p, n)
	if err != nil {
		return guest.StartResult{}, err
	}
	undoHost, after, why, err := s.undoOf(ctx, &p, n, undoAfter)
	if err := draft.RefuseAndStop(ctx, err, plan.Confirmation{}); err != nil {
		return guest.StartResult{}, err
	}
	c := plan.Confirmation{Code: problem.CodeConfirmRequired, Phrase: node, Given: confirm != nil && *confirm == node, IsSelf: v.asks(),
		Why: fmt.Sprintf("the network of the node %s is changed; to proceed, send the node's name as confirm", node)}
	if v.asks() {
		c.Code, c.Why = problem.CodeSelfTarget, pathText(node, v)+" To proceed, send the node's name as confirm"
	}
	if err := draft.Finish(ctx, c, func(ctx context.Context, pl *plan.Plan) error {
		tellUndo(&p, v, after, why, pl)
		return s.tell(ctx, &p, n, v, pl)
	}); err != nil {
		return guest.StartResult{}, err
	}
	params := applyParams{HostID: hostID, Node: node, Diff: timeless(n.Diff), Self: v.asks(), Restore: n.Restore,
		UndoHost: undoHost, UndoAfterS: int64(after.Seconds())}
	params.Want, params.Gone = staged(n)
	if err := idempotency.SaveData(ctx, v.asks()); err != nil {
		return guest.StartResult{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "node", node
		e.Detail("interfaces", changed(n))
		e.Detail("undo_after_s", params.UndoAfterS)
	})
	asked := map[string]any{"node": node}
	if undoAfter != nil {
		asked["undo_after_s"] = params.UndoAfterS
	}
	made, err := s.Actor.Enqueue(ctx, job.Spec{
		Kind: applyKind, Target: job.Target{Kind: "node", ID: hostID, Name: node}, TeamID: p.TeamID, HostID: hostID,
		Exclusive: p.Exclusive(), Params: params, PublicParams: asked,
	})
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View(), IsSelf: v.asks()}, nil
}

// pathText describes what an apply does to the path of the service.
func pathText(node string, v *verdict) string {
	switch {
	case v.touched:
		return fmt.Sprintf("The change affects the path by which this service reaches the node %s and may cut it: %s.",
			node, strings.Join(v.why, "; "))
	case v.unclear:
		return fmt.Sprintf("Hostler cannot determine whether the change affects the path by which this service reaches the node %s: %s.",
			node,
			strings.Join(v.why, "; "))
	}
	return fmt.Sprintf("The change does not affect the path by which this service reaches the node %s.", node)
}

// tell writes the effects of an apply into the plan.
func (s *Store) tell(ctx context.Context, p *host.NodeRef, n hypervisor.NodeNetwork, v *verdict, pl *plan.Plan) error {
	pl.Add(plan.KindHost, p.Node, "%s", pathText(p.Node, v))
	if n.Diff == "" {
		return nil
	}
	by, err := s.stagedBy(ctx, p, n)
	if err != nil {
		return err
	}
	for _, name := range changed(n) {
		what := "changed"
		if i := named(n.Interfaces, name); i == nil {
			what = "removed"
		} else if stagedOf(n, *i) != nil {
			what = *stagedOf(n, *i)
		}
		pl.Add(plan.KindHost, host.Clean(name), "The interface %s is %s.", host.Clean(name), what)
		if !slices.ContainsFunc(by, func(b StagedChange) bool { return b.Interface == name }) {
			pl.Warn("The change of %s was not staged through this service.", host.Clean(name))
		}
	}
	all, err := s.onNode(ctx, p)
	if err != nil {
		return err
	}
	touched := false
	for _, i := range n.Current {
		if !isBridge(i) {
			continue
		}
		what := disturbed(n, i)
		if what == "" {
			continue
		}
		touched = true
		guests, others := all.on(i.Name)
		for _, g := range guests {
			if named(n.Interfaces, i.Name) == nil {
				pl.Add(plan.KindGuest, g.Name, "%s loses its bridge %s.", g.Name, i.Name)
			} else {
				pl.Add(plan.KindGuest, g.Name, "%s is on the bridge %s, %s.", g.Name, i.Name, what)
			}
		}
		if others > 0 {
			pl.Add(plan.KindGuest, "", "%s on the bridge %s.",
				plan.Plural(others, "1 NIC of a guest of another team is", "%d NICs of guests of other teams are"), i.Name)
		}
	}
	if touched && all.unknown > 0 {
		pl.Warn("For %s of the node, the bridges in use are not known yet.", plan.Plural(all.unknown, "1 guest", "%d guests"))
	}
	pl.Add(plan.KindHost, "", "Staged changes:\n%s", host.CleanTo(timeless(n.Diff), maxTexts))
	return nil
}

// disturbed describes the staged changes that guests on a bridge notice, of the
// bridge or of what it stands on; empty if there are none.
func disturbed(n hypervisor.NodeNetwork, bridge hypervisor.Interface) string {
	then := named(n.Interfaces, bridge.Name)
	if then == nil || !samePassage(bridge, *then) {
		return "which is changed"
	}
	for _, name := range slices.Sorted(maps.Keys(below(n.Current, map[string]bool{bridge.Name: true}))) {
		was, is := byAnyName(n.Current, name), byAnyName(n.Interfaces, name)
		switch {
		case name == bridge.Name || was == nil:
		case is == nil:
			return "whose interface " + name + " is removed"
		case !passes(addressless(*was), addressless(*is)):
			return "whose interface " + name + " is changed"
		}
	}
	return ""
}

// judgePath judges the staged configuration by the way in which the service
// reaches the node.
func (s *Store) judgePath(ctx context.Context, p *host.NodeRef, n hypervisor.NodeNetwork) (*verdict, error) {
	dialled, err := s.dialled(ctx, p)
	if err != nil {
		return nil, err
	}
	own, err := s.ownBridges(ctx, p)
	if err != nil {
		return nil, err
	}
	return ownPath(n, dialled, own), nil
}

// dialled returns the addresses at which the service reaches a node: those of
// the hosts that are connected to it. It returns the address by which the
// cluster knows the node if there is no such host, or if another host is asked,
// which reaches the node by that address.
func (s *Store) dialled(ctx context.Context, p *host.NodeRef) ([]netip.Addr, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT address FROM hosts WHERE cluster_id = $1 AND entry_node = $2`, p.ClusterID, p.Node)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the addresses of a node: %w", err))
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil {
		if rows, err = s.DB.Pool.Query(ctx, `SELECT address FROM nodes WHERE cluster_id = $1 AND name = $2 AND address <> ''
			AND NOT EXISTS (SELECT FROM hosts WHERE id = $3 AND cluster_id = $1 AND entry_node = $2)`, p.ClusterID, p.Node,
			p.HostID); err == nil {
			var known []string
			known, err = pgx.CollectRows(rows, pgx.RowTo[string])
			hosts = append(hosts, known...)
		}
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the addresses of a node: %w", err))
	}
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	var all []netip.Addr
	for _, name := range hosts {
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		name = strings.Trim(name, "[]")
		if a, err := netip.ParseAddr(name); err == nil {
			all = append(all, a)
			continue
		}
		resolve := s.Resolve
		if resolve == nil {
			resolve = func(ctx context.Context, name string) ([]netip.Addr, error) {
				return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
			}
		}
		found, err := resolve(ctx, name)
		if err != nil {
			return nil, nil //nolint:nilerr // nothing is known then, and the verdict says so
		}
		all = append(all, found...)
	}
	return all, nil
}

// ownBridges returns the bridges of a node on which the service's own guest is.
func (s *Store) ownBridges(ctx context.Context, p *host.NodeRef) ([]string, error) {
	if s.Self == nil {
		return nil, nil
	}
	ids, err := s.Self.Guests(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT DISTINCT n.bridge FROM guest_nics n JOIN guests g ON g.id = n.guest_id
		WHERE g.id = ANY ($1) AND g.cluster_id = $2 AND g.node = $3 AND n.bridge <> ''`, ids, p.ClusterID, p.Node)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the bridges of our own guest: %w", err))
	}
	bridges, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return bridges, db.Problem(err)
}
