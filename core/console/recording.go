package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
)

// Recording describes a recording; the JSON names are those of the API.
type Recording struct {
	ID         int64      `json:"id" example:"12"`
	TargetKind string     `json:"target_kind" enum:"vm,app,host" example:"vm"`
	TargetID   int64      `json:"target_id" example:"3" doc:"ID of the VM, app or host, which may have been deleted"`
	TargetName string     `json:"target_name" example:"web-1" doc:"Name of the target when the recording was made"`
	HostID     *int64     `json:"host_id" example:"1" doc:"ID of the host; null if the host was deleted"`
	Node       string     `json:"node" example:"pve1" doc:"Node of the target when the recording was made"`
	TeamID     int64      `json:"team_id" example:"1" doc:"Team of the host when the recording was made; its admins can see the recording"`
	UserID     *int64     `json:"user_id" example:"2" doc:"User of the console; null if the user was deleted"`
	UserEmail  string     `json:"user_email" example:"anna@example.com" doc:"Email address of the user when the recording was made"`
	Address    string     `json:"address" example:"192.0.2.7" doc:"IP address of the user"`
	Status     string     `json:"status" enum:"recording,ended,lost" doc:"lost: the service was killed during the recording; it contains the output until about one second before"`
	StartedAt  time.Time  `json:"started_at" example:"2026-01-31T12:00:00Z"`
	EndedAt    *time.Time `json:"ended_at" example:"2026-01-31T12:10:00Z" doc:"When the console closed; null while recording, and for a lost recording"`
	Output     int64      `json:"output_bytes" example:"18231" doc:"Bytes that the terminal printed"`
	Stored     int64      `json:"stored_bytes" example:"2101" doc:"Bytes that the recording uses in the database"`
	Truncated  bool       `json:"truncated" doc:"true if the recording reached its size limit; later output is missing"`
}

// Filter restricts a list of recordings.
type Filter struct {
	// TargetKind and TargetID select the recordings of one object, UserID those
	// of one user. Zero values do not filter.
	TargetKind       string
	TargetID, UserID int64
	Offset, Limit    int
}

const recordingColumns = `r.id, r.target_kind, r.target_id, r.target_name, r.host_id, r.node, r.team_id, r.user_id, r.user_email,
	r.address, CASE WHEN r.ended_at IS NOT NULL THEN 'ended' WHEN r.seen_at > now() - interval '` + lostTime + `' THEN 'recording'
	ELSE 'lost' END,
	r.started_at AT TIME ZONE 'UTC', r.ended_at AT TIME ZONE 'UTC', r.output_bytes, r.stored_bytes, r.truncated`

// Recordings returns a page of the recordings of visible teams, the newest
// first, and the number of all.
func (s *Store) Recordings(ctx context.Context, f Filter, visible identity.VisibleTeams) (all []Recording, total int, err error) {
	const narrowed = `FROM console_recordings r WHERE ($1 OR r.team_id = ANY ($2)) AND ($3 = '' OR r.target_kind = $3)
		AND ($4::bigint = 0 OR r.target_id = $4) AND ($5::bigint = 0 OR r.user_id = $5)`
	args := []any{visible.All, visible.Teams, f.TargetKind, f.TargetID, f.UserID}
	if err := s.DB.Pool.QueryRow(ctx, "SELECT count(*) "+narrowed, args...).Scan(&total); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("counting recordings: %w", err))
	}
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+recordingColumns+" "+narrowed+" ORDER BY r.id DESC LIMIT $6 OFFSET $7",
		append(args, f.Limit, f.Offset)...)
	if err == nil {
		all, err = db.CollectRows(rows, pgx.RowToStructByPos[Recording])
	}
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing recordings: %w", err))
	}
	return all, total, nil
}

// Recording returns one recording. The problem is not_found.
func (s *Store) Recording(ctx context.Context, id int64) (r Recording, err error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+recordingColumns+" FROM console_recordings r WHERE r.id = $1", id)
	if err == nil {
		r, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Recording])
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return r, noRecording()
	}
	if err != nil {
		return r, db.Problem(fmt.Errorf("reading a recording: %w", err))
	}
	return r, nil
}

// noRecording returns the problem not_found.
func noRecording() error { return problem.New(problem.CodeNotFound, "recording not found") }

// Cast writes a recording in the format asciicast v2, as far as it is stored.
// It reads one chunk at a time, so a slow reader holds neither a connection to
// the database nor much memory. It can be called while the recording is
// running. A chunk that was changed in the database is an error.
func (s *Store) Cast(ctx context.Context, id int64, to io.Writer) error {
	var sealed []byte
	err := s.DB.Pool.QueryRow(ctx, "SELECT data_key FROM console_recordings WHERE id = $1", id).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return noRecording()
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading a recording: %w", err))
	}
	if sealed == nil {
		return nil // and so there is nothing
	}
	text, err := s.Keys.Open(sealed, dataKeyPlace(id))
	if err != nil {
		return fmt.Errorf("decrypting the key of recording %d: %w", id, err)
	}
	key, err := base64.RawStdEncoding.DecodeString(text.Reveal())
	if err != nil {
		return fmt.Errorf("the key of recording %d is damaged", id)
	}
	seal, err := newSeal(key)
	if err != nil {
		return err
	}
	for number := 0; ; number++ {
		var content []byte
		err := s.DB.Pool.QueryRow(ctx, "SELECT content FROM console_recording_chunks WHERE recording_id = $1 AND number = $2", id, number).
			Scan(&content)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return db.Problem(fmt.Errorf("reading a recording: %w", err))
		}
		packed, err := seal.Open(nil, nonce(number), content, place(id, number))
		if err != nil {
			return fmt.Errorf("chunk %d of recording %d was changed: %w", number, id, err)
		}
		lines, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return fmt.Errorf("unpacking chunk %d of recording %d: %w", number, id, err)
		}
		if _, err := io.Copy(to, lines); err != nil {
			return err
		}
	}
}

// DeleteRecording deletes a recording, with an audit entry. A console that is
// being recorded ends: nobody may use it without a record. The problem is
// not_found.
func (s *Store) DeleteRecording(ctx context.Context, id int64) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, "DELETE FROM console_recordings WHERE id = $1", id)
		if err != nil {
			return fmt.Errorf("deleting a recording: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return noRecording()
		}
		return audit.Write(ctx, tx)
	})
}

// finished is SQL for a recording that has ended.
const finished = `(ended_at IS NOT NULL OR seen_at < now() - interval '` + lostTime + `')`

// makeRoom deletes the oldest finished recordings while all recordings together
// exceed the setting. full reports that the unfinished ones alone do.
func (s *Store) makeRoom(ctx context.Context) (deleted int64, full bool, err error) {
	mib, err := setting.Get(ctx, s.DB, setting.ConsoleTotal)
	if err != nil {
		return 0, false, err
	}
	tag, err := s.DB.Pool.Exec(ctx, `DELETE FROM console_recordings WHERE id IN (SELECT id FROM (
		SELECT id, `+finished+` AS finished, sum(stored_bytes) OVER (ORDER BY `+finished+`, id DESC) AS upto
		FROM console_recordings) r WHERE finished AND upto > $1)`, int64(mib)<<20)
	if err != nil {
		return 0, false, db.Problem(fmt.Errorf("freeing space for recordings: %w", err))
	}
	err = s.DB.Pool.QueryRow(ctx, "SELECT coalesce(sum(stored_bytes), 0) >= $1 FROM console_recordings WHERE NOT "+finished, int64(mib)<<20).
		Scan(&full)
	if err != nil {
		return 0, false, db.Problem(fmt.Errorf("counting the size of recordings: %w", err))
	}
	return tag.RowsAffected(), full, nil
}

// pruneRecordings deletes recordings that are too old, and those for which
// there is no space.
func (s *Store) pruneRecordings(ctx context.Context) (int64, error) {
	days, err := setting.Get(ctx, s.DB, setting.ConsoleKeep)
	if err != nil {
		return 0, err
	}
	tag, err := s.DB.Pool.Exec(ctx, `DELETE FROM console_recordings WHERE id IN (
		SELECT id FROM console_recordings WHERE started_at < now() - $1::int * interval '24 hours'
			AND `+finished+`
		ORDER BY started_at LIMIT 50 FOR UPDATE SKIP LOCKED)`, days)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("deleting recordings: %w", err))
	}
	deleted, _, err := s.makeRoom(ctx)
	return tag.RowsAffected() + deleted, err
}
