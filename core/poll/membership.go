package poll

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// errGone reports that the host was removed during its poll.
var errGone = errors.New("the host no longer exists")

// place is the cluster of a host.
type place struct {
	team    int64
	cluster *int64
	// name and ident are the cluster's, as last reported.
	name, ident string
	others      bool // the cluster has other hosts
}

// readPlace reads and locks the row of the host.
func readPlace(ctx context.Context, tx pgx.Tx, id int64) (place, error) {
	var at place
	err := tx.QueryRow(ctx, `SELECT h.team_id, h.cluster_id, COALESCE(c.name, ''), COALESCE(c.ident, ''), EXISTS (SELECT FROM hosts o
		WHERE o.cluster_id = h.cluster_id AND o.id <> h.id)
		FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id WHERE h.id = $1 FOR NO KEY UPDATE OF h`, id).Scan(&at.team, &at.cluster,
		&at.name, &at.ident, &at.others)
	if errors.Is(err, pgx.ErrNoRows) {
		return at, errGone
	}
	if err != nil {
		return at, fmt.Errorf("reading the host's cluster: %w", err)
	}
	return at, nil
}

// join finds the cluster to which the host belongs now, moves the host there if
// it is another one than before, and locks the cluster's row until the
// transaction ends.
//
// Hosts of one team are members of one cluster if their endpoints report the
// same cluster ID, or else the same non-empty name and node lists that agree:
// at least one node with the same name and address. No node's certificate may
// contradict, whatever the ID. A single machine is its own cluster. So two
// clusters that share a name by chance stay two, and what joins or leaves a
// cluster at the hypervisor does so here with its next poll. A cluster that is
// known twice, because two teams had enrolled it and are one team now, becomes
// one. A cluster whose ID changes, as with a new certificate, stays one by its
// name and nodes.
func join(ctx context.Context, tx *db.Tx, id int64, v *inventory) (int64, error) {
	at, err := readPlace(ctx, tx.Pgx, id)
	if err != nil {
		return 0, err
	}
	stays, err := staysPut(ctx, tx.Pgx, id, at, v)
	if err != nil {
		return 0, err
	}
	cluster := int64(0)
	if stays {
		cluster = *at.cluster
	} else if cluster, err = rejoin(ctx, tx, id, v); err != nil {
		return 0, err
	}
	if _, err := tx.Pgx.Exec(ctx, "SELECT FROM clusters WHERE id = $1 FOR NO KEY UPDATE", cluster); err != nil {
		return 0, fmt.Errorf("locking the cluster: %w", err)
	}
	return cluster, nil
}

// staysPut handles nearly every poll: the host stays in its cluster. It takes
// no lock for which other clusters would wait.
func staysPut(ctx context.Context, tx pgx.Tx, id int64, at place, v *inventory) (bool, error) {
	own, err := belongs(ctx, tx, id, at, v)
	if err != nil || !own {
		return false, err
	}
	// Its cluster may be one that other hosts reported before.
	match, err := find(ctx, tx, id, at, own, v)
	return match == 0, err
}

// belongs reports whether the host is still a member of its cluster. A single
// host takes its cluster along.
func belongs(ctx context.Context, tx pgx.Tx, id int64, at place, v *inventory) (bool, error) {
	switch {
	case at.cluster == nil:
		return false, nil
	case !at.others, v.anonymous():
		return true, nil
	case !v.resembles(at.name, at.ident):
		return false, nil
	}
	return agrees(ctx, tx, id, *at.cluster, at.ident, v)
}

// resembles reports whether a cluster with that name and id may be the reported
// one. Without names it needs an id of both, or of neither.
func (v *inventory) resembles(name, ident string) bool {
	called := v.unnamed() || name == v.cluster.Name
	return v.identical(ident) || called && (name != "" || (ident == "") == (v.cluster.ID == ""))
}

// identical reports whether a cluster is the reported one by its id.
func (v *inventory) identical(ident string) bool { return ident != "" && ident == v.cluster.ID }

// rejoin decides again, under the lock that all such decisions take, and moves
// the host.
func rejoin(ctx context.Context, tx *db.Tx, id int64, v *inventory) (int64, error) {
	if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, 0)", db.LockPoll); err != nil {
		return 0, fmt.Errorf("waiting for other hosts to join: %w", err)
	}
	at, err := readPlace(ctx, tx.Pgx, id)
	if err != nil {
		return 0, err
	}
	own, err := belongs(ctx, tx.Pgx, id, at, v)
	if err != nil {
		return 0, err
	}
	match, err := find(ctx, tx.Pgx, id, at, own, v)
	if err != nil {
		return 0, err
	}
	switch {
	case own && match == 0:
		return *at.cluster, nil
	case own:
		return match, mergeCluster(ctx, tx, *at.cluster, match)
	case match == 0:
		if err := tx.Pgx.QueryRow(ctx, "INSERT INTO clusters (team_id, name, ident) VALUES ($1, $2, $3) RETURNING id", at.team,
			v.cluster.Name, v.cluster.ID).Scan(&match); err != nil {
			return 0, fmt.Errorf("adding the cluster: %w", err)
		}
	}
	return match, leave(ctx, tx.Pgx, id, at, match)
}

// find returns the cluster of the host's team, other than its own, to which the
// report belongs; 0 for none. Of two stored clusters that are one, the younger
// looks for the older and not the other way round, so that they cannot move
// into each other.
func find(ctx context.Context, tx pgx.Tx, id int64, at place, own bool, v *inventory) (int64, error) {
	if v.cluster.Name == "" && v.cluster.ID == "" {
		return 0, nil
	}
	rows, err := tx.Query(ctx, `SELECT c.id, c.ident FROM clusters c WHERE c.team_id = $1
		AND (c.name = $2 AND c.name <> '' OR c.ident = $5 AND c.ident <> '') AND c.id IS DISTINCT FROM $3
		AND (NOT $4 OR c.id < $3) AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id) ORDER BY c.ident = $5 DESC, c.id`,
		at.team, v.cluster.Name, at.cluster, own && at.others, v.cluster.ID)
	if err != nil {
		return 0, fmt.Errorf("reading the cluster: %w", err)
	}
	candidates, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
	if err != nil {
		return 0, fmt.Errorf("reading the cluster: %w", err)
	}
	for _, c := range candidates {
		if same, err := agrees(ctx, tx, id, c.ID, c.Ident, v); err != nil || same {
			return c.ID, err
		}
	}
	return 0, nil
}

// candidate is a cluster that a report may be of.
type candidate struct {
	ID    int64
	Ident string
}

// agrees compares the reported nodes with those of the cluster. A cluster
// without nodes agrees with all, and one with the same id needs no common node.
func agrees(ctx context.Context, tx pgx.Tx, id, cluster int64, ident string, v *inventory) (bool, error) {
	rows, err := tx.Query(ctx, "SELECT name, address, fingerprint FROM nodes WHERE cluster_id = $1", cluster)
	if err != nil {
		return false, fmt.Errorf("reading the cluster's nodes: %w", err)
	}
	known, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n hypervisor.Node, err error) {
		return n, row.Scan(&n.Name, &n.Address, &n.Fingerprint)
	})
	if err != nil {
		return false, fmt.Errorf("reading the cluster's nodes: %w", err)
	}
	if !nodesAgree(known, v.nodes, v.identical(ident)) {
		return false, nil
	}
	// Two hosts at the same node with different pinned certificates are two
	// machines with one name.
	var contradiction bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM hosts o JOIN hosts h ON h.id = $1 WHERE o.cluster_id = $2 AND o.id <> h.id
		AND o.entry_node = $3 AND o.tls_fingerprint <> h.tls_fingerprint)`, id, cluster, v.cluster.Entry).Scan(&contradiction)
	if err != nil {
		return false, fmt.Errorf("comparing certificates: %w", err)
	}
	return !contradiction || v.cluster.Entry == "", nil
}

// nodesAgree reports whether no certificate contradicts and, unless the
// clusters are known to be one, a node is common to both.
func nodesAgree(known, reported []hypervisor.Node, one bool) bool {
	byName := make(map[string]hypervisor.Node, len(known))
	for _, n := range known {
		byName[n.Name] = n
	}
	common := one || len(known) == 0
	for _, n := range reported {
		k, ok := byName[n.Name]
		if !ok {
			continue
		}
		if k.Fingerprint != "" && n.Fingerprint != "" && k.Fingerprint != n.Fingerprint {
			return false
		}
		// A name alone proves nothing: many installations keep the default one,
		// such as pve.
		common = common || n.Address != "" && k.Address == n.Address || n.Fingerprint != "" && k.Fingerprint == n.Fingerprint
	}
	return common
}

// What a host takes along that leaves its cluster ($1) to others and goes to another one ($2).
const (
	moveOwnGuests = `UPDATE guests x SET cluster_id = $2, figures_at = ` + ownFiguresAt + ` WHERE x.cluster_id = $1
	AND x.host_id = $3 AND x.node = (SELECT entry_node FROM hosts WHERE id = $3)
	AND NOT EXISTS (SELECT FROM guests y WHERE y.cluster_id = $2 AND y.identity = x.identity)`
	moveOwnApps = `UPDATE apps x SET cluster_id = $2, host_id = $3, guest_id = g.id FROM guests g WHERE x.cluster_id = $1
	AND g.cluster_id = $2 AND g.host_id = $3 AND g.kind = 'container'
	AND (g.id = x.guest_id OR g.identity = x.identity AND (g.uid IS NOT NULL OR ` + sameName + `))
	AND NOT EXISTS (SELECT FROM apps y WHERE y.id <> x.id AND (y.guest_id = g.id OR y.cluster_id = $2 AND y.identity = x.identity))`
)

// leave moves a host without a cluster, or one that has left its cluster, into
// another one. The host takes along what is on its own node, with the ids of
// guests, and leaves the rest to the others.
func leave(ctx context.Context, tx pgx.Tx, id int64, from place, to int64) error {
	if _, err := tx.Exec(ctx, "UPDATE hosts SET cluster_id = $2 WHERE id = $1", id, to); err != nil {
		return fmt.Errorf("moving the host: %w", err)
	}
	if from.cluster == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, moveOwnGuests, *from.cluster, to, id); err != nil {
		return fmt.Errorf("moving the host's guests: %w", err)
	}
	if _, err := tx.Exec(ctx, moveOwnApps, *from.cluster, to, id); err != nil {
		return fmt.Errorf("moving the host's apps: %w", err)
	}
	return host.Reattribute(ctx, tx, id, *from.cluster)
}
