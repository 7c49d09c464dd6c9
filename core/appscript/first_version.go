package appscript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Installation describes an installation.
type Installation struct {
	AppID int64
	// JobID is the job that installed it; 0 for none.
	JobID int64
	// By is who asked for that; empty for the context's caller, or the service itself.
	By string
	// Key names the bundle that was run, Sum is its checksum, and Program the
	// file of it that was run. Commit is the last state that changed the
	// entry's own files, as the catalog told when it was asked for.
	Key     bundle.Key
	Sum     string
	Program string
	Commit  string
}

// AddFirstVersion adds the first version of an app's script, in the transaction that
// creates the app. The problem is not_found if the bundle is not stored or does
// not have the program.
func AddFirstVersion(ctx context.Context, tx *db.Tx, i Installation) error {
	return start(ctx, tx, i, "install")
}

// start adds the version of a script that has run, with the reason.
func start(ctx context.Context, tx *db.Tx, i Installation, reason string) error {
	b := &bundle.Bundle{Sum: i.Sum}
	var manifest []byte
	err := tx.Pgx.QueryRow(ctx, `SELECT manifest FROM bundle_manifests WHERE source = $1 AND slug = $2 AND purpose = $3 AND pin = $4
		AND bundle = $5 FOR KEY SHARE`, i.Key.Source, i.Key.Slug, string(i.Key.Purpose), i.Key.Pin.String(), i.Sum).Scan(&manifest)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.New(problem.CodeNotFound, "the bundle from which the app was installed is no longer stored")
	}
	if err == nil {
		err = json.Unmarshal(manifest, &b.Manifest)
	}
	if err != nil {
		return fmt.Errorf("reading the bundle from which an app was installed: %w", err)
	}
	v := upstreamVersion(i.Key.Source, i.Key.Slug, i.Commit, i.Program, b)
	if v.SHA256 == "" {
		return problem.New(problem.CodeNotFound, "the bundle from which the app was installed has no file %.200q", i.Program)
	}
	v.Reason = reason
	if i.JobID != 0 {
		v.JobID = &i.JobID
	}
	if i.By != "" {
		v.CreatedBy = &i.By
	}
	if err := lock(ctx, tx, i.AppID); err != nil {
		return err
	}
	return add(ctx, tx, i.AppID, v)
}
