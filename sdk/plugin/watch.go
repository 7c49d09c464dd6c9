package plugin

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// hostCheck is the interval at which a plugin without a pipe checks whether its
// parent process has changed.
const hostCheck = time.Second

// watchHost exits the process when the service is gone, however it ended. The
// service passes the reading end of a pipe and keeps the only writing end, which
// the kernel closes when the service dies. If there is no pipe, watchHost compares
// the ID of the parent process, which changes when the parent dies.
func watchHost(logger hclog.Logger) {
	gone := func() {
		logger.Warn("the service has ended; exiting")
		os.Exit(1)
	}
	fd, err := strconv.ParseUint(os.Getenv(WatchEnv), 10, 31)
	if err == nil && fd > 2 {
		// Programs that the plugin starts must not inherit the descriptor.
		syscall.CloseOnExec(int(fd)) // what the plugin starts has no business with it
		pipe := os.NewFile(uintptr(fd), "host")
		go func() {
			_, _ = io.Copy(io.Discard, pipe)
			gone()
		}()
		return
	}
	parent := os.Getppid()
	go func() {
		for range time.Tick(hostCheck) {
			if os.Getppid() != parent {
				gone()
			}
		}
	}()
}
