package pvesim

import (
	"fmt"
	"regexp"
	"strconv"
)

// upid is the unique id of a task: where, what, for whom.
type upid struct {
	node      string
	pid       uint32
	pstart    uint64 // 8 or 9 hexadecimal digits
	starttime int64
	kind      string
	id        string // of the object; may be empty
	user      string // user@realm or user@realm!token
}

// String returns the UPID.
func (u upid) String() string {
	return fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", u.node, u.pid, u.pstart, u.starttime, u.kind, u.id, u.user)
}

// upidPattern is the form of a UPID.
var upidPattern = regexp.MustCompile(
	`^UPID:([A-Za-z][A-Za-z0-9-]*):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8}):([^:\s]+):([^:\s]*):([^:\s]+):$`)

// parseUPID takes a UPID apart; ok is false when it is none.
func parseUPID(s string) (u upid, ok bool) {
	m := upidPattern.FindStringSubmatch(s)
	if m == nil {
		return upid{}, false
	}
	hex := func(s string) uint64 {
		n, _ := strconv.ParseUint(s, 16, 64) // the pattern has checked it
		return n
	}
	return upid{
		node: m[1], pid: uint32(hex(m[2])), pstart: hex(m[3]), starttime: int64(hex(m[4])), kind: m[5], id: m[6], user: m[7],
	}, true
}
