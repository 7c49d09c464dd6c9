package selfupdate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// Reasons of a failed check, in the member reason of the problem
// release_source_error.
const (
	reasonUnreachable = "unreachable"
	reasonTimeout     = "timeout"
	reasonMissing     = "missing"
	reasonKeys        = "keys"
	reasonUnsigned    = "not_signed"
	reasonInvalid     = "invalid"
	reasonReplayed    = "replayed"
	reasonChannel     = "channel"
)

// Check fetches the newest manifest of the source, verifies it, and stores the
// result: the manifest, or why there is none. Problems: invalid_state while no
// source is configured, and release_source_error for everything that is wrong
// with the source.
func (s *Store) Check(ctx context.Context) (*release.Manifest, error) {
	c, err := s.following()
	if err != nil {
		return nil, err
	}
	m, raw, err := s.fetch(ctx, c)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx) // the asker is gone; the source has done nothing wrong
	}
	return s.keep(ctx, m, raw, err)
}

// following returns the configuration if it has a source and a channel.
func (s *Store) following() (*installation.Config, error) {
	c, err := s.configuration()
	switch {
	case err != nil:
		return nil, refuse("configuration", s.mendConfiguration(), "the updater's configuration cannot be read: %s", plain(err))
	case c == nil || !c.HasSource():
		return nil, refuse("not_configured", s.configureSource(), "no source and channel of releases are configured")
	}
	return c, nil
}

// fetch fetches the newest manifest within CheckTimeout. The manifest that it
// returns has a valid signature, is of the configured channel, and is not from
// the future.
func (s *Store) fetch(ctx context.Context, c *installation.Config) (*release.Manifest, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CheckTimeout)
	defer cancel()
	source, err := release.NewSource(c.Source, s.cfg.Source)
	if err != nil {
		return nil, nil, failed(reasonInvalid, err)
	}
	keys, err := release.TrustedKeys(c.Keys)
	if err != nil {
		return nil, nil, failed(reasonKeys, err)
	}
	watched := &watchedSource{Source: source}
	m, raw, _, err := release.Latest(ctx, watched, keys)
	switch {
	case err == nil:
		if err := m.CheckChannel(c.Channel); err != nil {
			return nil, nil, failed(reasonChannel, err)
		}
		if err := m.CheckDate(time.Now()); err != nil {
			return nil, nil, failed(reasonInvalid, err)
		}
		return m, raw, nil
	case ctx.Err() != nil:
		return nil, nil, failed(reasonTimeout, fmt.Errorf("the source did not answer within %s", s.cfg.CheckTimeout))
	case errors.Is(err, release.ErrSignature):
		return nil, nil, failed(reasonUnsigned, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, failed(reasonMissing, err)
	case watched.broke:
		return nil, nil, failed(reasonUnreachable, err)
	}
	return nil, nil, failed(reasonInvalid, err)
}

// watchedSource records whether a file could not be fetched. release.Latest
// wraps both kinds of failures, and only this tells a broken connection from a
// bad file.
type watchedSource struct {
	release.Source
	broke bool
}

// Open implements release.Source.
func (w *watchedSource) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	body, err := w.Source.Open(ctx, name)
	if err != nil {
		w.broke = true
		return nil, err
	}
	return &watchedBody{body, w}, nil
}

type watchedBody struct {
	io.ReadCloser
	of *watchedSource
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.of.broke = true
	}
	return n, err
}

func failed(reason string, err error) *problem.Error {
	return problem.New(problem.CodeReleaseSourceError, "%s", plain(err)).With("reason", reason).WithCause(err)
}

// keep stores the result of a check. It refuses a manifest that is older than
// one that was seen before: otherwise a server could replay an old release with
// a known vulnerability.
func (s *Store) keep(ctx context.Context, m *release.Manifest, raw []byte, failure error) (*release.Manifest, error) {
	var why error
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		why = failure
		seen, err := seenBefore(ctx, tx)
		if err != nil {
			return err
		}
		if why == nil {
			if replayed := seen.Accept(m, raw); replayed != nil {
				why = failed(reasonReplayed, replayed)
			}
		}
		if why != nil {
			_, err = tx.Pgx.Exec(ctx, "UPDATE update_check SET checked_at = now(), error = $1", plain(why))
		} else {
			_, err = tx.Pgx.Exec(ctx, "UPDATE update_check SET checked_at = now(), error = '', found_at = now(), manifest = $1, seen = $2", raw,
				seen)
		}
		if err != nil {
			return fmt.Errorf("storing the found release: %w", err)
		}
		return nil
	})
	if err = errors.Join(why, err); err != nil {
		return nil, err
	}
	return m, nil
}

// seenBefore locks the row of update_check and returns which releases were
// seen, by channel.
func seenBefore(ctx context.Context, tx *db.Tx) (release.SeenChannels, error) {
	seen := release.SeenChannels{}
	var raw []byte
	if err := tx.Pgx.QueryRow(ctx, "SELECT seen FROM update_check FOR UPDATE").Scan(&raw); err != nil {
		return nil, fmt.Errorf("reading the last seen release: %w", err)
	}
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, fmt.Errorf("reading the last seen release: %w", err)
	}
	return seen, nil
}

// LastCheck is the last check for releases.
type LastCheck struct {
	At    time.Time `json:"at"`
	Error string    `json:"error" doc:"Why it failed; empty if it succeeded"`
}

// look is the stored result of the last check; at is nil if there was none.
type look struct {
	at       *time.Time
	failure  string
	manifest *release.Manifest
	found    time.Time
}

func (s *Store) lastLook(ctx context.Context) (l look, err error) {
	var raw []byte
	var found *time.Time
	err = s.db.Pool.QueryRow(ctx, "SELECT checked_at, error, manifest, found_at FROM update_check").Scan(&l.at, &l.failure, &raw, &found)
	if errors.Is(err, pgx.ErrNoRows) {
		return look{}, nil
	}
	if err != nil {
		return look{}, db.Problem(fmt.Errorf("reading the found release: %w", err))
	}
	if raw != nil && found != nil {
		// One that an older or newer version of the service kept, and that this one cannot read, is none.
		if l.manifest, err = release.ParseManifest(raw); err == nil {
			l.found = *found
		}
	}
	return l, nil
}

// maxPlain bounds a text from outside, in bytes.
const maxPlain = 500

// plain returns an error as one line without control characters, of at most
// maxPlain bytes.
func plain(err error) string {
	var p *problem.Error
	if errors.As(err, &p) {
		return line(p.Detail)
	}
	return line(err.Error())
}

func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxPlain {
		text = strings.ToValidUTF8(text[:maxPlain], "") + "…"
	}
	return text
}
