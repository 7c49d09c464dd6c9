package host

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// server identifies a server independently of the address at which it is
// reached. No single fact does that: single machines are all called "pve" and
// often have the same private address at different sites, many servers share a
// wildcard certificate, and a name stays when a machine is reinstalled. Two
// endpoints are therefore the same server if they present the same certificate,
// answer as the same node of the same cluster, and do not report different
// addresses of that node. A fact that is unknown, because a driver does not
// report it or the token may not see it, never makes two endpoints the same.
type server struct {
	driver      string
	fingerprint string
	node        string
	cluster     string // empty for a machine alone
	address     string // the node's own; empty when not told
}

// at reports whether other answers as the same node, by the facts that stay
// when a certificate is renewed.
func (s server) at(other server) bool {
	return s.node != "" && s.node == other.node && s.cluster == other.cluster && s.driver == other.driver &&
		(s.address == "" || other.address == "" || s.address == other.address)
}

// same reports whether both are certainly the same server.
func (s server) same(other server) bool {
	return s.at(other) && s.fingerprint != "" && s.fingerprint == other.fingerprint
}

// identify reads from the endpoint of v which node it is. If the token may not
// read the inventory, the facts that it does not see stay unknown. Any other
// failure is an error, because the endpoint could be any server.
func (s *Store) identify(ctx context.Context, driver string, target endpoint.Target, v Verification) (server, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	found := server{driver: driver, fingerprint: v.Fingerprint}
	if v.Node != nil {
		found.node = *v.Node
	}
	// Nothing decides about the certificate. The one that was verified a moment
	// ago must be the one that is asked now.
	if target.Fingerprint == "" && !target.VerifyTLS {
		target.Fingerprint = v.Fingerprint
	}
	host, err := s.open(ctx, driver, target)
	if err != nil {
		return server{}, err
	}
	defer func() { _ = host.Close() }()
	err = host.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
		if page.Cluster != nil {
			found.cluster = Clean(page.Cluster.Name)
			if page.Cluster.Entry != "" {
				found.node = Clean(page.Cluster.Entry)
			}
		}
		for _, n := range page.Nodes {
			if found.node != "" && Clean(n.Name) == found.node {
				found.address = Clean(n.Address)
			}
		}
		return nil
	})
	switch plugin.KindOf(err) {
	case plugin.Denied, plugin.Unsupported:
		return found, nil
	}
	return found, err
}

// enrolled is a host with the facts that are needed to compare servers.
type enrolled struct {
	id, team int64
	server
	// sure is false if the server may present another certificate by now:
	// nothing pins it, or it was refused.
	sure bool
}

// selectEnrolled selects the hosts on the node $1, except the host $2.
const selectEnrolled = `SELECT id, team_id, driver, COALESCE(tls_fingerprint, server_fingerprint, ''), entry_node,
	COALESCE(server_cluster, ''), COALESCE(server_address, ''),
	tls_fingerprint IS NOT NULL AND error_reason <> 'tls_fingerprint' FROM hosts WHERE entry_node = $1 AND id <> $2 ORDER BY id`

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// neighbours returns the hosts other than the given one whose servers answer as
// the same node.
func neighbours(ctx context.Context, q querier, found server, but int64) ([]enrolled, error) {
	if found.node == "" {
		return nil, nil
	}
	rows, err := q.Query(ctx, selectEnrolled, found.node, but)
	if err != nil {
		return nil, fmt.Errorf("finding hosts with the same server: %w", err)
	}
	var near []enrolled
	var e enrolled
	_, err = pgx.ForEachRow(rows, []any{&e.id, &e.team, &e.driver, &e.fingerprint, &e.node, &e.cluster, &e.address, &e.sure}, func() error {
		if e.at(found) {
			near = append(near, e)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("finding hosts with the same server: %w", err)
	}
	return near, nil
}

// maxRenewed limits the number of hosts that are asked for their present
// certificate.
const maxRenewed = 16

// renewed asks hosts that would be the found server except for an older
// certificate which certificate they present now. Where authorities decide,
// certificates change without notice. The result is by host; a host that does
// not answer keeps its old certificate.
func (s *Store) renewed(ctx context.Context, found server, but int64) (map[int64]string, error) {
	near, err := neighbours(ctx, s.db.Pool, found, but)
	if err != nil {
		return nil, db.Problem(err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	now, asked := map[int64]string{}, 0
	for _, e := range near {
		if e.sure || e.same(found) || asked == maxRenewed {
			continue
		}
		asked++
		all.Go(func() {
			if shown := s.shown(ctx, e.id); shown != "" {
				mu.Lock()
				defer mu.Unlock()
				now[e.id] = shown
			}
		})
	}
	all.Wait()
	return now, nil
}

// shown returns the certificate that a stored host's server presents now,
// trusted or not. It is empty if the server does not answer.
func (s *Store) shown(ctx context.Context, id int64) string {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	driver, target, err := s.target(ctx, id, endpoint.Monitoring)
	if err != nil {
		return ""
	}
	version, err := s.version(ctx, driver, target)
	var e *plugin.Error
	if errors.As(err, &e) && e.Kind == plugin.Untrusted {
		return e.Fingerprint
	}
	return version.Fingerprint
}

// refuseDuplicate returns the problem already_enrolled for a server that
// another host has. It holds a lock until the end of the transaction: of two
// requests that add the same server at the same time, the second waits here and
// then finds the first. Only an admin of the other host learns which host it
// is.
func refuseDuplicate(ctx context.Context, tx *db.Tx, found server, but int64, now map[int64]string) error {
	if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, 0)", db.LockEnrol); err != nil {
		return fmt.Errorf("waiting for other enrolments: %w", err)
	}
	near, err := neighbours(ctx, tx.Pgx, found, but)
	if err != nil {
		return err
	}
	var refusal *problem.Error
	for _, e := range near {
		if shown, answered := now[e.id]; answered && !e.sure {
			e.fingerprint = shown
		}
		if !e.same(found) {
			continue
		}
		if refusal == nil {
			refusal = problem.New(problem.CodeAlreadyEnrolled, "this server is already enrolled under another address")
		}
		if caller := identity.FromContext(ctx); caller == nil || caller.On(e.team) >= identity.Admin {
			return refusal.With("host_id", e.id)
		}
	}
	if refusal != nil {
		return refusal
	}
	return nil
}

// keepServer stores the facts about a host's server.
func keepServer(ctx context.Context, tx *db.Tx, id int64, found server) error {
	_, err := tx.Pgx.Exec(ctx, `UPDATE hosts SET server_fingerprint = NULLIF($2, ''), server_cluster = $3, server_address = NULLIF($4, ''),
		entry_node = COALESCE(NULLIF($5, ''), entry_node) WHERE id = $1`, id, found.fingerprint, found.cluster, found.address, found.node)
	if err != nil {
		return fmt.Errorf("storing the server's identity: %w", err)
	}
	return nil
}
