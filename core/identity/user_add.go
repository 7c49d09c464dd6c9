package identity

import (
	"context"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// AddUser makes an account for the caller. Problems: forbidden for a role above
// the caller's own, invalid for faulty fields, conflict for an address that is
// in use. The right is checked twice: before the hash, whose time a caller
// without the right must not spend, and under govern's lock.
func (s *Store) AddUser(ctx context.Context, caller *Caller, in NewUser) (*Profile, error) {
	highest := NoRole
	for _, role := range in.Roles {
		highest = max(highest, role)
	}
	if err := mayGive(instance(caller), highest); err != nil {
		return nil, err
	}
	ready, err := s.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	var made *User
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		held, err := govern(ctx, tx, caller, Admin)
		if err != nil {
			return err
		}
		if err := mayGive(held, highest); err != nil {
			return err
		}
		if made, err = s.createUser(ctx, tx, ready); err != nil {
			return err
		}
		(&subject{id: made.ID, email: made.Email}).describe(ctx, map[string]any{"role": roleName(in.Roles[DefaultTeam])})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.Profile(ctx, made.ID)
}

// roleName returns the role as the audit log and the API show it: nil for none.
func roleName(role Role) any {
	if role == NoRole {
		return nil
	}
	return role.String()
}
