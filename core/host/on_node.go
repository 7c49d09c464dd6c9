package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// OnNode runs work on a host's machine, with a login as root by the host's SSH
// key. work receives the ability A, one of those that need a login, such as
// hypervisor.NodeExecutor, which runs programs and copies files.
//
// The login takes one of the host's slots. limit bounds the whole call,
// including the wait for a slot. Only the machine at the host's own address can
// be reached; HostOfNode finds the host of another node.
//
// All errors are problems, and the SDK's error stays in their chain, because
// jobs decide by its kind. Before any connection: consent_required,
// ssh_not_enrolled, and unsupported if the driver cannot log in. After it:
// ssh_host_key_changed with both fingerprints, timeout if limit has passed, and
// those of plugin.Problem.
func OnNode[A, T any](ctx context.Context, s *Store, id int64, limit time.Duration,
	work func(context.Context, A) (T, error)) (answer T, err error) {
	a, err := s.sshAccess(ctx, id)
	if err != nil {
		return answer, err
	}
	if err := a.usable(false); err != nil {
		return answer, err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err = onNode(limited, s, id, a, work)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = sdk.Errorf(sdk.Timeout, "the operation did not finish within %s: %w", limit, err)
	}
	if p := hostKeyProblem(a, err); p != nil {
		return answer, p
	}
	return answer, plugin.Problem(err)
}

// onNode waits for a slot, logs in and runs work. The slot is held until work
// returns, because sshd counts a connection until it is closed.
// onNode waits for a slot, logs in and runs work. The slot is held until work
// returns, because the server counts a connection until it is closed.
func onNode[A, T any](ctx context.Context, s *Store, id int64, a sshAccess,
	work func(context.Context, A) (T, error)) (answer T, err error) {
	release, err := s.loginSlot(ctx, id)
	if err != nil {
		return answer, err
	}
	defer release()
	node, end, err := loggedIn[A](ctx, s, a, a.active)
	if err != nil {
		return answer, err
	}
	defer end()
	return work(ctx, node)
}

// RequireSSH returns the problem with which OnNode would refuse the host before
// any connection, or nil. Callers use it before they start a job, so that the
// user sees the refusal at once and not in the job.
func (s *Store) RequireSSH(ctx context.Context, id int64) error {
	a, err := s.sshAccess(ctx, id)
	if err != nil {
		return err
	}
	if err := s.sshAble(ctx, a.connection); err != nil {
		return err
	}
	return a.usable(false)
}

// HostOfNode finds the enrolled host whose machine is the given node. It must
// be of the same cluster, team and driver as hostID: the caller has rights on
// hostID alone. If several hosts lead to the node, hostID itself comes first,
// then one with an SSH key in use. The problem is ssh_not_enrolled if no host
// does.
func HostOfNode(ctx context.Context, d *db.DB, hostID int64, node string) (id int64, err error) {
	err = d.Pool.QueryRow(ctx, `SELECT o.id FROM hosts h JOIN hosts o ON o.id = h.id OR o.cluster_id = h.cluster_id
			AND o.team_id = h.team_id AND o.driver = h.driver
		WHERE h.id = $1 AND o.entry_node = $2 ORDER BY o.id = h.id DESC,
			EXISTS (SELECT FROM host_ssh_keys k WHERE k.host_id = o.id AND k.state = 'active') DESC, o.id LIMIT 1`, hostID, node).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, problem.New(problem.CodeSSHNotEnrolled, "the node %s is not enrolled as a host, and Hostler logs in only to hosts: "+
			"enrol it first",
			Clean(node)).With("remedy", "POST /api/v1/hosts/{host_id}/peers")
	case err != nil:
		return 0, db.Problem(fmt.Errorf("reading the host of a node: %w", err))
	}
	return id, nil
}

// Machine returns the host whose machine the node is, as HostOfNode does, and
// checks it with RequireSSH.
func (s *Store) Machine(ctx context.Context, hostID int64, node string) (id int64, err error) {
	if id, err = HostOfNode(ctx, s.db, hostID, node); err != nil {
		return 0, err
	}
	return id, s.RequireSSH(ctx, id)
}

// OnMachine is OnNode for work that returns no value.
func (s *Store) OnMachine(ctx context.Context, id int64, limit time.Duration,
	work func(context.Context, hypervisor.NodeExecutor) error) error {
	_, err := OnNode(ctx, s, id, limit, func(ctx context.Context, node hypervisor.NodeExecutor) (struct{}, error) {
		return struct{}{}, work(ctx, node)
	})
	return err
}
