package identity

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// Profile is a user as admins see it.
type Profile struct {
	User
	// Role is the role in the default team; NoRole without one.
	Role Role
	// Roles are all roles, by team id and so the default team's first.
	Roles []Member
	// Providers are the names of the providers by which the user has come in.
	Providers []string
}

// selectProfiles reads users with roles and providers in one statement: a
// statement for each user of a page would be a hundred.
const selectProfiles = `SELECT u.id, u.email, u.display_name, u.is_active, u.created_at, u.updated_at, u.last_login_at, u.totp_enabled,
	u.passkeys, u.has_password,
	ARRAY(SELECT p.name FROM user_identities i JOIN identity_providers p ON p.id = i.provider_id WHERE i.user_id = u.id ORDER BY p.id),
	(SELECT COALESCE(json_agg(json_build_object('id', t.id, 'name', t.name, 'slug', t.slug, 'role', m.role) ORDER BY t.id), '[]')
		FROM team_members m JOIN teams t ON t.id = m.team_id WHERE m.user_id = u.id)
FROM users u `

// Users returns one page of all users, by e-mail address, and the number of
// all.
func (s *Store) Users(ctx context.Context, offset, limit int) ([]Profile, int, error) {
	var total int
	if err := s.db.Pool.QueryRow(ctx, "SELECT count(*) FROM users").Scan(&total); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("counting users: %w", err))
	}
	page, err := profiles(s.db.Pool.Query(ctx, selectProfiles+"ORDER BY u.email_key, u.id OFFSET $1 LIMIT $2", offset, limit))
	return page, total, err
}

// Profile returns one user. The problem is not_found.
func (s *Store) Profile(ctx context.Context, id int64) (*Profile, error) {
	found, err := profiles(s.db.Pool.Query(ctx, selectProfiles+"WHERE u.id = $1", id))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noUser()
	}
	return &found[0], nil
}

// profiles reads the rows of selectProfiles.
func profiles(rows pgx.Rows, err error) ([]Profile, error) {
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading users: %w", err))
	}
	found, err := db.CollectRows(rows, scanProfile)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading users: %w", err))
	}
	return found, nil
}

// scanProfile reads one row of selectProfiles.
func scanProfile(row pgx.CollectableRow) (Profile, error) {
	var p Profile
	var roles []byte
	if err := row.Scan(&p.ID, &p.Email, &p.DisplayName, &p.IsActive, &p.CreatedAt, &p.UpdatedAt, &p.LastLoginAt, &p.TOTPEnabled, &p.Passkeys,
		&p.HasPassword, &p.Providers, &roles); err != nil {
		return p, err
	}
	var held []struct {
		ID               int64
		Name, Slug, Role string
	}
	if err := json.Unmarshal(roles, &held); err != nil {
		return p, err
	}
	p.Roles = make([]Member, 0, len(held))
	for _, h := range held {
		role, err := ParseRole(h.Role)
		if err != nil {
			return p, err
		}
		if h.ID == DefaultTeam {
			p.Role = role
		}
		p.Roles = append(p.Roles, Member{TeamID: h.ID, Team: h.Name, Slug: h.Slug, Role: role})
	}
	return p, nil
}
