//go:build !linux

package plugin

import "syscall"

// processAttributes puts the plugin into a process group of its own. Its watch on the pipe is what ends it with the service.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
