package private

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a handle on one process that stays with that process: its number may be given to another one after its death,
// the handle is not (pidfd_open(2), Linux 5.3).
type process struct {
	pid int
	fd  *os.File
}

// openProcess opens a handle; nil when there is no such process.
func openProcess(pid int) (*process, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.EINVAL) { // the flag is of Linux 5.10
		fd, err = unix.PidfdOpen(pid, 0)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening process %d: %w", pid, err)
	}
	return &process{pid: pid, fd: os.NewFile(uintptr(fd), "pidfd")}, nil
}

// poll waits up to the given milliseconds and reports whether the process has ended or the handle is closed.
func (p *process) poll(milliseconds int) (ended bool) {
	err := p.with(func(fd int) error {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, milliseconds)
		ended = n > 0 && err == nil
		return nil
	})
	return ended || err != nil
}

// with uses the descriptor; Close cannot take it away meanwhile.
func (p *process) with(use func(fd int) error) error {
	raw, err := p.fd.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = use(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// signal sends a signal; a process that has ended is no error.
func (p *process) signal(s syscall.Signal) error {
	err := p.with(func(fd int) error { return unix.PidfdSendSignal(fd, s, nil, 0) })
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func (p *process) close() { p.fd.Close() }

// kinship is what /proc tells of a process and a data directory.
type kinship int

const (
	stranger kinship = iota // surely no PostgreSQL on this data directory
	member                  // surely one
	unclear                 // a PostgreSQL process that we may not look into
)

// relate says whether process pid works on the data directory. Every PostgreSQL process stands in its data directory; only where
// the kernel does not let us look (a container without CAP_SYS_PTRACE), the title counts, which carries cluster_name: a copy of the
// state folder has the same name.
func relate(pid int, data os.FileInfo, clusterName string) kinship {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 { // ended, a zombie or a kernel thread
		return stranger
	}
	title := string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte(" ")))
	first, _, _ := strings.Cut(title, " ")
	if base := filepath.Base(first); base != "postgres" && base != "postmaster" && base != "postgres:" {
		return stranger
	}
	named := strings.Contains(title, "cluster_name="+clusterName) || strings.HasPrefix(title, "postgres: "+clusterName+":")
	place, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	switch {
	case err == nil && os.SameFile(place, data), errors.Is(err, os.ErrPermission) && named:
		return member
	case errors.Is(err, os.ErrPermission):
		return unclear
	}
	return stranger
}

// members lists the processes that work on the data directory and run as the account's user.
func members(a Account, data os.FileInfo, clusterName string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || ownerOf(pid) != a.UID {
			continue
		}
		if relate(pid, data, clusterName) == member {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// ownerOf is the user id of a process; -1 when it has ended.
func ownerOf(pid int) int {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return -1
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// until asks check every 20 ms until it says true. It gives the context's error when that ends first.
func until(ctx context.Context, check func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := check(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
