package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

const pidName = "postmaster.pid"

// pidFile is the content of postmaster.pid. The order of its lines is that of
// src/include/utils/pidfile.h.
type pidFile struct {
	pid int
	// sockets is the first socket folder, and listen the first TCP address.
	// status is "ready", "starting", "stopping" or "standby".
	sockets, listen, status string
}

// readPidFile reads postmaster.pid; nil if it does not exist.
func readPidFile(data *os.Root) (*pidFile, error) {
	text, err := readSmall(data, pidName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", pidName, err)
	}
	lines := strings.Split(string(text), "\n")
	line := func(i int) string {
		if i < len(lines) {
			return strings.TrimSpace(lines[i])
		}
		return ""
	}
	pid, err := strconv.Atoi(line(0))
	if err != nil || pid < -1<<31 || pid > 1<<31-1 {
		return &pidFile{}, nil // empty or cut short: nobody could have written it and live
	}
	if pid < 0 {
		pid = -pid // a single-user backend writes its id negated
	}
	return &pidFile{pid: pid, sockets: line(4), listen: line(5), status: line(7)}, nil
}
