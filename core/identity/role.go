package identity

import "fmt"

// Role is a user's level. A higher role includes all rights of the lower ones.
type Role int

// The roles, from the lowest to the highest. NoRole is the role in a team that
// the user does not belong to.
const (
	NoRole Role = iota
	Viewer
	Operator
	Admin
	Owner
)

// roleNames are the names of roles in the API and in the database.
var roleNames = [...]string{"none", "viewer", "operator", "admin", "owner"}

// String returns the name of the role.
func (r Role) String() string {
	if r < NoRole || r > Owner {
		return fmt.Sprintf("role(%d)", int(r))
	}
	return roleNames[r]
}

// ParseRole reads viewer, operator, admin or owner.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Owner; r++ {
		if roleNames[r] == name {
			return r, nil
		}
	}
	return NoRole, fmt.Errorf("unknown role %q", name)
}
