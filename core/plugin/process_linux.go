package plugin

import "syscall"

// processAttributes puts the plugin into its own process group, so that Ctrl-C
// in a terminal reaches only the service, and makes the kernel kill it when the
// thread that started it ends.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
