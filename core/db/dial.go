package db

import (
	"context"
	"net"
	"time"
)

// Bounds of a connection whose other end has vanished without a word: a failed-over server, a cut cable. Left to the
// system a statement on it would wait for a quarter of an hour, and with it whoever holds a lock for the statement.
const (
	silenceLimit = 20 * time.Second
	probeAfter   = 10 * time.Second
	probeEvery   = 5 * time.Second
	probes       = 2
)

// dialer makes the pool's connections.
func dialer(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
		Control:         limitSilence,
	}
	return d.DialContext
}
