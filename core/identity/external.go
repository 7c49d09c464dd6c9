package identity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// ExternalLogin is a log-in that an identity provider has confirmed. It is stored as
// JSON while the second factor is missing.
type ExternalLogin struct {
	// Provider is the id of the provider, and Name its name. UpdatedAt is when
	// its settings were last written: what was worked out by others does not
	// count any more.
	Provider  int64     `json:"provider"`
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updated_at"`
	// Subject is who that is at the provider, the same for ever.
	Subject string `json:"subject"`
	// Email is an address of which the provider says that it is the person's;
	// "" where it says of none.
	Email string `json:"email"`
	// DisplayName is the name of an account that is made; "" for none.
	DisplayName string `json:"display_name"`
	// Create says that who has no account gets one. Else it is refused.
	Create bool `json:"create"`
	// Factors says that the provider has asked for more than one factor.
	Factors bool `json:"factors"`
	// Grants are the roles by team that the provider's rules give. Each team of
	// which a rule speaks is in it; NoRole takes a role there away.
	Grants map[int64]Role `json:"grants"`
}

// begin takes the locks of a log-in in the order of all changes of users. It
// refuses a provider that was switched off or changed since its answer: the
// answer was judged by the old settings.
func (e *ExternalLogin) begin(ctx context.Context, tx *db.Tx) error {
	if _, err := govern(ctx, tx, nil, NoRole); err != nil {
		return err
	}
	var same bool
	err := tx.Pgx.QueryRow(ctx, "SELECT updated_at = $2 FROM identity_providers WHERE id = $1 AND enabled FOR SHARE", e.Provider,
		e.UpdatedAt).Scan(&same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return refused("%s is disabled", e.Name)
	case err != nil:
		return fmt.Errorf("reading the provider: %w", err)
	case !same:
		return refused("%s was changed in the meantime; start the log-in again", e.Name)
	}
	return nil
}

// LogInExternal opens a session for a person whom a provider has confirmed, and
// sets the roles that the provider's rules name. A person whom the provider has
// not sent before gets the account of the verified e-mail address, or a new
// account if ExternalLogin allows it.
//
// An account with a second factor is asked for it, unless the provider has
// asked for one; always if the account is joined to the provider now, because
// whoever controls the mailbox at the provider would otherwise get the account.
// The problem is invalid_credentials if there is no account, the account is
// inactive or belongs to another person at the provider, or is an owner's
// without a second factor.
func (s *Store) LogInExternal(ctx context.Context, e ExternalLogin, from Client) (*LoginResult, error) {
	var in *LoginResult
	err := s.db.Tx(ctx, func(tx *db.Tx) (err error) {
		in = nil
		if err := e.begin(ctx, tx); err != nil {
			return err
		}
		user, known, err := s.accountOf(ctx, tx, &e)
		if err != nil {
			return err
		}
		describeTarget(ctx, user.ID)
		if !user.IsActive {
			return refused("the account is inactive")
		}
		if user.SecondFactor && (!known || !e.Factors) {
			in, err = s.suspendExternal(ctx, tx, user, &e)
			return err
		}
		if !known {
			owner, err := roleIn(ctx, tx, DefaultTeam, user.ID)
			if err != nil {
				return err
			}
			if owner == Owner {
				return refused("an owner's account can be linked to a provider only with a second factor: log in with your password " +
					"and enable a second factor first")
			}
		}
		in, err = s.openExternal(ctx, tx, user, &e, from)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.pruneQuietly(ctx)
	return in, nil
}

// accountOf finds or makes the account, and locks its row. known reports that
// it was joined to the provider before.
func (s *Store) accountOf(ctx context.Context, tx *db.Tx, e *ExternalLogin) (user *User, known bool, err error) {
	var id int64
	err = tx.Pgx.QueryRow(ctx, "SELECT user_id FROM user_identities WHERE provider_id = $1 AND subject = $2", e.Provider, e.Subject).Scan(&id)
	switch {
	case err == nil:
		user, err = lockUser(ctx, tx, "id = $1", id)
		return user, true, err
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, false, fmt.Errorf("reading the account: %w", err)
	case e.Email == "":
		return nil, false, refused("this log-in is not linked to an account, and %s reports no verified email address", e.Name)
	}
	email, err := ParseEmail(e.Email)
	if err != nil {
		return nil, false, refused("the email address that %s reports %s", e.Name, err)
	}
	user, err = lockUser(ctx, tx, "email_key = $1", email.Key)
	if errors.Is(err, pgx.ErrNoRows) && !e.Create {
		return nil, false, refused("no account has your email address; ask an admin to create one")
	}
	if errors.Is(err, pgx.ErrNoRows) {
		user, err = s.createUser(ctx, tx, prepared{email: email, displayName: e.displayName()})
		return user, false, err
	}
	if err != nil {
		return nil, false, err
	}
	if !sameAddress(e.Email, user.Email) {
		describeTarget(ctx, user.ID)
		return nil, false, refused("your email address at %s only resembles that of an account here; ask an admin", e.Name)
	}
	var another bool
	err = tx.Pgx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM user_identities WHERE provider_id = $1 AND user_id = $2)", e.Provider, user.ID).
		Scan(&another)
	if err != nil {
		return nil, false, fmt.Errorf("reading the account: %w", err)
	}
	if another { // an address that was given to somebody else
		describeTarget(ctx, user.ID)
		return nil, false, refused("the account with your email address is linked to someone else at %s", e.Name)
	}
	return user, false, nil
}

// sameAddress reports whether two addresses differ only in the case of ASCII
// letters. The keys of addresses are equal for letters that look alike; that
// prevents accounts with similar addresses, but it does not prove that both
// belong to one person.
func sameAddress(a, b string) bool {
	lower := func(text string) string {
		return strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, text)
	}
	return lower(a) == lower(b)
}

// displayName returns the name if it can be a display name, else nil.
func (e *ExternalLogin) displayName() *string {
	name, err := checkDisplayName(&e.DisplayName)
	if err != nil {
		return nil
	}
	return name
}

// lockUser reads a user and locks the row; pgx.ErrNoRows if there is none.
func lockUser(ctx context.Context, tx *db.Tx, where string, value any) (*User, error) {
	var u User
	err := tx.Pgx.QueryRow(ctx, `SELECT id, email, display_name, is_active, created_at, updated_at, last_login_at, totp_enabled, passkeys,
		second_factor, has_password FROM users WHERE `+where+" FOR UPDATE", value).Scan(&u.ID, &u.Email, &u.DisplayName, &u.IsActive,
		&u.CreatedAt, &u.UpdatedAt, &u.LastLoginAt, &u.TOTPEnabled, &u.Passkeys, &u.SecondFactor, &u.HasPassword)
	if err != nil {
		return nil, fmt.Errorf("reading the account: %w", err)
	}
	return &u, nil
}

// suspendExternal ends the first step of a log-in to an account with a second
// factor. Neither the roles nor the joining take effect yet.
func (s *Store) suspendExternal(ctx context.Context, tx *db.Tx, user *User, e *ExternalLogin) (*LoginResult, error) {
	in := &LoginResult{User: user, Pending: newToken()}
	if err := insertPending(ctx, tx, user.ID, in.Pending, "provider:"+strconv.FormatInt(e.Provider, 10), e); err != nil {
		return nil, err
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		entry.Action, entry.TargetName = "auth.login_provider", user.Email
		addDetail(entry, "provider", e.Name)
	})
	return in, audit.Write(ctx, tx)
}

// openExternal opens a session for a user whom an identity provider has
// authenticated.
func (s *Store) openExternal(ctx context.Context, tx *db.Tx, user *User, e *ExternalLogin, from Client) (*LoginResult, error) {
	in := &LoginResult{User: user, Token: newToken()}
	came := arrival{provider: e.Provider}
	if e.Factors {
		came.factor = FactorProvider
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE users SET last_login_at = now() WHERE id = $1", user.ID); err != nil {
		return nil, fmt.Errorf("recording the log-in: %w", err)
	}
	if err := e.settle(ctx, tx, user.ID); err != nil {
		return nil, err
	}
	if err := s.insertSession(ctx, tx, user.ID, in.Token, came, from); err != nil {
		return nil, err
	}
	var err error
	if in.Devices, err = s.welcome(ctx, tx, user, came, from); err != nil {
		return nil, err
	}
	describeActor(ctx, user)
	return in, audit.Write(ctx, tx)
}

// settle joins the account to the person at the provider, and sets the roles
// that its rules name.
func (e *ExternalLogin) settle(ctx context.Context, tx *db.Tx, userID int64) error {
	var joined bool
	// Another log-in of the same person may have joined it in the meantime, or of somebody else.
	err := tx.Pgx.QueryRow(ctx, `INSERT INTO user_identities AS i (provider_id, subject, user_id) VALUES ($1, $2, $3)
		ON CONFLICT (provider_id, subject) DO UPDATE SET last_login_at = now() WHERE i.user_id = excluded.user_id
		RETURNING xmax = 0`, e.Provider, e.Subject, userID).Scan(&joined)
	if errors.Is(err, pgx.ErrNoRows) || db.IsDuplicate(err, "user_identities_user") {
		return refused("the account is linked to someone else at %s", e.Name)
	}
	if err != nil {
		return fmt.Errorf("linking the account to the provider: %w", err)
	}
	changes, err := e.grant(ctx, tx, userID)
	if err != nil {
		return err
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		addDetail(entry, "provider", e.Name)
		if joined {
			addDetail(entry, "joined", true)
		}
		if len(changes) > 0 {
			addDetail(entry, "roles", changes)
		}
	})
	return nil
}

// grant sets the roles that the rules name, and returns the changes. The last
// owner with a password stays owner. No rule makes an account with a password
// an owner: an admin may have set that password, and would become owner by it.
func (e *ExternalLogin) grant(ctx context.Context, tx *db.Tx, userID int64) (changes []any, err error) {
	for _, team := range slices.Sorted(maps.Keys(e.Grants)) {
		role := e.Grants[team]
		before, err := roleIn(ctx, tx, team, userID)
		if err != nil {
			return nil, err
		}
		if before == role {
			continue
		}
		change := map[string]any{"team_id": team, "old_role": roleName(before), "new_role": roleName(role)}
		if role == Owner {
			var password bool
			if err := tx.Pgx.QueryRow(ctx, "SELECT has_password FROM users WHERE id = $1", userID).Scan(&password); err != nil {
				return nil, fmt.Errorf("reading the account: %w", err)
			}
			if password {
				change["new_role"], change["kept"] = roleName(before), "has_password"
				changes = append(changes, change)
				continue
			}
		}
		if team == DefaultTeam && before == Owner {
			u, err := lockSubject(ctx, tx, userID)
			if err != nil {
				return nil, err
			}
			if err := loseOwner(ctx, tx, u); problem.CodeOf(err) == problem.CodeLastOwner {
				change["new_role"], change["kept"] = roleName(before), "last_owner"
				changes = append(changes, change)
				continue
			} else if err != nil {
				return nil, err
			}
		}
		if role == NoRole {
			_, err = tx.Pgx.Exec(ctx, "DELETE FROM team_members WHERE team_id = $1 AND user_id = $2", team, userID)
		} else { // a team that was deleted meanwhile gives nothing
			_, err = tx.Pgx.Exec(ctx, `INSERT INTO team_members (team_id, user_id, role) SELECT id, $2, $3 FROM teams WHERE id = $1
				ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role`, team, userID, role.String())
		}
		if err != nil {
			return nil, fmt.Errorf("setting a role: %w", err)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// Throttle counts an attempt to log in by a provider: for the browser if it has
// logged in before, else for the network. The problem is rate_limited after too
// many failures. The caller calls back after a success, and after a failure
// that the client did not cause.
func (s *Store) Throttle(ctx context.Context, from Client) (back func(), err error) {
	counted := s.addressBucket(from.Address)
	var device *int64
	err = s.db.Pool.QueryRow(ctx, "SELECT max(id) FROM login_devices WHERE token_hash = ANY($1) AND expires_at > now()",
		hashTokens(from.Devices)).Scan(&device)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("checking whether the browser is known: %w", err))
	}
	if device != nil {
		counted.name = fmt.Sprintf("sign-on device:%d", *device)
	}
	if err := s.charge(ctx, counted); err != nil {
		return nil, err
	}
	return func() { s.giveBackLater(ctx, counted) }, nil
}

// refused returns the problem of a log-in by a provider that is not accepted,
// with the reason.
func refused(format string, args ...any) error {
	return problem.New(problem.CodeInvalidCredentials, format, args...)
}
