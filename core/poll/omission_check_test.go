package poll_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// seenAt is when a guest was last seen, as users are told it.
func (f *fixture) seenAt(vmid int) string {
	return f.Value("SELECT "+guest.SeenAt+" FROM guests g JOIN clusters c ON c.id = g.cluster_id WHERE g.vmid = $1", vmid)
}

// state is what the host's row and its token's say.
func (f *fixture) state(id int64) string {
	return f.Value(`SELECT h.status || ' ' || h.error_reason || ' ' || k.missing::text FROM hosts h
		JOIN host_credentials k ON k.host_id = h.id WHERE h.id = $1`, id)
}

// alerts evaluates the rules and gives the alerts there are and were.
func (f *fixture) alerts() string {
	f.t.Helper()
	f.Exec("UPDATE alert_rules SET enabled = key = 'host.permission'; UPDATE alert_cycle SET last_at = NULL")
	if done, err := alert.NewEngine(alert.Config{DB: f.db}).Cycle(f.t.Context()); err != nil || !done {
		f.t.Fatal(done, err)
	}
	return f.Value(`SELECT COALESCE(string_agg(rule || ' ' || severity || CASE WHEN resolved_at IS NULL THEN ' open' ELSE '' END, ', '
		ORDER BY id), '') FROM alerts`)
}

func (f *fixture) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// questions gives how often rights and single guests were asked for since the last call.
func (f *fixture) questions() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := fmt.Sprintf("%d rights, %d guests", f.rights, f.checks)
	f.rights, f.checks = 0, 0
	return said
}

// A token that loses a right is shown a shorter list and no error. Everything says so at once, and heals by itself.
func TestALostRightIsToldWithinOnePoll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose  func(f *fixture)
		heal  func(f *fixture)
		left  []int // indices of guests that are still listed
		asked string
		lacks string
	}{
		"all guests": {
			func(f *fixture) { f.missing = []string{"SDN.Audit", "VM.Audit"} }, func(f *fixture) { f.missing = nil }, nil, "1 rights, 1 guests",
			"{SDN.Audit,VM.Audit}",
		},
		"one guest, and the token's rights look whole": {
			func(f *fixture) { f.hidden[101] = true }, func(f *fixture) { delete(f.hidden, 101) }, []int{0}, "1 rights, 1 guests", "{VM.Audit}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			nodes, all := []hypervisor.Node{node("n1")}, []hypervisor.Guest{vm(100, "n1", "a"), ct(101, "n1", "b")}
			now := report("", "n1", nodes, all...)
			id := f.host(func() hypervisor.Page { return now })
			p := f.poller(f.db)
			f.sync(p, id)
			f.sync(p, id)
			if asked := f.questions(); asked != "0 rights, 0 guests" {
				t.Errorf("polls in which all was well asked for %s", asked)
			}
			before, seen := f.guests(), f.seenAt(101)

			f.set(func() { c.lose(f) })
			now = report("", "n1", nodes)
			for _, i := range c.left {
				now.Guests = append(now.Guests, all[i])
			}
			f.sync(p, id)
			if got := f.state(id); got != "online permission "+c.lacks {
				t.Errorf("the host is %s", got)
			}
			rows := f.guests()
			if len(rows) != 2 || rows[1].ID != before[1].ID || rows[1].Status != "unknown" || rows[1].Memory != nil || f.seenAt(101) != seen {
				t.Errorf("seen at %s, was at %s: %+v", f.seenAt(101), seen, rows)
			}
			if want := []string{"unknown", "running"}[len(c.left)]; rows[0].Status != want || (f.seenAt(100) == seen) != (want == "unknown") {
				t.Errorf("the other guest is %+v", rows[0])
			}
			if asked := f.questions(); asked != c.asked {
				t.Errorf("asked for %s, want %s", asked, c.asked)
			}
			f.sync(p, id)
			if got := f.alerts(); got != "host.permission warning open" || f.seenAt(101) != seen || f.state(id) != "online permission "+c.lacks {
				t.Errorf("after another poll: %s, %s, seen at %s", got, f.state(id), f.seenAt(101))
			}
			if asked := f.questions(); asked != "0 rights, 0 guests" {
				t.Errorf("another poll asked for %s", asked)
			}

			f.set(func() { c.heal(f) })
			now = report("", "n1", nodes, all...)
			f.sync(p, id)
			rows = f.guests()
			if len(rows) != 2 || rows[0].ID != before[0].ID || rows[1].ID != before[1].ID || rows[1].Status != "running" || f.seenAt(101) == seen {
				t.Errorf("after the heal: %+v", rows)
			}
			if got := f.state(id) + "; " + f.alerts(); got != "online  {}; host.permission warning" {
				t.Errorf("after the heal: %s", got)
			}
			f.questions()
			f.sync(p, id)
			if asked := f.questions(); asked != "0 rights, 0 guests" || f.alerts() != "host.permission warning" {
				t.Errorf("afterwards %s, %s", asked, f.alerts())
			}
		})
	}
}

// When it cannot be found out why a list is short, nothing of it is believed.
func TestAShortListIsNotBelievedWhenTheQuestionFails(t *testing.T) {
	inBothShapes(t, testAShortListIsNotBelievedWhenTheQuestionFails)
}

func testAShortListIsNotBelievedWhenTheQuestionFails(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1")}
	now := report("", "n1", nodes, vm(100, "n1", "a"), vm(101, "n1", "b"), vm(102, "n1", "c"))
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	before := f.guests()
	f.rightsErr = plugin.Errorf(plugin.Unreachable, "cut off")
	now = report("", "n1", nodes, vm(100, "n1", "a"), vm(101, "n1", "b"))
	if err := p.Sync(t.Context(), id); problem.CodeOf(err) != problem.CodeHypervisorError {
		t.Fatalf("the poll gave %v", err)
	}
	rows := f.guests()
	if len(rows) != 3 || rows[2].ID != before[2].ID || rows[2].Status != "unknown" || f.state(id) != "unreachable unreachable {}" {
		t.Fatalf("%s, %+v", f.state(id), rows)
	}
	f.rightsErr = nil
	f.sync(p, id)
	if rows := f.guests(); len(rows) != 2 || f.state(id) != "online  {}" {
		t.Errorf("%s, %+v", f.state(id), rows)
	}
}

// With whole rights what is no longer there is deleted in the same poll, and what is there all the same is not.
func TestADeletedGuestIsGone(t *testing.T) { inBothShapes(t, testADeletedGuestIsGone) }

func testADeletedGuestIsGone(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1"), node("n2")}
	now := report("c", "n1", nodes, vm(100, "n1", "a"), vm(101, "n1", "b"), ct(102, "n2", "c"))
	local := func(node string) hypervisor.Storage {
		return hypervisor.Storage{Name: "local", Node: node, Status: "available", Used: ptr(int64(1)), Total: ptr(int64(2))}
	}
	now.Storages = []hypervisor.Storage{local("n1"), local("n2")}
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	f.there[101] = true // a list may lag
	now = report("c", "n1", nodes[:1], vm(100, "n1", "a"))
	now.Storages = []hypervisor.Storage{local("n1")}
	f.questions()
	f.sync(p, id)
	rows := f.guests()
	if len(rows) != 2 || rows[1].VMID != 101 || rows[1].Status != "unknown" || f.state(id) != "online  {}" || f.alerts() != "" {
		t.Errorf("%s, %s, %+v", f.state(id), f.alerts(), rows)
	}
	if got := f.Value("SELECT (SELECT string_agg(name, ' ') FROM nodes) || ', ' || (SELECT " +
		"string_agg(node, ' ') FROM storages)"); got != "n1, n1" {
		t.Errorf("nodes and storages: %s", got)
	}
	if asked := f.questions(); asked != "1 rights, 2 guests" {
		t.Errorf("asked for %s", asked)
	}
}

// Of nodes and storages that are no longer told nothing is believed while the token lacks something.
func TestStoragesThatAreHiddenAreUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nodes := []hypervisor.Node{node("n1"), node("n2")}
	whole := report("c", "n1", nodes, vm(100, "n1", "a"))
	whole.Storages = []hypervisor.Storage{{Name: "local", Node: "n1", Status: "available", Used: ptr(int64(1)), Total: ptr(int64(2))}}
	now := whole
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	const all = `SELECT (SELECT string_agg(name || ' ' || status, ', ' ORDER BY name)
		FROM nodes) || '; ' || (SELECT string_agg(id || ' ' || status || ' ' || (used IS NULL), ', ') FROM storages)`
	before := f.Value(all)
	f.missing = []string{"Datastore.Audit"}
	now = report("c", "n1", nodes[:1], vm(100, "n1", "a"))
	for range 2 {
		f.sync(p, id)
		if got := f.Value(all); got != "n1 online, n2 unknown; 1 unknown true" || f.state(id) != "online permission {Datastore.Audit}" {
			t.Errorf("%s: %s", f.state(id), got)
		}
	}
	if rows := f.guests(); rows[0].Status != "running" {
		t.Errorf("the guest suffers: %+v", rows)
	}
	f.missing = nil
	now = whole
	f.sync(p, id)
	if got := f.Value(all); got != before || f.state(id) != "online  {}" {
		t.Errorf("%s: %s, was %s", f.state(id), got, before)
	}
}

// Rights are asked for by the clock, after a failure, and when an answer begins or ends to be partial.
func TestWhenRightsAreAskedFor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	now := report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a"))
	whole := func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(now)
	}
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	f.questions()
	for _, c := range []struct {
		name   string
		change func()
		asked  string
	}{
		{"nothing", func() {}, "0"},
		{"29 minutes", func() { f.Exec("UPDATE host_credentials SET verified_at = now() - interval '29 minutes'") }, "0"},
		{"31 minutes", func() { f.Exec("UPDATE host_credentials SET verified_at = now() - interval '31 minutes'") }, "1"},
		{"again", func() {}, "0"},
		{"never", func() { f.Exec("UPDATE host_credentials SET verified_at = NULL") }, "1"},
		{"partial", func() { now.Cluster.Partial = true }, "1"},
		{"still partial", func() {}, "0"},
		{"no longer partial", func() { now.Cluster.Partial = false }, "1"},
		{"a failure", func() {
			f.dead(id)
			_ = p.Sync(t.Context(), id)
			f.answer(id, whole)
		}, "1"},
		{"something is missing, 31 minutes", func() {
			f.missing = []string{"SDN.Audit"}
			f.Exec("UPDATE host_credentials SET verified_at = now() - interval '31 minutes'")
		}, "1"},
		{"missing, at once", func() {}, "0"},
		{"missing, 6 minutes", func() { f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes'") }, "1"},
		{"a test found it whole by mistake", func() { f.Exec("UPDATE host_credentials SET missing = '{}'") }, "1"},
		{"whole, 6 minutes", func() {
			f.missing = nil
			f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes'")
		}, "1"},
		{"whole, another 6 minutes", func() { f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes'") }, "0"},
	} {
		c.change()
		f.sync(p, id)
		if got := f.questions(); got != c.asked+" rights, 0 guests" {
			t.Errorf("%s: asked for %s, want %s rights", c.name, got, c.asked)
		}
	}
	if got := f.state(id); got != "online  {}" {
		t.Error(got)
	}
}

// A rebuilt host may lose more guests than one poll asks for: the rest is unknown until its turn.
func TestManyVanishedGuestsGoInParts(t *testing.T) { inBothShapes(t, testManyVanishedGuestsGoInParts) }

func testManyVanishedGuestsGoInParts(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1")}
	now := report("", "n1", nodes)
	for i := range int64(130) {
		now.Guests = append(now.Guests, vm(100+i, "n1", "g"))
	}
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	now = report("", "n1", nodes)
	f.sync(p, id)
	if got := f.Value("SELECT count(*) || ' ' || count(*) FILTER (WHERE status = 'unknown') FROM guests"); got != "30 30" {
		t.Errorf("left and unknown: %s", got)
	}
	f.sync(p, id)
	if got := f.Value("SELECT count(*) FROM guests"); got != "30" {
		t.Errorf("%s left", got)
	}
	f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes'")
	f.sync(p, id)
	if got := f.Value("SELECT count(*) FROM guests"); got != "0" {
		t.Errorf("%s left", got)
	}
}

// Hidden guests do not keep others from being found gone for ever, and do not cost more than a few questions at a time.
func TestFewRefusalsEndTheQuestions(t *testing.T) { inBothShapes(t, testFewRefusalsEndTheQuestions) }

func testFewRefusalsEndTheQuestions(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1")}
	now := report("", "n1", nodes)
	for i := range int64(40) {
		now.Guests = append(now.Guests, vm(100+i, "n1", "g"))
		f.there[100+i] = true
	}
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	f.questions()
	now = report("", "n1", nodes)
	f.sync(p, id)
	if asked := f.questions(); asked != "1 rights, 5 guests" || f.Value("SELECT count(*) FROM guests WHERE status = 'unknown'") != "40" {
		t.Errorf("asked for %s", asked)
	}
}

// Guests that stay without being listed do not keep others from being found gone.
func TestGuestsThatStayDoNotHideThoseThatAreGone(t *testing.T) {
	inBothShapes(t, testGuestsThatStayDoNotHideThoseThatAreGone)
}

func testGuestsThatStayDoNotHideThoseThatAreGone(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1")}
	now := report("", "n1", nodes)
	for i := range int64(40) {
		now.Guests = append(now.Guests, vm(100+i, "n1", "g"))
		f.there[100+i] = i < 8
	}
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	now = report("", "n1", nodes)
	left := func() string { return f.Value("SELECT count(*) FROM guests") }
	for n := 0; n < 100 && left() != "8"; n++ {
		f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes'")
		f.sync(p, id)
	}
	if got := f.Value("SELECT count(*) || ' ' || max(vmid) FROM guests"); got != "8 107" {
		t.Errorf("left and the last of them: %s", got)
	}
}

// An inventory without a node is none, whatever else is in it.
func TestAnInventoryWithoutANodeIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing []string
		state   string
		reason  string
		alerts  string
	}{
		"with whole rights": {nil, "unreachable protocol {}", "protocol", ""},
		"without":           {[]string{"VM.Audit"}, "unreachable permission {VM.Audit}", "permission", "host.permission warning open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			good := report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a"), ct(101, "n1", "b"))
			now := good
			id := f.host(func() hypervisor.Page { return now })
			p := f.poller(f.db)
			f.sync(p, id)
			before, seen := f.guests(), f.seenAt(100)
			f.missing = c.missing
			now = report("", "n1", nil)
			for range 2 {
				err := p.Sync(t.Context(), id)
				if got := problem.From(err); got.Code != problem.CodeHypervisorError || got.Members["reason"] != c.reason {
					t.Fatalf("%v", err)
				}
				if rows := f.guests(); len(rows) != 2 || rows[0].Status != "unknown" || f.seenAt(100) != seen || f.state(id) != c.state ||
					f.alerts() != c.alerts {
					t.Fatalf("%s, %s: %+v", f.state(id), f.alerts(), rows)
				}
			}
			f.missing, now = nil, good
			f.sync(p, id)
			if rows := f.guests(); len(rows) != 2 || rows[0].ID != before[0].ID || rows[1].ID != before[1].ID || rows[1].Status != "running" ||
				f.state(id) != "online  {}" {
				t.Errorf("%s: %+v", f.state(id), rows)
			}
		})
	}
}

// What a job has read itself is told of at that time, and a poll that does not list it moves nothing.
func TestSeenAtOfWhatAJobHasRead(t *testing.T) { inBothShapes(t, testSeenAtOfWhatAJobHasRead) }

func testSeenAtOfWhatAJobHasRead(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1")}
	now := report("", "n1", nodes, vm(100, "n1", "a"))
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	f.Exec("UPDATE guests SET read_at = now()")
	read := f.Value("SELECT read_at FROM guests")
	f.hidden[100] = true
	now = report("", "n1", nodes)
	f.sync(p, id)
	if f.guests()[0].Status != "running" || f.seenAt(100) != read {
		t.Errorf("just read: %s, seen at %s, read at %s", f.guests()[0].Status, f.seenAt(100), read)
	}
	f.Exec("UPDATE guests SET read_at = read_at - interval '1 hour'")
	f.sync(p, id)
	if f.guests()[0].Status != "unknown" || f.seenAt(100) > read {
		t.Errorf("read long ago: %s, seen at %s", f.guests()[0].Status, f.seenAt(100))
	}
}

// An answer that says of itself that it is not the whole proves nothing of nodes and storages, with all rights too.
func TestAPartialAnswerRemovesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	now := report("c", "n1", []hypervisor.Node{node("n1"), node("n2")}, vm(100, "n1", "a"))
	now.Storages = []hypervisor.Storage{{Name: "local", Node: "n1", Status: "available", Used: ptr(int64(1)), Total: ptr(int64(2))}}
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	now = report("c", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a"))
	now.Cluster.Partial = true
	f.sync(p, id)
	if got := f.Value("SELECT (SELECT string_agg(status, ' ' ORDER BY name) FROM nodes) || " +
		"'; ' || (SELECT status FROM storages)"); got != "online unknown; unknown" {
		t.Errorf("nodes and storages: %s", got)
	}
}
