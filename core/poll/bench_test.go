package poll_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// load answers with many guests in the pages that a driver sends.
type load struct {
	hypervisor.Host
	pages []hypervisor.Page
}

func (l *load) Open(context.Context, int64, endpoint.Capability) (hypervisor.Host, error) {
	return l, nil
}
func (l *load) Close() error { return nil }
func (l *load) Version(context.Context) (hypervisor.Version, error) {
	return hypervisor.Version{Version: "1.0"}, nil
}
func (l *load) Permissions(context.Context) (hypervisor.Permissions, error) {
	return hypervisor.Permissions{}, nil
}
func (l *load) Inventory(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	for _, p := range l.pages {
		if err := page(p); err != nil {
			return err
		}
	}
	return nil
}

func newLoad(nodes, guests int) *load {
	l := &load{}
	first := hypervisor.Page{Cluster: &hypervisor.Cluster{Name: "big", Quorate: true, Entry: "node0"}}
	for i := range nodes {
		n := node(fmt.Sprintf("node%d", i))
		first.Nodes = append(first.Nodes, n)
	}
	l.pages = append(l.pages, first)
	var page hypervisor.Page
	for i := range guests {
		g := vm(int64(100+i), fmt.Sprintf("node%d", i%nodes), fmt.Sprintf("guest-%05d", i))
		g.NetOut, g.DiskRead, g.DiskWrite, g.Disk, g.DiskTotal = ptr(int64(i)), ptr(int64(i)), ptr(int64(i)), ptr(int64(0)), ptr(int64(32<<30))
		page.Guests = append(page.Guests, g)
		if len(page.Guests) == 256 {
			l.pages, page = append(l.pages, page), hypervisor.Page{}
		}
	}
	l.pages = append(l.pages, page)
	return l
}

// tick lets every running guest's figures move, as they do between any two polls.
func (l *load) tick() {
	for _, p := range l.pages {
		for i := range p.Guests {
			g := &p.Guests[i]
			if g.CPU != nil {
				*g.CPU = 1 - *g.CPU
			} else {
				*g.CPUSeconds++
			}
			for _, v := range []*int64{g.Memory, g.NetIn, g.NetOut, g.DiskRead, g.DiskWrite, g.Uptime} {
				*v += 1000
			}
		}
	}
}

// counted lets every guest's CPU time be counted instead of measured.
func (l *load) counted() {
	for _, p := range l.pages {
		for i := range p.Guests {
			p.Guests[i].CPU, p.Guests[i].CPUSeconds = nil, ptr(1.0)
		}
	}
}

// cpu is what this process has used, PostgreSQL not counted.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPoll is one poll of 10,000 guests from the driver's pages to the commit, samples included.
func BenchmarkPoll(b *testing.B) {
	for _, c := range []struct {
		name    string
		changes bool
		// prepare changes what is told after the first poll; nil changes nothing.
		prepare func(l *load)
	}{
		{"unchanged", false, nil}, {"all figures changed", true, nil}, {"CPU counted", true, (*load).counted},
		{"states only", true, func(l *load) { l.pages[0].Cluster.StatesOnly = true }},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := dbtest.New(b)
			if _, err := d.Pool.Exec(b.Context(), "INSERT INTO hosts (driver, name, address) VALUES ('fake', 'a', 'a:1')"); err != nil {
				b.Fatal(err)
			}
			l := newLoad(10, 10_000)
			p := poll.New(poll.Config{DB: d, Hosts: l})
			b.Cleanup(p.Close)
			if err := p.Sync(b.Context(), 1); err != nil {
				b.Fatal(err)
			}
			if c.prepare != nil {
				c.prepare(l)
			}
			runtime.GC()
			before := cpu()
			b.ReportAllocs()
			for b.Loop() {
				if c.changes {
					l.tick()
				}
				if err := p.Sync(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// withoutFeed takes away what the live feed notes of a poll.
const withoutFeed = `DO $$ DECLARE t record; BEGIN
	FOR t IN SELECT tgname, tgrelid::regclass AS of FROM pg_trigger WHERE tgname LIKE 'feed%' LOOP
		EXECUTE format('DROP TRIGGER %I ON %s', t.tgname, t.of);
	END LOOP;
END $$`

// BenchmarkFeed is what the live feed's history adds to a poll of 10,000 guests: polls with and without its triggers take turns, on a
// database each. figures is the poll of every day, states one in which each guest has another state than before.
func BenchmarkFeed(b *testing.B) {
	for _, c := range []struct {
		name string
		tick func(l *load, turn int)
	}{
		{"figures", func(l *load, _ int) { l.tick() }},
		{"states", func(l *load, turn int) {
			l.tick()
			for _, p := range l.pages {
				for i := range p.Guests {
					p.Guests[i].Status = []string{hypervisor.GuestRunning, hypervisor.GuestPaused}[turn%2]
				}
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var pollers [2]*poll.Poller
			var loads [2]*load
			for i := range pollers {
				d := dbtest.New(b)
				dbtest.Exec(b, d, "INSERT INTO hosts (driver, name, address) VALUES ('fake', 'a', 'a:1')")
				if i == 1 {
					dbtest.Exec(b, d, withoutFeed)
				}
				loads[i] = newLoad(10, 10_000)
				pollers[i] = poll.New(poll.Config{DB: d, Hosts: loads[i]})
				b.Cleanup(pollers[i].Close)
				if err := pollers[i].Sync(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
			var took [2][]time.Duration
			for turn := 0; b.Loop(); turn++ {
				for i, p := range pollers {
					c.tick(loads[i], turn)
					began := time.Now()
					if err := p.Sync(b.Context(), 1); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(began))
				}
			}
			median := func(d []time.Duration) float64 {
				slices.Sort(d)
				return float64(d[len(d)/2].Microseconds()) / 1000
			}
			with, without := median(took[0]), median(took[1])
			b.ReportMetric(with, "with-ms")
			b.ReportMetric(without, "without-ms")
			b.ReportMetric(with/without, "ratio")
		})
	}
}

// As many statements write a thousand guests as write ten.
func TestStatementsDoNotGrowWithGuests(t *testing.T) {
	t.Parallel()
	count := func(guests int) (first, next int64) {
		d, statements := dbtest.Counting(t, dbtest.URL(t))
		dbtest.Exec(t, d, "INSERT INTO hosts (driver, name, address) VALUES ('fake', 'a', 'a:1')")
		l := newLoad(3, guests)
		p := poll.New(poll.Config{DB: d, Hosts: l})
		defer p.Close()
		sync := func() {
			if err := p.Sync(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
		first = statements.Count(sync)
		l.tick()
		next = statements.Count(sync)
		if n := dbtest.Value[int](t, d, "SELECT count(*) FROM guests"); n != guests {
			t.Fatalf("there are %d guests", n)
		}
		return first, next
	}
	firstFew, nextFew := count(10)
	firstMany, nextMany := count(1000)
	if firstFew == 0 || firstMany != firstFew || nextMany != nextFew {
		t.Errorf("a thousand guests take %d statements and then %d, ten take %d and %d", firstMany, nextMany, firstFew, nextFew)
	}
}

// Ten thousand guests are written, also where their CPU time is counted or figures are left out.
func TestManyGuests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(nil)
	l := newLoad(10, 10_000)
	f.answer(id, l.Inventory)
	p := f.poller(f.db)
	f.sync(p, id)
	l.tick()
	f.sync(p, id)
	if n := f.Value("SELECT count(*) || ' ' || count(DISTINCT vmid) || ' ' || min(memory) FROM guests"); n != "10000 10000 101000" {
		t.Errorf("guests, ids and least memory: %s", n)
	}
	if n := f.Value("SELECT count(*) FROM metric_samples WHERE target_kind = 'guest'"); n != "20000" {
		t.Errorf("%s samples of guests, want 20000", n)
	}
	if n := f.Value("SELECT count(*) FROM metric_samples WHERE target_kind = 'host' AND net_in IS NOT NULL AND cpu IS NOT NULL"); n != "2" {
		t.Errorf("%s samples of the host, want 2", n)
	}
	l.counted()
	for range 2 {
		f.Exec("UPDATE guests SET cpu_seconds_at = cpu_seconds_at - interval '10 seconds'")
		f.sync(p, id)
	}
	l.pages[0].Cluster.StatesOnly = true
	f.sync(p, id)
	if n := f.Value("SELECT count(*) || ' ' || count(cpu) || ' ' || min(memory) FROM guests"); n != "10000 10000 101000" {
		t.Errorf("guests, parts made of counters, and least memory: %s", n)
	}
}
