package plugin

import (
	"errors"
	"os"
	"syscall"
)

// killGroup kills a plugin and everything that it has started in its process
// group.
func killGroup(pid int) error {
	err := syscall.Kill(-pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
