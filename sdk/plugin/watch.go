package plugin

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// hostCheck is how often a plugin without a watched descriptor looks whether its parent is still the one that started it.
const hostCheck = time.Second

// watchHost ends the process when the service is gone, however it went. The service hands down the reading end of a pipe
// whose writing end only it holds: the kernel closes that with the service. A host that gives none is watched by
// the parent's process id, which changes when the parent dies.
func watchHost(logger hclog.Logger) {
	gone := func() {
		logger.Warn("the service is gone, ending")
		os.Exit(1)
	}
	fd, err := strconv.ParseUint(os.Getenv(WatchEnv), 10, 31)
	if err == nil && fd > 2 {
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
