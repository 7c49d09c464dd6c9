package identity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// User is an account. No type that leaves this package contains the hash of the
// password.
type User struct {
	ID          int64 `gorm:"primaryKey"`
	Email       string
	DisplayName *string
	IsActive    bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
	LastLoginAt *time.Time
	// TOTPEnabled says that an authenticator app is a second factor.
	TOTPEnabled bool `gorm:"column:totp_enabled;->"`
	// Passkeys is how many passkeys there are; each is a second factor, and a way to log in.
	Passkeys int `gorm:"->"`
	// SecondFactor says that log-in by password asks for a second factor: there
	// is an authenticator app or a passkey.
	SecondFactor bool `gorm:"column:second_factor;->"`
	// HasPassword is false for an account that a provider of identities has
	// brought and that has been given none.
	HasPassword bool `gorm:"column:has_password;->"`
}

// account is the row of a user with the columns that only this package may see.
type account struct {
	User         `gorm:"embedded"`
	EmailKey     string
	PasswordHash string
	// TOTPSecret is sealed; nil when no second factor is enrolled. It counts
	// once TOTPConfirmedAt is set.
	TOTPSecret      []byte     `gorm:"column:totp_secret;->"`
	TOTPConfirmedAt *time.Time `gorm:"column:totp_confirmed_at;->"`
}

// TableName is the name of the table for gorm.
func (account) TableName() string { return "users" }

// NewUser is the input of CreateUser and AddUser.
type NewUser struct {
	Email       string
	Password    string
	DisplayName *string
	// Roles maps team id to role; an account without any may log in and see nothing.
	Roles map[int64]Role
}

// maxDisplayName in characters.
const maxDisplayName = 200

// MaxUsers is the largest number of accounts.
const MaxUsers = 100_000

// createUser adds an account in the given transaction. The caller has run
// prepare before the transaction, because hashing takes long and would hold its
// locks. The problem is conflict for an address that is in use, in any
// spelling, and beyond MaxUsers.
func (s *Store) createUser(ctx context.Context, tx *db.Tx, in prepared) (*User, error) {
	if err := db.CheckRowLimit(ctx, tx, "users", "users", MaxUsers); err != nil {
		return nil, err
	}
	row := account{
		User:     User{Email: in.email.Address, DisplayName: in.displayName, IsActive: true},
		EmailKey: in.email.Key, PasswordHash: in.hash,
	}
	if err := tx.Create(&row).Error; err != nil {
		if db.IsDuplicate(err, "users_email_key_key") {
			return nil, problem.New(problem.CodeConflict, "a user with this email address already exists")
		}
		return nil, fmt.Errorf("creating the user: %w", err)
	}
	for _, team := range slices.Sorted(maps.Keys(in.roles)) {
		_, err := tx.Pgx.Exec(ctx, "INSERT INTO team_members (team_id, user_id, role) VALUES ($1, $2, $3)", team, row.ID,
			in.roles[team].String())
		if err != nil {
			return nil, fmt.Errorf("assigning a role to the user: %w", err)
		}
	}
	return &row.User, nil
}

// prepared is a valid NewUser with the hash of its password.
type prepared struct {
	email       Email
	displayName *string
	hash        string
	roles       map[int64]Role
}

// Check returns all faults of the fields as one problem invalid.
func (in NewUser) Check() error {
	_, err := in.ready()
	return err
}

// ready returns the user without the hash of the password.
func (in NewUser) ready() (prepared, error) {
	email, emailErr := ParseEmail(in.Email)
	if emailErr != nil {
		emailErr = problem.InvalidField(emailErr.Error(), "value_error", "body", "email")
	}
	passwordErr := CheckPassword(in.Password, email, "body", "password")
	name, nameErr := checkDisplayName(in.DisplayName)
	if err := allFaults(emailErr, passwordErr, nameErr); err != nil {
		return prepared{}, err
	}
	return prepared{email: email, displayName: name, roles: in.Roles}, nil
}

// prepare checks a new user and hashes the password. All faults are in one
// problem.
func (s *Store) prepare(ctx context.Context, in NewUser) (prepared, error) {
	ready, err := in.ready()
	if err != nil {
		return prepared{}, err
	}
	if ready.hash, err = s.hasher.hash(ctx, preparePassword(in.Password)); err != nil {
		return prepared{}, err
	}
	return ready, nil
}

// checkDisplayName returns the trimmed name; nil for an empty one.
func checkDisplayName(name *string) (*string, error) {
	if name == nil {
		return nil, nil
	}
	trimmed := strings.TrimSpace(*name)
	switch {
	case trimmed == "":
		return nil, nil
	case utf8.RuneCountInString(trimmed) > maxDisplayName:
		return nil, problem.InvalidField("must have at most 200 characters", "too_long", "body", "display_name")
	case !utf8.ValidString(trimmed) || strings.ContainsFunc(trimmed, unicode.IsControl):
		return nil, problem.InvalidField("must be text without control characters", "value_error", "body", "display_name")
	}
	return &trimmed, nil
}

// CreateUser makes an account in its own transaction. Problems: invalid for
// faulty fields, conflict for an address that is in use, in any spelling.
func (s *Store) CreateUser(ctx context.Context, in NewUser) (*User, error) {
	ready, err := s.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	var user *User
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		user, err = s.createUser(ctx, tx, ready)
		return err
	})
	if err != nil {
		return nil, err
	}
	return user, nil
}

// User returns an account. The problem is not_found.
func (s *Store) User(ctx context.Context, id int64) (*User, error) {
	var row account
	err := s.db.Gorm(ctx).Take(&row, "id = ?", id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, noUser()
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the user: %w", err))
	}
	return &row.User, nil
}

// accountByKey returns the account of a folded address, or nil.
func (s *Store) accountByKey(ctx context.Context, key string) (*account, error) {
	return s.account(ctx, "email_key = ?", key)
}

// account returns the account that meets the condition, or nil.
func (s *Store) account(ctx context.Context, where string, value any) (*account, error) {
	var row account
	err := s.db.Gorm(ctx).Take(&row, where, value).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the account: %w", err))
	}
	return &row, nil
}

// Member is a user's role in one team.
type Member struct {
	TeamID int64
	// Team is the team's name.
	Team string
	Slug string
	Role Role
}

// Roles returns the user's roles by team id, which puts the default team first.
func (s *Store) Roles(ctx context.Context, userID int64) ([]Member, error) {
	rows, err := s.db.Pool.Query(ctx, `
		SELECT t.id, t.name, t.slug, m.role FROM team_members m JOIN teams t ON t.id = m.team_id
		WHERE m.user_id = $1 ORDER BY t.id`, userID)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the user's roles: %w", err))
	}
	defer rows.Close()
	members := []Member{}
	for rows.Next() {
		var m Member
		var role string
		if err := rows.Scan(&m.TeamID, &m.Team, &m.Slug, &role); err != nil {
			return nil, fmt.Errorf("reading a role: %w", err)
		}
		if m.Role, err = ParseRole(role); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, db.Problem(rows.Err())
}
