package job_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// line is the network between an instance and its database; it can be cut.
type line struct {
	listener net.Listener
	server   string
	mu       sync.Mutex
	conns    map[net.Conn]bool
	down     bool
}

// through gives an address of the database that leads through a line.
func through(t testing.TB, databaseURL string) (*line, string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, server: u.Host, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = listener.Close(); l.cut() })
	go l.accept()
	u.Host = listener.Addr().String()
	return l, u.String()
}

func (l *line) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.server)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		if l.down {
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
	l.down = true
	for conn := range l.conns {
		_ = conn.Close()
	}
	clear(l.conns)
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

// The only instance loses its database for a while, at each point of a job: it comes back by itself and ends the job,
// with one task.
func TestDatabaseAwayForAWhile(t *testing.T) {
	t.Parallel()
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memdriver.Spec{TaskTime: 200 * time.Millisecond})
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
			// Long enough for every part to try in vain a few times.
			time.Sleep(1500 * time.Millisecond)
			l.mend()
			direct.ended(t, id, job.Succeeded)
			w.once(t, ref)
			after := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
			direct.ended(t, direct.enqueue(t, w.spec(after, hypervisor.Stop)), job.Succeeded)
		})
	}
}
