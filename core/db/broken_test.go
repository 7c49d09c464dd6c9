package db_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
)

// cable passes a database's connections on until they are cut.
type cable struct {
	url    string
	target string

	mu    sync.Mutex
	conns []net.Conn
}

func newCable(t *testing.T) *cable {
	t.Helper()
	address, err := url.Parse(dbtest.URL(t))
	if err != nil || address.Port() == "" {
		t.Skip("the test server is not reached over TCP")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	c := &cable{target: address.Host}
	address.Host = listener.Addr().String()
	c.url = address.String()
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", c.target)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, near, far)
			c.mu.Unlock()
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_ = to.Close()
			}
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return c
}

// cut ends all connections, as a killed server does or, hard, as one whose machine has gone.
func (c *cable) cut(hard bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		if hard {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		_ = conn.Close()
	}
	c.conns = nil
}

// Whoever meets a connection that breaks is told that the database is away, by whichever way the statement went.
func TestBrokenConnectionIsADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	for _, hard := range []bool{false, true} {
		c := newCable(t)
		d := dbtest.Open(t, c.url)
		for name, fn := range map[string]func(tx *db.Tx) error{
			"statement": func(tx *db.Tx) error { c.cut(hard); _, err := tx.Pgx.Exec(t.Context(), "SELECT 1"); return err },
			"gorm":      func(tx *db.Tx) error { c.cut(hard); return tx.Exec("SELECT 1").Error },
			"again":     func(tx *db.Tx) error { c.cut(hard); _ = tx.Exec("SELECT 1"); return tx.Exec("SELECT 1").Error },
			"commit":    func(*db.Tx) error { c.cut(hard); return nil },
		} {
			if err := d.Tx(t.Context(), fn); problem.CodeOf(err) != problem.CodeDatabaseUnavailable {
				t.Errorf("hard %v, %s: %v", hard, name, err)
			}
		}
		conn, err := d.Pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.cut(hard)
		if _, err := conn.Exec(t.Context(), "SELECT 1"); !db.Unavailable(err) {
			t.Errorf("hard %v, outside a transaction: %v", hard, err)
		}
		conn.Release()
		if err := d.Tx(t.Context(), func(tx *db.Tx) error { return tx.Exec("SELECT 1").Error }); err != nil {
			t.Errorf("hard %v, afterwards: %v", hard, err)
		}
	}
}
