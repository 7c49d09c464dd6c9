package private

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Account is the pair of system users: the one of the service, and the one that
// PostgreSQL runs as.
type Account struct {
	// Service is the name of the user of this process. Peer authentication lets
	// only this user log in.
	Service string
	// User, UID and GID are those of the user that PostgreSQL runs as.
	User     string
	UID, GID int
	// drop says that the two users differ, which is the case only if the
	// service runs as root.
	drop bool
}

// FindAccount decides which system user PostgreSQL runs as. name is
// Config.User. Errors wrap ErrAccess: PostgreSQL refuses to run as root and
// needs a user with an entry in /etc/passwd.
func FindAccount(name string) (Account, error) {
	uid := os.Geteuid()
	self, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return Account{}, fmt.Errorf("%w: user ID %d has no entry in /etc/passwd, which PostgreSQL needs: add one, or start the "+
			"service as another user (%v)", ErrAccess, uid, err)
	}
	if uid != 0 {
		if name != "" && name != self.Username {
			return Account{}, fmt.Errorf("%w: only root can run PostgreSQL as %q; this service runs as %q", ErrAccess, name, self.Username)
		}
		return Account{Service: self.Username, User: self.Username, UID: uid, GID: os.Getegid()}, nil
	}
	if name == "" {
		name = "postgres"
	}
	other, err := user.Lookup(name)
	if err != nil {
		return Account{}, fmt.Errorf("%w: the system user %q, as which PostgreSQL should run, does not exist: apt-get install "+
			"postgresql, or configure another user (%v)", ErrAccess, name, err)
	}
	a := Account{Service: self.Username, User: other.Username, drop: true}
	if a.UID, err = strconv.Atoi(other.Uid); err != nil {
		return Account{}, fmt.Errorf("reading the id of user %q: %w", name, err)
	}
	if a.GID, err = strconv.Atoi(other.Gid); err != nil {
		return Account{}, fmt.Errorf("reading the group of user %q: %w", name, err)
	}
	if a.UID == 0 {
		return Account{}, fmt.Errorf("%w: PostgreSQL refuses to run as root: configure another user", ErrAccess)
	}
	return a, nil
}

// Credential makes a child process run as the user of PostgreSQL. It returns
// nil if that is the user of this process, too.
func (a Account) Credential() *syscall.Credential {
	if !a.drop {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
}

// own changes the owner of an open file to the user of PostgreSQL.
func (a Account) own(f *os.File) error {
	if !a.drop {
		return nil
	}
	return f.Chown(a.UID, a.GID)
}
