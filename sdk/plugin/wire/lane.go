package wire

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"runtime"
	"time"
)

// Lane is a way for much data beside a gRPC call between two processes of one machine: bytes that go in messages are copied, encrypted
// and framed, and cost several times what a socket costs. One side opens it and tells the other by the call itself, over which both prove
// who they are: a socket without a file can be found by anybody on the machine. Nothing is encrypted on it.
//
// It is there for speed alone. Where there is none, or the other side does not come, the call carries the data.
type Lane struct {
	// Name is the socket's, and Key what the two halves prove each other by. They are for the other side.
	Name string
	Key  []byte

	listener *net.UnixListener
}

const (
	// halfKey is what one side proves itself by, in bytes.
	halfKey = 32
	// joinLimit is how long the sides wait for each other. A plugin of an older SDK never comes.
	joinLimit = 2 * time.Second
)

// OpenLane opens one. It is nil where the system has no such sockets; the caller closes it otherwise.
func OpenLane() *Lane {
	if runtime.GOOS != "linux" {
		return nil
	}
	name := "@hostler-" + rand.Text()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil
	}
	l := &Lane{Name: name, Key: make([]byte, 2*halfKey), listener: listener}
	_, _ = rand.Read(l.Key) // never fails
	return l
}

// Close lets nobody join any more.
func (l *Lane) Close() { _ = l.listener.Close() }

// Accept waits until the other side has joined; nil when it does not come within 2 s, or the context ends. Strangers are turned away.
func (l *Lane) Accept(ctx context.Context) net.Conn {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	defer context.AfterFunc(ctx, l.Close)()
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return nil
		}
		if proves(ctx, conn, l.Key[:halfKey]) {
			// From here on the lane is used, for both: the other side reads nothing before it has this.
			if _, err := conn.Write(l.Key[halfKey:]); err == nil {
				return conn
			}
		}
		_ = conn.Close()
	}
}

// JoinLane joins the lane that the other side has told of; nil when there is none, or that side uses it no more.
func JoinLane(ctx context.Context, name string, key []byte) net.Conn {
	if runtime.GOOS != "linux" || len(name) < 2 || name[0] != '@' || len(key) != 2*halfKey {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", name)
	if err != nil {
		return nil
	}
	if _, err := conn.Write(key[:halfKey]); err == nil && proves(ctx, conn, key[halfKey:]) {
		return conn
	}
	_ = conn.Close()
	return nil
}

// proves reads the other side's half of the key.
func proves(ctx context.Context, conn net.Conn, half []byte) bool {
	until, _ := ctx.Deadline()
	if conn.SetReadDeadline(until) != nil {
		return false
	}
	got := make([]byte, len(half))
	if _, err := io.ReadFull(conn, got); err != nil || subtle.ConstantTimeCompare(got, half) != 1 {
		return false
	}
	return conn.SetReadDeadline(time.Time{}) == nil
}

// ErrLane is the error of a lane that broke in the middle.
var ErrLane = errors.New("the connection for the data broke")
