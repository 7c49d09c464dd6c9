package drivertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
	"github.com/hostler/hostler/sdk/plugin"
)

// Terminal is a text console into which the suite types.
type Terminal struct {
	Spec hypervisor.ConsoleSpec
	// Line is the line that the suite types, and Want is the text that must
	// appear then. If Line is empty, the suite types a random word and expects
	// it back, which every echoing terminal does.
	Line, Want string
}

// console tests ConsoleOpener. Limits describe what the hypervisor cannot open
// at all, each with a reason for people.
func (s *suite) console(t *testing.T) {
	need[hypervisor.ConsoleOpener](t, s)
	s.run(t, "limits", func(t *testing.T, ctx context.Context) {
		limits, err := as[hypervisor.ConsoleOpener](t, s.host(t, endpoint.Console)).ConsoleLimits(ctx)
		must(t, "asking for the limits", err)
		for _, l := range limits {
			known := slices.Contains([]string{string(hypervisor.VM), string(hypervisor.Container), "node"}, l.Of)
			if !known || l.Reason == "" || l.Kind != hypervisor.ConsoleTerminal && l.Kind != hypervisor.ConsoleGraphical {
				t.Errorf("a limit is %+v", l)
			}
		}
	})
	s.refusedConsoles(t)
	s.openConsoles(t)
}

// openConsole opens a console and closes it at the end of the test.
func (s *suite) openConsole(t *testing.T, ctx context.Context, spec hypervisor.ConsoleSpec) hypervisor.Console {
	t.Helper()
	console, err := as[hypervisor.ConsoleOpener](t, s.host(t, endpoint.Console)).OpenConsole(ctx, spec)
	must(t, "opening the console", err)
	t.Cleanup(func() {
		if err := console.Close(); err != nil {
			t.Error("closing the console:", err)
		}
	})
	return console
}

// openConsoles tests consoles that work: typing, a picture, and the life of a
// console. The context of OpenConsole only limits the opening. Close ends a
// blocked Read, may be called twice, and makes later calls return
// net.ErrClosed.
func (s *suite) openConsoles(t *testing.T) {
	s.run(t, "typing", func(t *testing.T, ctx context.Context) {
		hook(t, "Terminals", s.Terminals != nil)
		for _, terminal := range s.Terminals(t) {
			s.typing(t, ctx, terminal)
		}
	})
	s.run(t, "a picture", func(t *testing.T, ctx context.Context) {
		hook(t, "Screen", s.Screen != nil)
		spec := hypervisor.ConsoleSpec{Guest: new(s.Screen(t)), Kind: hypervisor.ConsoleGraphical}
		console := s.openConsole(t, ctx, spec)
		if console.Kind() != hypervisor.ConsoleGraphical {
			t.Fatalf("a %s console was opened", console.Kind())
		}
		defer context.AfterFunc(ctx, func() { _ = console.Close() })()
		must(t, "resizing what has no size", console.Resize(ctx, 80, 24))
		frame, err := consoletest.ReadFrame(console, console.Password())
		must(t, "reading the first picture", err)
		if frame.Width == 0 || len(slices.Compact(slices.Sorted(slices.Values(frame.Pixels)))) < 2 {
			t.Errorf("a picture of %d by %d is empty", frame.Width, frame.Height)
		}
	})
	s.run(t, "the opening's context does not end a console, and Close does", func(t *testing.T, ctx context.Context) {
		hook(t, "Terminals", s.Terminals != nil)
		opening, cancel := context.WithCancel(ctx)
		terminal := s.Terminals(t)[0]
		console := s.openConsole(t, opening, terminal.Spec)
		cancel()
		s.say(t, ctx, console, terminal)
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, console)
			ended <- err
		}()
		must(t, "closing", console.Close())
		select {
		case err := <-ended:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("a waiting Read ended with %v", err)
			}
		case <-ctx.Done():
			t.Fatal("a Read goes on after Close")
		}
		if _, err := console.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a Write after Close: %v", err)
		}
		if err := console.Resize(ctx, 80, 24); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a Resize after Close: %v", err)
		}
		must(t, "closing again", console.Close())
	})
	s.run(t, "a caller that gave up", func(t *testing.T, ctx context.Context) {
		hook(t, "Terminals", s.Terminals != nil)
		given, cancel := context.WithCancel(ctx)
		cancel()
		_, err := as[hypervisor.ConsoleOpener](t, s.host(t, endpoint.Console)).OpenConsole(given, s.Terminals(t)[0].Spec)
		wantCanceled(t, err)
	})
}

// typing opens a terminal with and without an explicit kind, types into it and
// changes its size. Impossible sizes must be Invalid and must not disturb the
// console.
func (s *suite) typing(t *testing.T, ctx context.Context, terminal Terminal) {
	t.Helper()
	for _, kind := range []hypervisor.ConsoleKind{"", hypervisor.ConsoleTerminal} {
		spec := terminal.Spec
		spec.Kind = kind
		console := s.openConsole(t, ctx, spec)
		if console.Kind() != hypervisor.ConsoleTerminal || console.Password() != "" {
			t.Fatalf("%+v: a %s console was opened", spec, console.Kind())
		}
		must(t, "resizing", console.Resize(ctx, 100, 30))
		s.say(t, ctx, console, terminal)
		for _, size := range [][2]int{{0, 24}, {80, 0}, {-1, 24}, {80, hypervisor.MaxConsoleSize + 1}, {1 << 40, 1 << 40}} {
			wantKind(t, console.Resize(ctx, size[0], size[1]), plugin.Invalid)
		}
		s.say(t, ctx, console, terminal)
		must(t, "closing", console.Close())
	}
}

// say types a line and reads until the expected text appears. It closes the
// console if ctx ends, because Read has no context.
func (s *suite) say(t *testing.T, ctx context.Context, console hypervisor.Console, terminal Terminal) {
	t.Helper()
	line, want := terminal.Line, terminal.Want
	if line == "" {
		line = "word-" + rand.Text()
		want = line
	}
	defer context.AfterFunc(ctx, func() { _ = console.Close() })()
	if _, err := console.Write([]byte(line + "\r")); err != nil {
		t.Fatal("typing:", err)
	}
	var seen []byte
	for p := make([]byte, 4096); !bytes.Contains(seen, []byte(want)); {
		n, err := console.Read(p)
		if seen = append(seen, p[:n]...); err != nil {
			t.Fatalf("the console of %+v ended with %v after %q", terminal.Spec, err, seen)
		}
	}
}

// refusedConsoles tests consoles that must not open: contradictory or hostile
// specifications, unknown and stopped guests, and missing privileges. The last
// case opens and closes several consoles, to find drivers that leak slots of
// the hypervisor.
func (s *suite) refusedConsoles(t *testing.T) {
	opened := func(t *testing.T, ctx context.Context, host hypervisor.Host, spec hypervisor.ConsoleSpec) error {
		t.Helper()
		console, err := as[hypervisor.ConsoleOpener](t, host).OpenConsole(ctx, spec)
		if err == nil {
			_ = console.Close()
		}
		return err
	}
	s.run(t, "what cannot be", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref, host := s.NewGuest(t, s.kind(), hypervisor.GuestRunning), s.host(t, endpoint.Console)
		for field, specs := range map[string][]hypervisor.ConsoleSpec{
			"node":    {{}, {Guest: &ref, Node: ref.Node}},
			"kind":    {{Guest: &ref, Kind: "smoke"}, {Node: ref.Node, Kind: hypervisor.ConsoleGraphical}},
			"columns": {{Guest: &ref, Columns: -1, Rows: 24}, {Guest: &ref, Columns: 1 << 40, Rows: 24}, {Guest: &ref, Rows: 24}},
			"rows":    {{Guest: &ref, Columns: 80}, {Guest: &ref, Columns: 80, Rows: 1 << 33}},
		} {
			for _, spec := range specs {
				if e := wantKind(t, opened(t, ctx, host, spec), plugin.Invalid); e.Field != field {
					t.Errorf("%+v: the field is %q: %v", spec, e.Field, e)
				}
			}
		}
		for _, node := range []string{"..", "no-such-node", ref.Node + "/../" + ref.Node, ref.Node + "\x00"} {
			err := opened(t, ctx, host, hypervisor.ConsoleSpec{Node: node})
			if !isOneOf(err, append(unlisted, plugin.Unreachable, plugin.Unsupported)) {
				t.Errorf("node %q: %v", node, err)
			}
		}
	})
	s.run(t, "guests that are not there, and those that do not run", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		host := s.host(t, endpoint.Console)
		for _, kind := range s.kinds() {
			ref := s.NewGuest(t, kind, hypervisor.GuestStopped)
			wantKind(t, opened(t, ctx, host, hypervisor.ConsoleSpec{Guest: &ref}), plugin.Conflict)
			for _, id := range []hypervisor.GuestID{"999999999", "..", "101/../102", ref.ID + "\x00",
				hypervisor.GuestID(strings.Repeat("9", 300))} {
				other := ref
				other.ID = id
				err := opened(t, ctx, host, hypervisor.ConsoleSpec{Guest: &other})
				if kind := plugin.KindOf(err); kind != plugin.NotFound && kind != plugin.Invalid {
					t.Errorf("guest %q: %v", id, err)
				}
			}
		}
	})
	s.run(t, "without the privilege", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		if s.Alike {
			t.Skip("rights cannot be limited by capability")
		}
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestRunning)
		wantKind(t, opened(t, ctx, s.host(t, endpoint.Monitoring), hypervisor.ConsoleSpec{Guest: &ref}), plugin.Denied)
		if s.Lacking != nil {
			target, _ := s.Lacking(t, endpoint.Console)
			e := wantKind(t, opened(t, ctx, s.open(t, target), hypervisor.ConsoleSpec{Guest: &ref}), plugin.Denied)
			if len(e.Missing) == 0 {
				t.Errorf("the error names no missing privilege: %v", e)
			}
		}
		wrong := s.wrong(t, endpoint.Console)
		wantKind(t, opened(t, ctx, s.open(t, wrong), hypervisor.ConsoleSpec{Guest: &ref}), plugin.TokenRejected)
	})
	s.run(t, "many at once", func(t *testing.T, ctx context.Context) {
		hook(t, "Terminals", s.Terminals != nil)
		terminal := s.Terminals(t)[0]
		var all []hypervisor.Console
		for range 5 {
			c, err := as[hypervisor.ConsoleOpener](t, s.host(t, endpoint.Console)).OpenConsole(ctx, terminal.Spec)
			must(t, "opening one more", err)
			all = append(all, c)
		}
		for _, c := range all {
			s.say(t, ctx, c, terminal)
			_ = c.Close()
		}
		for ends := time.Now().Add(s.Patience); ; time.Sleep(10 * time.Millisecond) {
			err := opened(t, ctx, s.host(t, endpoint.Console), terminal.Spec)
			if err == nil {
				return
			}
			if time.Now().After(ends) {
				t.Fatalf("after closing all consoles none can be opened: %v", err)
			}
		}
	})
}
