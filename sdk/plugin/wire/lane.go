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

// Lane is a unix socket that carries bulk data beside a gRPC call between two
// processes of one machine. Data in gRPC messages is copied, encrypted and framed,
// which costs several times as much as a plain socket.
//
// One side opens the lane and sends its name and key in the gRPC call, which is
// authenticated. Both sides then prove on the socket that they know the key,
// because any process of the machine can connect to an abstract socket. The data is
// not encrypted.
//
// A lane only improves speed. If the system has none, or the other side does not
// join, the call carries the data.
type Lane struct {
	// Name is the name of the socket. Key contains the two halves by which the
	// sides authenticate each other. Both are sent to the other side.
	Name string
	Key  []byte

	listener *net.UnixListener
}

const (
	// halfKey is the length of one side's half of the key, in bytes.
	halfKey = 32
	// joinLimit is how long the sides wait for each other. A plugin with an older
	// SDK never joins.
	joinLimit = 2 * time.Second
)

// OpenLane opens a lane. It returns nil if the system does not have abstract unix
// sockets. The caller closes the lane.
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

// Close stops accepting connections. A connection that Accept returned stays open.
func (l *Lane) Close() { _ = l.listener.Close() }

// Accept waits until the other side has joined and returns the connection, which
// the caller closes. It returns nil if nobody joins within 2 s or the context ends.
// Connections that do not know the key are closed.
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
			// The other side reads nothing before it has received this half, so
			// both sides know from here on that the lane is used.
			if _, err := conn.Write(l.Key[halfKey:]); err == nil {
				return conn
			}
		}
		_ = conn.Close()
	}
}

// JoinLane joins the lane with that name and returns the connection, which the
// caller closes. It returns nil if the lane does not exist or is not used any more,
// or if the name or key is malformed.
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

// proves reads the other side's half of the key and compares it in constant time.
// The deadline keeps a silent peer from blocking the lane.
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

// ErrLane is the error of a lane that broke during a transfer.
var ErrLane = errors.New("the data connection was lost")
