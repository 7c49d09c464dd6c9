package identity

import "fmt"

// Role is a user's rank. A higher role may do all that a lower one may.
type Role int

// The roles in increasing rank. NoRole is what a user has on a team that is not theirs.
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

// ParseRole reads one of viewer, operator, admin, owner.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Owner; r++ {
		if roleNames[r] == name {
			return r, nil
		}
	}
	return NoRole, fmt.Errorf("unknown role %q", name)
}
