package appscript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Script is one version of an app's script with its text.
type Script struct {
	Version
	Current bool    `json:"current" doc:"true for the newest version"`
	Content *string `json:"content" doc:"Text of the script; null if it is not text"`
	Drift   *Drift  `json:"drift" doc:"Difference from the upstream version; null if the app has no earlier upstream version"`
}

// Drift is the difference from the last upstream version.
type Drift struct {
	Drifted bool    `json:"drifted" doc:"true if the text differs"`
	Version int     `json:"version" example:"1" doc:"The upstream version that it is compared with"`
	SHA256  string  `json:"sha256" doc:"SHA-256 of the text of that version"`
	Added   int     `json:"added" example:"2" doc:"Number of added lines"`
	Removed int     `json:"removed" example:"1" doc:"Number of removed lines"`
	Diff    *string `json:"diff" doc:"Unified diff from upstream to this version; null if nothing differs or the script is not text"`
}

// Get returns a version of an app's script; 0 stands for the newest. The
// problem is not_found.
func (s *Store) Get(ctx context.Context, appID int64, number int) (*Script, error) {
	newest, err := version(ctx, s.DB.Pool, appID, 0)
	if err != nil {
		return nil, err
	}
	if newest == nil {
		return nil, problem.New(problem.CodeNotFound, "the app has no script: it was not installed from the catalog")
	}
	found := newest
	if number != 0 && number != newest.Version {
		if found, err = version(ctx, s.DB.Pool, appID, number); err != nil {
			return nil, err
		}
		if found == nil {
			return nil, problem.New(problem.CodeNotFound, "the app's script has no version %d", number)
		}
	}
	return s.show(ctx, appID, found, newest)
}

// show adds the text to a version.
func (s *Store) show(ctx context.Context, appID int64, v, newest *Version) (*Script, error) {
	text, err := s.text(ctx, v)
	if err != nil {
		return nil, err
	}
	shown := &Script{Version: *v, Current: v.Version == newest.Version, Content: text}
	base, err := upstream(ctx, s.DB.Pool, appID, v.Version)
	if err != nil || base == nil {
		return shown, err
	}
	shown.Drift = &Drift{Drifted: base.SHA256 != v.SHA256, Version: base.Version, SHA256: base.SHA256}
	if !shown.Drift.Drifted {
		return shown, nil
	}
	was, err := s.text(ctx, base)
	if err != nil || was == nil || text == nil {
		return shown, err
	}
	diff, added, removed := bundle.Unified(fmt.Sprintf("upstream/%s", *base.Path), fmt.Sprintf("edited/%s", *base.Path), *was, *text)
	shown.Drift.Diff, shown.Drift.Added, shown.Drift.Removed = &diff, added, removed
	return shown, nil
}

// text returns the text of a version, verified against its checksum; nil if it
// is no text.
func (s *Store) text(ctx context.Context, v *Version) (*string, error) {
	if v.content != nil {
		return v.content, nil
	}
	data, err := s.Bundles.Read(ctx, sdk.File{Path: *v.Path, Size: v.Size, Sum: v.SHA256})
	if err != nil {
		return nil, err
	}
	if !bundle.IsText(data) {
		return nil, nil
	}
	return new(string(data)), nil
}

// Put adds an edited version to an app's script. digest is the SHA-256 of the
// version that was edited; an empty one skips the comparison. A text that is
// the newest edited version already is not added again. Problems: not_found,
// invalid for a text that is too large, digest_conflict if another version is
// the newest now, guest_busy during an update of the app, invalid_state above
// maxVersions.
func (s *Store) Put(ctx context.Context, appID int64, content, digest string) (*Script, error) {
	if len(content) > MaxScript {
		return nil, problem.InvalidField("must be at most "+problem.Size(MaxScript), "string_too_long", "body", "content")
	}
	if !bundle.IsText([]byte(content)) {
		return nil, problem.InvalidField("must be text without NUL characters", "value_error", "body", "content")
	}
	sum := sha256.Sum256([]byte(content))
	v := &Version{Source: OriginEdited, Reason: "edit", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)), content: &content}
	return s.append(ctx, appID, v, &digest)
}

// Revert adds the catalog's present script as an upstream version. It runs
// nothing. Problems: not_found, guest_busy, invalid_state with a reason, and
// those of catalog.Store.UpdateBundle.
func (s *Store) Revert(ctx context.Context, appID int64) (*Script, error) {
	slug, err := s.slug(ctx, appID)
	if err != nil {
		return nil, err
	}
	entry, err := s.entry(ctx, slug)
	if err != nil {
		return nil, err
	}
	b, err := s.Catalog.UpdateBundle(ctx, entry)
	if err != nil {
		return nil, err
	}
	launch, err := s.Catalog.UpdateLaunch(ctx, entry, &b.Manifest, "app")
	if err != nil {
		return nil, err
	}
	v := upstreamVersion(entry.Source, entry.Slug, entry.Commit, launch.Program, b)
	v.Reason = "revert"
	return s.append(ctx, appID, v, nil)
}

// append adds a version that a user asked for, with the audit entry. digest is
// that of the newest version; nil skips the comparison.
func (s *Store) append(ctx context.Context, appID int64, v *Version, digest *string) (*Script, error) {
	kept := *v
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		*v = kept
		if err := lock(ctx, tx, appID); err != nil {
			return err
		}
		if err := idle(ctx, tx, appID); err != nil {
			return err
		}
		newest, err := version(ctx, tx.Pgx, appID, 0)
		if err != nil {
			return err
		}
		if newest != nil {
			if digest != nil && *digest != "" && *digest != newest.SHA256 {
				return problem.New(problem.CodeDigestConflict, "the script has a newer version: read it again").
					With("digest", newest.SHA256).With("version", newest.Version)
			}
			if newest.Version >= maxVersions {
				return problem.New(problem.CodeInvalidState, "the script already has %d versions, which is the limit", newest.Version)
			}
		} else if digest != nil && *digest != "" {
			return problem.New(problem.CodeDigestConflict, "the app has no script")
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.Detail("sha256", v.SHA256)
			if newest != nil {
				e.Detail("before", newest.SHA256)
			}
			if v.Bundle != nil {
				e.Detail("bundle", *v.Bundle)
				e.Detail("commit", *v.Commit)
			}
		})
		if newest != nil && v.Source == OriginEdited && newest.Source == OriginEdited && newest.SHA256 == v.SHA256 {
			*v = *newest
		} else if err := add(ctx, tx, appID, v); err != nil {
			return err
		}
		if err := idempotency.SaveData(ctx, v.Version); err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("version", v.Version) })
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.show(ctx, appID, v, v)
}

// idle returns the problem guest_busy during an update of the app. The caller
// has locked the app.
func idle(ctx context.Context, tx *db.Tx, appID int64) error {
	var id int64
	err := tx.Pgx.QueryRow(ctx, `SELECT j.id FROM app_updates u JOIN jobs j ON j.id = u.job_id WHERE u.app_id = $1
		AND j.status IN ('queued', 'running') LIMIT 1`, appID).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("reading the app's update: %w", err)
	}
	return problem.New(problem.CodeGuestBusy, "job %d is updating the app", id).With("job_id", id)
}

// slug returns the path of the catalog entry from which an app was installed;
// empty for none. The problem is not_found.
func (s *Store) slug(ctx context.Context, appID int64) (slug string, err error) {
	a, err := s.Apps.Get(ctx, appID)
	if err != nil || a.Slug == nil {
		return "", err
	}
	return *a.Slug, nil
}

// upstreamVersion returns the version for a file of a bundle.
func upstreamVersion(source, slug, commit, path string, b *bundle.Bundle) *Version {
	v := &Version{Source: OriginUpstream, Path: &path, Bundle: &b.Sum, Commit: &commit, Pin: new(b.Manifest.Pin.String()),
		catalogSource: source,
		slug:          slug}
	for _, f := range b.Manifest.Files {
		if f.Path == path {
			v.SHA256, v.Size = f.Sum, f.Size
		}
	}
	return v
}
