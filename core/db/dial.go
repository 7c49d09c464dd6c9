package db

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Bounds of a connection whose other end has vanished without a word: a
// failed-over server, a cut cable. Left to the system a statement on it would
// wait for a quarter of an hour, and with it whoever holds a lock for the
// statement.
const (
	silenceLimit = 20 * time.Second
	probeAfter   = 10 * time.Second
	probeEvery   = 5 * time.Second
	probes       = 2
)

// dialer makes the pool's connections, whose failures say that they are the database's.
func dialer(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
		Control:         limitSilence,
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &link{conn}, nil
	}
}

// link is a connection to the database. A bare "unexpected EOF" could be
// anybody's; what breaks here is marked as broken.
type link struct{ net.Conn }

// broken is the error of a connection to the database that ended. It is no
// io.EOF, which libraries would take for an end that was meant.
type broken struct{ cause error }

// Error implements error.
func (b *broken) Error() string { return "the connection to the database was lost: " + b.cause.Error() }

// Unwrap returns the cause. io.EOF becomes io.ErrUnexpectedEOF, because many
// readers take io.EOF for a normal end.
func (b *broken) Unwrap() error {
	if errors.Is(b.cause, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return b.cause
}

// Read marks an error as that of a broken connection.
func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	return n, mark(err)
}

// Write marks an error as that of a broken connection.
func (l *link) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	return n, mark(err)
}

// mark leaves deadlines alone: they are ours.
func mark(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return &broken{err}
}
