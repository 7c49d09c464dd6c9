package plugin

import "syscall"

// processAttributes puts the plugin into a process group of its own, so that a terminal's Ctrl-C reaches only the service,
// and has the kernel kill it when the thread that started it ends.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
