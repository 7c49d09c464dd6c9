package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
)

// tick is how often Run looks for what is due, and atOnce how many storages are listed by one instance at the same time.
const (
	// tick is how often Run looks for storages that are due, and atOnce how
	// many storages one instance lists at the same time.
	tick   = 30 * time.Second
	atOnce = 4
)

// Run keeps the cache fresh until the context ends. Every instance runs it;
// claim makes sure that only one of them lists a storage.
func (s *Store) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	s.Heartbeat.Beat(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if s.HostsUnavailable == nil || !s.HostsUnavailable() {
			if err := s.Turn(ctx); err != nil && ctx.Err() == nil {
				s.log().Warn("could not list the backups; trying again", "error", err)
			}
		}
		s.Heartbeat.Beat(tick)
		timer.Reset(tick)
	}
}

// Turn runs one turn of Run: it adopts new storages, requests jobs for what
// schedules no longer keep, writes the report if it is due, and lists the
// storages that are due. It returns when all its listings have ended. An error
// of one listing is logged and does not end the turn.
func (s *Store) Turn(ctx context.Context) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	if err := s.prune(ctx); err != nil {
		return err
	}
	if err := s.Report(ctx, time.Now()); err != nil {
		return err
	}
	slots := make(chan struct{}, atOnce)
	defer func() {
		for range atOnce { // the last listings have ended
			slots <- struct{}{}
		}
	}()
	for ctx.Err() == nil {
		src, err := s.claim(ctx)
		if err != nil || src == nil {
			return err
		}
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			if err := s.list(ctx, *src); err != nil && ctx.Err() == nil {
				s.log().Warn("could not list the backups of a storage", "storage", src.name, "host", src.host, "error", err)
			}
		}()
		// One turn is not to be longer than the storages take: who watches the loop waits for its next beat.
		s.Heartbeat.Beat(listLimit + 2*tick)
	}
	return context.Cause(ctx)
}

// claim takes the storage that has been due longest, or returns nil. It sets
// tried_at in the same statement, and SKIP LOCKED passes over rows that other
// instances claim at the same time, so that each storage is listed once.
func (s *Store) claim(ctx context.Context) (*source, error) {
	src, err := s.source(ctx, `WITH due AS (SELECT s.id FROM backup_storages s WHERE `+tokenOf+`
		AND (s.tried_at IS NULL OR s.tried_at < now() - CASE WHEN s.error_code = '' THEN $1::interval ELSE $2::interval END)
		AND EXISTS (SELECT FROM storages t WHERE t.cluster_id = s.cluster_id AND t.name = s.name AND s.node IN ('', t.node))
		ORDER BY s.tried_at NULLS FIRST, s.id LIMIT 1 FOR UPDATE SKIP LOCKED),
		taken AS (UPDATE backup_storages SET tried_at = now() WHERE id IN (SELECT id FROM due) RETURNING id)
		`+sources+` WHERE s.id IN (SELECT id FROM taken)`, every, again)
	if err != nil {
		return nil, fmt.Errorf("reading the storage that is due: %w", err)
	}
	return src, nil
}

// adopt updates the list of backup storages from the inventory of the polls: it
// adds and removes storages, and links backups to guests that appeared after
// their storage was listed.
func (s *Store) adopt(ctx context.Context) error {
	for _, sql := range []string{
		// The host is one with a token where there is one: what is asked of the storage goes through it.
		`INSERT INTO backup_storages AS b (cluster_id, host_id, node, name)
			SELECT t.cluster_id, (SELECT o.id FROM hosts o LEFT JOIN host_credentials k ON k.host_id = o.id AND k.capability = 'backup'
				WHERE o.cluster_id = t.cluster_id ORDER BY k.id IS NULL, o.id <> t.host_id, o.id LIMIT 1), t.node, t.name
			FROM (SELECT cluster_id, min(host_id) AS host_id, CASE WHEN shared THEN '' ELSE node END AS node, name FROM storages
				WHERE 'backup' = ANY(content) GROUP BY 1, 3, 4) t
			ON CONFLICT (cluster_id, node, name) DO UPDATE SET host_id = EXCLUDED.host_id WHERE b.host_id <> EXCLUDED.host_id`,
		`DELETE FROM backup_storages s WHERE NOT EXISTS (SELECT FROM storages t WHERE t.cluster_id = s.cluster_id AND t.name = s.name
			AND s.node = CASE WHEN t.shared THEN '' ELSE t.node END AND 'backup' = ANY(t.content))`,
		`UPDATE backups b SET guest_id = o.id FROM (SELECT b.id AS backup, ` + owner + ` AS id FROM backups b WHERE b.guest_id IS NULL
			AND EXISTS (SELECT FROM guests g WHERE g.cluster_id = b.cluster_id AND (g.ref = b.guest_ref OR g.identity = 'uid:' ||
				b.uid))) o
			WHERE b.id = o.backup AND o.id IS NOT NULL`,
		nameThem,
	} {
		if _, err := s.DB.Pool.Exec(ctx, sql); err != nil {
			return db.Problem(fmt.Errorf("updating the list of backup storages: %w", err))
		}
	}
	return nil
}
