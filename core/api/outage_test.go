package api_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// capture is a log that can be read while it is written.
type capture struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

// count is how many lines of the level hold the piece.
func (c *capture) count(level, piece string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range strings.Lines(c.text.String()) {
		if strings.Contains(line, "["+level+"]") && strings.Contains(line, piece) {
			n++
		}
	}
	return n
}

func (c *capture) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: c, Level: hclog.Debug})
}

// outage is the API on a PostgreSQL of its own that can be hurt.
type outage struct {
	*fixture
	server *dbtest.OwnServer
	url    string
	log    *capture
	owner  *identitytest.Account
}

func newOutage(t *testing.T, o dbtest.OwnOptions) *outage {
	t.Helper()
	s := dbtest.NewServer(t, o)
	url := s.URL(t)
	first := dbtest.Open(t, url)
	if err := first.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.Close()
	log := &capture{}
	h := &outage{fixture: newLoggedFixture(t, url, memdriver.Spec{Nodes: 1, VMs: 2, Containers: 2}, log.logger()), server: s, url: url,
		log: log}
	h.owner = identitytest.As(t, h.users, identity.Owner)
	return h
}

func (o *outage) asOwner(r *http.Request) { r.AddCookie(o.owner.Cookie) }

// standby makes commits wait for a standby that does not come, from the next ones on, or lets them go.
func (o *outage) standby(t *testing.T, wanted bool) {
	t.Helper()
	name := ""
	if wanted {
		name = "nobody"
	}
	o.server.Exec(t, "", "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'")
	o.server.Exec(t, "", "SELECT pg_reload_conf()")
	waittest.Until(t, "the server to know its standbys", func() bool {
		return o.id("SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '"+name+"'") == 1
	})
}

// hanging posts a team, with an Idempotency-Key that is its name, and returns once its commit hangs. key is the request's id.
func (o *outage) hanging(ctx context.Context, t *testing.T, url, key string) (name string, answered chan *http.Response) {
	t.Helper()
	o.standby(t, true)
	answered = make(chan *http.Response, 1)
	for { // the processes of the server learn of a standby one after another
		name = key + fmt.Sprint(time.Now().UnixNano())
		r, err := http.NewRequestWithContext(ctx, "POST", url+"/api/v1/teams", strings.NewReader(`{"name":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", name)
		r.Header.Set("X-Request-ID", key)
		o.asOwner(r)
		done := make(chan *http.Response, 1)
		go func() {
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				answer = nil
			}
			done <- answer
		}()
		hangs := false
		waittest.Until(t, "the commit", func() bool {
			select {
			case <-done:
				return true
			default:
			}
			hangs = o.id(`SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory' AND l.classid = 8
				WHERE a.wait_event = 'SyncRep'`) > 0
			return hangs
		})
		if hangs {
			go func() { answered <- <-done }()
			return name, answered
		}
		// The process that answers this one may have learned of the standby already, and its commit would wait for one too.
		err = pgx.BeginFunc(t.Context(), o.db.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "SET LOCAL synchronous_commit = local"); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), "DELETE FROM audit WHERE request_id = $1", key)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// rows are the results in the audit log of a request.
func (o *outage) rows(t *testing.T, request string) (results string) {
	t.Helper()
	if err := o.db.Pool.QueryRow(t.Context(), "SELECT coalesce(string_agg(result || ' ' || error, ', ' ORDER BY id), '') FROM audit "+
		"WHERE request_id = $1", request).Scan(&results); err != nil {
		t.Fatal(err)
	}
	return results
}

// A client that leaves while the commit of its change hangs leaves one row in the audit log: that of the change.
func TestTrailOfACommitThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a database that does not respond: make check runs it")
	}
	t.Parallel()
	o := newOutage(t, dbtest.OwnOptions{Settings: []string{"wal_level=replica", "max_wal_senders=2", "synchronous_commit=on"}})
	server := httptest.NewServer(o.Handler)
	ctx, leave := context.WithCancel(t.Context())
	_, answered := o.hanging(ctx, t, server.URL, "hangs")
	leave()
	<-answered
	o.standby(t, false)
	server.Close() // waits for the handler
	if got := o.rows(t, "hangs"); got != "ok " {
		t.Errorf("the audit log says %q", got)
	}
}

// While nobody knows whether a change was made the answer says so, and the same request with the same key finds out.
func TestAnswerOfACommitThatNobodyKnowsOf(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a database server: make check runs it")
	}
	t.Parallel()
	o := newOutage(t, dbtest.OwnOptions{Settings: []string{"wal_level=replica", "max_wal_senders=2", "synchronous_commit=on"}})
	server := httptest.NewServer(o.Handler)
	t.Cleanup(server.Close)
	name, answered := o.hanging(t.Context(), t, server.URL, "unknown")
	o.server.Exec(t, "", "ALTER SYSTEM SET synchronous_standby_names = ''") // heeded at the next start
	o.server.Kill()
	answer := <-answered
	if answer == nil || answer.StatusCode != http.StatusGatewayTimeout {
		t.Fatalf("%v", answer)
	}
	o.server.Start(t)
	var again *apitest.Response
	waittest.Until(t, "the database", func() bool {
		again = o.under(t, name, "POST", "/api/v1/teams", `{"name":"`+name+`"}`, o.asOwner)
		return again.Status != http.StatusServiceUnavailable
	})
	if again.Status != 201 || again.Header.Get("Idempotent-Replayed") != "true" || !strings.Contains(string(again.Body), name) {
		t.Errorf("%d %s", again.Status, again.Body)
	}
	waittest.Until(t, "the log", func() bool { return o.log.count("INFO", "a change was made although its commit was not answered") == 1 })
	if got := o.rows(t, "unknown"); got != "ok " || o.id("SELECT count(*) FROM teams WHERE name = '"+name+"'") != 1 {
		t.Errorf("the audit log says %q", got)
	}
}

// fixed is an authenticator that needs no database.
type fixed struct{ caller *identity.Caller }

func (f fixed) Authenticate(context.Context, *http.Request) (*identity.Caller, error) {
	return f.caller, nil
}

// Nothing that reads says 500 when the database is killed, and the log tells of it once.
func TestReadingFromAKilledDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a database server: make check runs it")
	}
	t.Parallel()
	o := newOutage(t, dbtest.OwnOptions{})
	o.furnish()
	o.lookups.Authenticator = fixed{&identity.Caller{UserID: o.owner.ID, Email: o.owner.Email,
		Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Owner}}}
	var paths []string
	id := func(n int64) string { return fmt.Sprint(n) }
	for _, op := range declared().Operations() {
		if op.Method == http.MethodGet && !op.Stream && !op.Spec.Public {
			paths = append(paths, fill(op.Path,
				map[string]string{"host_id": id(o.host), "vm_id": id(o.vm), "app_id": id(o.app), "job_id": id(o.job), "schedule_id": "1",
					"node": "node1", "group": "web", "pos": "0", "cidr": "192.0.2.9", "user_id": "1", "team_id": "1", "upid": "x"}))
		}
	}
	ask := func(path string) *apitest.Response {
		r := httptest.NewRequest("GET", path, http.NoBody)
		o.asOwner(r)
		answer, err := o.Do(t.Context(), r, nil)
		if err != nil {
			t.Error(err)
			return &apitest.Response{}
		}
		return answer
	}
	all := func(look func(path string, answer *apitest.Response)) {
		var asking sync.WaitGroup
		var mu sync.Mutex
		for _, path := range paths {
			asking.Go(func() {
				answer := ask(path)
				mu.Lock()
				defer mu.Unlock()
				look(path, answer)
			})
		}
		asking.Wait()
	}
	all(func(string, *apitest.Response) {}) // the pool is full of connections that the kill breaks
	o.server.Kill()
	away := 0
	for range 3 {
		all(func(path string, answer *apitest.Response) {
			switch {
			case answer.Status == http.StatusServiceUnavailable && answer.Problem() == "database_unavailable":
				away++
			case answer.Status >= 500:
				t.Errorf("GET %s: %d %s", path, answer.Status, answer.Body)
			}
		})
	}
	if away < 2*len(paths) {
		t.Errorf("only %d of %d said that the database is away", away, 3*len(paths))
	}
	o.lookups.Authenticator = o.users // nothing succeeds in between any more
	before := o.log.count("ERROR", "")
	for range 3 {
		all(func(string, *apitest.Response) {})
	}
	if n := o.log.count("ERROR", "") - before; n > 1 || before == 0 {
		t.Errorf("%d errors in the log after %d", n, before)
	}
	o.server.Start(t)
	waittest.Until(t, "the database", func() bool { return ask("/api/v1/teams").Status == 200 })
	waittest.Until(t, "the log", func() bool { return o.log.count("INFO", "the database is working again") >= 1 })
}

// A full disk refuses changes with a reason of its own, reading goes on, the log says it once, and the audit log has the gap.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk: make check runs it")
	}
	t.Parallel()
	// A vacuum of the catalog removes what PostgreSQL keeps for new connections, and without room for it there are none: whoever makes
	// room is connected before.
	o := newOutage(t, dbtest.OwnOptions{Disk: 40, Settings: []string{"autovacuum=off"}})
	viewer := identitytest.As(t, o.users, identity.Viewer)
	conn, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "CREATE TABLE filler (x text)"); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := o.db.Pool.Exec(t.Context(),
			"INSERT INTO filler SELECT repeat(md5(n::text), 20) FROM generate_series(1, 300) n"); err != nil {
			break
		}
	}
	for _, size := range []int{2000, 10} {
		for range 20000 {
			if _, err := o.db.Pool.Exec(t.Context(), "INSERT INTO filler SELECT repeat('x', $1)", size); err != nil {
				break
			}
		}
	}
	post := func(a *identitytest.Account) *apitest.Response {
		r := httptest.NewRequest("POST", "/api/v1/teams", strings.NewReader(`{"name":"full"}`))
		r.Header.Set("Content-Type", "application/json")
		r.AddCookie(a.Cookie)
		answer, err := o.Do(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	full := 0
	for n := 0; full < 20 && n < 2000; n++ { // what is there has some room left
		switch answer := post(o.owner); {
		case answer.Status == http.StatusInsufficientStorage && answer.Problem() == "database_full":
			full++
		case answer.Status != http.StatusCreated:
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	refused := 0
	for n := 0; n < 2000 && o.log.count("ERROR", "the audit log accepts no entries") == 0; n++ {
		if answer := post(viewer); answer.Problem() != "forbidden" {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	for range 7 {
		if post(viewer).Problem() == "forbidden" {
			refused++
		}
	}
	r := httptest.NewRequest("GET", "/api/v1/teams", http.NoBody)
	o.asOwner(r)
	if answer, err := o.Do(t.Context(), r, nil); err != nil || answer.Status != 200 {
		t.Errorf("reading: %v %v", answer, err)
	}
	if n := o.log.count("ERROR", "changes are refused until it has space again"); full < 20 || n != 1 || o.log.count("ERROR", "") != 2 {
		t.Errorf("%d refusals, and the log has %d lines of it and %d errors", full, n, o.log.count("ERROR", ""))
	}
	if _, err := conn.Exec(t.Context(), "DROP TABLE filler"); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the gap's row", func() bool {
		return o.id("SELECT coalesce(sum((details->>'missed')::bigint), 0) FROM audit WHERE action = 'audit.gap' AND error = "+
			"'database_full' AND details->'actions' ? 'team.create'") >= int64(refused)
	})
	if answer := post(o.owner); answer.Status != 201 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	waittest.Until(t, "the log", func() bool {
		return o.log.count("INFO", "the database is working again") == 1 && o.log.count("INFO", "the audit log accepts entries again") >= 1
	})
}
