package scenarios

import (
	"errors"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/mitchellh/go-vnc"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// A client of RFB sees the picture with the ticket's password, and nothing without it.
func TestGraphicalConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	who := consoleSession{f.user(identity.Operator)}
	for _, path := range []string{f.vm("screen"), f.vm("serial") + "/tickets?kind=graphical"} {
		console, query, _ := strings.Cut(path, "/tickets")
		made := f.ticket(who, console, query)
		if made.Kind != "graphical" || made.Password == nil || len(*made.Password) != 8 || made.Recorded {
			t.Fatalf("%+v", made)
		}
		c, _, code := f.dial(who, f.URL, made.Path, made.Ticket)
		if c == nil {
			t.Fatal(code)
		}
		frame, err := consoletest.ReadFrame(websocket.NetConn(t.Context(), c, websocket.MessageBinary), *made.Password)
		if err != nil || frame.Width == 0 || len(frame.Pixels) == 0 {
			t.Errorf("%d by %d: %v", frame.Width, frame.Height, err)
		}
		_ = c.CloseNow()
	}
	c := f.connect(who, f.vm("screen"), "")
	if _, err := consoletest.ReadFrame(websocket.NetConn(t.Context(), c.Conn, websocket.MessageBinary), "guessed!"); !errors.Is(err,
		consoletest.ErrRFBPassword) {
		t.Errorf("with another password: %v", err)
	}
	waittest.Until(t, "no console is open", func() bool { return f.cluster.Consoles() == 0 })
	waittest.Until(t, "the audit log has it", func() bool { return strings.Contains(f.trail("vm.console_close"), "failed ticket_invalid") })
}

// What a client does wrong is its own fault, and none of the service.
func TestGraphicalConsole_RefusesClientsThatDoNotSpeakRFB(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sends  []string
		leaves bool
		trail  string
	}{
		"no RFB":                {[]string{"GET / HTTP/1.1\r\n\r\n"}, false, "failed malformed"},
		"an old version":        {[]string{"RFB 002.000\n"}, false, "failed malformed"},
		"a security of its own": {[]string{"RFB 003.008\n", "\x01"}, false, "failed malformed"},
		"half a version":        {[]string{"RFB 0"}, true, "ok "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newConsoles(t)
			client := f.connect(consoleSession{f.user(identity.Operator)}, f.vm("screen"), "")
			for _, text := range c.sends {
				client.types(text)
			}
			if c.leaves {
				_ = client.Close(websocket.StatusNormalClosure, "")
			} else {
				client.ends(4400, "the client violated the RFB protocol")
			}
			waittest.Until(t, "the end is in the audit log", func() bool { return f.trail("vm.console_close") != "" })
			if got := f.trail("vm.console_close"); !strings.HasPrefix(got, c.trail) {
				t.Errorf("the audit log: %s", got)
			}
		})
	}
}

// A client that others have written comes through the handshake, is shown the same picture as ours, and is refused with another password.
// It is an old one: no library of RFB clients for Go is looked after any more, and the protocol is the same since then (RFC 6143).
func TestGraphicalConsolesByAnotherClient(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	who := consoleSession{f.user(identity.Operator)}
	made := f.ticket(who, f.vm("screen"), "")
	c, _, code := f.dial(who, f.URL, made.Path, made.Ticket)
	if c == nil {
		t.Fatal(code)
	}
	want, err := consoletest.ReadFrame(websocket.NetConn(t.Context(), c, websocket.MessageBinary), *made.Password)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.CloseNow()

	made = f.ticket(who, f.vm("screen"), "")
	if c, _, code = f.dial(who, f.URL, made.Path, made.Ticket); c == nil {
		t.Fatal(code)
	}
	told := make(chan vnc.ServerMessage, 1)
	client, err := vnc.Client(websocket.NetConn(t.Context(), c, websocket.MessageBinary), &vnc.ClientConfig{
		Auth: []vnc.ClientAuth{&vnc.PasswordAuth{Password: *made.Password}}, ServerMessageCh: told})
	if err != nil {
		t.Fatalf("the handshake: %v", err)
	}
	width, height := client.FrameBufferWidth, client.FrameBufferHeight
	if int(width) != want.Width || int(height) != want.Height || client.DesktopName != want.Name {
		t.Errorf("it is shown %d by %d of %q, want %d by %d of %q", width, height, client.DesktopName, want.Width, want.Height, want.Name)
	}
	if err := errors.Join(client.SetEncodings([]vnc.Encoding{new(vnc.RawEncoding)}),
		client.FramebufferUpdateRequest(false, 0, 0, width, height)); err != nil {
		t.Fatal(err)
	}
	message, ok := <-told
	update, is := message.(*vnc.FramebufferUpdateMessage)
	if !ok || !is || len(update.Rectangles) != 1 {
		t.Fatalf("the answer is %T", message)
	}
	raw, is := update.Rectangles[0].Enc.(*vnc.RawEncoding)
	if !is || 4*len(raw.Colors) != len(want.Pixels) {
		t.Fatalf("the picture is %T", update.Rectangles[0].Enc)
	}
	p := client.PixelFormat
	for i, colour := range raw.Colors {
		pixel := uint32(want.Pixels[4*i]) | uint32(want.Pixels[4*i+1])<<8 | uint32(want.Pixels[4*i+2])<<16 | uint32(want.Pixels[4*i+3])<<24
		if p.BigEndian {
			pixel = uint32(want.Pixels[4*i])<<24 | uint32(want.Pixels[4*i+1])<<16 | uint32(want.Pixels[4*i+2])<<8 | uint32(want.Pixels[4*i+3])
		}
		if uint32(colour.R) != pixel>>p.RedShift&uint32(p.RedMax) || uint32(colour.G) != pixel>>p.GreenShift&uint32(p.GreenMax) ||
			uint32(colour.B) != pixel>>p.BlueShift&uint32(p.BlueMax) {
			t.Fatalf("pixel %d is %v, want %08x", i, colour, pixel)
		}
	}
	_ = client.Close()

	made = f.ticket(who, f.vm("screen"), "")
	if c, _, code = f.dial(who, f.URL, made.Path, made.Ticket); c == nil {
		t.Fatal(code)
	}
	if _, err := vnc.Client(websocket.NetConn(t.Context(), c, websocket.MessageBinary), &vnc.ClientConfig{
		Auth: []vnc.ClientAuth{&vnc.PasswordAuth{Password: "guessed!"}}}); err == nil {
		t.Error("another password is good")
	}
	waittest.Until(t, "no console is open", func() bool { return f.cluster.Consoles() == 0 })
}
