package identity

import (
	"context"
	"strconv"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// CreateOwner makes an owner of the instance; it is called by the command line
// on the service's machine. It works at any time: the first owner ends the
// setup, later ones are additional. The problem is conflict for an address that
// is in use.
func (s *Store) CreateOwner(ctx context.Context, email, password string, displayName *string) (*User, error) {
	ready, err := s.prepare(ctx, NewUser{Email: email, Password: password, DisplayName: displayName, Roles: ownerRoles})
	if err != nil {
		return nil, err
	}
	var user *User
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		if user, err = s.createUser(ctx, tx, ready); err != nil {
			return err
		}
		if err := endSetup(ctx, tx); err != nil {
			return err
		}
		return audit.WriteEntry(tx, audit.Entry{
			ActorType: audit.ActorSystem, Action: "owner.create", Result: audit.ResultOK,
			TargetKind: "user", TargetID: strconv.FormatInt(user.ID, 10), TargetName: user.Email,
		})
	})
	if err != nil {
		return nil, err
	}
	return user, nil
}

// ownerRoles are the roles of the first owner.
var ownerRoles = map[int64]Role{DefaultTeam: Owner}
