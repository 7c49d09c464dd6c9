//go:build !linux

package plugin

import "syscall"

// processAttributes puts the plugin into its own process group. Only its watch
// on the pipe ends it with the service.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
