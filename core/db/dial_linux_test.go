package db_test

import (
	"net"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"golang.org/x/sys/unix"
)

// A server that vanishes must not keep a statement waiting for a quarter of an hour.
func TestConnectionsNoticeASilentServer(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	conn, err := d.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tcp, ok := conn.Conn().PgConn().Conn().(*net.TCPConn)
	if !ok {
		t.Skip("the test server is not reached by TCP")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]struct{ level, name, want int }{
		"user timeout": {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 20_000},
		"keep-alive":   {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		"idle":         {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 10},
		"interval":     {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
	} {
		if err := raw.Control(func(fd uintptr) {
			if got, err := unix.GetsockoptInt(int(fd), option.level, option.name); err != nil || got != option.want {
				t.Errorf("%s is %d, want %d, %v", name, got, option.want, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
}
