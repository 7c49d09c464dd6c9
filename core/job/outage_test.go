package job_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// line is the network between an instance and its database; it can be cut.
type line struct {
	listener net.Listener
	server   func() (net.Conn, error)
	mu       sync.Mutex
	conns    map[net.Conn]bool
	down     bool
	// refused are the connections that came while it was cut.
	refused int
}

// through gives an address of the database that leads through a line.
func through(t testing.TB, databaseURL string) (*line, string) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, server: func() (net.Conn, error) { return net.Dial(network, address) }, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = listener.Close(); l.cut() })
	go l.accept()
	// The address names no host but this: a folder of sockets in it would lead past the line.
	at := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: listener.Addr().String(), Path: cfg.Database,
		RawQuery: "sslmode=disable"}
	return l, at.String()
}

func (l *line) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := l.server()
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		if l.down {
			l.refused++
			_, _ = near.Close(), far.Close()
		} else {
			l.conns[near], l.conns[far] = true, true
		}
		l.mu.Unlock()
		copying := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			_, _ = to.Close(), from.Close()
		}
		go copying(near, far)
		go copying(far, near)
	}
}

// cut breaks all connections and lets no new one through until mend.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.refused = true, 0
	for conn := range l.conns {
		_ = conn.Close()
	}
	clear(l.conns)
}

// tried waits until so many connections have been refused since the cut.
func (l *line) tried(t testing.TB, times int) {
	t.Helper()
	waittest.Succeeds(t, fmt.Sprintf("the instance tries %d times to reach its database", times), func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.refused < times {
			return fmt.Errorf("it tried %d times", l.refused)
		}
		return nil
	})
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

// The only instance loses its database for a while, at each point of a job: it comes back by itself and ends the job, with one task
// at most.
func TestDatabaseAwayForAWhile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{TaskTime: 200 * time.Millisecond}, func(t *testing.T, w *fixture) {
				direct := w.add(t, nil)
				l, through := through(t, w.url)
				w.url = through
				i, g := w.add(t, nil), newGate(t)
				i.Hook(g.at(point))
				i.run(t)
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				id := direct.enqueue(t, w.spec(ref, hypervisor.Stop))
				<-g.reached
				l.cut()
				g.release()
				l.tried(t, 20) // every part of it a few times
				want, tasks := w.cutAt(t, point, ref)
				l.mend()
				direct.ended(t, id, want)
				if n := len(w.tasks(t, ref)); n != tasks {
					t.Errorf("%d tasks, want %d", n, tasks)
				}
				after := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				direct.ended(t, direct.enqueue(t, w.spec(after, hypervisor.Stop)), job.Succeeded)
			})
		})
	}
}
