package dbtest

import (
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Public returns a URL at which every user of the machine can reach the
// database until the test ends. It forwards a TCP port of 127.0.0.1, because
// the servers of this package listen only on a socket in a closed folder.
func Public(t testing.TB, database string) string {
	t.Helper()
	cfg, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = in.Close() }()
				out, err := net.Dial(network, address)
				if err != nil {
					return
				}
				defer func() { _ = out.Close() }()
				go func() { _, _ = io.Copy(out, in) }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	at := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: listener.Addr().String(), Path: cfg.Database,
		RawQuery: "sslmode=disable"}
	return at.String()
}
