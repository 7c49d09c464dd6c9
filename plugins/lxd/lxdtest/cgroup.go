//go:build linux

package lxdtest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroupTraces are the folders of cgroups that containers leave, which are no one namespace's. The first of several test
// programs that run at the same time notes in a file what was there before, and the last one removes the rest.
type cgroupTraces struct {
	file   *os.File
	before []string
}

// noteCgroups tells the others that this program runs.
func noteCgroups() (*cgroupTraces, error) {
	path := filepath.Join(os.TempDir(), "hostler-lxdtest.cgroups")
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		c := &cgroupTraces{file: file}
		if err := c.note(); err != nil {
			_ = file.Close()
			return nil, err
		}
		opened, err := file.Stat()
		if err != nil {
			_ = file.Close()
			return nil, err
		}
		if now, err := os.Lstat(path); err == nil && os.SameFile(now, opened) {
			return c, nil
		}
		_ = file.Close() // the last of the others has just removed it
	}
}

// note takes a lock that all programs may have at the same time. Who can have it alone is the first.
func (c *cgroupTraces) note() error {
	alone := syscall.Flock(int(c.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	if !alone {
		// It waits for one that is about to write or to remove the file, and for nobody else.
		if err := syscall.Flock(int(c.file.Fd()), syscall.LOCK_SH); err != nil {
			return err
		}
	}
	noted, err := io.ReadAll(c.file)
	if err != nil {
		return err
	}
	if alone && len(noted) == 0 { // else the last one was killed before it could remove what it left
		noted = []byte(strings.Join(lxcCgroups(), "\n") + "\n")
		if _, err := c.file.Write(noted); err != nil {
			return err
		}
	}
	c.before = strings.Split(strings.TrimSpace(string(noted)), "\n")
	return syscall.Flock(int(c.file.Fd()), syscall.LOCK_SH)
}

// remove removes what was not there before, when nobody else needs it. All in it are empty by now.
func (c *cgroupTraces) remove() {
	defer func() { _ = c.file.Close() }()
	if syscall.Flock(int(c.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return // somebody else runs and will do it
	}
	for _, root := range lxcCgroups() {
		if slices.Contains(c.before, root) {
			continue
		}
		var folders []string
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		for _, folder := range slices.Backward(folders) {
			_ = syscall.Rmdir(folder)
		}
	}
	_ = os.Remove(c.file.Name())
}

// thawAfter thaws the containers that process 1 of our namespace leaves frozen when it ends: LXD freezes a container to stop it, and
// may be killed then. A frozen process does not die in the first version of cgroups, and the end of process 1 waits for all of them.
func thawAfter(first int, ended <-chan struct{}) {
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return
		case <-look.C:
		}
		// One that is about to end has no memory any more, and with it no command line.
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", first)); err != nil || len(line) > 0 {
			continue
		}
		for _, root := range lxcCgroups() {
			if !holdsChildOf(root, first) {
				continue
			}
			for name, thawed := range map[string]string{"freezer.state": "THAWED", "cgroup.freeze": "0"} {
				if file, err := os.OpenFile(filepath.Join(root, name), os.O_WRONLY, 0); err == nil {
					_, _ = file.WriteString(thawed)
					_ = file.Close()
				}
			}
		}
	}
}

// holdsChildOf reports whether a process of a cgroup descends from another process.
func holdsChildOf(root string, first int) bool {
	text, _ := os.ReadFile(filepath.Join(root, "cgroup.procs"))
	for _, id := range strings.Fields(string(text)) {
		for pid, err := strconv.Atoi(id); err == nil && pid > 1; pid, err = parent(pid) {
			if pid == first {
				return true
			}
		}
	}
	return false
}

// parent is the parent of a process: the second field behind the name in proc_pid_stat(5), which may hold anything but ends with the
// last parenthesis.
func parent(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return 0, fs.ErrInvalid
	}
	return strconv.Atoi(fields[1])
}

// lxcCgroups lists the folders that LXC makes, in the layouts of both versions of cgroups.
func lxcCgroups() []string {
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/lxc*", "/sys/fs/cgroup/*/lxc*"} {
		found, _ := filepath.Glob(pattern)
		all = append(all, found...)
	}
	return all
}
