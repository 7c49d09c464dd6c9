package identity

import (
	"context"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// AddUser makes an account on the caller's behalf. A role above the caller's own in the instance is forbidden; a faulty
// field is a problem of code invalid, an address that has an account in whatever spelling one of code conflict.
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

// roleName is the role as the trail and the API name it: nil for none.
func roleName(role Role) any {
	if role == NoRole {
		return nil
	}
	return role.String()
}
