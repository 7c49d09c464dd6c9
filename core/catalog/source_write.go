package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// SourceChange is a change of a source's configuration; nil leaves a value unchanged.
type SourceChange struct {
	Enabled, AllowPrivate, Popularity *bool
	// Options are set by key, and a nil one is cleared.
	Options map[string]*secret.String
	// TrustDigest is the digest of the trust statement that the caller has
	// read.
	TrustDigest *string
}

// trustDigest returns the digest of a statement of trust.
func trustDigest(info sdk.Info) string {
	sum := sha256.Sum256([]byte(info.Trust))
	return hex.EncodeToString(sum[:])
}

// Update changes the configuration of a source and has the source check it.
// Problems: not_found; invalid_state if its plugin does not run on this
// instance; consent_required, with trust and trust_digest, if it would be on
// although nobody has read its present statement of trust; invalid for wrong
// options; conflict if somebody else changed it at the same time.
func (s *Store) Update(ctx context.Context, name string, edit SourceChange) (*Source, error) {
	was, err := stored(ctx, s.DB.Pool, name, "")
	if err != nil {
		return nil, err
	}
	if err := s.known(was); err != nil {
		return nil, err
	}
	is := *was
	set(&is.Enabled, edit.Enabled)
	set(&is.AllowPrivate, edit.AllowPrivate)
	set(&is.Popularity, edit.Popularity)
	options, err := s.open(was)
	if err != nil {
		return nil, err
	}
	changed := is.AllowPrivate != was.AllowPrivate || edit.Options != nil
	for key, value := range edit.Options {
		if value == nil {
			delete(options, key)
		} else {
			options[key] = value.Reveal()
		}
	}
	if is.Enabled || edit.Options != nil { // to be switched off nothing needs to run
		if err := s.fits(ctx, &is, edit, options); err != nil {
			return nil, err
		}
	}
	is.Options = nil
	if len(options) > 0 {
		if is.Options, err = s.seal(name, options); err != nil {
			return nil, err
		}
	}
	keys := slices.Sorted(maps.Keys(options))
	if err := s.write(ctx, was, &is, keys, changed); err != nil {
		return nil, err
	}
	return s.Source(ctx, name)
}

// set copies a value that is given.
func set[T any](field *T, given *T) {
	if given != nil {
		*field = *given
	}
}

// seal encrypts the options of a source, any of which may be secret.
func (s *Store) seal(name string, options map[string]string) ([]byte, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("encoding a source's options: %w", err)
	}
	sealed, err := s.Keys.Seal(secret.New(string(text)), binding(name))
	if err != nil {
		return nil, fmt.Errorf("encrypting a source's options: %w", err)
	}
	return sealed, nil
}

// fits checks a configuration against the description of the source, and has
// the source check it.
func (s *Store) fits(ctx context.Context, is *row, edit SourceChange, options map[string]string) error {
	info, err := s.info(ctx, is.Name)
	if err != nil {
		return problem.New(problem.CodeInvalidState, "the plugin of this source is not running on the instance that answered").
			With("reason", "not_installed").WithCause(err)
	}
	is.Title = info.Title
	if faults := s.faults(info, is, options); len(faults) > 0 {
		return problem.Invalid(faults...)
	}
	if digest := trustDigest(info); is.Enabled && is.TrustDigest != digest {
		if edit.TrustDigest == nil || *edit.TrustDigest != digest {
			return problem.New(problem.CodeConsentRequired,
				"read the statement about whom you trust with root access when you use this source, and send its digest as trust_digest").
				With("trust", info.Trust).With("trust_digest", digest)
		}
		is.TrustDigest = digest
	}
	opened, err := s.openSource(ctx, is, options)
	var e *plugin.Error
	switch {
	case err == nil:
		_ = opened.Close() // it holds nothing yet
		return nil
	case errors.As(err, &e) && e.Kind == plugin.Invalid && slices.ContainsFunc(info.Options,
		func(o sdk.Option) bool { return o.Key == e.Field }):
		return problem.InvalidField(plain(err, info, options), "value_error", "body", "options", e.Field)
	}
	return problem.InvalidField("the source does not accept this: "+
		plain(err, info, options), "value_error", "body", "options").WithCause(err)
}

// faults returns all wrong options. It repeats no value, because it may be a
// secret.
func (s *Store) faults(info sdk.Info, is *row, options map[string]string) (faults []problem.Fault) {
	fault := func(key, msg string) {
		faults = append(faults, problem.Fault{Loc: []any{"body", "options", key}, Msg: msg, Type: "value_error"})
	}
	known := map[string]bool{}
	for _, o := range info.Options {
		known[o.Key] = true
		value, given := options[o.Key]
		switch {
		case !given && o.Required && is.Enabled:
			fault(o.Key, "must be set before the source can be enabled")
		case !given:
		case !sdk.CheckOption(o, value):
			fault(o.Key, "is not valid for the type of the option")
		case o.Type == sdk.URL:
			rules := outbound.Rules{AllowLocal: s.AllowLocal, AllowPrivate: is.AllowPrivate}
			if _, _, err := rules.ParseURL(value); err != nil {
				fault(o.Key, err.Error())
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if !known[key] {
			fault("key", "the source does not have this option; null clears it")
		}
	}
	return faults
}

// openSource opens a source with its configuration. The caller closes the
// result.
func (s *Store) openSource(ctx context.Context, r *row, options map[string]string) (sdk.Catalog, error) {
	config := sdk.Config{Options: options, AllowPrivate: r.AllowPrivate, AllowLoopback: s.AllowLocal}
	if s.Folder != "" {
		config.Cache = filepath.Join(s.Folder, r.Name)
		if err := os.MkdirAll(config.Cache, 0o700); err != nil {
			return nil, fmt.Errorf("creating the folder of a source: %w", err)
		}
	}
	return s.Sources.Catalog(r.Name).Open(ctx, config)
}

// write stores the changed columns of a source, if nobody has changed it since
// it was read.
func (s *Store) write(ctx context.Context, was, is *row, keys []string, changed bool) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		if _, err := tx.Pgx.Exec(ctx, "INSERT INTO catalog_sources (name, version) VALUES ($1, 0) ON CONFLICT DO NOTHING", is.Name); err != nil {
			return fmt.Errorf("writing a source of the catalog: %w", err)
		}
		read := is.TrustDigest != was.TrustDigest
		var by *int64
		email := ""
		if caller := identity.FromContext(ctx); caller != nil {
			by, email = &caller.UserID, caller.Email
		}
		tag, err := tx.Pgx.Exec(ctx, `UPDATE catalog_sources SET enabled = $3, allow_private = $4, popularity = $5, options = $6, title = $7,
			trust_digest = $8, version = version + 1, cursor = CASE WHEN $9 THEN '' ELSE cursor END,
			trusted_by = CASE WHEN $10 THEN (SELECT id FROM users WHERE id = $11) ELSE trusted_by END,
			trusted_email = CASE WHEN $10 THEN $12 ELSE trusted_email END, trusted_at = CASE WHEN $10 THEN now() ELSE trusted_at END
			WHERE name = $1 AND version = $2`, is.Name, was.Version, is.Enabled, is.AllowPrivate, is.Popularity, is.Options, is.Title,
			is.TrustDigest, changed, read, by, email)
		if err != nil {
			return fmt.Errorf("writing a source of the catalog: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.CodeConflict, "someone else changed the source at the same time; review it again")
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetID, e.TargetName = "catalog_source", is.Name, is.Name
			e.Detail("before", map[string]any{"enabled": was.Enabled, "allow_private": was.AllowPrivate, "popularity": was.Popularity})
			e.Detail("after", map[string]any{"enabled": is.Enabled, "allow_private": is.AllowPrivate, "popularity": is.Popularity,
				"options": keys, "trust_digest": is.TrustDigest})
		})
		return audit.Write(ctx, tx)
	})
}

// plain returns the error of a source on one line, without the secrets of its
// options.
func plain(err error, info sdk.Info, options map[string]string) string {
	var secrets []string
	for _, o := range info.Options {
		if o.Secret {
			secrets = append(secrets, options[o.Key])
		}
	}
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind == plugin.Internal {
		return "an error occurred; see the service's log for details"
	}
	return outbound.Plain(e.Message, secrets...)
}
