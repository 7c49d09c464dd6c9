package poll

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// An answer is believed in what it holds. What it leaves out is there no less,
// until the hypervisor has said otherwise: a token that loses a right is shown
// a shorter list, and no error.

// doubtError reports that an answer lacks rows that existed, or has rows again
// that the last one lacked, so that the host must be asked before anything is
// written.
type doubtError struct {
	// guests are those left out, those that have just vanished first.
	guests []unlisted
}

// unlisted is a guest that an answer lacks: its row, and its reference for a
// question.
type unlisted struct {
	id  int64
	ref hypervisor.GuestRef
}

// Error says how much an answer lacks.
func (e *doubtError) Error() string {
	return fmt.Sprintf("the answer omits %d guests or other rows", len(e.guests))
}

// Conditions and counts of what an inventory leaves out.
const (
	notListed = `NOT EXISTS (SELECT FROM poll_guests p WHERE p.identity = g.identity)`
	// countOmissions counts the missing rows. A guest whose node is reported
	// away is missing for that reason. Nodes and storages carry the time of the
	// poll that reported them; those of the last poll have the cluster's time.
	countOmissions = `SELECT g.unlisted, g.vanished, g.back, n.unlisted, n.vanished, s.unlisted, s.vanished, s.back
FROM (SELECT count(*) FILTER (WHERE p.identity IS NULL) AS unlisted, count(*) FILTER (WHERE p.identity IS NULL AND g.listed_at IS NULL
	AND n.name IS NULL) AS vanished,
		count(*) FILTER (WHERE p.identity IS NOT NULL AND g.listed_at IS NOT NULL) AS back
	FROM guests g LEFT JOIN poll_guests p ON p.identity = g.identity
		LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = g.node AND n.name = ANY ($2) AND n.status <> 'online' WHERE g.cluster_id = $1) g,
	(SELECT count(*) AS unlisted, count(*) FILTER (WHERE n.seen_at >= c.seen_at) AS vanished
	FROM nodes n JOIN clusters c ON c.id = n.cluster_id WHERE n.cluster_id = $1 AND n.name <> ALL ($2::text[])) n,
	(SELECT count(*) FILTER (WHERE p.name IS NULL) AS unlisted, count(*) FILTER (WHERE p.name IS NULL AND s.seen_at >= c.seen_at) AS vanished,
		count(*) FILTER (WHERE p.name IS NOT NULL AND s.seen_at < c.seen_at) AS back
	FROM storages s JOIN clusters c ON c.id = s.cluster_id LEFT JOIN poll_storages p ON p.node = s.node AND p.name = s.name
	WHERE s.cluster_id = $1) s`

	selectUnlisted = `SELECT g.id, g.kind, g.node, g.ref, COALESCE(g.uid, '') FROM guests g WHERE g.cluster_id = $1 AND ` + notListed + `
	AND NOT EXISTS (SELECT FROM nodes n WHERE n.cluster_id = $1 AND n.name = g.node AND n.name = ANY ($2) AND n.status <> 'online')
ORDER BY g.listed_at NULLS FIRST, random() LIMIT $3`
)

// omissions counts the rows that an answer lacks (unlisted), those among them
// that the answer before had (vanished), and those that it has again (back).
type omissions struct {
	guests, guestsVanished, guestsBack       int
	nodes, nodesVanished                     int
	storages, storagesVanished, storagesBack int
}

// vanished, unlisted and back say what changed compared with the last poll.
func (o omissions) vanished() bool { return o.guestsVanished+o.nodesVanished+o.storagesVanished > 0 }
func (o omissions) unlisted() bool { return o.guests+o.nodes+o.storages > 0 }
func (o omissions) back() bool     { return o.guestsBack+o.storagesBack > 0 }

// omitted compares the stored rows of the cluster with the staged ones. The
// nodes have been written before.
func omitted(ctx context.Context, tx pgx.Tx, cluster int64, nodes []string) (o omissions, err error) {
	err = tx.QueryRow(ctx, countOmissions, cluster, nodes).Scan(&o.guests, &o.guestsVanished, &o.guestsBack,
		&o.nodes, &o.nodesVanished, &o.storages, &o.storagesVanished, &o.storagesBack)
	if err != nil {
		return o, fmt.Errorf("reading omitted rows: %w", err)
	}
	return o, nil
}

// doubt returns the error that stops a write which nobody has verified.
func (g *good) doubt(ctx context.Context, tx pgx.Tx, cluster int64, nodes []string, o omissions) error {
	if g.verified || !o.vanished() && !(o.unlisted() && g.rights != nil) && !(o.back() && g.rights == nil && g.limited()) {
		return nil
	}
	rows, err := tx.Query(ctx, selectUnlisted, cluster, nodes, maxChecks)
	if err != nil {
		return fmt.Errorf("listing omitted rows: %w", err)
	}
	left, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u unlisted, err error) {
		return u, row.Scan(&u.id, &u.ref.Kind, &u.ref.Node, &u.ref.ID, &u.ref.UID)
	})
	if err != nil {
		return fmt.Errorf("listing omitted rows: %w", err)
	}
	return &doubtError{left}
}

// Statements for guests that are gone.
const (
	// dropGone deletes guests that are gone. A guest that has another id by now
	// was not asked for by it.
	dropGone = `DELETE FROM guests g USING unnest($2::bigint[], $3::text[]) AS x (id, ref)
WHERE g.cluster_id = $1 AND g.id = x.id AND g.ref = x.ref AND ` + notListed

	// noteUnlisted keeps for a missing guest the time at which it was last
	// listed.
	noteUnlisted = `UPDATE guests g SET listed_at = COALESCE((SELECT c.seen_at FROM clusters c WHERE c.id = $1), g.changed_at)
WHERE g.cluster_id = $1 AND g.listed_at IS NULL AND ` + notListed

	noteListed = `UPDATE guests g SET listed_at = NULL FROM poll_guests p
WHERE g.cluster_id = $1 AND g.listed_at IS NOT NULL AND p.identity = g.identity`

	// doubtUnlisted marks missing guests as unknown. The result of a job that
	// has just read a guest stays as long as it is newer than the lists.
	doubtUnlisted = doubtGuests + ` AND (g.read_at IS NULL OR g.read_at < now() - interval '15 seconds') AND ` + notListed

	dropNodes  = `DELETE FROM nodes WHERE cluster_id = $1 AND name <> ALL ($2::text[])`
	doubtNodes = `UPDATE nodes SET status = 'unknown', status_since = now(), cpu = NULL, cpus = NULL, memory = NULL,
		memory_total = NULL, disk = NULL, disk_total = NULL, uptime = NULL, figures_at = NULL
WHERE cluster_id = $1 AND status <> 'unknown'`
	doubtOtherNodes = doubtNodes + ` AND name <> ALL ($2::text[])`

	storageUnlisted = ` AND NOT EXISTS (SELECT FROM poll_storages p WHERE p.node = s.node AND p.name = s.name)`
	dropStorages    = `DELETE FROM storages s WHERE s.cluster_id = $1` + storageUnlisted
	doubtStorages   = `UPDATE storages s SET status = 'unknown', used = NULL, total = NULL, figures_at = NULL WHERE s.cluster_id = $1
		AND (s.status <> 'unknown' OR s.used IS NOT NULL)`
)

// settle deletes what is gone and marks the other missing rows as unknown.
// Nodes and storages cannot be asked for individually: they are gone if the
// answer is complete and the token lacks nothing.
func (g *good) settle(ctx context.Context, tx pgx.Tx, cluster int64, nodes []string, o omissions) error {
	var ids []int64
	var refs []string
	for _, guest := range g.gone {
		ids, refs = append(ids, guest.id), append(refs, string(guest.ref.ID))
	}
	believed := g.verified && !g.limited() && !g.inv.cluster.Partial
	steps := []struct {
		what      string
		wanted    bool
		statement string
		args      []any
	}{
		{"removing nodes", o.nodes > 0 && believed, dropNodes, []any{cluster, nodes}},
		{"marking nodes", o.nodes > 0 && !believed, doubtOtherNodes, []any{cluster, nodes}},
		{"removing guests", len(ids) > 0, dropGone, []any{cluster, ids, refs}},
		{"recording omitted guests", o.guests > 0, noteUnlisted, []any{cluster}},
		{"marking omitted guests", o.guests > 0, doubtUnlisted, []any{cluster}},
		{"recording guests that are back", o.guestsBack > 0, noteListed, []any{cluster}},
		{"removing storages", o.storages > 0 && believed, dropStorages, []any{cluster}},
		{"marking storages", o.storages > 0 && !believed, doubtStorages + storageUnlisted, []any{cluster}},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		if _, err := tx.Exec(ctx, s.statement, s.args...); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}
