package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// shellLook is the time between two checks whether an open shell is still
// allowed.
const shellLook = 2 * time.Second

// Shell returns the shell of a host's node; without a name it is the node at
// the host's address. Problems: not_found, node_shell_disabled, and invalid for
// the query parameter node if none can be chosen.
func (s *Store) Shell(ctx context.Context, hostID int64, node string) (Target, error) {
	t := Target{Kind: "host", ID: hostID, HostID: hostID}
	var enabled, known bool
	err := s.DB.Pool.QueryRow(ctx, `SELECT h.name, h.team_id, h.node_shell_enabled, w.node,
			EXISTS (SELECT FROM nodes n WHERE n.cluster_id = h.cluster_id AND n.name = w.node)
		FROM hosts h CROSS JOIN LATERAL (SELECT COALESCE(NULLIF($2, ''), NULLIF(h.entry_node, ''),
			(SELECT min(n.name) FROM nodes n WHERE n.cluster_id = h.cluster_id HAVING count(*) = 1), '') AS node) w
		WHERE h.id = $1`, hostID, node).Scan(&t.Name, &t.TeamID, &enabled, &t.Node, &known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return t, problem.New(problem.CodeNotFound, "host not found")
	case err != nil:
		return t, db.Problem(fmt.Errorf("reading a host: %w", err))
	case !enabled:
		return t, shellsOff()
	case t.Node == "":
		return t, problem.InvalidField("is required: the host has several nodes", "missing", "query", "node")
	case !known:
		return t, problem.New(problem.CodeNotFound, "the host does not have this node")
	}
	return t, nil
}

func shellsOff() error {
	return problem.New(problem.CodeShellDisabled, "node shells are disabled on this host: PATCH it with node_shell_enabled, and use "+
		"the token script to create a console token that includes node shells")
}

// watchShell calls end when shells are no longer allowed on the host.
func (s *Store) watchShell(ctx context.Context, hostID int64, end func(error)) {
	ticker := time.NewTicker(shellLook)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var enabled bool
		err := s.DB.Pool.QueryRow(ctx, "SELECT node_shell_enabled FROM hosts WHERE id = $1", hostID).Scan(&enabled)
		if err == nil && !enabled {
			end(shellsOff())
			return
		}
	}
}
