package pve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
	"github.com/hostler/hostler/sdk/plugin"
)

// consoleFixture has a running VM without a serial port, one with, and a container, and its console token may do what the script gives.
type consoleFixture struct {
	*fixture
	screen, serial, app hypervisor.GuestRef
}

func newConsoleFixture(t testing.TB, opts pvesim.Options) *consoleFixture {
	t.Helper()
	w := newFixture(t, opts)
	w.SetRole("ServiceConsole", append(pve.Privileges(endpoint.Console), "Sys.Console")...)
	running := pvesim.StatusRunning
	return &consoleFixture{w, w.guest(t, pvesim.GuestSpec{Status: running}), w.guest(t, pvesim.GuestSpec{Status: running, Serial: true}),
		w.guest(t, pvesim.GuestSpec{Status: running, Type: pvesim.LXC})}
}

// console opens one, and closes it with the test.
func (w *consoleFixture) console(t testing.TB, spec hypervisor.ConsoleSpec) hypervisor.Console {
	t.Helper()
	c, err := w.host(t, endpoint.Console).OpenConsole(t.Context(), spec)
	must(t, "opening the console", err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// refusal is the error of a console that is not opened.
func (w *consoleFixture) refusal(t testing.TB, spec hypervisor.ConsoleSpec, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	c, err := w.host(t, endpoint.Console).OpenConsole(t.Context(), spec)
	if err == nil {
		_ = c.Close()
	}
	return wantKind(t, err, kind)
}

// seen reads until a text has come.
func seen(t testing.TB, r io.Reader, text string) string {
	t.Helper()
	var all []byte
	for p := make([]byte, 4096); !bytes.Contains(all, []byte(text)); {
		n, err := r.Read(p)
		if all = append(all, p[:n]...); err != nil {
			t.Fatalf("waiting for %q after %q: %v", text, all, err)
		}
	}
	return string(all)
}

func types(t testing.TB, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatalf("typing %.40q: %v", text, err)
	}
}

// endOf is what a console ends with, within a time that only bounds what hangs.
func endOf(t testing.TB, c io.Reader) error {
	t.Helper()
	end := make(chan error, 1)
	go func() {
		for p := make([]byte, 4096); ; {
			if _, err := c.Read(p); err != nil {
				end <- err
				return
			}
		}
	}()
	select {
	case err := <-end:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the console goes on")
		return nil
	}
}

func TestConsoleTerminals(t *testing.T) {
	t.Parallel()
	w := newConsoleFixture(t, pvesim.Options{})
	for _, ref := range []hypervisor.GuestRef{w.serial, w.app} {
		c := w.console(t, hypervisor.ConsoleSpec{Guest: &ref, Columns: 90, Rows: 21})
		if first := seen(t, c, "[90x21]\r\n"); !strings.Contains(first, "$ ") || strings.Contains(first, "OK") {
			t.Errorf("it begins with %q", first)
		}
		types(t, c, "echo grüße\r")
		seen(t, c, "\r\ngrüße\r\n")
		must(t, "resizing", c.Resize(t.Context(), 120, 40))
		seen(t, c, "[120x40]\r\n")
		types(t, c, "exit\r")
		if err := endOf(t, c); !errors.Is(err, io.EOF) {
			t.Errorf("it ended with %v", err)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, io.EOF) {
			t.Errorf("a Write ended with %v", err)
		}
	}
	c := w.console(t, hypervisor.ConsoleSpec{Node: "pve1"})
	seen(t, c, "pve1 login: ")
	types(t, c, "root\rsecret\r")
	if all := seen(t, c, "pve1$ "); strings.Contains(all, "secret") {
		t.Errorf("the password is seen: %q", all)
	}
}

// Only what stands for the capability is asked with, and a VM without a terminal shows its screen.
func TestConsoleScreens(t *testing.T) {
	t.Parallel()
	for _, release := range []string{"", "9.1.8"} {
		w := newConsoleFixture(t, pvesim.Options{})
		must(t, "setting the release", w.SetConsoleRelease(release))
		c := w.console(t, hypervisor.ConsoleSpec{Guest: &w.screen, Kind: hypervisor.ConsoleGraphical})
		frame, err := consoletest.ReadFrame(c, c.Password())
		if err != nil || frame.Width != 64 || len(c.Password()) != 8 {
			t.Errorf("release %q: a frame of %d by %d, a password of %d, %v", release, frame.Width, frame.Height, len(c.Password()), err)
		}
		if err := c.Resize(t.Context(), 80, 24); err != nil {
			t.Errorf("a size is not ignored: %v", err)
		}
	}
	w := newConsoleFixture(t, pvesim.Options{})
	for _, privileges := range [][]string{{"VM.Console"}, {"VM.Console", "VM.Audit"}} {
		host := w.open(t, w.target(endpoint.Console, w.token("/vms", true, privileges...)))
		before := w.Stats().Requests["POST /nodes/{node}/qemu/{vmid}/termproxy"]
		c, err := host.OpenConsole(t.Context(), hypervisor.ConsoleSpec{Guest: &w.screen})
		must(t, "opening what there is", err)
		if c.Kind() != hypervisor.ConsoleGraphical {
			t.Errorf("with %v a %s console was opened", privileges, c.Kind())
		}
		_ = c.Close()
		tried := w.Stats().Requests["POST /nodes/{node}/qemu/{vmid}/termproxy"] - before
		if want := int64(2 - len(privileges)); tried != want {
			t.Errorf("with %v a terminal was tried %d times", privileges, tried)
		}
		_, err = host.OpenConsole(t.Context(), hypervisor.ConsoleSpec{Guest: &w.screen, Kind: hypervisor.ConsoleTerminal})
		if e := wantKind(t, err, plugin.Invalid); e.Field != "kind" {
			t.Errorf("with %v the field is %q", privileges, e.Field)
		}
	}
}

// A MiB that is pasted arrives whole, and 100 MiB of output do not fill the memory while nobody reads. It runs alone: the heap is that of
// all tests.
func TestConsoleCarriesMuch(t *testing.T) {
	w := newConsoleFixture(t, pvesim.Options{})
	c := w.console(t, hypervisor.ConsoleSpec{Guest: &w.app})
	seen(t, c, "$ ")
	paste := strings.Repeat("pasted words, ", 80_000)
	failed := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c, paste)
		failed <- err
	}()
	back := make([]byte, len(paste))
	if _, err := io.ReadFull(c, back); err != nil || string(back) != paste {
		t.Fatalf("the paste came back otherwise: %v", err)
	}
	must(t, "pasting", <-failed)
	types(t, c, "\r")
	seen(t, c, "$ ")
	const size = 100 << 20
	before := heap()
	types(t, c, fmt.Sprintf("cat %d\r", size))
	got, most := int64(0), before
	rest := strings.NewReader(strings.TrimPrefix(seen(t, c, fmt.Sprintf("cat %d\r\n", size)), fmt.Sprintf("cat %d\r\n", size)))
	out := io.LimitReader(io.MultiReader(rest, c), size)
	for p := make([]byte, 1<<20); ; {
		n, err := io.ReadFull(out, p)
		if got += int64(n); err != nil {
			break
		}
		if got%(10<<20) == 0 {
			runtime.Gosched()
			most = max(most, heap())
		}
	}
	if got != size {
		t.Fatalf("%d bytes came", got)
	}
	if grown := int64(most) - int64(before); grown > 40<<20 {
		t.Errorf("the heap grew by %d KiB", grown>>10)
	}
}

// heap is how much memory is in use after what is not was given back, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestConsoleEnds(t *testing.T) {
	t.Parallel()
	w := newConsoleFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 2})
	open := func() hypervisor.Console {
		t.Helper()
		c := w.console(t, hypervisor.ConsoleSpec{Guest: &w.app})
		seen(t, c, "$ ")
		return c
	}
	for name, end := range map[string]func(){
		"the program":     w.EndConsoles,
		"the connections": w.DropConnections,
	} {
		c := open()
		end()
		if err := endOf(t, c); !errors.Is(err, io.EOF) && plugin.KindOf(err) != plugin.Unreachable {
			t.Errorf("%s: it ended with %v", name, err)
		}
	}
	c := open()
	must(t, "the node dies", w.SetNodeOnline(w.app.Node, false))
	if err := endOf(t, c); plugin.KindOf(err) != plugin.Unreachable || !strings.Contains(err.Error(), w.app.Node) {
		t.Errorf("of a node that died it ended with %v", err)
	}
	must(t, "the node is back", w.SetNodeOnline(w.app.Node, true))
	must(t, "starting the guest", w.SetGuestStatus(vmid(t, w.app), pvesim.StatusRunning))
	c = open()
	written := make(chan error, 1)
	go func() { // nobody reads, so that the shell cannot go on, and the Write has to wait in the end
		for {
			if _, err := c.Write(make([]byte, 100_000)); err != nil {
				written <- err
				return
			}
		}
	}()
	must(t, "closing", c.Close())
	if err := <-written; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a Write ended with %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a Read ended with %v", err)
	}
	waittest.Until(t, "no console is left", func() bool { return w.Consoles() == 0 })
	c = open()
	must(t, "stopping the guest", w.SetGuestStatus(vmid(t, w.app), pvesim.StatusStopped))
	if err := endOf(t, c); !errors.Is(err, io.EOF) {
		t.Errorf("of a guest that stopped it ended with %v", err)
	}
}

// Tasks of consoles can be told from those whose failure means something.
func TestConsoleTasks(t *testing.T) {
	t.Parallel()
	w := newConsoleFixture(t, pvesim.Options{})
	w.refusal(t, hypervisor.ConsoleSpec{Guest: &w.screen, Kind: hypervisor.ConsoleTerminal}, plugin.Invalid)
	waittest.Until(t, "the console's task has failed", func() bool {
		list, err := w.host(t, endpoint.Monitoring).Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10})
		must(t, "listing tasks", err)
		return slices.ContainsFunc(list.Tasks, func(task hypervisor.Task) bool {
			return task.Type == "vncproxy" && task.Operation == hypervisor.OperationConsole && task.Status == hypervisor.TaskFailed
		})
	})
}

func TestConsoleKeepAlive(t *testing.T) {
	t.Parallel()
	w := newConsoleFixture(t, pvesim.Options{})
	pace := quick
	pace.ConsoleAlive = 10 * time.Millisecond
	w.driver = pve.NewWithTiming(nil, pace)
	t.Cleanup(w.driver.Close)
	c := w.console(t, hypervisor.ConsoleSpec{Guest: &w.app})
	waittest.Until(t, "signs of life come", func() bool { return w.ConsoleKeepAlives() > 3 })
	types(t, c, "echo still there\r")
	seen(t, c, "\r\nstill there\r\n")
}

func TestConsoleRefusals(t *testing.T) {
	t.Parallel()
	w := newConsoleFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: 3})
	guest := hypervisor.ConsoleSpec{Guest: &w.serial}
	off := w.guest(t, pvesim.GuestSpec{})
	w.refusal(t, hypervisor.ConsoleSpec{Guest: &off, Kind: hypervisor.ConsoleGraphical}, plugin.Conflict)
	w.refusal(t, hypervisor.ConsoleSpec{Guest: &off}, plugin.Conflict)
	for _, spec := range []pvesim.GuestSpec{{Type: pvesim.LXC}, {Serial: true}} {
		off := w.guest(t, spec)
		if e := w.refusal(t, hypervisor.ConsoleSpec{Guest: &off}, plugin.Conflict); !strings.Contains(e.Message, "not running") {
			t.Errorf("of a guest that is off: %v", e)
		}
	}
	if e := w.refusal(t, hypervisor.ConsoleSpec{Guest: &w.app, Kind: hypervisor.ConsoleGraphical}, plugin.Invalid); e.Field != "kind" {
		t.Errorf("the field is %q", e.Field)
	}
	gone := w.serial
	gone.ID = "98765"
	w.refusal(t, hypervisor.ConsoleSpec{Guest: &gone}, plugin.NotFound)
	w.refusal(t, hypervisor.ConsoleSpec{Node: "pve9"}, plugin.NotFound)
	w.SetRole("ServiceConsole", "VM.Console")
	e := w.refusal(t, hypervisor.ConsoleSpec{Node: "pve1"}, plugin.Denied)
	if !slices.Equal(e.Missing, []string{"Sys.Console"}) || e.Remedy != "pveum role modify ServiceConsole --append 1 --privs Sys.Console" {
		t.Errorf("a shell without the privilege: %+v", e)
	}
	for name, f := range map[string]struct {
		fault pvesim.Fault
		kind  plugin.ErrorKind
	}{
		"no port": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "unable to find free port (5900-5999)",
			Match: pvesim.Match{Method: "POST"}}, plugin.Busy},
		"a ticket that is not taken": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 401,
			Reason: "permission denied - invalid PVEVNC ticket", Match: pvesim.Match{Method: "GET",
				Path: "/nodes/{node}/qemu/{vmid}/vncwebsocket"}}, plugin.TokenRejected},
		"a connection that is cut": {pvesim.Fault{Kind: pvesim.FaultCut,
			Match: pvesim.Match{Path: "/nodes/{node}/qemu/{vmid}/vncwebsocket"}}, plugin.Unreachable},
		"something else": {pvesim.Fault{Kind: pvesim.FaultEmpty,
			Match: pvesim.Match{Path: "/nodes/{node}/qemu/{vmid}/vncwebsocket"}}, plugin.Protocol},
	} {
		w.fault(t, f.fault)
		if err := w.refusal(t, guest, f.kind); strings.Contains(err.Error(), "PVEVNC:") {
			t.Errorf("%s: the ticket is in %v", name, err)
		}
		w.ClearFaults()
	}
	must(t, "switching a node off", w.SetNodeOnline("pve2", false))
	away := w.guest(t, pvesim.GuestSpec{Node: "pve2", Type: pvesim.LXC, Status: pvesim.StatusRunning})
	w.refusal(t, hypervisor.ConsoleSpec{Guest: &away}, plugin.Unreachable)
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.host(t, endpoint.Console).OpenConsole(given, guest); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
	waittest.Until(t, "no console is left", func() bool {
		w.Advance(11 * time.Second) // those that nobody came to are forgotten
		return w.Consoles() == 0
	})
	if _, err := w.RenewCertificate(""); err != nil {
		t.Fatal(err)
	}
	target := w.target(endpoint.Console, w.Tokens()["console"])
	target.Fingerprint = strings.Repeat("AB:", 31) + "AB"
	if _, err := w.open(t, target).OpenConsole(t.Context(), guest); plugin.KindOf(err) != plugin.Untrusted {
		t.Errorf("another certificate than the pinned one: %v", err)
	}
}

// A release that takes no tokens says nothing of that; the driver does.
func TestConsoleOfOlderReleases(t *testing.T) {
	t.Parallel()
	w := newConsoleFixture(t, pvesim.Options{Version: "9.0.5"})
	for spec, want := range map[*hypervisor.ConsoleSpec]string{
		{Guest: &w.serial, Kind: hypervisor.ConsoleTerminal}: "qemu-server 9.1.7",
		{Guest: &w.app}: "pve-container 6.1.3",
		{Node: "pve1"}:  "pve-manager 9.0.13",
	} {
		e := w.refusal(t, *spec, plugin.Unsupported)
		if !strings.Contains(e.Message, want) || !strings.Contains(e.Message, "pve-manager 9.0.5") {
			t.Errorf("%+v: %s", spec, e.Message)
		}
	}
	for _, ref := range []hypervisor.GuestRef{w.screen, w.serial} { // what there is, is a screen then
		if c := w.console(t, hypervisor.ConsoleSpec{Guest: &ref}); c.Kind() != hypervisor.ConsoleGraphical {
			t.Errorf("a %s console was opened", c.Kind())
		}
	}
	for version, want := range map[string]string{
		"9.2.11": "", "9.1.9": "", "9.1.10": "", "9.1.8": "vm container", "9.0.13": "vm container", "9.0.12": "vm container node",
		"8.4.1":  "vm container node",
		"7.4-16": "vm container node",
	} {
		old := newFixture(t, pvesim.Options{Version: version})
		limits, err := old.host(t, endpoint.Console).ConsoleLimits(t.Context())
		must(t, "asking for the limits", err)
		var of []string
		for _, l := range limits {
			if of = append(of, l.Of); l.Kind != hypervisor.ConsoleTerminal || !strings.Contains(l.Reason, version) {
				t.Errorf("%s: %+v", version, l)
			}
		}
		if got := strings.Join(of, " "); got != want {
			t.Errorf("%s: limits are of %q, want %q", version, got, want)
		}
	}
}
