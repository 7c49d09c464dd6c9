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
	// every is how old a listing grows, and again how long it is until one that failed is tried again.
	every = time.Hour
	again = 10 * time.Minute
	// listLimit bounds one listing.
	listLimit = 90 * time.Second
	// maxBackups bounds those of one storage: the newest are kept.
	maxBackups = 100_000
	maxID      = 1000
	// changeLimit bounds a change that its caller waits for.
	changeLimit = 20 * time.Second
)

// source is a storage that can be listed: through which host, and on which node.
type source struct {
	id, cluster, host int64
	name, node        string
}

// sources completes the storage s with the node to ask, one that has it and is there, and the host with a token: the storage's own
// before others of its cluster, one that answers before one that does not.
const sources = `SELECT s.id, s.cluster_id, k.host_id, s.name, t.node
	FROM backup_storages s
	CROSS JOIN LATERAL (SELECT o.id AS host_id FROM hosts o
		JOIN host_credentials k ON k.host_id = o.id AND k.capability = 'backup'
		WHERE o.cluster_id = s.cluster_id ORDER BY o.failures > 0, o.id <> s.host_id, o.id LIMIT 1) k
	CROSS JOIN LATERAL (SELECT t.node FROM storages t
		WHERE t.cluster_id = s.cluster_id AND t.name = s.name AND s.node IN ('', t.node)
		ORDER BY t.status <> 'available', t.node LIMIT 1) t`

// Refresh lists a storage of a host's cluster now, as its node sees it. One that is not known, or that no host has a token for, is
// left alone. The error is the problem of the listing, which is noted too.
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

// source reads the one of a query; nil when there is none.
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

// list asks for the backups of a storage and writes what it found.
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

// same is, in SQL, whether b and t are one backup that two different clusters list, where guests have no lasting identity.
const same = `t.cluster_id <> b.cluster_id
	AND NOT EXISTS (SELECT FROM cluster_twins w WHERE w.cluster_id = b.cluster_id AND w.twin_id = t.cluster_id)
	AND t.kind = b.kind AND t.guest_ref = b.guest_ref AND t.taken_at = b.taken_at
	AND t.size IS NOT DISTINCT FROM b.size AND t.uid IS NULL AND b.uid IS NULL
	AND substring(t.ref FROM position(':' IN t.ref) + 1) = substring(b.ref FROM position(':' IN b.ref) + 1)`

// shown is, in SQL, whether something shows that the backup b is of the guest g, which may be the app a: its notes have the guest's name,
// or it was taken while a job of ours backed the guest up.
const shown = `(lower(g.name) = ANY (regexp_split_to_array(lower(b.notes), '[^[:alnum:]._-]+')) OR EXISTS (SELECT FROM jobs j
	WHERE j.kind = 'backup.run' AND j.status = 'succeeded' AND (j.target_kind = 'vm' AND j.target_id = g.id OR j.target_kind = 'app' AND
		j.target_id = a.id) AND b.taken_at BETWEEN j.started_at - interval '1 minute' AND j.finished_at + interval '1 minute'))`

// judgeOwners notes of which backups of a storage, and of the same ones that other clusters list, it is doubtful whose they are. It locks
// the storages as a listing does, in their order.
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

// readable are the backups that can be kept and asked for again, each id once.
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

// sameGuest is, in SQL, whether a backup that is listed again is of the guest that it was of.
const sameGuest = `(b.kind, b.guest_ref, b.uid) IS NOT DISTINCT FROM (EXCLUDED.kind, EXCLUDED.guest_ref, EXCLUDED.uid)`

// merge writes what a storage has. A backup whose guest is another than before is linked anew.
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

// owner is, in SQL, the guest that the backup b is of. Where both have a lasting identity, that alone says it. Elsewhere an id may have
// gone to another guest: a backup that was of one that is gone belongs to the one of its id under the same name only, and what is older
// than a guest that a job has made anew does not belong to it.
const owner = `(SELECT g.id FROM guests g WHERE g.cluster_id = b.cluster_id AND g.kind = b.kind
	AND (g.identity = 'uid:' || b.uid OR g.ref = b.guest_ref AND (g.uid IS NULL OR b.uid IS NULL) AND NOT b.superseded
		AND (b.guest_id = g.id OR b.name IN ('', g.name)))
	ORDER BY g.uid IS NOT DISTINCT FROM b.uid DESC, g.id DESC LIMIT 1)`

// write replaces what is known of the storage.
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

// nameThem keeps the names of the guests that are there.
const nameThem = `UPDATE backups b SET name = g.name FROM guests g WHERE g.id = b.guest_id AND b.name <> g.name`
