// Package notifytest is a service manager for tests of sd_notify(3): it
// receives the messages that a service sends to NOTIFY_SOCKET. Unlike systemd
// it does not check who sent a message, and it neither extends timeouts nor
// restarts anything.
package notifytest

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Manager is the socket of the service manager.
type Manager struct {
	// Path is the path of the socket. Tests set NOTIFY_SOCKET to it.
	Path string
	// Messages contains the received messages in order. It holds 1000; more
	// block the reader, and then the sender.
	Messages chan string
}

// New opens the socket, which is closed at the end of the test.
func New(t testing.TB) *Manager {
	t.Helper()
	m := &Manager{Path: filepath.Join(t.TempDir(), "notify"), Messages: make(chan string, 1000)}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.Path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		text := make([]byte, 4096)
		for {
			n, err := conn.Read(text)
			if err != nil {
				return
			}
			m.Messages <- string(text[:n])
		}
	}()
	return m
}

// Next returns the next message. It fails the test if none arrives within a
// minute.
func (m *Manager) Next(t testing.TB) string {
	t.Helper()
	select {
	case message := <-m.Messages:
		return message
	case <-time.After(60 * time.Second):
		t.Fatal("there is no further message")
		return ""
	}
}

// Expect reads one message for each argument, in order. Each message must begin
// with its argument. It returns the last message, so that a test can check the
// rest of it.
func (m *Manager) Expect(t testing.TB, messages ...string) (last string) {
	t.Helper()
	for _, want := range messages {
		if last = m.Next(t); !strings.HasPrefix(last, want) {
			t.Fatalf("the message is %q, want %q", last, want)
		}
	}
	return last
}
