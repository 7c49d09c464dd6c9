package processtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// Who reads slowly is waited for: the service and its plugin take little more from the hypervisor than was read, and keep little in
// memory. Nothing is missing of what is read faster then.
func TestSlowReaderOfAConsole(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	app, _ := owner.running(t, owner.enrol(t, cluster, "lab", "console"))
	c := owner.console(t, app)
	pids := append(pluginsOf(t, s), s.cmd.Process.Pid)
	memory := func() (all int64) {
		for _, pid := range pids {
			all += resident(t, pid)
		}
		return all
	}
	// size is much more than the buffers of all sockets on the way have room for.
	const size, room = 256 << 20, 64 << 20
	before, kept := make([]int64, len(pids)), memory()
	for i, pid := range pids {
		before[i] = taken(t, pid)
	}
	c.beginCat(t, size)
	want, got := &consoletest.Output{}, 0
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for range 100 {
		<-pace.C
		got += c.next(t, want, size-got)
	}
	for i, pid := range pids {
		n := taken(t, pid) - before[i]
		if t.Logf("process %d has taken %d MiB, of which %d were read", i, n>>20, got>>20); n > int64(got)+room {
			t.Errorf("process %d has taken %d MiB more than was read", i, (n-int64(got))>>20)
		}
	}
	if grown := memory() - kept; grown > room {
		t.Errorf("the service and its plugin have grown by %d MiB", grown>>20)
	}
	for end := got + 16<<20; got < end; {
		got += c.next(t, want, end-got)
	}
}

// taken is how many bytes a process has read, from sockets and files.
func taken(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "rchar: ")
	number, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
