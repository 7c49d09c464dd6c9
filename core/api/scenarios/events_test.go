package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
)

// eventsInstance is one instance of the service behind a real listener.
type eventsInstance struct {
	*servicetest.Instance
	t testing.TB
}

// newEvents serves the whole API on the database, or on a fresh one when url is empty.
func newEvents(t testing.TB, url string) *eventsInstance {
	t.Helper()
	if url == "" {
		url = dbtest.URL(t)
	}
	return &eventsInstance{servicetest.Serve(t, servicetest.New(t, func(c *service.Config) { c.DB = dbtest.Open(t, url) })), t}
}

// newFilledEvents has VM 1 "web" of the default team and VM 2 "theirs" of team 2.
func newFilledEvents(t testing.TB) *eventsInstance {
	t.Helper()
	i := newEvents(t, "")
	i.fill()
	return i
}

func (i *eventsInstance) fill() {
	inventorytest.Write(i.t, i.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "n1", Name: "web"}}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "far"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "theirs"}}})
}

// streamLimit bounds what hangs, and all that a test reads of one stream.
const streamLimit = 10 * time.Minute

// eventStream is an open one, and what a client knows by it.
type eventStream struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Scanner
	last     string
	known    map[string]map[string]any
}

// streamedEvent is one Server-Sent Event.
type streamedEvent struct{ id, name, data string }

func (i *eventsInstance) open(logIn func(*http.Request), query, last string) *eventStream {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), streamLimit)
	i.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.URL+"/api/v1/events/stream"+query, http.NoBody)
	if err != nil {
		i.t.Fatal(err)
	}
	logIn(r)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		i.t.Fatalf("%d %s", response.StatusCode, response.Header)
	}
	s := &eventStream{t: i.t, response: response, lines: bufio.NewScanner(response.Body), known: map[string]map[string]any{}}
	s.lines.Buffer(nil, 16<<20)
	return s
}

// next reads one event; ok is false when the stream has ended.
func (s *eventStream) next() (e streamedEvent, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data = value
		case s.lines.Text() == "" && (e.id != "" || e.data != ""):
			s.take(e)
			return e, true
		}
	}
	return e, false
}

func (s *eventStream) take(e streamedEvent) {
	if e.id != "" {
		s.last = e.id
	}
	var body struct {
		Changes []struct {
			Kind        string
			ID          int64
			Whole, Gone bool
			Set         map[string]any
		}
	}
	if e.name != "changes" {
		return
	}
	if err := json.Unmarshal([]byte(e.data), &body); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range body.Changes {
		key := fmt.Sprint(c.Kind, c.ID)
		switch {
		case c.Gone:
			delete(s.known, key)
		case c.Whole || s.known[key] == nil:
			s.known[key] = c.Set
		default:
			maps.Copy(s.known[key], c.Set)
		}
	}
}

// is reads one event of this name with this in its data.
func (s *eventStream) is(name, data string) streamedEvent {
	s.t.Helper()
	e, ok := s.next()
	if !ok || e.name != name || !strings.Contains(e.data, data) {
		s.t.Fatalf("got %+v (%v), want %s with %s", e, ok, name, data)
	}
	return e
}

// ended reports whether the stream ends without another event.
func (s *eventStream) ended() bool {
	s.t.Helper()
	e, ok := s.next()
	if ok {
		s.t.Logf("there comes %+v", e)
	}
	return !ok
}

// The page and curl follow the feed; who comes back, by header or by query, misses nothing and gets nothing twice.
func TestEventStream(t *testing.T) {
	t.Parallel()
	i := newFilledEvents(t)
	account := identitytest.As(t, i.Users, identity.Viewer)
	cookie := func(r *http.Request) { r.AddCookie(account.Cookie) }
	s := i.open(cookie, "", "")
	begin := s.is("hello", `{"version":"test","resumed":false,"poll_interval_s":30}`)
	i.Exec("UPDATE guests SET name = 'www' WHERE id = 1")
	if e := s.is("changes", `"set":{"name":"www"}`); e.id == "" {
		t.Errorf("%+v", e)
	}
	_ = s.response.Body.Close()
	i.Exec("UPDATE guests SET lock = 'backup' WHERE id = 1")
	for _, s := range []*eventStream{i.open(cookie, "", s.last), i.open(cookie, "?after="+s.last, ""),
		i.open(cookie, "?after="+begin.id, s.last)} {
		s.is("hello", `"resumed":true`)
		s.is("changes", `{"changes":[{"kind":"guest","id":1,"version":`)
		if got := fmt.Sprint(s.known["guest1"]); got != "map[lock:backup]" {
			t.Errorf("told again: %s", got)
		}
	}
	jobs := i.open(cookie, "?topics=job,alert", "")
	jobs.is("hello", "")
	i.Exec("UPDATE guests SET name = 'x' WHERE id = 1")
	i.Exec("INSERT INTO jobs (kind, team_id, target_kind, target_id, target_name) VALUES ('vm.start', 1, 'vm', 1, 'x')")
	jobs.is("changes", `{"changes":[{"kind":"job","id":1,`)
	figures := i.open(cookie, "?figures=true&topics=job", "")
	figures.is("hello", "")
	i.Exec("UPDATE guests SET cpu = 0.5 WHERE id = 1; UPDATE clusters SET figures_at = now()")
	figures.is("changes", `"guests":[[1,0.500,null,null,null]]`)
	i.open(cookie, "", "nonsense").is("reset", `{"reason":"unknown"}`)
}

// Keys that read read it, and each caller sees what is theirs.
func TestEventsByCaller(t *testing.T) {
	t.Parallel()
	i := newFilledEvents(t)
	viewer := identitytest.As(t, i.Users, identity.Viewer)
	key := identitytest.Key(t, i.Users, viewer, identitytest.KeySpec{Scopes: []string{"read"}})
	other := identitytest.User(t, i.Users, identitytest.In{2: identity.Operator})
	all, theirs := i.open(key.Set, "", ""), i.open(func(r *http.Request) { r.AddCookie(other.Cookie) }, "", "")
	all.is("hello", "")
	theirs.is("hello", "")
	i.Exec("UPDATE guests SET name = 'secret' WHERE id = 1")
	all.is("changes", "secret")
	i.Exec("UPDATE guests SET name = 'b' WHERE id = 2")
	if e := theirs.is("changes", `"id":2`); strings.Contains(e.data, "secret") {
		t.Errorf("told of another team: %+v", e)
	}
}

// The right to see ends the stream on every instance, and who comes back with other rights loads anew.
func TestRightsThatChangeEndStreams(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	i, other := newEvents(t, url), newEvents(t, url)
	i.fill()
	i.Exec("INSERT INTO teams (id, name, slug) VALUES (3, 'c', 'c')")
	for name, c := range map[string]struct {
		sql  string
		back bool
	}{
		"another role":     {"UPDATE team_members SET role = 'viewer' WHERE user_id = $1", true},
		"a team more":      {"INSERT INTO team_members (user_id, team_id, role) VALUES ($1, 3, 'viewer')", true},
		"no team any more": {"DELETE FROM team_members WHERE user_id = $1", false},
		"deactivated":      {"UPDATE users SET is_active = false WHERE id = $1", false},
		"logged out":       {"DELETE FROM sessions WHERE user_id = $1", false},
	} {
		account := identitytest.User(t, i.Users, identitytest.In{2: identity.Operator})
		cookie := func(r *http.Request) { r.AddCookie(account.Cookie) }
		s := i.open(cookie, "", "")
		s.is("hello", "")
		other.Exec(c.sql, account.ID)
		if !s.ended() {
			t.Errorf("%s: the stream goes on", name)
		}
		if !c.back {
			continue
		}
		back := other.open(cookie, "", s.last)
		if name == "another role" { // sees the same
			back.is("hello", `"resumed":true`)
		} else {
			back.is("reset", `{"reason":"rights"}`)
		}
	}
	// A team that is deleted leaves its hosts to the default team.
	account := identitytest.User(t, i.Users, identitytest.In{2: identity.Viewer, 3: identity.Viewer})
	s := i.open(func(r *http.Request) { r.AddCookie(account.Cookie) }, "", "")
	s.is("hello", "")
	other.Exec("UPDATE hosts SET team_id = 1 WHERE team_id = 2")
	s.is("reset", `{"reason":"rights"}`)
	other.Exec("UPDATE guests SET name = 'secret' WHERE id = 2")
	other.Exec("UPDATE hosts SET team_id = 3 WHERE id = 2")
	if e, ok := s.next(); !ok || e.name != "reset" || strings.Contains(e.data, "secret") {
		t.Errorf("%+v %v", e, ok)
	}
}

// The end of the service ends its streams, and the reader goes on at another instance.
func TestServiceThatStopsEndsStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("stops a service: make check runs it")
	}
	t.Parallel()
	url := dbtest.URL(t)
	i, other := newEvents(t, url), newEvents(t, url)
	i.fill()
	account := identitytest.As(t, i.Users, identity.Viewer)
	cookie := func(r *http.Request) { r.AddCookie(account.Cookie) }
	s := i.open(cookie, "", "")
	s.is("hello", "")
	i.Drain(t.Context())
	if !s.ended() {
		t.Error("the stream goes on")
	}
	other.Exec("UPDATE guests SET name = 'b' WHERE id = 1")
	back := other.open(cookie, "", s.last)
	back.is("hello", `"resumed":true`)
	back.is("changes", `"name":"b"`)
	waittest.Until(t, "the reader is forgotten", func() bool { return i.Feed.Readers() == 0 })
}

// A reader that stops reading is cut, holds up nobody meanwhile, and resumes without a gap.
func TestReaderOfEventsThatStopsReading(t *testing.T) {
	if testing.Short() {
		t.Skip("fills the kernel's buffers: make check runs it")
	}
	t.Parallel()
	i := newEvents(t, "")
	inventorytest.Many(t, i.DB, 10_000, 0)
	account := identitytest.As(t, i.Users, identity.Viewer)
	cookie := func(r *http.Request) { r.AddCookie(account.Cookie) }
	stuck, quick := i.open(cookie, "?figures=true", ""), i.open(cookie, "", "")
	stuck.is("hello", "")
	quick.is("hello", "")
	n := 0
	waittest.Until(t, "the reader is cut", func() bool { // half a megabyte each, until nothing more fits in between
		n++
		i.Exec("UPDATE guests SET name = $1 WHERE id = 1", fmt.Sprint("name", n))
		i.Exec("UPDATE clusters SET figures_at = clock_timestamp()")
		quick.is("changes", fmt.Sprintf(`"name":"name%d"`, n))
		return i.Feed.Readers() == 1
	})
	for {
		if _, ok := stuck.next(); !ok {
			break
		}
	}
	if got := stuck.known["guest1"]["name"]; got == fmt.Sprint("name", n) {
		t.Fatalf("the reader was cut though it was told all")
	}
	back := i.open(cookie, "?figures=true", stuck.last)
	back.is("hello", `"resumed":true`)
	back.is("changes", fmt.Sprintf(`"name":"name%d"`, n))
}
