package poll_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// named is a running container of a hypervisor that has names and UIDs and no numbers.
func named(id, uid string) hypervisor.Guest {
	g := ct(1, "n1", id)
	g.ID, g.UID, g.Number = hypervisor.GuestID(id), uid, nil
	return g
}

// told is a fixture with one host, and what that answers.
type told struct {
	*fixture
	now  hypervisor.Page
	id   int64
	poll *poll.Poller
}

func newTold(t *testing.T, guests ...hypervisor.Guest) *told {
	f := &told{fixture: newFixture(t)}
	f.found = map[hypervisor.GuestID]hypervisor.Guest{}
	f.id = f.host(func() hypervisor.Page { return f.now })
	f.poll = f.poller(f.db)
	f.answers(guests...)
	return f
}

// answers polls once with these guests.
func (f *told) answers(guests ...hypervisor.Guest) {
	f.t.Helper()
	f.now = report("", "n1", []hypervisor.Node{node("n1"), node("n2")}, guests...)
	f.sync(f.poll, f.id)
}

// rows are the guests by id: "id ref uid name status", with those of no UID as "-".
func (f *told) rows(want ...string) {
	f.t.Helper()
	var got []string
	for _, r := range f.guests() {
		uid := r.UID
		if uid == "" {
			uid = "-"
		}
		got = append(got, fmt.Sprint(r.ID, " ", r.Ref, " ", uid, " ", r.Name, " ", r.Status))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Errorf("guests are %q, want %q", got, want)
	}
}

// apps are the apps by id: "name guest_id guest_ref guest_uid present".
func (f *told) apps(want ...string) {
	f.t.Helper()
	got := f.Value(`SELECT coalesce(string_agg(concat_ws(' ', name, coalesce(guest_id::text, 'away'), guest_ref, coalesce(guest_uid, '-')),
		', ' ORDER BY id), '') FROM apps`)
	if all := strings.Join(want, ", "); got != all {
		f.t.Errorf("apps are %q, want %q", got, all)
	}
}

// A renamed guest keeps its row and what hangs on it.
func TestARenamedGuestIsTheSame(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("web", "u1"), named("db", "u2"))
	f.Exec(adopt + " WHERE ref = 'web'")
	f.Exec(`INSERT INTO jobs (kind, status, target_kind, target_id, target_name, exclusive, params)
		SELECT 'app.stop', 'queued', 'app', 1, 'web', 'guest:' || id, jsonb_build_object('guest_id', id, 'ref', ref, 'uid', uid) FROM guests
		WHERE ref = 'web';
		INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity)
		SELECT 1, host_id, 'guest', id, name, 'r', 'info' FROM guests WHERE ref = 'web'`)
	f.rows("1 db u2 db running", "2 web u1 web running")
	f.answers(named("shop", "u1"), named("db", "u2"))
	f.rows("1 db u2 db running", "2 shop u1 shop running")
	f.apps("web 2 shop u1")
	if got := f.Value(`SELECT concat_ws(' ', (SELECT exclusive FROM jobs), (SELECT target_id FROM alerts),
		(SELECT count(*) FROM metric_samples WHERE target_kind = 'guest' AND target_id = 2))`); got != "guest:2 2 2" {
		t.Errorf("job, alert and samples: %s", got)
	}
	if asked := f.questions(); asked != "0 rights, 0 guests" {
		t.Errorf("asked for %s", asked)
	}
}

// Names that go round within one poll are no conflict, and no guest is taken for another.
func TestNamesGoRound(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("a", "u1"), named("b", "u2"), named("c", "u3"))
	f.Exec(adopt)
	f.answers(named("b", "u1"), named("a", "u2"), named("c", "u3"))
	f.rows("1 b u1 b running", "2 a u2 a running", "3 c u3 c running")
	f.answers(named("c", "u1"), named("b", "u2"), named("a", "u3"))
	f.rows("1 c u1 c running", "2 b u2 b running", "3 a u3 a running")
	// A chain, whose last name is new, and a guest that takes the first.
	f.answers(named("d", "u1"), named("c", "u2"), named("b", "u3"), named("a", "u4"))
	f.rows("1 d u1 d running", "2 c u2 c running", "3 b u3 b running", "4 a u4 a running")
	f.apps("a 1 d u1", "b 2 c u2", "c 3 b u3")
}

// A guest that was deleted and made anew under its name is another one. The old one goes when it was asked for itself.
func TestAReusedNameIsAnotherGuest(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("web", "u1"))
	f.Exec(adopt)
	f.found["web"] = named("web", "u2")
	f.answers(named("web", "u2"))
	f.rows("2 web u2 web running")
	f.apps("web away web u1")
	f.answers(named("web", "u2"))
	f.apps("web away web u1")
	f.Exec(adopt) // the new one is no app yet
	f.apps("web away web u1", "web 2 web u2")
	// The first one was restored under another name.
	f.answers(named("web", "u2"), named("web-old", "u1"))
	f.rows("2 web u2 web running", "3 web-old u1 web-old running")
	f.apps("web 3 web-old u1", "web 2 web u2")
}

// Two rows have one ref while it is not known what has become of the older.
func TestTheOlderOfOneNameIsInDoubt(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("web", "u1"))
	f.Exec(adopt)
	f.missing = []string{"VM.Audit"} // nobody may ask for a guest
	f.answers(named("web", "u2"))
	f.rows("1 web u1 web unknown", "2 web u2 web running")
	f.apps("web 1 web u1")
	// Told without a UID, it is the one that was listed last.
	f.answers(named("web", ""))
	f.rows("1 web u1 web unknown", "2 web u2 web running")
	f.missing = nil
	f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes'")
	f.found["web"] = named("web", "u2")
	f.answers(named("web", "u2"))
	f.rows("2 web u2 web running")
}

// A driver that begins to tell UIDs, or leaves them out for a while, tells of the same guests.
func TestUIDsComeLaterAndAreLeftOut(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("web", ""), named("db", ""))
	f.Exec(adopt)
	f.rows("1 db - db running", "2 web - web running")
	f.answers(named("web", "u1"), named("db", "u2"))
	f.rows("1 db u2 db running", "2 web u1 web running")
	f.apps("db 1 db u2", "web 2 web u1")
	f.answers(named("web", ""), named("db", "u2"))
	f.rows("1 db u2 db running", "2 web u1 web running")
	f.answers(named("shop", "u1"), named("db", ""))
	f.rows("1 db u2 db running", "2 shop u1 shop running")
	f.apps("db 1 db u2", "web 2 shop u1")
	if got := f.Value("SELECT count(*) FROM metric_samples WHERE target_kind = 'guest' AND target_id IN (1, 2)"); got != "8" {
		t.Errorf("%s samples", got)
	}
	// What cannot be a UID is none.
	f.answers(named("shop", "a\x00b"), named("db", "u\n"), named("new", "\xff"))
	f.rows("1 db u2 db running", "2 shop u1 shop running", "3 new - new running")
}

// Of two guests that are told with one UID the first has it, and that stays so.
func TestAUIDThatIsToldTwice(t *testing.T) {
	t.Parallel()
	f := newTold(t)
	for range 3 {
		f.answers(named("a", "u1"), named("b", "u1"), named("c", "u1"))
		f.rows("1 a u1 a running", "2 b - b running", "3 c - c running")
	}
	// It was one guest, told twice while it was renamed. The second row stands for nobody.
	f.found["c"] = named("c", "u1")
	f.answers(named("c", "u1"))
	f.rows("1 c u1 c running")
}

// An app has its container again after a while, under another name and on another node too.
func TestAnAppFindsItsContainerAgain(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("web", "u1"), named("plain", ""))
	f.Exec(adopt)
	f.Exec("UPDATE apps SET web_port = 8080")
	f.answers()
	f.rows()
	f.apps("plain away plain -", "web away web u1")
	moved := named("shop", "u1")
	moved.Node = "n2"
	f.answers(moved, named("plain", ""), named("web", "u9"))
	f.rows("3 plain - plain running", "4 shop u1 shop running", "5 web u9 web running")
	f.apps("plain 3 plain -", "web 4 shop u1")
	// One of which no UID was known is known again by its name, and a VM of the name is not it.
	f.answers(moved)
	f.apps("plain away plain -", "web 4 shop u1")
	machine := named("plain", "u7")
	machine.Kind = hypervisor.VM
	f.answers(moved, machine)
	f.apps("plain away plain -", "web 4 shop u1")
	f.answers(moved, named("plain", "u8"))
	f.apps("plain "+f.Value("SELECT id FROM guests WHERE uid = 'u8'")+" plain u8", "web 4 shop u1")
	if got := f.Value("SELECT string_agg(web_port::text, ' ') FROM apps"); got != "8080 8080" {
		t.Errorf("what is known of the apps: %s", got)
	}
}

// A container that was given the id of one that is gone is another one: without UIDs its name says so. One that comes back under its
// name is the app's again, whatever the app is called, and not before its name is told.
func TestAnAppIsNotGivenToAnotherContainer(t *testing.T) {
	t.Parallel()
	f := newTold(t, ct(700, "n1", "web"), ct(701, "n1", "db"))
	f.Exec(adopt + " WHERE ref = '700'")
	f.Exec("UPDATE apps SET name = 'Shop'")
	f.answers(ct(700, "n1", "web"), ct(701, "n1", "db"))
	f.apps("Shop 1 700 -")
	f.answers(ct(701, "n1", "db"))
	f.apps("Shop away 700 -")
	f.answers(ct(700, "n1", ""), ct(701, "n1", "db"))
	f.apps("Shop away 700 -")
	f.answers(ct(700, "n1", "payroll"), ct(701, "n1", "db"))
	f.apps("Shop away 700 -")
	f.answers(ct(701, "n1", "db"))
	f.answers(ct(700, "n1", "web"), ct(701, "n1", "db"))
	f.apps("Shop " + f.Value("SELECT id FROM guests WHERE ref = '700'") + " 700 -")
	// A container that is renamed while it is there stays the app's, and is known by the new name afterwards.
	f.answers(ct(700, "n1", "renamed"), ct(701, "n1", "db"))
	f.answers(ct(701, "n1", "db"))
	f.answers(ct(700, "n1", "renamed"), ct(701, "n1", "db"))
	f.apps("Shop " + f.Value("SELECT id FROM guests WHERE ref = '700'") + " 700 -")
	// An app whose container was away before its name was kept goes by its own.
	f.answers(ct(701, "n1", "db"))
	f.Exec("UPDATE apps SET guest_name = ''")
	f.answers(ct(700, "n1", "renamed"), ct(701, "n1", "db"))
	f.apps("Shop away 700 -")
	f.answers(ct(700, "n1", "Shop"), ct(701, "n1", "db"))
	f.apps("Shop " + f.Value("SELECT id FROM guests WHERE ref = '700'") + " 700 -")
}

// An app is missing once the polls of a quarter of an hour have not found its container; a time without polls does not count.
func TestAMissingApp(t *testing.T) {
	t.Parallel()
	f := newTold(t, named("web", "u1"), named("db", "u2"))
	f.Exec(adopt + " WHERE ref = 'web'")
	const status = "SELECT concat(absent_since IS NOT NULL, ' ', absent_for >= interval '15 minutes') FROM apps"
	is := func(want string) {
		t.Helper()
		if got := f.Value(status); got != want {
			t.Errorf("absent and missing are %s, want %s", got, want)
		}
	}
	// later lets time pass since the last good poll.
	later := func(d string) { f.Exec("UPDATE clusters SET seen_at = now() - $1::text::interval", d) }
	later("40 s")
	is("f f")
	f.answers(named("db", "u2"))
	is("t f")
	for range 14 {
		later("60 s")
		f.answers(named("db", "u2"))
	}
	later("5 hours")
	f.answers(named("db", "u2"))
	is("t f")
	f.missing = []string{"VM.Audit"}
	f.Exec("UPDATE host_credentials SET verified_at = NULL")
	later("60 s")
	f.answers(named("db", "u2"))
	is("t f")
	f.missing = nil
	f.Exec("UPDATE host_credentials SET verified_at = NULL")
	later("60 s")
	f.answers(named("db", "u2"))
	is("t t")
	f.answers(named("db", "u2"), named("web", "u1"))
	is("f f")
}
