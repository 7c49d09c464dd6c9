package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// adopt takes over the postmaster that a killed service left running. It
// returns nil if none runs; then nothing prevents starting a new one. The only
// processes that it ever signals are orphaned children of a dead postmaster of
// this data directory.
func (c *Cluster) adopt(ctx context.Context) (*postmaster, error) {
	file, err := readPidFile(c.data)
	if err != nil {
		return nil, err
	}
	info, err := statOf(c.data)
	if err != nil {
		return nil, explain("checking the data directory", "", err)
	}
	if file != nil && file.pid > 1 && file.pid != os.Getpid() {
		p, err := openProcess(file.pid)
		if err != nil {
			return nil, err
		}
		if p != nil {
			pm, err := c.claim(ctx, p, file, info)
			if pm == nil {
				p.close()
			}
			if pm != nil || err != nil {
				return pm, err
			}
		}
	}
	if err := c.bury(ctx, info); err != nil {
		return nil, err
	}
	return nil, c.sweep()
}

// claim decides whether the process with the ID in postmaster.pid is our
// postmaster. It returns nil for another process that got the ID of a dead one.
// p was opened before any check, so all answers concern the same process.
func (c *Cluster) claim(ctx context.Context, p *process, file *pidFile, info os.FileInfo) (*postmaster, error) {
	if ownerOf(p.pid) != c.account.UID {
		return nil, nil
	}
	relation := relate(p.pid, info, c.marker.clusterName())
	if relation == stranger {
		return nil, nil
	}
	var lost error
	err := until(ctx, func() (bool, error) {
		if p.poll(0) {
			return true, nil
		}
		if file, lost = readPidFile(c.data); lost != nil || file == nil || file.pid != p.pid {
			return false, lost // it is ending
		}
		return file.status != "" && file.status != "stopping", nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the PostgreSQL that is already running (process %d): %w", p.pid, err)
	}
	if p.poll(0) {
		return nil, nil
	}
	if file.sockets != "../run" || file.listen != "" {
		return nil, fmt.Errorf("%w: process %d, a PostgreSQL that this service did not start, is running on %s; it was left alone. "+
			"Stop it first",
			ErrForeign, p.pid, c.folder.path(dataName))
	}
	switch pid, err := c.listener(); {
	case err != nil && p.poll(0): // it died meanwhile
		return nil, nil
	case err != nil || pid != p.pid:
		return nil, fmt.Errorf("%w: process %d is in %s, but process %d answers on the socket (%v); both were left alone. Stop process "+
			"%d first",
			ErrForeign, p.pid, pidName, pid, err, p.pid)
	}
	pm := &postmaster{process: p, gone: make(chan struct{}), state: "ended", adopted: true}
	go func() {
		for !p.poll(500) {
		}
		close(pm.gone)
	}()
	c.logger.Info("taking over the PostgreSQL that an earlier service left running", "pid", p.pid)
	if err := c.log.open(); err != nil {
		return nil, err
	}
	if err := c.configure(); err != nil {
		return nil, err
	}
	if err := p.signal(syscall.SIGHUP); err != nil { // read the files again
		return nil, fmt.Errorf("reloading PostgreSQL: %w", err)
	}
	if err := c.ready(ctx, pm); err != nil {
		select {
		case <-pm.gone: // it died under our hands: a new one is started
			return nil, nil
		default:
		}
		return nil, err
	}
	return pm, nil
}

// bury waits for the children of a dead postmaster: they hold its shared
// memory, and a new one cannot start before they end. Children that do not
// notice the death of the postmaster within two seconds get SIGQUIT.
func (c *Cluster) bury(ctx context.Context, info os.FileInfo) error {
	began, told := time.Now(), false
	err := until(ctx, func() (bool, error) {
		pids, err := members(c.account, info, c.marker.clusterName())
		if err != nil || len(pids) == 0 {
			return true, err
		}
		if time.Since(began) > 30*time.Second {
			return false, fmt.Errorf("%w: processes %v of a crashed PostgreSQL still use %s: stop them",
				ErrForeign, pids, c.folder.path(dataName))
		}
		if !told && time.Since(began) > 2*time.Second {
			told = true
			c.logger.Warn("stopping processes of a crashed PostgreSQL", "pids", pids)
			return false, c.quit(pids, info)
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the processes of a crashed PostgreSQL: %w", err)
	}
	return nil
}

// quit sends SIGQUIT to processes. It checks each again through a handle that
// cannot refer to another process.
func (c *Cluster) quit(pids []int, info os.FileInfo) error {
	for _, pid := range pids {
		p, err := openProcess(pid)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		if ownerOf(pid) == c.account.UID && relate(pid, info, c.marker.clusterName()) == member {
			err = p.signal(syscall.SIGQUIT)
		}
		p.close()
		if err != nil {
			return fmt.Errorf("stopping process %d: %w", pid, err)
		}
	}
	return nil
}

// sweep removes the PID file and the socket that a dead postmaster left.
// PostgreSQL usually does that itself, but not if another process of the same
// user now has the ID. It leaves the files if that process cannot be inspected.
func (c *Cluster) sweep() error {
	run, err := os.OpenRoot(c.folder.path(runName))
	if err != nil {
		return explain("opening the socket folder", "", err)
	}
	defer run.Close()
	file, err := readPidFile(c.data)
	if err != nil {
		return err
	}
	if file != nil && file.pid > 1 && ownerOf(file.pid) == c.account.UID {
		info, err := statOf(c.data)
		if err != nil {
			return explain("checking the data directory", "", err)
		}
		if relate(file.pid, info, c.marker.clusterName()) != stranger {
			return fmt.Errorf("%w: process %d may be a PostgreSQL on %s, but could not be inspected; nothing was changed. Stop it, or "+
				"remove %s if you know that it is another program",
				ErrForeign, file.pid, c.folder.path(dataName), c.folder.path(dataName+"/"+pidName))
		}
	}
	for _, left := range []struct {
		root *os.Root
		name string
	}{{c.data, pidName}, {run, socketName}, {run, socketName + ".lock"}} {
		if err := left.root.Remove(left.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return explain("removing the leftover "+left.name, "", err)
		}
	}
	return nil
}
