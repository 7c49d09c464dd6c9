package secret

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// sharedMode is the mode of a file of root that an access control list lets one
// user read. systemd passes a credential to the user of a unit like this if the
// file system supports such lists (systemd.exec(5), LoadCredential=);
// otherwise, as on its ramfs, the file belongs to the user and has the mode
// 0400. The bits of the group are the mask of the list then, and say nothing
// about the group.
const sharedMode = 0o440

// The parts of system.posix_acl_access, of the kernel's
// linux/posix_acl_xattr.h: a version, then entries of tag, permissions and id,
// all little-endian.
const (
	aclVersion = 2
	aclEntry   = 8

	aclOwner = 0x01
	aclUser  = 0x02
	aclMask  = 0x10

	aclRead = 0x04
)

// sharedBy reports whether the file's access control list gives the user the
// right to read, and nobody else any right, except the owner.
func sharedBy(f *os.File, user int) bool {
	list := make([]byte, 1<<10)
	n, err := unix.Fgetxattr(int(f.Fd()), "system.posix_acl_access", list)
	if err != nil { // there is no list, or a longer one than any that would do
		return false
	}
	return grantsOnly(list[:n], user)
}

// grantsOnly reports whether an access control list gives rights to nobody but
// one user. A list that it cannot read grants too much.
func grantsOnly(list []byte, user int) bool {
	if len(list) < 4 || len(list)%aclEntry != 4 || binary.LittleEndian.Uint32(list) != aclVersion {
		return false
	}
	found := false
	for e := list[4:]; len(e) > 0; e = e[aclEntry:] {
		allowed, id := binary.LittleEndian.Uint16(e[2:]), binary.LittleEndian.Uint32(e[4:])
		switch tag := binary.LittleEndian.Uint16(e); {
		case tag == aclOwner, tag == aclMask:
		case tag == aclUser && int64(id) == int64(user) && allowed == aclRead:
			found = true
		case allowed != 0: // another user, the group, other groups, everybody
			return false
		}
	}
	return found
}
