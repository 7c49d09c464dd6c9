package identity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Setup creates the first owner. While no user exists, each instance keeps a
// token in its state directory. The database contains the hashes of all tokens,
// so that every instance accepts the token of every other. The first user ends
// the setup for all: the hashes are deleted in the transaction that creates the
// user.
type Setup struct {
	store *Store
	path  string
}

// NewSetup returns the setup of an instance with the given state directory,
// which must exist.
func NewSetup(store *Store, stateDir string) *Setup {
	return &Setup{store: store, path: filepath.Join(stateDir, setupFile)}
}

// Prepare makes sure that the file with the token exists and is valid while
// there is no user, and does not exist otherwise. path is the file, if needed
// is true. It is called at each start; a lost file is replaced by a new token.
func (s *Setup) Prepare(ctx context.Context) (path string, needed bool, err error) {
	if needed, err = s.Needed(ctx); err != nil || !needed {
		return "", false, err
	}
	token, err := readSetupToken(s.path)
	if err != nil {
		return "", false, err
	}
	if token != "" {
		known, err := s.known(ctx, token)
		if err != nil || known {
			return s.path, true, err
		}
	}
	token = newToken()
	if err := writeSetupToken(s.path, token); err != nil {
		return "", false, err
	}
	// Tokens whose file was lost would gather; the newest hundred are more than
	// there are instances.
	_, err = s.store.db.Pool.Exec(ctx, `
		WITH old AS (DELETE FROM setup_tokens WHERE token_hash IN (
			SELECT token_hash FROM setup_tokens ORDER BY created_at DESC OFFSET 99))
		INSERT INTO setup_tokens (token_hash) VALUES ($1)`, hashToken(token))
	if err != nil {
		return "", false, db.Problem(fmt.Errorf("storing the setup token's hash: %w", err))
	}
	return s.path, true, nil
}

// Needed reports whether there is no user yet. Once there is one, it also
// removes this instance's file, because another instance or the command line
// may have done the setup.
func (s *Setup) Needed(ctx context.Context) (bool, error) {
	needed, err := noUsers(ctx, s.store.db)
	if err == nil && !needed {
		s.removeFile()
	}
	return needed, err
}

// Complete creates the first owner. Problems: already_set_up if there is a
// user, also if another setup was faster; invalid_credentials for a wrong
// token; invalid for faulty fields.
func (s *Setup) Complete(ctx context.Context, token string, in NewUser) (*User, error) {
	needed, err := s.Needed(ctx)
	if err != nil {
		return nil, err
	}
	if !needed {
		return nil, alreadySetUp()
	}
	// The token comes before the fields and before the hash, which costs time
	// that a stranger must not spend.
	known, err := s.known(ctx, token)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, wrongSetupToken()
	}
	in.Roles = ownerRoles
	ready, err := s.store.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	var user *User
	err = s.store.db.Tx(ctx, func(tx *db.Tx) error {
		user, err = s.complete(ctx, tx, ready, token)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.removeFile()
	return user, nil
}

// complete creates the first owner in a transaction and uses up the setup
// token.
func (s *Setup) complete(ctx context.Context, tx *db.Tx, ready prepared, token string) (*User, error) {
	// The lock makes everyone else who would create a user wait: of two setups one is first.
	if _, err := tx.Pgx.Exec(ctx, "LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return nil, fmt.Errorf("locking the users: %w", err)
	}
	var some bool
	if err := tx.Pgx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM users)").Scan(&some); err != nil {
		return nil, fmt.Errorf("checking for users: %w", err)
	}
	if some {
		return nil, alreadySetUp()
	}
	used, err := tx.Pgx.Exec(ctx, "DELETE FROM setup_tokens WHERE token_hash = $1", hashToken(token))
	if err != nil {
		return nil, fmt.Errorf("using the setup token: %w", err)
	}
	if used.RowsAffected() == 0 {
		return nil, wrongSetupToken()
	}
	user, err := s.store.createUser(ctx, tx, ready)
	if err != nil {
		return nil, err
	}
	if err := endSetup(ctx, tx); err != nil {
		return nil, err
	}
	describeActor(ctx, user)
	return user, audit.Write(ctx, tx)
}

// endSetup makes all setup tokens worthless.
func endSetup(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM setup_tokens"); err != nil {
		return fmt.Errorf("ending the setup: %w", err)
	}
	return nil
}

// known reports whether a setup token is valid.
func (s *Setup) known(ctx context.Context, token string) (known bool, err error) {
	if !isToken(token) {
		return false, nil
	}
	err = s.store.db.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM setup_tokens WHERE token_hash = $1)", hashToken(token)).Scan(&known)
	if err != nil {
		return false, db.Problem(fmt.Errorf("reading the setup token: %w", err))
	}
	return known, nil
}

// removeFile deletes the file with the setup token. It is of no use any more,
// so a failure is only logged.
func (s *Setup) removeFile() {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.store.log.Warn("the setup token's file is no longer needed, but cannot be removed", "path", s.path, "error", err)
	}
}

// noUsers reports whether there are no users.
func noUsers(ctx context.Context, d *db.DB) (none bool, err error) {
	if err := d.Pool.QueryRow(ctx, "SELECT NOT EXISTS (SELECT FROM users)").Scan(&none); err != nil {
		return false, db.Problem(fmt.Errorf("checking for users: %w", err))
	}
	return none, nil
}

// alreadySetUp returns the problem of a setup after the first one.
func alreadySetUp() error {
	return problem.New(problem.CodeAlreadySetUp, "the instance has an owner; log in instead")
}

// wrongSetupToken returns the problem of an invalid setup token.
func wrongSetupToken() error {
	return problem.New(problem.CodeInvalidCredentials,
		"this is not the setup token; it is in the file setup-token in the service's state directory")
}

// describeActor makes the user both actor and target of the audit entry. At
// log-in and setup the caller was anonymous when the request began.
func describeActor(ctx context.Context, user *User) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.ActorType, e.ActorID, e.ActorEmail = audit.ActorUser, &user.ID, user.Email
		e.TargetKind, e.TargetID, e.TargetName = "user", strconv.FormatInt(user.ID, 10), user.Email
	})
}
