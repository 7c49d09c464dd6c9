package pvesim_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// opened is the answer of termproxy and vncproxy.
type opened struct {
	User, Ticket, UPID, Password, Cert string
	Port                               any
}

// openedConsole asks for a console below a path; program is termproxy or vncproxy.
func (a caller) openedConsole(path, program string) opened {
	a.t.Helper()
	var o opened
	a.decode("POST", path+"/"+program, "", &o)
	return o
}

// socket is a connection that asked to become a WebSocket, spoken by hand so that wrong things can be said.
type socket struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	head []string // of the answer
}

// upgrade asks for a WebSocket and reads the head of the answer; without a token it sends none. No answer at all has no head. A header
// that is given takes the place of that of its name.
func (a caller) upgrade(path string, port any, ticket string, more ...string) *socket {
	a.t.Helper()
	u, err := url.Parse(a.base)
	noError(a.t, err)
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", u.Host, &tls.Config{InsecureSkipVerify: true})
	noError(a.t, err)
	a.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	lines := []string{
		fmt.Sprintf("GET /api2/json%s/vncwebsocket?port=%v&vncticket=%s HTTP/1.1", path, port, url.QueryEscape(ticket)), "Host: " + u.Host,
		"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Protocol: binary",
	}
	if a.token.ID != "" {
		lines = append(lines, "Authorization: PVEAPIToken="+a.token.ID+"="+a.token.Secret)
	}
	for _, header := range more {
		name, _, _ := strings.Cut(header, ":")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+":") })
		lines = append(lines, header)
	}
	_, err = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n")
	noError(a.t, err)
	s := &socket{t: a.t, conn: conn, in: bufio.NewReader(conn)}
	for {
		line, err := s.in.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if err != nil || line == "" {
			return s
		}
		s.head = append(s.head, line)
	}
}

// console asks for a console and connects to it; a terminal also logs in.
func (a caller) console(path, program string) (*socket, opened) {
	a.t.Helper()
	o := a.openedConsole(path, program)
	s := a.upgrade(path, o.Port, o.Ticket)
	if len(s.head) == 0 || s.head[0] != "HTTP/1.1 101 Switching Protocols" {
		a.t.Fatalf("%s of %s: %q", program, path, s.head)
	}
	if program == "termproxy" {
		s.say(o.User + ":" + o.Ticket + "\n")
	}
	return s, o
}

// frame sends one frame: first is its first byte, and mask says whether it is masked.
func (s *socket) frame(first byte, mask bool, payload []byte) {
	s.t.Helper()
	b := []byte{first, 127}
	b = binary.BigEndian.AppendUint64(b, uint64(len(payload)))
	if mask {
		b[1] |= 0x80
		key := []byte{1, 2, 3, 4}
		b = append(b, key...)
		masked := bytes.Clone(payload)
		for i := range masked {
			masked[i] ^= key[i%4]
		}
		payload = masked
	}
	_, _ = s.conn.Write(append(b, payload...)) // whether it was taken is seen in what comes
}

// say sends a frame as it should be.
func (s *socket) say(text string) { s.t.Helper(); s.frame(0x82, true, []byte(text)) }

// next reads one frame.
func (s *socket) next() (op byte, payload []byte, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(s.in, head); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	if long := map[byte]int{126: 2, 127: 8}[head[1]]; long > 0 {
		length := make([]byte, 8)
		if _, err := io.ReadFull(s.in, length[8-long:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(length)
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(s.in, payload)
	return head[0], payload, err
}

// until reads frames until what they carry has a text, and gives all of it.
func (s *socket) until(text string) string {
	s.t.Helper()
	var all []byte
	for !bytes.Contains(all, []byte(text)) {
		_, payload, err := s.next()
		if err != nil {
			s.t.Fatalf("waiting for %q after %q: %v", text, all, err)
		}
		all = append(all, payload...)
	}
	return string(all)
}

// ends wants the connection to end, and gives what came before.
func (s *socket) ends() string {
	s.t.Helper()
	var all []byte
	for {
		_, payload, err := s.next()
		if err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				s.t.Fatalf("the connection goes on after %q", all)
			}
			return string(all)
		}
		all = append(all, payload...)
	}
}

// Read and Write carry data frames.
func (s *socket) Read(p []byte) (int, error) {
	_, payload, err := s.next()
	if len(payload) > len(p) {
		s.t.Fatal("the frame is larger than what was asked for")
	}
	return copy(p, payload), err
}

func (s *socket) Write(p []byte) (int, error) {
	s.say(string(p))
	return len(p), nil
}
