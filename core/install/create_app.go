package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/appscript"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// evidence is what proved that an install succeeded, as stored in app_installs.
type evidence struct {
	ExitCode  int       `json:"exit_code"`
	Done      bool      `json:"done"`
	GuestRef  string    `json:"guest_ref"`
	Node      string    `json:"node"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
}

// createApp makes the app in the transaction that ends the job, so that there
// is neither an app of an unfinished job nor a successful job without an app.
func (w *work) createApp(g hypervisor.Guest) {
	w.run.AtEnd(func(ctx context.Context, tx *db.Tx) error {
		id, err := w.app(ctx, tx, g)
		if err != nil {
			return err
		}
		if err := w.kept(ctx, tx, id, g); err != nil {
			return err
		}
		if err := app.SetPrintedURL(ctx, tx, id, w.URL); err != nil {
			return err
		}
		_, err = tx.Pgx.Exec(ctx, "UPDATE jobs SET target_kind = 'app', target_id = $2, target_name = $3 WHERE id = $1", w.run.Job().ID, id,
			w.Name)
		if err != nil {
			return fmt.Errorf("storing the app of the job: %w", err)
		}
		return nil
	})
}

// app inserts the app and returns its ID. If somebody adopted the container
// while the scripts were running, it uses that app.
func (w *work) app(ctx context.Context, tx *db.Tx, g hypervisor.Guest) (id int64, err error) {
	var uid *string
	if g.UID != "" {
		uid = &g.UID
	}
	var since time.Time
	var gone bool
	err = tx.Pgx.QueryRow(ctx, `SELECT id, adopted_at, guest_id IS NULL FROM apps WHERE cluster_id = $1
		AND identity = coalesce('uid:' || $2::text,
			'container:' || $3::text) FOR UPDATE`, w.ClusterID, uid, string(g.ID)).Scan(&id, &since, &gone)
	switch {
	case err == nil && since.Before(w.run.Job().CreatedAt):
		return 0, job.Fail("the container %s is running, but another app had this ID, and its container no longer exists: remove that "+
			"app from Hostler, and adopt the container", name(g))
	case err == nil:
		_, err = tx.Pgx.Exec(ctx, "UPDATE apps SET slug = $2, updated_at = now() WHERE id = $1", id, w.Path)
		if err != nil {
			return 0, fmt.Errorf("writing the app: %w", err)
		}
		return id, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("reading the app: %w", err)
	}
	// The row of the container is there when a poll has seen it; else the next poll finds the app's container. The app belongs to the host
	// of that row, whichever member of the cluster has installed it.
	err = tx.Pgx.QueryRow(ctx,
		`INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, guest_name, name, slug, adopted_by)
		SELECT coalesce(g.host_id, h.id), $2, g.id, $3, $4, $5, $6, $7, $8, (SELECT id FROM users WHERE id = $9 FOR KEY SHARE)
		FROM (SELECT id FROM hosts WHERE id = $1 FOR KEY SHARE) h LEFT JOIN guests g ON g.cluster_id = $2
			AND g.identity = coalesce('uid:' || $4::text, 'container:' || $3::text)
		RETURNING id`, w.HostID, w.ClusterID, string(g.ID), uid, g.Number, g.Name, w.Name, w.Path, w.UserID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, job.Fail("the host has been removed; the container %s stays as it is", name(g))
	}
	if err != nil {
		return 0, fmt.Errorf("writing the app: %w", err)
	}
	return id, nil
}

// kept stores how the app was installed, and the first version of its script.
// Updates start from these.
func (w *work) kept(ctx context.Context, tx *db.Tx, id int64, g hypervisor.Guest) error {
	overrides, err := json.Marshal(w.Overrides)
	if err != nil {
		return fmt.Errorf("encoding the settings: %w", err)
	}
	environment, err := json.Marshal(w.Launch.shown())
	if err != nil {
		return fmt.Errorf("encoding the environment of the scripts: %w", err)
	}
	shown, err := json.Marshal(evidence{ExitCode: w.End.ExitCode, Done: w.Done, GuestRef: string(g.ID), Node: g.Node,
		StartedAt: w.End.StartedAt, EndedAt: w.End.EndedAt})
	if err != nil {
		return fmt.Errorf("encoding the evidence: %w", err)
	}
	_, err = tx.Pgx.Exec(ctx,
		`INSERT INTO app_installs (app_id, job_id, source, slug, pin, app_pin, bundle, overrides, environment, version_file,
		mark, evidence, installed_by, installed_email)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, (SELECT id FROM users WHERE id = $13 FOR KEY SHARE), $14)
		ON CONFLICT (app_id) DO NOTHING`, id, w.run.Job().ID, w.Source, w.Slug, w.Pin, w.AppPin, w.Sum, string(overrides), string(environment),
		w.Launch.VersionFile, w.Mark, string(shown), w.UserID, w.Email)
	if err != nil {
		return fmt.Errorf("storing how an app was installed: %w", err)
	}
	pin, ok := sdk.ParsePin(w.Pin)
	if !ok {
		return fmt.Errorf("the pin %.100q of a job is not valid", w.Pin)
	}
	return appscript.AddFirstVersion(ctx, tx, appscript.Installation{AppID: id, JobID: w.run.Job().ID, By: w.Email, Sum: w.Sum,
		Program: w.Launch.Program,
		Commit:  w.AppPin, Key: bundle.Key{Source: w.Source, Slug: w.Slug, Purpose: sdk.Install, Pin: pin}})
}
