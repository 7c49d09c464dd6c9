// Package power reboots nodes and switches them off.
package power

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// kind is the kind of the jobs.
const kind = "node.power"

// Store takes requests and does their jobs. It is safe for several goroutines.
type Store struct {
	DB    *db.DB
	Hosts *host.Store
	Actor *guest.Actor
	// Sync polls a host now; it is called when a node is back. Nil leaves that to the loop.
	Sync func(ctx context.Context, hostID int64) error
	// ShutdownLimit is how long a node may take to go down, with its guests, and BootLimit to come back; zero is 20 minutes each.
	ShutdownLimit, BootLimit time.Duration
	// OffTime is for how long a node that was to be switched off must not have answered; zero is 15 s.
	OffTime time.Duration
	// Pause is the time between two looks at a node; zero is 2 s.
	Pause time.Duration
}

// params are those of a job.
type params struct {
	HostID  int64                   `json:"host_id"`
	Node    string                  `json:"node"`
	Command hypervisor.PowerCommand `json:"command"`
	// Self says that it was confirmed although the service runs there.
	Self bool `json:"self"`
}

// Register makes the store the worker of its jobs.
func (s *Store) Register(q *job.Queue) { q.Register(kind, job.WorkerFunc(s.perform)) }

// does is what becomes of a node.
func does(command hypervisor.PowerCommand) string {
	if command == hypervisor.PowerShutdown {
		return "shut down"
	}
	return "rebooted"
}

// Power asks for a node of a host's cluster to be rebooted or switched off, confirmed by the node's name: with self_target where the
// service runs on it, else with confirm_required. Problems besides: not_found, capability_missing, unsupported, plan_stale, guest_busy
// while another job works on the node itself, and those of host.Call where the node does not answer.
func (s *Store) Power(ctx context.Context, hostID int64, node string, command hypervisor.PowerCommand, confirm *string) (
	guest.StartResult, error) {
	p, err := host.FindNode(ctx, s.DB, hostID, node)
	if err != nil {
		return guest.StartResult{}, err
	}
	err = s.Hosts.Require(ctx, hostID, endpoint.NodePower, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.NodePowerManager](at)
		return err
	})
	draft := plan.Begin(ctx)
	if err := draft.Refuse(err); err != nil {
		return guest.StartResult{}, err
	}
	status, err := s.Hosts.NodeStatus(ctx, hostID, node)
	if err := draft.Refuse(err); err != nil {
		return guest.StartResult{}, err
	}
	self, err := s.Hosts.SelfOn(ctx, hostID, node)
	if err != nil {
		return guest.StartResult{}, err
	}
	c := plan.Confirmation{Code: problem.CodeConfirmRequired, Phrase: node, Given: confirm != nil && *confirm == node, IsSelf: self,
		Why: fmt.Sprintf("the node %s is %s, with all its guests; to proceed, send the node's name as confirm", node, does(command))}
	if self {
		c.Code, c.Why = problem.CodeSelfTarget, selfText(node, command)+" To proceed, send the node's name as confirm"
	}
	err = draft.Finish(ctx, c, func(ctx context.Context, pl *plan.Plan) error { return s.tell(ctx, &p, command, self, status, pl) })
	if err != nil {
		return guest.StartResult{}, err
	}
	if err := idempotency.SaveData(ctx, self); err != nil {
		return guest.StartResult{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "node", node
		e.Detail("command", string(command))
	})
	made, err := s.Actor.Enqueue(ctx, job.Spec{
		Kind: kind, Target: job.Target{Kind: "node", ID: hostID, Name: node}, TeamID: p.TeamID, HostID: hostID,
		Exclusive: p.Exclusive(), Params: params{HostID: hostID, Node: node, Command: command, Self: self},
		PublicParams: map[string]any{"node": node, "command": command},
	})
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View(), IsSelf: self}, nil
}

func selfText(node string, command hypervisor.PowerCommand) string {
	if command == hypervisor.PowerShutdown {
		return fmt.Sprintf("This service runs on the node %s: it is unavailable until someone switches the node on again.", node)
	}
	return fmt.Sprintf("This service runs on the node %s: it is unavailable until the node is back, and stays unavailable if it is not "+
		"started at boot.", node)
}

// tell writes into the plan what a command does.
func (s *Store) tell(ctx context.Context, p *host.NodeRef, command hypervisor.PowerCommand, self bool, status host.NodeStatus,
	pl *plan.Plan) error {
	if self {
		pl.Add(plan.KindHost, p.Node, "%s", selfText(p.Node, command))
	}
	pl.Add(plan.KindHost, p.Node, "The node %s is %s.", p.Node, does(command))
	if status.UptimeS != nil {
		pl.AddSince(plan.KindUptime, p.Node, time.Now().Add(-time.Duration(*status.UptimeS)*time.Second),
			"The node %s is running and is interrupted.", p.Node)
	}
	guests, err := s.running(ctx, p)
	if err != nil {
		return err
	}
	visible, others := identity.FromContext(ctx).Visible(), 0
	for _, g := range guests {
		if !visible.Includes(g.TeamID) {
			others++
			continue
		}
		pl.Add(plan.KindGuest, g.Name, "%s is shut down.", g.Name)
	}
	if others > 0 {
		pl.Add(plan.KindGuest, "", "%s shut down.",
			plan.Plural(others, "1 guest of another team is", "%d guests of other teams are"))
	}
	if len(guests) > 0 && command == hypervisor.PowerReboot {
		pl.Warn("Of these guests, only those that are set to start at boot start again.")
	}
	return s.warn(ctx, p, command, pl)
}

// warn writes into the plan what is to be known besides.
func (s *Store) warn(ctx context.Context, p *host.NodeRef, command hypervisor.PowerCommand, pl *plan.Plan) error {
	if command == hypervisor.PowerShutdown {
		pl.Warn("This service cannot switch the node on again.")
	}
	var nodes, online, jobs int
	err := s.DB.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM nodes WHERE cluster_id = $1),
		(SELECT count(*) FROM nodes WHERE cluster_id = $1 AND status = 'online' AND name <> $2),
		(SELECT count(*) FROM jobs j JOIN guests g ON j.exclusive = 'guest:' || g.id WHERE j.status IN ('queued', 'running')
			AND g.cluster_id = $1 AND g.node = $2)`, p.ClusterID, p.Node).Scan(&nodes, &online, &jobs)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the effects of a node's power command: %w", err))
	}
	if nodes > 1 && 2*online <= nodes {
		pl.Warn("Of %d nodes, %s online: the cluster may lose its quorum; until it has it again, it cannot be changed and starts no "+
			"guests.",
			nodes, plan.Plural(online, "1 remains", "%d remain"))
	}
	if jobs > 0 {
		pl.Warn("%s on guests of the node and may fail.", plan.Plural(jobs, "1 job is working", "%d jobs are working"))
	}
	return nil
}

// runner is a guest that does not stand still.
type runner struct {
	Name   string
	TeamID int64
}

// running are the guests on a node that the last poll did not see stopped, by name.
func (s *Store) running(ctx context.Context, p *host.NodeRef) ([]runner, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT g.name, h.team_id FROM guests g JOIN hosts h ON h.id = g.host_id
		WHERE g.cluster_id = $1 AND g.node = $2 AND g.status <> 'stopped' AND NOT g.template ORDER BY g.name, g.id`, p.ClusterID, p.Node)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the guests of a node: %w", err))
	}
	guests, err := pgx.CollectRows(rows, pgx.RowToStructByPos[runner])
	return guests, db.Problem(err)
}
