package appscript

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// Version is one version of an app's script, without its text; the JSON names
// are those of the API.
type Version struct {
	Version   int       `json:"version" example:"3" doc:"Starts at 1; the highest version is used"`
	Source    string    `json:"source" enum:"upstream,edited" doc:"upstream: published by the catalog; edited: written by a user"`
	Reason    string    `json:"reason" enum:"install,edit,revert,update" doc:"Cause of the version"`
	SHA256    string    `json:"sha256" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the text"`
	Size      int64     `json:"size" example:"1834" doc:"Size of the text in bytes"`
	Path      *string   `json:"path" example:"ct/wiki.sh" doc:"Path of the file in its bundle; null for an edited version"`
	Bundle    *string   `json:"bundle" doc:"SHA-256 of the bundle that contains it; null for an edited version"`
	Commit    *string   `json:"commit" doc:"Last commit that changed the entry's own files; null for an edited version"`
	Pin       *string   `json:"pin" doc:"Commit of the source from which the bundle was built; null for an edited version"`
	JobID     *int64    `json:"job_id" doc:"The job that created it; null if none did or the job was deleted"`
	CreatedBy *string   `json:"created_by" example:"admin@example.com" doc:"User who requested it; null for the service"`
	CreatedAt time.Time `json:"created_at"`

	catalogSource, slug string
	content             *string
}

// versionColumns are the columns of a Version.
const versionColumns = listedColumns + ", v.content"

// listedColumns are those of versionColumns that a list needs: without the text.
const listedColumns = `v.number, v.origin, v.reason, v.sha256, v.size, v.path, v.bundle, v.app_commit, v.pin, v.job_id, v.created_email,
	v.created_at, coalesce(v.source, ''), coalesce(v.slug, '')`

// scanVersion reads one row with versionColumns.
func scanVersion(row pgx.CollectableRow) (*Version, error) {
	v := &Version{}
	var by string
	err := row.Scan(&v.Version, &v.Source, &v.Reason, &v.SHA256, &v.Size, &v.Path, &v.Bundle, &v.Commit, &v.Pin, &v.JobID, &by, &v.CreatedAt,
		&v.catalogSource, &v.slug, &v.content)
	if by != "" {
		v.CreatedBy = &by
	}
	v.CreatedAt = v.CreatedAt.UTC()
	return v, err
}

// Versions returns a page of the versions of an app's script, the newest first,
// and the number of all.
func (s *Store) Versions(ctx context.Context, appID int64, offset, limit int) (all []*Version, total int, err error) {
	err = s.DB.Pool.QueryRow(ctx, "SELECT count(*) FROM app_script_versions WHERE app_id = $1", appID).Scan(&total)
	if err == nil {
		var rows pgx.Rows
		rows, err = s.DB.Pool.Query(ctx, "SELECT "+listedColumns+
			", NULL::text FROM app_script_versions v WHERE v.app_id = $1 ORDER BY v.number DESC OFFSET $2 LIMIT $3", appID, offset, limit)
		if err == nil {
			all, err = db.CollectRows(rows, scanVersion)
		}
	}
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("reading the versions of a script: %w", err))
	}
	return all, total, nil
}

// version returns a version of an app's script, the newest one for 0; nil if
// there is none.
func version(ctx context.Context, q secret.Querier, appID int64, number int) (*Version, error) {
	return oneVersion(ctx, q, "v.app_id = $1 AND $2 IN (0, v.number) ORDER BY v.number DESC LIMIT 1", appID, number)
}

// upstream returns the newest upstream version up to and including a number;
// nil if there is none.
func upstream(ctx context.Context, q secret.Querier, appID int64, number int) (*Version, error) {
	return oneVersion(ctx, q, "v.app_id = $1 AND v.number <= $2 AND v.origin = 'upstream' ORDER BY v.number DESC LIMIT 1", appID, number)
}

// oneVersion reads one version of a script.
func oneVersion(ctx context.Context, q secret.Querier, condition string, args ...any) (*Version, error) {
	rows, err := q.Query(ctx, "SELECT "+versionColumns+" FROM app_script_versions v WHERE "+condition, args...)
	var v *Version
	if err == nil {
		v, err = pgx.CollectExactlyOneRow(rows, scanVersion)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a version of a script: %w", err))
	}
	return v, nil
}

// lock locks an app's script against new versions until the transaction ends.
// The problem is not_found.
func lock(ctx context.Context, tx *db.Tx, appID int64) error {
	err := tx.Pgx.QueryRow(ctx, "SELECT id FROM apps WHERE id = $1 FOR NO KEY UPDATE", appID).Scan(&appID)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.New(problem.CodeNotFound, "app not found")
	}
	if err != nil {
		return fmt.Errorf("locking an app: %w", err)
	}
	return nil
}

// add adds a version, with its number and author. The caller has locked the
// app.
func add(ctx context.Context, tx *db.Tx, appID int64, v *Version) error {
	var by *int64
	email := ""
	if caller := identity.FromContext(ctx); caller != nil {
		by, email = &caller.UserID, caller.Email
	} else if v.CreatedBy != nil {
		email = *v.CreatedBy
	}
	null := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	err := tx.Pgx.QueryRow(ctx, `INSERT INTO app_script_versions (app_id, number, origin, reason, sha256, size, content, source, slug, bundle,
			path, pin, app_commit, job_id, created_by, created_email)
		SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
			(SELECT id FROM users WHERE id = $14), $15 FROM app_script_versions WHERE app_id = $1 RETURNING number, created_at`,
		appID, v.Source, v.Reason, v.SHA256, v.Size, v.content, null(v.catalogSource), null(v.slug), v.Bundle, v.Path, v.Pin, v.Commit, v.JobID,
		by, email).Scan(&v.Version, &v.CreatedAt)
	if err != nil {
		return fmt.Errorf("adding a version of a script: %w", err)
	}
	v.CreatedAt, v.CreatedBy = v.CreatedAt.UTC(), null(email)
	return nil
}
