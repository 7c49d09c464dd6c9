package secret

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The rest of the tags of an access control list.
const (
	aclGroup      = 0x04
	aclNamedGroup = 0x08
	aclOther      = 0x20
	aclNobody     = 0xffffffff
)

type aclPart struct {
	tag, allowed uint16
	id           uint32
}

func aclList(parts ...aclPart) []byte {
	list := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, p := range parts {
		list = binary.LittleEndian.AppendUint16(list, p.tag)
		list = binary.LittleEndian.AppendUint16(list, p.allowed)
		list = binary.LittleEndian.AppendUint32(list, p.id)
	}
	return list
}

// credential is the list that systemd makes for the user, with one part changed or added.
func credential(user uint32, change ...aclPart) []byte {
	parts := []aclPart{{aclOwner, 4, aclNobody}, {aclUser, 4, user}, {aclGroup, 0, aclNobody}, {aclMask, 4, aclNobody},
		{aclOther, 0, aclNobody}}
	for _, c := range change {
		at := -1
		for i, p := range parts {
			if p.tag == c.tag && p.id == c.id {
				at = i
			}
		}
		if at < 0 {
			parts = append(parts, c)
			continue
		}
		parts[at] = c
	}
	return aclList(parts...)
}

func TestLends(t *testing.T) {
	t.Parallel()
	const us = 1000
	for name, c := range map[string]struct {
		list []byte
		want bool
	}{
		"as systemd does":       {credential(us), true},
		"another user's":        {credential(1001), false},
		"another user too":      {credential(us, aclPart{aclUser, 4, 1001}), false},
		"another without right": {credential(us, aclPart{aclUser, 0, 1001}), true},
		"we may write":          {credential(us, aclPart{aclUser, 6, us}), false},
		"the group reads":       {credential(us, aclPart{aclGroup, 4, aclNobody}), false},
		"a named group reads":   {credential(us, aclPart{aclNamedGroup, 4, 7}), false},
		"others read":           {credential(us, aclPart{aclOther, 4, aclNobody}), false},
		"an unknown tag":        {credential(us, aclPart{0x40, 4, us}), false},
		"no entries":            {aclList(), false},
		"nothing":               {nil, false},
		"cut":                   {credential(us)[:19], false},
		"another version":       {append([]byte{3, 0, 0, 0}, credential(us)[4:]...), false},
	} {
		if got := grantsOnly(c.list, us); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The list of a real file: with it 0440 is as good as 0400, without it the group may read.
func TestLent(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root has files of root's")
	}
	path := filepath.Join(t.TempDir(), "secret.key")
	if _, _, err := Create(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, sharedMode); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readFile(path); !errors.Is(err, ErrKeyAccess) {
		t.Errorf("the group may read: %v", err)
	}
	set := func(user uint32) {
		t.Helper()
		err := unix.Setxattr(path, "system.posix_acl_access", credential(user), 0)
		if errors.Is(err, unix.EOPNOTSUPP) {
			t.Skip("this file system has no access control lists")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	set(0)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != sharedMode {
		t.Fatalf("%v, %v", info, err)
	}
	if _, _, err := readFile(path); err != nil {
		t.Errorf("lent to us: %v", err)
	}
	set(4711)
	if _, _, err := readFile(path); !errors.Is(err, ErrKeyAccess) {
		t.Errorf("lent to another: %v", err)
	}
}
