package identity

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Client describes the client of a request. Address and agent are stored with
// the session.
type Client struct {
	// Address is the IP address of the peer.
	Address   string
	UserAgent string
	// Devices are the tokens of the request's device cookie; see DevicesOf.
	Devices []string
}

// LoginResult is the result of a log-in, or of its first step.
type LoginResult struct {
	User *User
	// Token is the session's secret for the cookie. It is nowhere else. It is
	// "" while the second factor is due.
	Token string
	// Devices is the value for the device cookie; "" while the second factor is due.
	Devices string
	// Pending is the secret by which LogInTOTP or LogInPasskeyPending goes on
	// when the account has a second factor, else "". It is no session.
	Pending string
}

// LogIn verifies a password and opens a new session. For an account with a
// second factor there is no session yet; LogInTOTP or LogInPasskeyPending opens
// it.
//
// Problems: invalid_credentials if the address is unknown, the password wrong
// or the account inactive, after the same work in each case; rate_limited after
// too many wrong attempts, counted as budget describes.
func (s *Store) LogIn(ctx context.Context, email, password string, from Client) (*LoginResult, error) {
	proven, err := s.checkPassword(ctx, email, password, from)
	if err != nil {
		return nil, err
	}
	var in *LoginResult
	if proven.account.SecondFactor {
		in, err = s.suspend(ctx, proven)
	} else {
		in, err = s.open(ctx, proven, from)
	}
	if err != nil {
		return nil, err
	}
	s.pruneQuietly(ctx)
	return in, nil
}

// proven is an account whose password was verified.
type proven struct {
	account account
	// rehashed is the password's hash at the present cost; "" when the stored one has it.
	rehashed string
	budget   budget
}

// checkPassword verifies a password and charges the attempt to the account and
// to the address. The work is the same for an unknown address, so that the time
// of an answer does not show which accounts exist.
func (s *Store) checkPassword(ctx context.Context, email, password string, from Client) (*proven, error) {
	key, countAs := keyOf(email)
	budget, err := s.budgetOf(ctx, s.db.Pool, "account", "email_key", key, from, s.accountBucket(countAs))
	if err != nil {
		return nil, err
	}
	if err := s.charge(ctx, budget.buckets()...); err != nil {
		return nil, err
	}
	found, err := s.accountByKey(ctx, key)
	if err != nil {
		s.giveBackLater(ctx, budget.buckets()...)
		return nil, err
	}
	hash := ""
	if found != nil {
		hash = found.PasswordHash
	}
	if len(password) > MaxPasswordBytes {
		password = password[:MaxPasswordBytes] // nobody has such a one; the work stays the same
		hash = ""
	}
	password = preparePassword(password)
	ok, outdated, err := s.hasher.verify(ctx, hash, password, budget.device)
	if err != nil {
		s.giveBackLater(ctx, budget.buckets()...)
		return nil, err
	}
	if !ok || !found.IsActive {
		if found != nil {
			describeTarget(ctx, found.ID)
		}
		return nil, invalidCredentials()
	}
	p := &proven{account: *found, budget: budget}
	if outdated {
		if p.rehashed, err = s.hasher.hash(ctx, password); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// keyOf returns the key of the named account, and the text under which its
// attempts are counted. A text that is no address has no account and is refused
// like an unknown address.
func keyOf(typed string) (key, countAs string) {
	if email, err := ParseEmail(typed); err == nil {
		return email.Key, email.Key
	}
	if len(typed) > 4*maxEmail {
		typed = typed[:4*maxEmail]
	}
	return "", "malformed " + fold(typed)
}

// open makes the session, unless the account was deactivated, its password
// changed or a second factor was switched on since the check. The check took a
// hash's time; the statement compares all three again.
func (s *Store) open(ctx context.Context, p *proven, from Client) (*LoginResult, error) {
	in := &LoginResult{User: &p.account.User, Token: newToken()}
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := p.budget.settle(ctx, tx); err != nil {
			return err
		}
		updated, err := tx.Pgx.Exec(ctx, `UPDATE users SET last_login_at = now(), password_hash = COALESCE(NULLIF($1, ''), password_hash)
			WHERE id = $2 AND is_active AND password_hash = $3 AND NOT second_factor`, p.rehashed, p.account.ID, p.account.PasswordHash)
		if err != nil {
			return fmt.Errorf("recording the log-in: %w", err)
		}
		if updated.RowsAffected() == 0 {
			return invalidCredentials()
		}
		if err := s.insertSession(ctx, tx, p.account.ID, in.Token, arrival{}, from); err != nil {
			return err
		}
		if in.Devices, err = s.welcome(ctx, tx, in.User, arrival{}, from); err != nil {
			return err
		}
		describeActor(ctx, in.User)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// invalidCredentials is the one problem for all reasons. It does not show which
// addresses have an account.
func invalidCredentials() error {
	return problem.New(problem.CodeInvalidCredentials, "the email address or the password is wrong")
}

// describeTarget names the account of a failed log-in by its id. The typed text
// is not stored: it may be a password in the wrong field.
func describeTarget(ctx context.Context, userID int64) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetID = "user", strconv.FormatInt(userID, 10)
	})
}
