package selfupdate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// Request requests an update to the newest release, after a new check of the
// source. agreed is the version that the user has seen; if it is not empty and
// the newest release is another one, the request is refused.
//
// It returns as soon as the request file is written; Status shows the progress.
// Problems: invalid_state with the member reason if this installation cannot
// update itself, if there is nothing newer, if agreed differs, or if an update
// is running; release_source_error; and update_not_requested if the file cannot
// be written.
func (s *Store) Request(ctx context.Context, agreed string) (*Status, error) {
	switch s.shape {
	case ShapeContainer:
		return nil, refuse(string(s.shape), updateTheImage, "a service in a container image cannot update itself")
	case ShapeSource:
		return nil, refuse(string(s.shape), buildAnew, "a manually built service cannot update itself")
	}
	c, err := s.following()
	if err != nil {
		return nil, err
	}
	if err := s.idle(ctx, s.db.Pool, c); err != nil {
		return nil, err
	}
	m, err := s.Check(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.fits(m, c.Channel); errors.Is(err, release.ErrTooOld) {
		return nil, refuse("too_old", "install an intermediate release first", "%s", plain(err))
	} else if err != nil {
		return nil, refuse("nothing_newer", "", "there is nothing to install: %s", plain(err))
	}
	if agreed != "" && agreed != m.Version {
		return nil, refuse("another_version", "review the newest release and request the update again",
			"the newest release is not the one that you agreed to").With("version", m.Version)
	}
	if err := s.ask(ctx, c, m.Version); err != nil {
		return nil, err
	}
	return s.Status(ctx)
}

// idle refuses a request while an update is requested or running, and if the
// updater's files cannot be read.
func (s *Store) idle(ctx context.Context, q querier, c *installation.Config) error {
	st := &Status{State: StateIdle}
	err := s.readFiles(ctx, q, st, c)
	switch {
	case err != nil:
		return err
	case slices.Contains(busy, st.State):
		return refuse(string(st.State), s.hint(st, c, ""), "an update is already %s", st.State)
	case len(st.Problems) > 0:
		return refuse("unknown", "fix the named problem on the machine, and request the update again", "%s", st.Problems[0])
	}
	return nil
}

// ask stores who requests the update and writes the request file, which starts
// the updater. A row lock serializes concurrent requests. The file is written
// last inside the transaction, so that a full disk leaves nothing behind; if
// the commit fails, the file is withdrawn.
func (s *Store) ask(ctx context.Context, c *installation.Config, version string) error {
	wanted := installation.Request{ID: rand.Text(), Version: version}
	put := false
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		if _, err := seenBefore(ctx, tx); err != nil { // the row is the lock
			return err
		}
		if err := s.idle(ctx, tx.Pgx, c); err != nil {
			return err
		}
		by := audit.Entry{ActorType: audit.ActorSystem}
		if caller := identity.FromContext(ctx); caller != nil {
			by.ActorType, by.ActorID, by.ActorEmail = audit.ActorUser, &caller.UserID, caller.Email
			if caller.KeyID != 0 {
				by.ActorType = audit.ActorAPIKey
			}
		}
		_, err := tx.Pgx.Exec(ctx, `INSERT INTO update_requests (id, version_from, version_to, machine, actor_type, actor_id, actor_email)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, wanted.ID, s.version, version, s.machine, by.ActorType, by.ActorID, by.ActorEmail)
		if err != nil {
			return fmt.Errorf("recording who requested the update: %w", err)
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetName = "release", version
			e.Detail("from", s.version)
			e.Detail("to", version)
			e.Detail("request", wanted.ID)
		})
		if err := audit.Write(ctx, tx); err != nil {
			return err
		}
		put = true // a fault may come after the file is in its place
		if err := installation.PutRequest(c.Request, wanted); err != nil {
			return problem.New(problem.CodeUpdateNotRequested, "%s", plain(err)).WithCause(err)
		}
		return nil
	})
	if err != nil && put {
		s.withdraw(c.Request, wanted)
	}
	return err
}

// withdraw removes a request file that the database does not know.
func (s *Store) withdraw(path string, wanted installation.Request) {
	if err := installation.WithdrawRequest(path, wanted); err != nil {
		s.log.Error("a failed request for an update may still exist", "request", wanted.ID, "error", err)
	}
}
