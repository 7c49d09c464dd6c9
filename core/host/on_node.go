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

// OnNode does something on a host's machine with the host's SSH key, as root: work gets the ability that it wants, of those that need a
// login, such as hypervisor.NodeExecutor, which runs programs there and copies files. It takes a slot among the logins of the host, and
// limit bounds all of it, the waiting for the slot too. Only the machine at the host's address is reached: see HostOfNode.
//
// Errors are problems, and an error of the SDK stays in them for jobs, which judge it by its kind: consent_required and ssh_not_enrolled
// before anything is dialled, unsupported where the host's driver logs in to no machines, ssh_host_key_changed with both fingerprints, and
// what plugin.Problem makes of the driver's.
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
		err = sdk.Errorf(sdk.Timeout, "it was not done within %s: %w", limit, err)
	}
	if p := hostKeyProblem(a, err); p != nil {
		return answer, p
	}
	return answer, plugin.Problem(err)
}

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

// RequireSSH is the problem that OnNode would refuse a host with before anything is dialled; nil where it would log in.
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

// HostOfNode is the host whose machine a node is, of the same cluster, team and driver as a host that sees it: a node that is enrolled
// itself. One that is not is the problem ssh_not_enrolled.
func HostOfNode(ctx context.Context, d *db.DB, hostID int64, node string) (id int64, err error) {
	err = d.Pool.QueryRow(ctx, `SELECT o.id FROM hosts h JOIN hosts o ON o.id = h.id OR o.cluster_id = h.cluster_id
			AND o.team_id = h.team_id AND o.driver = h.driver
		WHERE h.id = $1 AND o.entry_node = $2 ORDER BY o.id = h.id DESC,
			EXISTS (SELECT FROM host_ssh_keys k WHERE k.host_id = o.id AND k.state = 'active') DESC, o.id LIMIT 1`, hostID, node).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, problem.New(problem.CodeSSHNotEnrolled, "the node %s is no host itself, and only hosts are logged in to: enrol it first",
			Clean(node)).With("remedy", "POST /api/v1/hosts/{host_id}/peers")
	case err != nil:
		return 0, db.Problem(fmt.Errorf("looking for the host of a node: %w", err))
	}
	return id, nil
}

// Machine is the host whose machine a node is, as HostOfNode has it, and the problem that RequireSSH has where it is not logged in to.
func (s *Store) Machine(ctx context.Context, hostID int64, node string) (id int64, err error) {
	if id, err = HostOfNode(ctx, s.db, hostID, node); err != nil {
		return 0, err
	}
	return id, s.RequireSSH(ctx, id)
}

// OnMachine is OnNode for work that runs programs and copies files.
func (s *Store) OnMachine(ctx context.Context, id int64, limit time.Duration,
	work func(context.Context, hypervisor.NodeExecutor) error) error {
	_, err := OnNode(ctx, s, id, limit, func(ctx context.Context, node hypervisor.NodeExecutor) (struct{}, error) {
		return struct{}{}, work(ctx, node)
	})
	return err
}
