package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// postmaster is the main process of PostgreSQL, started or taken over.
type postmaster struct {
	process *process
	// gone is closed when the process has ended. state then says how, as far as
	// that is known.
	gone    chan struct{}
	state   string
	adopted bool
}

// start makes sure that a postmaster runs and answers: one that an earlier
// service left, or a new one. Only ctx limits the wait, because recovery after
// a crash may take long. A process that start itself started does not outlive a
// failed start.
func (c *Cluster) start(ctx context.Context) (*postmaster, error) {
	if pm, err := c.adopt(ctx); pm != nil || err != nil {
		return pm, err
	}
	return c.launch(ctx)
}

// launch starts a new postmaster. The caller has made sure that no other one
// runs on the data directory.
func (c *Cluster) launch(ctx context.Context) (*postmaster, error) {
	if err := c.configure(); err != nil {
		return nil, err
	}
	d, err := openData(ctx, c.binaries, c.account, c.folder.path(dataName))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := c.log.open(); err != nil {
		return nil, err
	}
	cmd := exec.Command(c.binaries.Path("postgres"), append([]string{"-D", d.arg}, fixed(c.marker.clusterName())...)...)
	d.apply(cmd)
	cmd.SysProcAttr.Setsid = true // the terminal's Ctrl-C is for the service, which then stops PostgreSQL in order
	cmd.Stdout, cmd.Stderr = c.log.file, c.log.file
	if err := cmd.Start(); err != nil {
		return nil, explain("starting PostgreSQL", "", err)
	}
	p, err := openProcess(cmd.Process.Pid)
	if err != nil || p == nil {
		err = errors.Join(fmt.Errorf("watching PostgreSQL: %w", err), cmd.Process.Kill(), cmd.Wait())
		return nil, err
	}
	pm := &postmaster{process: p, gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the state says it
		pm.state = cmd.ProcessState.String()
		close(pm.gone)
	}()
	if err := c.ready(ctx, pm); err != nil {
		err = errors.Join(err, pm.end(syscall.SIGINT, 5*time.Second))
		p.close()
		return nil, err
	}
	return pm, nil
}

// ready waits until postmaster.pid says that PostgreSQL is ready and it answers
// a query.
func (c *Cluster) ready(ctx context.Context, pm *postmaster) error {
	began, told := time.Now(), time.Now()
	err := until(ctx, func() (bool, error) {
		select {
		case <-pm.gone:
			c.log.forward()
			return false, explain("starting PostgreSQL ("+pm.state+")", strings.Join(c.log.recent(), "\n"), errors.New("it exited "+
				"immediately"))
		default:
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			c.logger.Info("still waiting for PostgreSQL; recovery after a crash may take a while", "waited", time.Since(began).Round(time.Second))
		}
		file, err := readPidFile(c.data)
		return err == nil && file != nil && file.pid == pm.process.pid && file.status == "ready", err
	})
	if err != nil {
		return fmt.Errorf("waiting for PostgreSQL to start: %w", err)
	}
	pid, err := c.listener()
	if pid != 0 && (err != nil || pid != pm.process.pid) {
		return fmt.Errorf("%w: process %d answers on the socket instead of PostgreSQL %d: %v", ErrForeign, pid, pm.process.pid, err)
	}
	if err != nil { // it died between its word and our question: nobody else is there
		return fmt.Errorf("PostgreSQL %d does not answer on its socket: %w", pm.process.pid, err)
	}
	return c.prepare(ctx)
}

// end sends a signal and waits up to limit, then shuts down at once with
// SIGQUIT. PostgreSQL recovers from that at the next start.
func (pm *postmaster) end(s syscall.Signal, limit time.Duration) error {
	if err := pm.process.signal(s); err != nil {
		return fmt.Errorf("stopping PostgreSQL: %w", err)
	}
	if pm.wait(limit) {
		return nil
	}
	if err := pm.process.signal(syscall.SIGQUIT); err != nil {
		return fmt.Errorf("stopping PostgreSQL immediately: %w", err)
	}
	if pm.wait(10 * time.Second) {
		return nil
	}
	return fmt.Errorf("PostgreSQL (process %d) does not stop", pm.process.pid)
}

func (pm *postmaster) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-pm.gone:
		return true
	case <-timer.C:
		return false
	}
}

// configure writes the configuration files if they differ.
func (c *Cluster) configure() error {
	files := []struct {
		name string
		text []byte
	}{
		{"postgresql.conf", configuration(c.config.Settings)},
		{"pg_hba.conf", []byte(access)},
		{"pg_ident.conf", identities(c.account.Service)},
	}
	for _, file := range files {
		if old, err := readSmall(c.data, file.name); err == nil && string(old) == string(file.text) {
			continue
		}
		if err := write(c.data, c.account, file.name, file.text); err != nil {
			return err
		}
	}
	return nil
}

// statOf returns the identity of the open data directory.
func statOf(data *os.Root) (os.FileInfo, error) { return data.Stat(".") }
