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

// process is a handle on one process (pidfd_open(2), Linux 5.3). After the
// death of the process its ID may belong to another one, but the handle does
// not.
type process struct {
	pid int
	fd  *os.File
}

// openProcess opens a handle; nil if the process does not exist.
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

// poll waits up to that many milliseconds. It reports whether the process has
// ended or the handle is closed.
func (p *process) poll(milliseconds int) (ended bool) {
	err := p.with(func(fd int) error {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, milliseconds)
		ended = n > 0 && err == nil
		return nil
	})
	return ended || err != nil
}

// with calls use with the descriptor, which stays open meanwhile.
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

// signal sends a signal. A process that has ended is not an error.
func (p *process) signal(s syscall.Signal) error {
	err := p.with(func(fd int) error { return unix.PidfdSendSignal(fd, s, nil, 0) })
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func (p *process) close() { p.fd.Close() }

// kinship is the relation between a process and a data directory, according to
// /proc.
type kinship int

const (
	stranger kinship = iota // surely no PostgreSQL on this data directory
	member                  // surely one
	unclear                 // a PostgreSQL process that we may not look into
)

// relate returns whether a process works on the data directory. Every
// PostgreSQL process has the data directory as its working directory. Only if
// the kernel does not reveal that (in a container without CAP_SYS_PTRACE), the
// title decides, which contains cluster_name. The title alone would not do,
// because a copy of the state folder has the same name.
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

// members returns the processes that work on the data directory as the
// account's user.
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

// ownerOf returns the user ID of a process; -1 if it has ended.
func ownerOf(pid int) int {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return -1
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// until calls check every 20 ms until it returns true or an error, or the
// context ends.
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
