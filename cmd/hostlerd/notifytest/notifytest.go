// Package notifytest is the service manager at the other end of sd_notify(3), for tests.
package notifytest

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Manager is the end of the service manager: a datagram socket.
type Manager struct {
	// Path of the socket, for NOTIFY_SOCKET.
	Path string
	// Messages are what came.
	Messages chan string
}

// New listens until the test ends.
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

// Next is the next message.
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

// Expect takes messages as they come: each must begin with the next of these.
func (m *Manager) Expect(t testing.TB, messages ...string) (last string) {
	t.Helper()
	for _, want := range messages {
		if last = m.Next(t); !strings.HasPrefix(last, want) {
			t.Fatalf("the message is %q, want %q", last, want)
		}
	}
	return last
}
