package hypervisor_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// consoles is a cluster in memory behind gRPC, and a container of it.
func consoles(t *testing.T) (*memdriver.Cluster, hypervisor.ConsoleOpener, hypervisor.GuestRef) {
	t.Helper()
	driver := memdriver.New()
	cluster := driver.Add("a.mem:8006", memdriver.Spec{})
	client := drivertest.Remote(t, hypervisor.Service{Driver: driver, HostType: (*memdriver.Host)(nil)})
	host, err := client.Open(t.Context(), cluster.Target(endpoint.Console))
	if err != nil {
		t.Fatal(err)
	}
	at, ok := hypervisor.As[hypervisor.ConsoleOpener](host)
	if !ok {
		t.Fatal("it has no consoles")
	}
	return cluster, at, cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
}

// terminal opens one, closes it with the test, and skips the prompt.
func terminal(t *testing.T, at hypervisor.ConsoleOpener, ref hypervisor.GuestRef) hypervisor.Console {
	t.Helper()
	console, err := at.OpenConsole(t.Context(), hypervisor.ConsoleSpec{Guest: &ref})
	if err != nil {
		t.Fatal("opening:", err)
	}
	t.Cleanup(func() { _ = console.Close() })
	until(t, console, "$ ")
	return console
}

// until reads to the end of a text.
func until(t *testing.T, r io.Reader, text string) {
	t.Helper()
	for seen, p := []byte(nil), make([]byte, 1); !bytes.HasSuffix(seen, []byte(text)); seen = append(seen, p...) {
		if _, err := io.ReadFull(r, p); err != nil {
			t.Fatalf("after %q: %v", seen, err)
		}
	}
}

func typed(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatalf("typing %.40q: %v", text, err)
	}
}

// What is typed passes what nobody reads, in both directions, and all of it arrives.
func TestConsoleCarriesMuchBothWays(t *testing.T) {
	t.Parallel()
	_, at, ref := consoles(t)
	console := terminal(t, at, ref)
	paste := strings.Repeat("pasted line without an end ", 40_000) // more than a MiB, and repeated by the shell
	failed := make(chan error, 1)
	go func() {
		_, err := io.WriteString(console, paste)
		failed <- err
	}()
	back := make([]byte, len(paste))
	if _, err := io.ReadFull(console, back); err != nil || string(back) != paste {
		t.Fatalf("what was pasted came back otherwise: %v", err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	typed(t, console, "\r")
	until(t, console, "$ ")
	const size = 20 << 20
	typed(t, console, "cat 20971520\r")
	until(t, console, "cat 20971520\r\n")
	if !sameBytes(t, io.LimitReader(console, size), io.LimitReader(&consoletest.Output{}, size)) {
		t.Error("the output is another one")
	}
	until(t, console, "$ ")
}

func sameBytes(t *testing.T, a, b io.Reader) bool {
	t.Helper()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, p)
		m, errOther := io.ReadFull(b, q)
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if err != nil || errOther != nil {
			return errors.Is(errOther, io.EOF) || errors.Is(errOther, io.ErrUnexpectedEOF)
		}
	}
}

// endless is a console that says things forever and counts them, takes nothing, and ends with Close.
type endless struct {
	said   *atomic.Int64
	closed chan struct{}
	done   atomic.Bool
}

func (e *endless) Read(p []byte) (int, error) {
	if e.done.Load() {
		return 0, net.ErrClosed
	}
	e.said.Add(int64(len(p)))
	return len(p), nil
}

func (e *endless) Write([]byte) (int, error) {
	<-e.closed
	return 0, net.ErrClosed
}

func (e *endless) Kind() hypervisor.ConsoleKind { return hypervisor.ConsoleTerminal }

func (e *endless) Password() string { return "" }

func (e *endless) Resize(context.Context, int, int) error { return nil }

func (e *endless) Close() error {
	if !e.done.Swap(true) {
		close(e.closed)
	}
	return nil
}

// endlessDriver opens such consoles.
type endlessDriver struct {
	*memdriver.Driver
	said *atomic.Int64
}

type endlessHost struct {
	*memdriver.Host
	said *atomic.Int64
}

func (d endlessDriver) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	host, err := d.Driver.Open(ctx, target)
	if err != nil {
		return nil, err
	}
	return &endlessHost{host.(*memdriver.Host), d.said}, nil
}

func (h *endlessHost) OpenConsole(context.Context, hypervisor.ConsoleSpec) (hypervisor.Console, error) {
	return &endless{said: h.said, closed: make(chan struct{})}, nil
}

// A console whose reader has stopped takes no more than the window from the driver, and one that takes nothing no more from its writer.
// Closing it ends both at once.
func TestConsoleOfASlowReaderHoldsLittle(t *testing.T) {
	t.Parallel()
	driver, said := memdriver.New(), &atomic.Int64{}
	cluster := driver.Add("a.mem:8006", memdriver.Spec{})
	client := drivertest.Remote(t, hypervisor.Service{Driver: endlessDriver{driver, said}, HostType: (*endlessHost)(nil)})
	host, err := client.Open(t.Context(), cluster.Target(endpoint.Console))
	if err != nil {
		t.Fatal(err)
	}
	at, _ := hypervisor.As[hypervisor.ConsoleOpener](host)
	console, err := at.OpenConsole(t.Context(), hypervisor.ConsoleSpec{Node: cluster.Nodes()[0]})
	if err != nil {
		t.Fatal(err)
	}
	written, sent := make(chan error, 1), &atomic.Int64{}
	go func() {
		for {
			n, err := console.Write(make([]byte, 10_000))
			if sent.Add(int64(n)); err != nil {
				written <- err
				return
			}
		}
	}()
	const window, chunk = 256 << 10, 32 << 10
	waittest.Until(t, "both directions are full", func() bool { return said.Load() >= window && sent.Load() > window-10_000 })
	for range 100 {
		runtime.Gosched()
	}
	if n := said.Load(); n > window+2*chunk {
		t.Errorf("the driver was asked for %d bytes that nobody has read", n)
	}
	if n := sent.Load(); n > window {
		t.Errorf("%d bytes were sent that nobody has taken", n)
	}
	if err := console.Resize(t.Context(), 80, 24); err != nil {
		t.Error("a full console takes no size:", err)
	}
	if err := console.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-written:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("the Write ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a Write goes on after Close")
	}
	before := said.Load()
	if n, err := console.Read(make([]byte, 10)); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close %d bytes were read, %v", n, err)
	}
	if n := said.Load(); n > before+chunk {
		t.Errorf("the driver's console goes on: %d bytes", n-before)
	}
}

// The reason for which a console ends comes through, to a Read and to a Write, and after what was said before.
func TestReasonOfAConsolesEnd(t *testing.T) {
	t.Parallel()
	cluster, at, ref := consoles(t)
	for name, c := range map[string]struct {
		end  func(hypervisor.GuestRef, hypervisor.Console)
		want func(error) bool
	}{
		"the person leaves": {func(_ hypervisor.GuestRef, c hypervisor.Console) { typed(t, c, "exit\r") },
			func(err error) bool { return errors.Is(err, io.EOF) }},
		"the guest stops": {func(ref hypervisor.GuestRef, _ hypervisor.Console) {
			cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestStopped })
		}, func(err error) bool { return errors.Is(err, io.EOF) }},
		"the guest vanishes": {func(ref hypervisor.GuestRef, _ hypervisor.Console) { cluster.Remove(ref.ID) },
			func(err error) bool { return plugin.KindOf(err) == plugin.NotFound }},
	} {
		ref := cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
		console := terminal(t, at, ref)
		c.end(ref, console)
		if _, err := io.Copy(io.Discard, console); err != nil && !c.want(err) {
			t.Errorf("%s: a Read ends with %v", name, err)
		}
		if _, err := console.Read(make([]byte, 1)); !c.want(err) {
			t.Errorf("%s: the next Read ends with %v", name, err)
		}
		if _, err := console.Write([]byte("x")); !c.want(err) {
			t.Errorf("%s: a Write ends with %v", name, err)
		}
	}
	broken := plugin.Errorf(plugin.Unreachable, "the node is gone")
	broken.Remedy = "wait"
	cluster.SetFault("openconsole", memdriver.Fault{Late: true, Err: broken})
	console := terminal(t, at, ref)
	typed(t, console, "x")
	var got *plugin.Error
	_, err := console.Read(make([]byte, 1))
	if !errors.As(err, &got) || got.Kind != broken.Kind || got.Message != broken.Message || got.Remedy != broken.Remedy {
		t.Errorf("a console that broke ends with %v", err)
	}
	waittest.Until(t, "no console is left", func() bool { return cluster.Consoles() == 0 })
}

// What cannot be opened says why, and nothing is left of it.
func TestRefusalsOfConsoles(t *testing.T) {
	t.Parallel()
	cluster, at, ref := consoles(t)
	open := func() error {
		console, err := at.OpenConsole(t.Context(), hypervisor.ConsoleSpec{Guest: &ref})
		if err == nil {
			_ = console.Close()
		}
		return err
	}
	cluster.SetFault("openconsole", memdriver.Fault{Err: plugin.Errorf(plugin.Busy, "no port is free")})
	if err := open(); plugin.KindOf(err) != plugin.Busy {
		t.Errorf("without a port: %v", err)
	}
	cluster.SetFault("openconsole", memdriver.Fault{Panic: "at once"})
	if err := open(); plugin.KindOf(err) != plugin.Internal {
		t.Errorf("a driver that panics: %v", err)
	}
	cluster.SetFault("openconsole", memdriver.Fault{Block: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := at.OpenConsole(ctx, hypervisor.ConsoleSpec{Guest: &ref}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a driver that hangs: %v", err)
	}
	cluster.SetFault("openconsole", memdriver.Fault{})
	want := hypervisor.ConsoleLimit{Of: string(hypervisor.Container), Kind: hypervisor.ConsoleTerminal, Reason: "release 2 is missing"}
	cluster.LimitConsoles(want)
	if err := open(); plugin.KindOf(err) != plugin.Unsupported || !strings.Contains(err.Error(), want.Reason) {
		t.Errorf("an old release: %v", err)
	}
	if limits, err := at.ConsoleLimits(t.Context()); err != nil || len(limits) != 1 || limits[0] != want {
		t.Errorf("limits are %+v, %v", limits, err)
	}
	cluster.LimitConsoles()
	cluster.SetFault("openconsole", memdriver.Fault{Late: true, Panic: "when something is typed"})
	console := terminal(t, at, ref)
	typed(t, console, "x")
	if _, err := console.Read(make([]byte, 1)); plugin.KindOf(err) != plugin.Internal || err == nil {
		t.Errorf("a driver that panics in the middle: %v", err)
	}
	waittest.Until(t, "no console is left", func() bool { return cluster.Consoles() == 0 })
}
