package pvesim_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/plugins/pve/pvetest"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// consoleHost has a VM 100 without a serial port, one 101 with, a container 102, all running, and a VM 103 that does not.
func consoleHost(t testing.TB) (*pvesim.Cluster, caller) {
	t.Helper()
	c := newHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Status: pvesim.StatusRunning, Serial: true})
	addGuest(t, c, pvesim.GuestSpec{VMID: 102, Type: pvesim.LXC, Status: pvesim.StatusRunning})
	addGuest(t, c, pvesim.GuestSpec{VMID: 103})
	return c, as(t, c, c.AdminToken())
}

const (
	screen    = "/nodes/pve1/qemu/100"
	serial    = "/nodes/pve1/qemu/101"
	container = "/nodes/pve1/lxc/102"
	halted    = "/nodes/pve1/qemu/103"
	shell     = "/nodes/pve1"
)

// What was recorded of WebSockets: the heads of the answers, and what went over them as far as it is not of the guest.
func TestReplayRecordedSockets(t *testing.T) {
	t.Parallel()
	all := pvetest.Sockets(t)
	if len(all) < 7 {
		t.Errorf("only %d are recorded", len(all))
	}
	for _, recorded := range all {
		w := newRecordedServer(t)
		root := as(t, w.cluster, pvesim.Token{ID: "root@pam!test", Secret: w.secrets["root@pam!test"]})
		o := root.openedConsole(recorded.Path[:strings.LastIndexByte(recorded.Path, '/')], "termproxy")
		who, port, ticket := root, o.Port, o.Ticket
		switch recorded.Case {
		case "WS__lxc_vncwebsocket_bad_ticket":
			ticket = "PVEVNC:bad"
		case "WS__lxc_vncwebsocket_wrong_port":
			port = 5999
		case "WS__lxc_vncwebsocket_no_auth":
			who.token = pvesim.Token{}
		case "WS__lxc_vncwebsocket_other_user":
			w.cluster.Grant("/vms", "drv@pve", "PVEVMUser", true)
			who.token = pvesim.Token{ID: "drv@pve!t2", Secret: w.secrets["drv@pve!t2"]}
		}
		s := who.upgrade(strings.TrimSuffix(recorded.Path, "/vncwebsocket"), port, ticket)
		if got, want := bare(s.head), bare(strings.Split(recorded.Head, "\r\n")); got != want {
			t.Errorf("%s: the head is\n%s\nrecorded\n%s", recorded.Case, got, want)
			continue
		}
		replayFrames(t, s, recorded, o)
	}
}

// bare is a head without what differs each time.
func bare(head []string) string {
	var kept []string
	for _, line := range head {
		name, _, _ := strings.Cut(line, ":")
		if name == "Date" || name == "Expires" || name == "Sec-WebSocket-Accept" {
			line = name
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

func replayFrames(t *testing.T, s *socket, recorded pvetest.Socket, o opened) {
	t.Helper()
	for i, raw := range recorded.Frames {
		var text string
		if json.Unmarshal(raw, &text) == nil { // the body of a refusal
			body, err := io.ReadAll(s.in)
			var got, want any
			if text != "" && (json.Unmarshal(body, &got) != nil || json.Unmarshal([]byte(text), &want) != nil || !jsonEqual(got, want)) ||
				text == "" && len(body) > 0 {
				t.Errorf("%s: the body is %q, %v, recorded %q", recorded.Case, body, err, text)
			}
			return
		}
		var f pvetest.SocketFrame
		noError(t, json.Unmarshal(raw, &f))
		switch {
		case f.Dir == "send":
			s.say(strings.ReplaceAll(f.Data, "<vncticket>", o.Ticket))
		case f.Error != "":
			if said := s.ends(); said != "" {
				t.Errorf("%s: it said %q", recorded.Case, said)
			}
		case i == 1:
			if _, payload, err := s.next(); err != nil || !strings.HasPrefix(string(payload), f.Data) {
				t.Errorf("%s: the first frame is %q, %v", recorded.Case, payload, err)
			}
		}
	}
}

func TestTerminals(t *testing.T) {
	t.Parallel()
	c, root := consoleHost(t)
	for _, path := range []string{serial, container} {
		s, o := root.console(path, "termproxy")
		if first := s.until("$ "); !strings.HasPrefix(first, "OK") {
			t.Errorf("%s begins with %q", path, first)
		}
		s.say("0:9:echo häf") // nine bytes: one letter has two
		s.say("0:1:\r")
		s.until("häf\r\n")
		s.say("1:100:30:")
		s.until("[100x30]\r\n")
		s.say("2")
		s.say("0:9:cat 3000\r")
		s.frame(0x81, true, []byte("0:5:exit\r")) // a text is as good
		waittest.Until(t, "the sign of life has come", func() bool { return c.ConsoleKeepAlives() > 0 })
		s.ends()
		waittest.Until(t, "the task has ended", func() bool { return root.taskEnd(o.UPID) == "OK" })
	}
	s, _ := root.console(shell, "termproxy") // as a token of root, not as root@pam
	s.until("pve1 login: ")
	s.say("0:5:root\r")
	s.until("Password: ")
	s.say("0:7:secret\r")
	if all := s.until("pve1$ "); strings.Contains(all, "secret") {
		t.Errorf("the password is shown: %q", all)
	}
	if n := c.Consoles(); n != 1 {
		t.Errorf("%d consoles are there", n)
	}
}

func TestScreens(t *testing.T) {
	t.Parallel()
	_, root := consoleHost(t)
	s, o := root.console(screen, "vncproxy")
	if len(o.Password) != 8 || !strings.HasPrefix(o.Ticket, o.Password+":PVEVNC:") || !strings.HasPrefix(o.Cert, "-----BEGIN CERTIFICATE") {
		t.Errorf("the answer is %+v", o)
	}
	frame, err := consoletest.ReadFrame(buffered{bufio.NewReaderSize(s, 1<<20), s}, o.Password)
	if err != nil || frame.Width != 64 || frame.Name != "QEMU (vm100)" && frame.Name == "" {
		t.Errorf("the frame is %d by %d of %q, %v", frame.Width, frame.Height, frame.Name, err)
	}
	s, o = root.console(screen, "vncproxy")
	_, err = consoletest.ReadFrame(buffered{bufio.NewReaderSize(s, 1<<20), s}, "wrong")
	if !errors.Is(err, consoletest.ErrRFBPassword) {
		t.Errorf("a wrong password: %v", err)
	}
	waittest.Until(t, "the task has failed", func() bool { return root.taskEnd(o.UPID) == "connection closed" })
}

// buffered reads pieces of frames.
type buffered struct {
	io.Reader
	io.Writer
}

func TestConsolesThatShowNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
	t.Parallel()
	c, root := consoleHost(t)
	s, o := root.console(screen, "termproxy")
	if said := s.until("\r\n"); said != "OKunable to find a serial interface\r\n" {
		t.Errorf("without a serial port: %q", said)
	}
	s, o = root.console(halted, "vncproxy")
	if said := s.ends(); said != "" || root.taskEnd(o.UPID) != "Failed to run vncproxy." {
		t.Errorf("of a machine that is off: %q, %q", said, root.taskEnd(o.UPID))
	}
	root.refused("POST", "/nodes/pve1/qemu/999/termproxy", "", 500, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist")
	s, o = root.console(container, "termproxy")
	s.until("$ ")
	noError(t, c.SetGuestStatus(102, pvesim.StatusStopped))
	s.ends()
	s, _ = root.console(serial, "termproxy")
	s.until("$ ")
	root.decode("DELETE", "/nodes/pve1/tasks/"+root.openedConsole(serial, "termproxy").UPID, "", nil)
	c.EndConsoles()
	s.ends()
	waittest.Until(t, "no console is left", func() bool { return c.Consoles() == 0 })
	if end := root.taskEnd(o.UPID); end != "OK" {
		t.Errorf("of a container that was stopped the task ends with %q", end)
	}
}

func TestTicketsOfConsoles(t *testing.T) {
	t.Parallel()
	c, root := consoleHost(t)
	other := as(t, c, c.AddToken("root@pam!other", false))
	refused := func(what string, s *socket) {
		t.Helper()
		if len(s.head) == 0 || s.head[0] != "HTTP/1.1 401 permission denied - invalid PVEVNC ticket" {
			t.Errorf("%s: %q", what, s.head)
		}
	}
	o := root.openedConsole(serial, "termproxy")
	refused("another's", other.upgrade(serial, o.Port, o.Ticket))
	refused("of another guest", root.upgrade(container, o.Port, o.Ticket))
	refused("of a guest for a node", root.upgrade(shell, o.Port, o.Ticket))
	refused("another port", root.upgrade(serial, 5950, o.Ticket))
	refused("cut off", root.upgrade(serial, o.Port, o.Ticket[:len(o.Ticket)-1]))
	noError(t, c.SetConsoleRelease("9.1.8"))
	old := root.openedConsole(serial, "termproxy")
	if _, number := old.Port.(float64); !number {
		t.Errorf("an older release gives the port %#v", old.Port)
	}
	if s := root.upgrade(serial, 5950, old.Ticket); len(s.head) != 0 { // nobody listens there
		t.Errorf("another port with an older release: %q", s.head)
	}
	noError(t, c.SetConsoleRelease(""))
	first, o := root.console(serial, "termproxy")
	first.until("$ ")
	if s := root.upgrade(serial, o.Port, o.Ticket); len(s.head) != 0 {
		t.Errorf("a second client: %q", s.head)
	}
	c.Advance(41 * time.Second)
	refused("late", root.upgrade(serial, o.Port, o.Ticket))
	s, o := root.upgrade(serial, "", ""), root.openedConsole(serial, "termproxy")
	if len(s.head) == 0 || !strings.HasPrefix(s.head[0], "HTTP/1.1 400 ") {
		t.Errorf("without anything: %q", s.head)
	}
	s = root.upgrade(serial, o.Port, o.Ticket)
	s.say(o.User + ":" + old.Ticket + "\n")
	if said := s.ends(); said != "" {
		t.Errorf("with another ticket in the login line: %q", said)
	}
}

func TestPortsOfConsoles(t *testing.T) {
	t.Parallel()
	c, root := consoleHost(t)
	c.StopClock()
	var last opened
	for range 100 {
		last = root.openedConsole(screen, "vncproxy")
	}
	if last.Port != "5999" {
		t.Errorf("the last port is %v", last.Port)
	}
	root.refused("POST", serial+"/termproxy", "", 500, "unable to find free port (5900-5999)")
	c.Advance(11 * time.Second)
	if end := root.taskEnd(last.UPID); end != "connection timed out" {
		t.Errorf("nobody came, and the task ended with %q", end)
	}
	if s := root.upgrade(screen, last.Port, last.Ticket); len(s.head) != 0 {
		t.Errorf("a client that came late: %q", s.head)
	}
	if o := root.openedConsole(serial, "termproxy"); o.Port != "5900" {
		t.Errorf("the next port is %v", o.Port)
	}
}

func TestFramesOfConsoles(t *testing.T) {
	t.Parallel()
	_, root := consoleHost(t)
	for name, wrong := range map[string]func(*socket){
		"not masked":      func(s *socket) { s.frame(0x82, false, []byte("2")) },
		"in fragments":    func(s *socket) { s.frame(0x02, true, []byte("2")) },
		"packed":          func(s *socket) { s.frame(0xc2, true, []byte("2")) },
		"too large":       func(s *socket) { s.frame(0x82, true, make([]byte, 128<<10+1)) },
		"unknown":         func(s *socket) { s.frame(0x83, true, []byte("2")) },
		"no message":      func(s *socket) { s.say("x:1:") },
		"a wrong length":  func(s *socket) { s.say("0:-1:a") },
		"an endless one":  func(s *socket) { s.say("0:11111111111111111111:") },
		"a size of words": func(s *socket) { s.say("1:a:b:") },
	} {
		s, _ := root.console(serial, "termproxy")
		s.until("$ ")
		wrong(s)
		if said := s.ends(); said != "" {
			t.Errorf("%s: it said %q", name, said)
		}
	}
	s, _ := root.console(serial, "termproxy")
	s.until("$ ")
	const size = 128<<10 - 9
	go s.say("0:131063:" + strings.Repeat("a", size)) // as much as a frame may have
	for left := size; left > 0; {
		_, payload, err := s.next()
		noError(t, err)
		left -= len(payload)
	}
	s.frame(0x89, true, []byte("there?"))
	if op, payload, err := s.next(); op != 0x8a || string(payload) != "there?" {
		t.Errorf("a ping is answered with %x %q, %v", op, payload, err)
	}
	s.frame(0x88, true, []byte{3, 232})
	if op, _, err := s.next(); op != 0x88 {
		t.Errorf("a farewell is answered with %x, %v", op, err)
	}
	s.ends()
	for want, more := range map[string]string{
		"HTTP/1.1 500 unsupported websocket-version '12'":        "Sec-WebSocket-Version: 12",
		"HTTP/1.1 500 websocket protocol 'chat' not supported":   "Sec-WebSocket-Protocol: chat",
		"HTTP/1.1 500 missing websocket-key":                     "Sec-WebSocket-Key: ",
		"HTTP/1.1 101 Switching Protocols":                       "X-Other: 1",
		"HTTP/1.1 401 permission denied - invalid PVEVNC ticket": "X-Wrong: 1",
	} {
		o := root.openedConsole(serial, "termproxy")
		if more == "X-Wrong: 1" {
			o.Ticket = "x"
		}
		if s := root.upgrade(serial, o.Port, o.Ticket, more); len(s.head) == 0 || s.head[0] != want {
			t.Errorf("%q: %q", more, s.head)
		}
	}
}

// Older releases refuse tokens in the ways that they are known for.
func TestConsolesOfOlderReleases(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Guests: 2, Version: "9.0.5", TaskDuration: time.Hour})
	addGuest(t, c, pvesim.GuestSpec{VMID: 900, Status: pvesim.StatusRunning, Serial: true})
	root := as(t, c, c.AdminToken())
	path := "/nodes/pve1/qemu/900"
	root.refused("POST", "/nodes/pve1/termproxy", "", 500, "value '"+c.AdminToken().ID+"' does not look like a valid user name")
	s, o := root.console(path, "termproxy")
	if said := s.ends(); said != "" {
		t.Errorf("it said %q", said)
	}
	if end := root.taskEnd(o.UPID); !strings.HasPrefix(end, "command '/usr/bin/termproxy 5900 --path /vms/900 --perm VM.Console -- ") {
		t.Errorf("the task ended with %q", end)
	}
	s, o = root.console(path, "vncproxy")
	if o.Password != "" {
		t.Errorf("a screen has the password %q", o.Password)
	}
	if _, err := consoletest.ReadFrame(buffered{bufio.NewReaderSize(s, 1<<20), s}, o.Ticket); err != nil {
		t.Errorf("the ticket is not the password: %v", err)
	}
	noError(t, c.SetConsoleRelease("9.1.9"))
	s, _ = root.console(path, "termproxy")
	s.until("$ ")
	if err := c.SetConsoleRelease("new"); err == nil {
		t.Error("a release that is none was taken")
	}
}
