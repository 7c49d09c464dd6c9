//go:build unix

package release

import (
	"io/fs"
	"syscall"
)

// ownerOf is the user id that a file belongs to.
func ownerOf(info fs.FileInfo) (uint32, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}
