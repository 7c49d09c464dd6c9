package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// every is the maximum age of a listing, and again the delay before a
	// failed one is repeated.
	every = time.Hour
	again = 10 * time.Minute
	// listLimit bounds one listing.
	listLimit = 90 * time.Second
	// maxBackups bounds the backups of one storage, and maxID the length of an
	// ID in bytes. What exceeds them is not stored.
	maxBackups = 100_000
	maxID      = 1000
	// changeLimit bounds a change that its caller waits for.
	changeLimit = 20 * time.Second
)

// source is a storage to list: through which host, and on which node. For a
// shared storage, node is any node that has it.
type source struct {
	id, cluster, host int64
	name, node        string
}

// sources adds to the storage s the node to ask and the host to ask through.
// The node is one on which the storage is available, if there is one. The host
// has a token for backups; hosts that answer come first, then the storage's own
// host.
const sources = `SELECT s.id, s.cluster_id, k.host_id, s.name, t.node
	FROM backup_storages s
	CROSS JOIN LATERAL (SELECT o.id AS host_id FROM hosts o
		JOIN host_credentials k ON k.host_id = o.id AND k.capability = 'backup'
		WHERE o.cluster_id = s.cluster_id ORDER BY o.failures > 0, o.id <> s.host_id, o.id LIMIT 1) k
	CROSS JOIN LATERAL (SELECT t.node FROM storages t
		WHERE t.cluster_id = s.cluster_id AND t.name = s.name AND s.node IN ('', t.node)
		ORDER BY t.status <> 'available', t.node LIMIT 1) t`

// Refresh lists a storage of a host's cluster now and waits for the result.
// node selects among storages of the same name that are not shared. It does
// nothing if the storage is unknown or no host of the cluster has a token for
// backups. The error is the problem of the listing, which is also stored in the
// row of the storage.
func (s *Store) Refresh(ctx context.Context, hostID int64, storage, node string) error {
	const one = sources + ` WHERE s.name = $2 AND s.node IN ('', $3) AND s.cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1)`
	src, err := s.source(ctx, one, hostID, storage, node)
	if err == nil && src == nil { // of a host that has just been enrolled
		if err = s.adopt(ctx); err == nil {
			src, err = s.source(ctx, one, hostID, storage, node)
		}
	}
	if err != nil || src == nil {
		return err
	}
	return s.list(ctx, *src)
}

// source reads the source that a query finds; nil if there is none.
func (s *Store) source(ctx context.Context, sql string, args ...any) (*source, error) {
	var src source
	err := s.DB.Pool.QueryRow(ctx, sql, args...).Scan(&src.id, &src.cluster, &src.host, &src.name, &src.node)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a backup storage: %w", err))
	}
	return &src, nil
}

// list asks for the backups of a storage and stores them. If the listing fails,
// it stores the time and the reason and leaves the known backups as they are.
// If the context ends, it stores nothing.
func (s *Store) list(ctx context.Context, src source) error {
	found, err := host.CallWithTimeout(ctx, s.Actor.Hosts, listLimit, src.host, endpoint.Backup,
		func(ctx context.Context, at hypervisor.BackupManager) ([]hypervisor.Backup, error) {
			return at.Backups(ctx, hypervisor.BackupQuery{Storage: src.name, Node: src.node})
		})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		failed := problem.From(plugin.Problem(err))
		_, noteErr := s.DB.Pool.Exec(ctx, "UPDATE backup_storages SET tried_at = now(), error_code = $2, error = $3 WHERE id = $1", src.id,
			string(failed.Code), host.Clean(failed.Detail))
		return errors.Join(failed, db.Problem(noteErr))
	}
	if err := s.DB.Tx(ctx, func(tx *db.Tx) error { return src.write(ctx, tx.Pgx, found) }); err != nil {
		return err
	}
	return s.judgeOwners(ctx, src.id)
}

// same is the SQL condition that b and t are the same backup, listed by two
// different clusters, where guests have no lasting identity. It compares kind,
// guest, time, size and the path without the name of the storage. Clusters that
// are known to be one cluster enrolled twice do not count.
const same = `t.cluster_id <> b.cluster_id
	AND NOT EXISTS (SELECT FROM cluster_twins w WHERE w.cluster_id = b.cluster_id AND w.twin_id = t.cluster_id)
	AND t.kind = b.kind AND t.guest_ref = b.guest_ref AND t.taken_at = b.taken_at
	AND t.size IS NOT DISTINCT FROM b.size AND t.uid IS NULL AND b.uid IS NULL
	AND substring(t.ref FROM position(':' IN t.ref) + 1) = substring(b.ref FROM position(':' IN b.ref) + 1)`

// shown is the SQL condition that something proves that the backup b is of the
// guest g, or of the app a: its notes contain the guest's name, or a job of
// this service backed up the guest at that time, give or take a minute.
const shown = `(lower(g.name) = ANY (regexp_split_to_array(lower(b.notes), '[^[:alnum:]._-]+')) OR EXISTS (SELECT FROM jobs j
	WHERE j.kind = 'backup.run' AND j.status = 'succeeded' AND (j.target_kind = 'vm' AND j.target_id = g.id OR j.target_kind = 'app' AND
		j.target_id = a.id) AND b.taken_at BETWEEN j.started_at - interval '1 minute' AND j.finished_at + interval '1 minute'))`

// judgeOwners marks the backups of a storage, and the same backups in other
// clusters, of which it is doubtful whose they are. It locks the rows of the
// storages in the order of their IDs, as source.write locks one of them, so
// that two judgments cannot deadlock.
func (s *Store) judgeOwners(ctx context.Context, storageID int64) error {
	const elsewhere = `SELECT t.id, t.storage_id FROM backups b JOIN backups t ON ` + same + ` WHERE b.storage_id = $1`
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		for _, sql := range []string{
			`SELECT FROM backup_storages s WHERE s.id = $1 OR s.id IN (SELECT e.storage_id FROM (` + elsewhere + `) e) ORDER BY s.id FOR UPDATE`,
			`UPDATE backups b SET doubtful = j.doubtful FROM (
				SELECT b.id, EXISTS (SELECT FROM backups t WHERE ` + same + `) AND NOT ` + shown + ` AS doubtful
				FROM backups b JOIN guests g ON g.id = b.guest_id LEFT JOIN apps a ON a.guest_id = g.id
				WHERE b.storage_id = $1 OR b.id IN (SELECT e.id FROM (` + elsewhere + `) e)) j
			WHERE j.id = b.id AND b.doubtful <> j.doubtful`,
		} {
			if _, err := tx.Pgx.Exec(ctx, sql, storageID); err != nil {
				return fmt.Errorf("judging which guests the backups of a storage belong to: %w", err)
			}
		}
		return nil
	})
}

// readable drops backups that cannot be stored or requested again: without a
// valid ID, kind or guest, and with an ID that appeared before. The driver is a
// plugin, so its output is not trusted.
func readable(found []hypervisor.Backup) []hypervisor.Backup {
	seen := map[string]bool{}
	kept := found[:0:0]
	for _, b := range found[:min(len(found), maxBackups)] {
		known := b.Kind == hypervisor.VM || b.Kind == hypervisor.Container
		if b.ID == "" || len(b.ID) > maxID || !utf8.ValidString(b.ID) || strings.ContainsRune(b.ID, 0) || seen[b.ID] || !known ||
			!b.Guest.Valid() {
			continue
		}
		seen[b.ID] = true
		kept = append(kept, b)
	}
	return kept
}

// sameGuest is the SQL condition that a backup that is listed again still is of
// the same guest.
const sameGuest = `(b.kind, b.guest_ref, b.uid) IS NOT DISTINCT FROM (EXCLUDED.kind, EXCLUDED.guest_ref, EXCLUDED.uid)`

// merge inserts or updates the backups of a storage. If the guest of a backup
// changed, the stored name and the mark superseded are reset, and write links
// the backup again. The final WHERE avoids writing rows that did not change.
const merge = `INSERT INTO backups AS b (cluster_id, storage_id, ref, node, kind, guest_ref, uid, taken_at, size, format,
	protected, encrypted,
	notes, verified)
	SELECT $1, $2, u.* FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::bigint[],
		$10::text[],
		$11::boolean[], $12::boolean[], $13::text[], $14::text[]) u
	ON CONFLICT (storage_id, ref) DO UPDATE SET node = EXCLUDED.node, kind = EXCLUDED.kind, guest_ref = EXCLUDED.guest_ref,
		name = CASE WHEN ` + sameGuest + ` THEN b.name ELSE '' END, superseded = b.superseded AND ` + sameGuest + `,
		uid = EXCLUDED.uid, taken_at = EXCLUDED.taken_at, size = EXCLUDED.size, format = EXCLUDED.format, protected = EXCLUDED.protected,
		encrypted = EXCLUDED.encrypted, notes = EXCLUDED.notes, verified = EXCLUDED.verified
	WHERE (b.node, b.kind, b.guest_ref, b.uid, b.taken_at, b.size, b.format, b.protected, b.encrypted, b.notes, b.verified) IS
		DISTINCT FROM
		(EXCLUDED.node, EXCLUDED.kind, EXCLUDED.guest_ref, EXCLUDED.uid, EXCLUDED.taken_at, EXCLUDED.size, EXCLUDED.format,
		EXCLUDED.protected, EXCLUDED.encrypted, EXCLUDED.notes, EXCLUDED.verified)`

// owner is a SQL expression for the guest of the backup b. If both have a
// lasting identity, only that decides.
//
// Otherwise the ID may have been reused. A backup of a guest that was deleted
// belongs to the guest with its ID only if the name is the same. A backup that
// is older than a guest that a job re-created is marked superseded and does not
// belong to it.
const owner = `(SELECT g.id FROM guests g WHERE g.cluster_id = b.cluster_id AND g.kind = b.kind
	AND (g.identity = 'uid:' || b.uid OR g.ref = b.guest_ref AND (g.uid IS NULL OR b.uid IS NULL) AND NOT b.superseded
		AND (b.guest_id = g.id OR b.name IN ('', g.name)))
	ORDER BY g.uid IS NOT DISTINCT FROM b.uid DESC, g.id DESC LIMIT 1)`

// write replaces the known backups of the storage. The first UPDATE locks the
// row of the storage: two listings of one storage wait for each other. If the
// row no longer exists, write does nothing.
func (src source) write(ctx context.Context, tx pgx.Tx, found []hypervisor.Backup) error {
	found = readable(found)
	n := len(found)
	refs, nodes, kinds, guests, formats := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	notes, verified, uids := make([]string, n), make([]string, n), make([]*string, n)
	times, sizes, protected, encrypted := make([]*time.Time, n), make([]*int64, n), make([]bool, n), make([]bool, n)
	for i, b := range found {
		refs[i], nodes[i], kinds[i], guests[i] = b.ID, host.Clean(b.Node), string(b.Kind), string(b.Guest)
		formats[i], notes[i], uids[i] = host.Clean(b.Format), host.Clean(b.Notes), host.CleanOrNil(b.UID)
		sizes[i], protected[i], encrypted[i] = b.SizeBytes, b.Protected, b.Encrypted
		if !b.TakenAt.IsZero() {
			at := b.TakenAt.UTC()
			times[i] = &at
		}
		if b.Verified == hypervisor.BackupVerified || b.Verified == hypervisor.BackupDamaged {
			verified[i] = b.Verified
		}
	}
	// Two listings of one storage follow one another.
	tag, err := tx.Exec(ctx, `UPDATE backup_storages SET as_of = now(), tried_at = now(), error_code = '', error = '' WHERE id =
		$1`, src.id)
	if err != nil || tag.RowsAffected() == 0 { // the storage is gone
		return db.Problem(err)
	}
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{`WITH gone AS (DELETE FROM backups WHERE storage_id = $1 AND ref <> ALL($2) RETURNING ref, cluster_id)
			DELETE FROM schedule_made m USING gone, guests g
			WHERE g.id = m.guest_id AND g.cluster_id = gone.cluster_id AND m.kind = 'backup' AND m.name = gone.ref`, []any{src.id, refs}},
		{merge, []any{src.cluster, src.id, refs, nodes, kinds, guests, uids, times, sizes, formats, protected, encrypted, notes,
			verified}},
		{`UPDATE backups b SET guest_id = o.id FROM (SELECT b.id AS backup, ` + owner + ` AS id FROM backups b WHERE b.storage_id = $1) o
			WHERE b.id = o.backup AND b.guest_id IS DISTINCT FROM o.id`, []any{src.id}},
		{nameThem + " AND b.storage_id = $1", []any{src.id}},
	} {
		if _, err := tx.Exec(ctx, statement.sql, statement.args...); err != nil {
			return db.Problem(fmt.Errorf("storing the backups of a storage: %w", err))
		}
	}
	return nil
}

// nameThem copies the current names of guests to their backups, so that a
// backup still has a name after its guest was deleted.
const nameThem = `UPDATE backups b SET name = g.name FROM guests g WHERE g.id = b.guest_id AND b.name <> g.name`
