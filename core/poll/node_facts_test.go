package poll_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// cycle polls what is due, once, and gives the nodes that were asked about in it.
func (f *fixture) cycle(t *testing.T) string {
	t.Helper()
	f.mu.Lock()
	f.membersAsked = nil
	f.mu.Unlock()
	f.due()
	waittest.Until(t, "the poll was written", func() bool { return f.Value("SELECT bool_and(next_poll_at > now()) FROM clusters") == "true" })
	f.idle(t)
	f.mu.Lock()
	defer f.mu.Unlock()
	text := ""
	for _, node := range f.membersAsked {
		text += node + " "
	}
	return text
}

// idle waits until no cycle is under way: each has its cluster's lock to its end.
func (f *fixture) idle(t *testing.T) {
	t.Helper()
	waittest.Until(t, "no cycle is under way", func() bool {
		return f.Value(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == "0"
	})
}

// Each node is asked once a day, one in a cycle; again when it was off, and after an hour when it did not answer.
func TestFactsOfNodes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	page := report("prod", "n1", []hypervisor.Node{node("n1"), node("n2"), node("n3")}, vm(100, "n1", "a"))
	page.Nodes[2].Status = hypervisor.NodeOffline
	id := f.host(func() hypervisor.Page {
		f.mu.Lock()
		defer f.mu.Unlock()
		return page
	})
	end := time.Now().Add(20 * 24 * time.Hour).UTC().Truncate(time.Second)
	f.members = map[string]hypervisor.Member{
		"n1": {Version: "9.2.11", NotAfter: end, Subscription: &hypervisor.Subscription{Status: "active", Due: "2027-01-31"}},
		"n2": {Version: "9.1.4\x00"},
		"n3": {NotAfter: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	p := f.poller(f.db, fast, func(c *poll.Config) { c.Tick = 10 * time.Millisecond })
	f.sync(p, id)
	if f.membersAsked != nil {
		t.Errorf("a sync asked %v", f.membersAsked)
	}
	run(t, p)
	for i, want := range []string{"n1 ", "n2 ", "", ""} {
		if got := f.cycle(t); got != want {
			t.Errorf("cycle %d asked %q, want %q", i, got, want)
		}
	}
	const told = `SELECT string_agg(concat_ws(' ', name, version, certificate_ends_at, subscription, subscription_due, facts_at IS NOT NULL),
		'; ' ORDER BY name) FROM nodes`
	if got, want := f.Value(told),
		"n1 9.2.11 "+f.Value("SELECT $1::timestamptz", end)+" active 2027-01-31 t; n2 9.1.4   t; n3    f"; got != want {
		t.Errorf("kept is %s\nwant %s", got, want)
	}

	f.mu.Lock()
	page.Nodes[2].Status = hypervisor.NodeOnline
	f.memberErr = plugin.Errorf(plugin.Unreachable, "no route")
	f.mu.Unlock()
	for i, want := range []string{"", "n3 ", "", ""} { // it is seen to be back with the first
		if got := f.cycle(t); got != want {
			t.Errorf("after it is back, cycle %d asked %q, want %q", i, got, want)
		}
	}
	f.Exec("UPDATE nodes SET facts_tried_at = facts_tried_at - interval '61 minutes'")
	f.mu.Lock()
	f.memberErr = nil
	f.mu.Unlock()
	if got := f.cycle(t) + f.cycle(t); got != "n3 " {
		t.Errorf("after an hour: %q", got)
	}
	if got := f.Value("SELECT concat(certificate_ends_at IS NULL, facts_at IS NOT NULL) FROM nodes WHERE name = 'n3'"); got != "tt" {
		t.Errorf("a date that nobody can read was kept: %s", got)
	}
	f.Exec("UPDATE nodes SET facts_tried_at = facts_tried_at - interval '1 day'")
	if got := f.cycle(t) + f.cycle(t) + f.cycle(t) + f.cycle(t); got != "n1 n2 n3 " {
		t.Errorf("after a day: %q", got)
	}
}

// A driver that tells nothing of nodes is not asked in every cycle.
func TestFactsThatADriverDoesNotTell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(func() hypervisor.Page { return report("prod", "n1", []hypervisor.Node{node("n1")}) })
	f.memberErr = plugin.Errorf(plugin.Unsupported, "no")
	p := f.poller(f.db, fast)
	f.sync(p, id)
	run(t, p)
	if got := f.cycle(t) + f.cycle(t); got != "n1 " {
		t.Errorf("asked %q", got)
	}
	f.Exec("UPDATE nodes SET facts_tried_at = facts_tried_at - interval '2 hours'")
	if got := f.cycle(t); got != "" {
		t.Errorf("after two hours: asked %q", got)
	}
}

// What comes with the rights of the monitoring token is kept: release, certificate, and the ends of the host's own credentials.
func TestWhatIsToldWithRights(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(func() hypervisor.Page { return report("", "n1", []hypervisor.Node{node("n1")}) })
	other := f.host(func() hypervisor.Page { return report("", "n2", []hypervisor.Node{node("n2")}) })
	f.Exec("INSERT INTO host_credentials (host_id, capability, token_id, secret) "+
		"VALUES ($1, 'lifecycle', 'b', ''), ($1, 'backup', 'c', '')", id)
	f.Exec("UPDATE host_credentials SET verified_at = now() - interval '31 minutes' WHERE host_id = $1", id)
	end := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	f.ends = []hypervisor.CredentialEnd{{ID: "a"}, {ID: "b", At: end}, {ID: "elsewhere", At: end}}
	f.certificateEnd = end
	p := f.poller(f.db)
	f.sync(p, id)
	f.sync(p, other)
	got := f.Value("SELECT string_agg(concat_ws(' ', host_id, token_id, ends_told_at IS NOT NULL, ends_at = $1), '; ' ORDER BY host_id, "+
		"token_id) FROM host_credentials", end)
	if want := "1 a t; 1 b t t; 1 c f; 2 a f"; got != want {
		t.Errorf("the ends are %s, want %s", got, want)
	}
	if got := f.Value("SELECT string_agg(concat_ws(' ', version, certificate_ends_at = $1, version_at IS NOT NULL), '; ' ORDER BY id) "+
		"FROM hosts", end); got != "9.2.11 t t;  f" {
		t.Errorf("release and certificate are %s", got)
	}
	// What is no longer told stays as it was.
	f.ends, f.certificateEnd = nil, time.Time{}
	f.Exec("UPDATE host_credentials SET verified_at = now() - interval '31 minutes'")
	f.sync(p, id)
	if got := f.Value("SELECT (SELECT count(*) FROM host_credentials WHERE ends_at IS NOT NULL) || ' ' || " +
		"(SELECT count(*) FROM hosts WHERE certificate_ends_at IS NOT NULL)"); got != "1 1" {
		t.Errorf("what was told before: %s", got)
	}
}

// Since when a node has its state, and since when quorum is there or lost, is known from polls.
func TestSinceWhen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	page := report("prod", "n1", []hypervisor.Node{node("n1"), node("n2")})
	id := f.host(func() hypervisor.Page { return page })
	p := f.poller(f.db)
	f.sync(p, id)
	const since = `SELECT concat_ws(' ', c.quorate, c.quorate_since > now() - interval '1 minute',
		(SELECT string_agg(n.name || ' ' || n.status || ' ' || (n.status_since > now() - interval '1 minute')::text, ' ' ORDER BY n.name)
		FROM nodes n)) FROM clusters c`
	if got := f.Value(since); got != "t t n1 online true n2 online true" {
		t.Errorf("at first: %s", got)
	}
	f.Exec("UPDATE clusters SET quorate_since = quorate_since - interval '1 hour'")
	f.Exec("UPDATE nodes SET status_since = status_since - interval '1 hour'")
	f.sync(p, id)
	if got := f.Value(since); got != "t f n1 online false n2 online false" {
		t.Errorf("nothing has changed: %s", got)
	}
	page.Cluster.Quorate, page.Nodes[1].Status = false, hypervisor.NodeOffline
	f.sync(p, id)
	if got := f.Value(since); got != "f t n1 online false n2 offline true" {
		t.Errorf("a node is away, and quorum lost: %s", got)
	}
	f.dead(id)
	_ = p.Sync(t.Context(), id)
	if got := f.Value(since); got != "f t n1 unknown true n2 unknown true" {
		t.Errorf("the host is away: %s", got)
	}
}
