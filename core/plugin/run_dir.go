package plugin

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// runPrefix begins the names of the folders that hold one plugin process's socket.
const runPrefix = "hostler-run-"

// newRunDir makes the folder of one process's socket, for nobody but this user.
func newRunDir(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return "", fmt.Errorf("making the plugin's socket folder: %w", err)
	}
	return dir, nil
}

// sweepRunDirs removes what a service left behind that was killed: folders whose socket nobody answers. A young folder
// without a socket may be another instance's whose plugin is just starting.
func sweepRunDirs(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	dirs, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
	for _, dir := range dirs {
		sockets, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			continue
		}
		info, err := os.Stat(dir)
		stale := err == nil && time.Since(info.ModTime()) > time.Minute
		for _, socket := range sockets {
			if conn, err := net.DialTimeout("unix", socket, time.Second); err == nil {
				_ = conn.Close()
				stale = false
			}
		}
		if stale {
			_ = os.RemoveAll(dir)
		}
	}
}
