package processtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clockTicks is the unit of times in /proc/PID/stat (USER_HZ): 100 per second
// on every Linux that Go supports.
const clockTicks = 100

// family returns a process and all its descendants with the names of their
// programs.
func family(t testing.TB, root int) map[int]string {
	t.Helper()
	parents := map[int]int{}
	names := map[int]string{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		pid, parent, name, err := parseStat(string(text))
		if err != nil {
			t.Fatal(err)
		}
		parents[pid], names[pid] = parent, name
	}
	found := map[int]string{root: names[root]}
	for added := true; added; {
		added = false
		for pid, parent := range parents {
			if _, ours := found[parent]; ours && found[pid] == "" {
				found[pid] = names[pid]
				added = true
			}
		}
	}
	return found
}

// parseStat parses /proc/PID/stat (proc_pid_stat(5)). The name is in
// parentheses and may contain spaces and parentheses itself, so its end is the
// last one.
func parseStat(text string) (pid, parent int, name string, err error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return 0, 0, "", errors.New("this is no /proc/<pid>/stat")
	}
	pid, err = strconv.Atoi(strings.TrimSpace(text[:open]))
	if err != nil {
		return 0, 0, "", err
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 2 {
		return 0, 0, "", errors.New("this /proc/<pid>/stat is too short")
	}
	parent, err = strconv.Atoi(fields[1])
	return pid, parent, text[open+1 : end], err
}

// cpu is the processor time of a process so far, in user and system mode.
func cpu(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return times(t, text, 11, 13)
}

// times is the sum of some fields of a /proc/<pid>/stat, counted from the one behind the name: 11 and 12 are the process's own time
// in user
// and system mode, 13 and 14 that of its children that have ended.
func times(t testing.TB, stat []byte, from, to int) time.Duration {
	t.Helper()
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int64
	for _, field := range fields[from:to] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks
}

// ownCPU is the processor time of this process so far.
func ownCPU(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// resident is the memory of a process that is in RAM now, in bytes.
func resident(t testing.TB, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("no VmRSS of process %d", pid)
	return 0
}

// alive reports whether a process is there and no zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	return len(state) > 0 && state[0] != "Z"
}

// pluginsOf are the plugin processes that the service has now.
func pluginsOf(t testing.TB, s *service) []int {
	t.Helper()
	var pids []int
	for pid, name := range family(t, s.cmd.Process.Pid) {
		if pid != s.cmd.Process.Pid && strings.HasPrefix(name, "hostler-plugin") {
			pids = append(pids, pid)
		}
	}
	return pids
}
