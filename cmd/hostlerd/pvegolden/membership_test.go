package pvegolden_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/sdk/endpoint"
)

// interval is the time between two polls.
const interval = 30 * time.Second

// polled is a simulated cluster that the service polls when the test says so, by a clock that goes on by an interval with each poll.
type polled struct {
	*pvesim.Cluster
	dbtest.SQL
	t    *testing.T
	poll *poll.Poller
	// ahead is how far the clock is before the real one.
	ahead atomic.Int64
	ask   func(method, path, body string) []byte
}

// newPolled has the node pve4 off, and has been polled twice.
func newPolled(t *testing.T) *polled {
	t.Helper()
	p := &polled{t: t, Cluster: pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 4, Guests: 12,
		ClusterName:  "berlin",
		ResourcesLag: -1})}
	must(t, p.SetNodeOnline("pve4", false))
	driver := pve.NewWithTiming(nil, pve.Timing{})
	t.Cleanup(driver.Close)
	s := servicetest.New(t, func(c *service.Config) { c.Drivers, c.AllowLocal = servicetest.Drivers{Driver: driver}, true })
	p.SQL = dbtest.On(t, s.DB)
	owner, handler := identitytest.As(t, s.Users, identity.Owner).Cookie, s.Handler()
	p.ask = func(method, path, body string) []byte {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
		r.AddCookie(owner)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		if rec.Code >= http.StatusMultipleChoices {
			t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
		return rec.Body.Bytes()
	}
	monitoring := p.Tokens()[string(endpoint.Monitoring)]
	p.ask(http.MethodPost, "/hosts", fmt.Sprintf(`{"name":"lab","address":%q,"tls_fingerprint":%q,"token_id":%q,"token_secret":%q}`,
		p.URL(""),
		p.Fingerprint(""), monitoring.ID, monitoring.Secret))
	p.poll = poll.New(poll.Config{DB: s.DB, Hosts: s.Hosts, Tick: 5 * time.Millisecond,
		Now: func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }})
	t.Cleanup(p.poll.Close)
	must(t, p.poll.Sync(t.Context(), 1))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); p.poll.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	p.cycle()
	p.cycle()
	return p
}

// cycle lets an interval pass and polls once. What the database has noted meanwhile is noted by the test's clock.
func (p *polled) cycle() {
	p.t.Helper()
	p.Advance(interval)
	ahead := time.Duration(p.ahead.Add(int64(interval)))
	p.Exec("UPDATE clusters SET next_poll_at = now()")
	p.Exec("UPDATE hosts SET next_poll_at = now()")
	waittest.Until(p.t, "the poll is over", func() bool {
		return p.Value(`SELECT (SELECT bool_and(next_poll_at > now()) FROM clusters) AND (SELECT count(*) FROM pg_locks WHERE locktype =
			'advisory'
			AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) = 0`) == "true"
	})
	p.Exec("UPDATE clusters SET seen_at = CASE WHEN seen_at <= now() THEN now() + $1::interval ELSE seen_at END, "+
		"detail_at = CASE WHEN detail_at <= now() THEN now() + $1::interval ELSE detail_at END", ahead)
	p.Exec("UPDATE host_credentials SET verified_at = now() + $1::interval WHERE verified_at <= now()", ahead)
}

// asked is how often the cluster's status was asked for since the last call, and its list.
func (p *polled) asked() (status, list int64) {
	requests := p.Stats().Requests
	p.ResetStats()
	return requests["GET /cluster/status"], requests["GET /cluster/resources"]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What happens to a cluster, what is shown of it then, and how many polls later. Before, what is shown is what was so before, and nothing
// else. Ten polls are five minutes.
func TestWhatIsShownOfClusterEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("plays what happens to a cluster: make check runs it")
	}
	t.Parallel()
	const (
		nodes  = "SELECT string_agg(name || ' ' || status, ' ' ORDER BY name) FROM nodes"
		quorum = "SELECT quorate FROM clusters"
		guests = "SELECT string_agg(DISTINCT status, ' ' ORDER BY status) FROM guests WHERE node = 'pve2'"
	)
	failing := func(p *polled) error {
		_, err := p.AddFault(pvesim.Fault{Kind: pvesim.FaultStatus, Match: pvesim.Match{Path: "/cluster/resources"}, Status: 500, Times: 1})
		return err
	}
	for _, test := range []struct {
		event  string
		do     func(p *polled) error
		shown  string // what is looked at
		before string
		after  string
		// polls is how many later after is shown, 0 for never within five minutes, and asks whether that poll asked for the membership.
		polls int
		asks  bool
	}{
		{"nothing", func(*polled) error { return nil }, nodes, "pve1 online pve2 online pve3 online pve4 offline", "", 0, false},
		{"a guest stops", func(p *polled) error { return p.SetGuestStatus(100, "stopped") },
			"SELECT status FROM guests WHERE vmid = 100", "running", "stopped", 1, false},
		{"a node goes away", func(p *polled) error { return p.SetNodeOnline("pve2", false) }, nodes,
			"pve1 online pve2 online pve3 online pve4 offline", "pve1 online pve2 offline pve3 online pve4 offline", 1, true},
		{"the guests of a node that goes away", func(p *polled) error { return p.SetNodeOnline("pve2", false) }, guests,
			"running stopped", "unknown", 1, true},
		{"quorum is lost with nodes", func(p *polled) error { return p.SetNodeOnline("pve2", false) }, quorum, "true", "false", 1, true},
		{"a node is back", func(p *polled) error { return p.SetNodeOnline("pve4", true) }, nodes,
			"pve1 online pve2 online pve3 online pve4 offline", "pve1 online pve2 online pve3 online pve4 online", 1, true},
		{"a node joins", func(p *polled) error { _, err := p.AddNode(); return err }, nodes, "pve1 online pve2 online pve3 online pve4 offline",
			"pve1 online pve2 online pve3 online pve4 offline pve5 online", 1, true},
		{"a node leaves", func(p *polled) error { return p.RemoveNode("pve4") }, nodes, "pve1 online pve2 online pve3 online pve4 offline",
			"pve1 online pve2 online pve3 online", 1, true},
		{"a node leaves and another one joins", func(p *polled) error {
			if err := p.RemoveNode("pve3"); err != nil {
				return err
			}
			_, err := p.AddNode()
			return err
		}, "SELECT string_agg(name, ' ' ORDER BY name) FROM nodes WHERE status = 'online'", "pve1 pve2 pve3", "pve1 pve2 pve5", 1, true},
		{"rows are away, for the token has lost a right", func(p *polled) error {
			p.SetRole("ServiceAudit", "Datastore.Audit", "Sys.Audit", "Pool.Audit", "SDN.Audit")
			return nil
		}, guests, "running stopped", "unknown", 1, true},
		{"the host fails", failing, "SELECT status FROM hosts", "online", "unreachable", 1, false},
		{"the host fails, and quorum is lost by votes meanwhile", func(p *polled) error {
			p.SetExtraVotes(9)
			return failing(p)
		}, quorum, "true", "false", 2, true},
		{"quorum is lost by votes alone", func(p *polled) error { p.SetExtraVotes(9); return nil }, quorum, "true", "false", 10, true},
		{"a node has another address", func(p *polled) error { return p.SetNodeAddress("pve2", "10.99.77.77") },
			"SELECT address FROM nodes WHERE name = 'pve2'", "10.99.0.11", "10.99.77.77", 10, true},
	} {
		t.Run(test.event, func(t *testing.T) {
			t.Parallel()
			p := newPolled(t)
			must(t, p.poll.Sync(t.Context(), 1)) // five minutes begin
			if got := p.Value(test.shown); got != test.before {
				t.Fatalf("before it there is shown %q, want %q", got, test.before)
			}
			told := p.Value("SELECT membership_at FROM clusters")
			must(t, test.do(p))
			p.asked()
			for n := 1; n <= 9 || n <= test.polls; n++ {
				p.cycle()
				status, list := p.asked()
				got := p.Value(test.shown)
				switch {
				case n != test.polls && (test.polls == 0 || n < test.polls):
					if got != test.before {
						t.Errorf("after %d polls there is shown %q", n, got)
					}
					if status != 0 || list != 1 {
						t.Errorf("poll %d asked %d times for the membership and %d times for the list", n, status, list)
					}
					if now := p.Value("SELECT membership_at FROM clusters"); now != told {
						t.Errorf("after %d polls the membership is as of %s, and was not asked for since %s", n, now, told)
					}
				case n == test.polls:
					if got != test.after {
						t.Errorf("after %d polls there is shown %q, want %q", n, got, test.after)
					}
					if (status > 0) != test.asks {
						t.Errorf("poll %d asked %d times for the membership", n, status)
					}
				}
				if n == test.polls {
					return
				}
			}
		})
	}
}

// A sync that somebody asks for shows at once what no poll would have noticed, and the summary says as of when.
func TestSyncShowsQuorum(t *testing.T) {
	t.Parallel()
	p := newPolled(t)
	p.SetExtraVotes(9)
	p.cycle()
	if got := p.Value("SELECT quorate FROM clusters"); got != "true" {
		t.Errorf("a poll noticed it: %s", got)
	}
	must(t, p.poll.Sync(t.Context(), 1))
	if got := p.Value("SELECT concat_ws(' ', quorate, quorate_since = membership_at, membership_at > now() - interval '1 minute') FROM " +
		"clusters"); got !=
		"f t t" {
		t.Errorf("after a sync: %s", got)
	}
	var s struct {
		Problems []struct{ Kind string }
		Clusters []struct {
			Quorate bool
			AsOf    time.Time `json:"quorum_as_of"`
		} `json:"by_cluster"`
	}
	must(t, json.Unmarshal(p.ask(http.MethodGet, "/cluster/summary", ""), &s))
	if len(s.Clusters) != 1 || s.Clusters[0].Quorate || time.Since(s.Clusters[0].AsOf).Abs() > time.Hour || len(s.Problems) == 0 ||
		s.Problems[0].Kind != "node_away" && s.Problems[0].Kind != "quorum_lost" {
		t.Errorf("the summary says %+v", s)
	}
}

// While a node's address is not known, every poll asks for it.
func TestAddressThatIsNotKnown(t *testing.T) {
	t.Parallel()
	p := newPolled(t)
	must(t, p.SetNodeAddress("pve2", ""))
	must(t, p.poll.Sync(t.Context(), 1))
	p.asked()
	for range 3 {
		p.cycle()
	}
	if status, list := p.asked(); status != 3 || list != 3 {
		t.Errorf("three polls asked %d times for the membership and %d times for the list", status, list)
	}
	must(t, p.SetNodeAddress("pve2", "10.99.0.11"))
	p.cycle()
	p.asked()
	p.cycle()
	if status, _ := p.asked(); status != 0 {
		t.Errorf("a poll asked %d times though all addresses are known", status)
	}
}

// An hour of polls of a cluster in which nothing happens: 1.1 requests for list and membership in each, and what comes besides.
func TestRequestsOfAnHour(t *testing.T) {
	if testing.Short() {
		t.Skip("plays hours of polls: make check runs it")
	}
	t.Parallel()
	p := newPolled(t)
	must(t, p.poll.Sync(t.Context(), 1))
	p.ResetStats()
	const polls = int64(time.Hour / interval)
	for range polls {
		p.cycle()
	}
	requests := p.Stats().Requests
	if list, status := requests["GET /cluster/resources"], requests["GET /cluster/status"]; list != polls || status != polls/10 {
		t.Errorf("%d polls asked %d times for the list and %d times for the membership", polls, list, status)
	}
	// Detail every five minutes, rights with release every half hour, and the rest of what is asked of nodes once a day.
	for path, want := range map[string][2]int64{
		"GET /cluster/metrics/export": {11, 13}, "GET /access/permissions": {2, 3}, "GET /version": {2, 3}, "GET /access/users/{userid}": {2, 3},
		"GET /nodes/{node}/version": {0, 3}, "GET /nodes/{node}/certificates/info": {0, 3}, "GET /nodes/{node}/subscription": {0, 3},
	} {
		if got := requests[path]; got < want[0] || got > want[1] {
			t.Errorf("%d times %s, want %d to %d", got, path, want[0], want[1])
		}
		delete(requests, path)
	}
	delete(requests, "GET /cluster/resources")
	delete(requests, "GET /cluster/status")
	if len(requests) > 0 {
		t.Errorf("besides: %v", requests)
	}
	total := p.Stats().Total
	t.Logf("%d requests in %d polls: %.3f in each", total, polls, float64(total)/float64(polls))
	if most := polls * 13 / 10; total > most {
		t.Errorf("%d requests in %d polls, want at most %d", total, polls, most)
	}
}
