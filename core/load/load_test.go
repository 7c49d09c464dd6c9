package load_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/load"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// plugins are what plugins have counted.
type plugins struct {
	mu   sync.Mutex
	sent []plugin.SentRequests
}

func (p *plugins) TakeRequests(context.Context) []plugin.SentRequests {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

// send counts requests to an address.
func (p *plugins) send(driver, address string, requests int64, busy time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, plugin.SentRequests{Plugin: driver,
		RequestCount: sdk.RequestCount{Address: address, Requests: requests, Busy: busy}})
}

// fixture is the hosts "a" and "b" with two instances.
type fixture struct {
	dbtest.SQL
	plugins [2]*plugins
	load    [2]*load.Recorder
	now     time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	url := dbtest.URL(t)
	stopTime(t, url)
	d := dbtest.Open(t, url)
	inventorytest.Write(t, d, inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "a"}, {Name: "b"}}})
	f := &fixture{SQL: dbtest.On(t, d)}
	for i := range f.load {
		f.plugins[i] = &plugins{}
		f.load[i] = &load.Recorder{DB: d, Source: f.plugins[i]}
	}
	f.now = dbtest.Value[time.Time](t, d, "SELECT date_trunc('minute', now())")
	return f
}

// stopTime has now() be the same for all who open the database from now on: minutes are those of its clock, and end while a test runs.
func stopTime(t *testing.T, url string) {
	t.Helper()
	dbtest.Exec(t, dbtest.Open(t, url), `CREATE SCHEMA stopped;
		DO $do$ BEGIN
			EXECUTE format('CREATE FUNCTION stopped.now() RETURNS timestamptz STABLE LANGUAGE sql AS $sql$SELECT %L::timestamptz$sql$', now());
			EXECUTE format('ALTER DATABASE %I SET search_path = stopped, pg_catalog, public', current_database());
		END $do$`)
}

// at takes what was sent for the minute so many minutes ago, and writes it.
func (f *fixture) at(t *testing.T, instance, ago int) {
	t.Helper()
	f.load[instance].Take(t.Context(), f.now.Add(-time.Duration(ago)*time.Minute))
	if err := f.load[instance].Write(t.Context()); err != nil {
		t.Fatal("writing:", err)
	}
}

// rates are those of all hosts.
func (f *fixture) rates() string {
	return f.Value(`SELECT coalesce(string_agg(concat_ws(' ', h.name, round(r.requests::numeric, 2), round(r.seconds::numeric, 2), '|',
		round(r.hour_requests::numeric, 2), round(r.hour_seconds::numeric, 2)), '; ' ORDER BY h.name), '')
		FROM (` + load.RatesSQL + `) r JOIN hosts h ON h.id = r.host_id`)
}

// What instances count adds up for each host, in averages that leave out what may not be written yet.
func TestRates(t *testing.T) {
	t.Parallel()
	// Minutes are those of the database, which must not begin another one meanwhile.
	waittest.Until(t, "the minute is young", func() bool { return time.Now().Second() < 40 })
	f := newFixture(t)
	if f.Value("SELECT now() < pg_catalog.now()") != "true" {
		t.Fatal("the time goes on")
	}
	if got := f.rates(); got != "" {
		t.Errorf("before anything was counted: %s", got)
	}
	f.plugins[0].send("fake", "a:8006", 2, 500*time.Millisecond)
	f.at(t, 0, 1)
	if got := f.rates(); got != "a |" {
		t.Errorf("after less than a minute: %q", got)
	}
	for ago := 2; ago <= 61; ago++ {
		for i := range 2 {
			f.plugins[i].send("fake", "a:8006", 1, 250*time.Millisecond)
			f.plugins[i].send("fake", "probed:8006", 100, time.Second)
			f.plugins[i].send("other", "a:8006", 100, time.Second)
			f.at(t, i, ago)
		}
	}
	f.plugins[1].send("fake", "a:8006", 15, time.Second)
	f.at(t, 1, 3)
	f.plugins[1].send("fake", "b:8006", 30, 0)
	f.at(t, 1, 3)
	// b is counted for two minutes.
	if got := f.rates(); got != "a 5.00 0.70 | 2.25 0.52; b 15.00 0.00 | 15.00 0.00" {
		t.Errorf("the rates are %s", got)
	}
	if got := f.load[1].Totals(); len(got) != 2 || got[0].Plugin != "fake" || got[0].Requests != 60+60*100+45 {
		t.Errorf("the totals are %+v", got)
	}
	f.plugins[0].send("fake", "a:8006", 1, 0)
	f.at(t, 0, 200)
	if got := f.Value("SELECT count(*) FROM host_requests WHERE minute < now() - interval '2 hours'"); got != "0" {
		t.Errorf("%s old minutes are there", got)
	}
	f.Exec("UPDATE host_requests SET minute = minute - interval '125 minutes' WHERE host_id = 1")
	f.at(t, 0, 0)
	if got := f.rates(); got != "b 15.00 0.00 | 15.00 0.00" {
		t.Errorf("after two hours in which nothing was counted: %s", got)
	}
}

// A database that is away loses nothing, and the end of the service writes what there is.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.plugins[0].send("fake", "a:8006", 3, time.Second)
	f.Exec("ALTER TABLE host_requests RENAME TO hidden")
	f.load[0].Take(t.Context(), f.now)
	if err := f.load[0].Write(t.Context()); err == nil {
		t.Fatal("writing without a table has no error")
	}
	f.Exec("ALTER TABLE hidden RENAME TO host_requests")
	f.plugins[0].send("fake", "a:8006", 4, time.Second)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.load[0].Run(ctx)
	}()
	stop()
	waittest.Until(t, "the loop ends", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	if got := f.Value("SELECT sum(requests) || ' ' || sum(seconds) FROM host_requests"); got != "7 2" {
		t.Errorf("written: %s", got)
	}
	f.Exec("DELETE FROM hosts WHERE name = 'a'")
	if got := f.Value("SELECT count(*) FROM host_requests"); got != "0" {
		t.Errorf("%s rows of a host that is gone", got)
	}
}
