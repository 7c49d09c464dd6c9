package channel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/core/secret"
)

// fixture is a store on a database of its own.
type fixture struct {
	*channel.Store
	t    testing.TB
	keys *secret.Box
}

// newFixture makes one that may call this machine. What hangs is cut off, long after what does not.
func newFixture(t testing.TB, edits ...func(*channel.Config)) *fixture {
	t.Helper()
	return newFixtureOn(t, dbtest.New(t), newKeys(t, filepath.Join(t.TempDir(), "keys", "secret.key")), edits...)
}

func newKeys(t testing.TB, path string) *secret.Box {
	t.Helper()
	keys, err := loadKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func loadKeys(path string) (*secret.Box, error) {
	return secret.Load(context.Background(), path, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
}

func newFixtureOn(t testing.TB, d *db.DB, keys *secret.Box, edits ...func(*channel.Config)) *fixture {
	t.Helper()
	c := channel.Config{DB: d, Keys: keys, AllowLocal: true, BaseURL: "https://hostler.example.com/sub", SendTime: 50 * time.Second}
	for _, edit := range edits {
		edit(&c)
	}
	return &fixture{channel.New(c), t, keys}
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	dbtest.Exec(f.t, f.DB, sql, args...)
}

// add makes a channel of the default team that may be in a private network.
func (f *fixture) add(c channel.Channel, secrets map[string]string) *channel.Channel {
	f.t.Helper()
	c.Name, c.Enabled, c.AllowPrivate = "to "+string(c.Kind), true, true
	if c.TeamID == 0 {
		c.TeamID = 1
	}
	if c.HourlyCap == 0 {
		c.HourlyCap = channel.DefaultHourlyCap
	}
	sealed := channel.Secrets{}
	for name, value := range secrets {
		sealed[name] = secret.New(value)
	}
	made, err := f.Create(f.t.Context(), c, sealed)
	if err != nil {
		f.t.Fatal(err)
	}
	return made
}

// hook makes a webhook to a server.
func (f *fixture) hook(to *receiver, edits ...func(*channel.Channel)) *channel.Channel {
	f.t.Helper()
	c := channel.Channel{Kind: channel.Webhook, Settings: channel.Settings{URL: to.URL + "/in"}}
	for _, edit := range edits {
		edit(&c)
	}
	return f.add(c, map[string]string{"secret": "canary-secret"})
}

// tell writes an event.
func (f *fixture) tell(e notify.Event) {
	f.t.Helper()
	if e.Kind == "" {
		e.Kind = notify.Alert
	}
	if e.Severity == "" {
		e.Severity = "warning"
	}
	if e.State == "" {
		e.State = notify.OneTime
	}
	if e.Title == "" {
		e.Title = "web1 is down"
	}
	err := f.DB.Tx(f.t.Context(), func(tx *db.Tx) error { return notify.Write(f.t.Context(), tx.Pgx, e) })
	if err != nil {
		f.t.Fatal(err)
	}
}

// begin and end write the beginning and the end of a matter.
func (f *fixture) begin(incident, severity string) {
	f.t.Helper()
	f.tell(notify.Event{Incident: incident, State: notify.Open, Severity: severity, Title: incident})
}

func (f *fixture) end(incident string) {
	f.t.Helper()
	f.tell(notify.Event{Incident: incident, State: notify.Resolved, Severity: "info", Title: incident})
}

func (f *fixture) turn() {
	f.t.Helper()
	if err := f.Turn(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// again lets every channel be tried at once.
func (f *fixture) again() {
	f.t.Helper()
	f.exec("UPDATE notification_queues SET next_at = now()")
}

// states are those of all deliveries, in order, each with the beginning of its incident or title.
func (f *fixture) states() []string {
	f.t.Helper()
	rows, err := f.DB.Pool.Query(f.t.Context(), `SELECT CASE WHEN e.incident = '' THEN e.kind ELSE e.incident END || ' ' || e.state || ' '
		|| d.state
		|| CASE WHEN d.held_for = '' THEN '' ELSE ' ' || d.held_for END FROM notification_deliveries d JOIN notification_events e ON e.id =
			d.event_id
		ORDER BY d.id`)
	if err != nil {
		f.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func (f *fixture) wantStates(want ...string) {
	f.t.Helper()
	if got := f.states(); !slices.Equal(got, want) {
		f.t.Errorf("the deliveries are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// queue is how a channel does.
func (f *fixture) queue(id int64) channel.Queue {
	f.t.Helper()
	c, err := f.Get(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return c.Queue
}

// request is one that a receiver got.
type request struct {
	*http.Request
	body []byte
}

// json is the body's member at a path of keys and indices, as text.
func (r *request) json(path ...any) string {
	var at any
	if err := json.Unmarshal(r.body, &at); err != nil {
		return err.Error()
	}
	for _, key := range path {
		switch key := key.(type) {
		case string:
			object, _ := at.(map[string]any)
			at = object[key]
		case int:
			list, _ := at.([]any)
			if key >= len(list) {
				return "absent"
			}
			at = list[key]
		}
	}
	if text, is := at.(string); is {
		return text
	}
	text, err := json.Marshal(at)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// receiver is an HTTP server that keeps what it is sent.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	got     []*request
	answers func(w http.ResponseWriter, r *request)
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	c := &receiver{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	one := &request{r, body}
	c.mu.Lock()
	c.got = append(c.got, one)
	answer := c.answers
	c.mu.Unlock()
	if answer != nil {
		answer(w, one)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (c *receiver) answer(f func(w http.ResponseWriter, r *request)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = f
}

func (c *receiver) requests() []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

// titles are those of the webhooks that it got, with their states.
func (c *receiver) titles() []string {
	var all []string
	for _, r := range c.requests() {
		all = append(all, r.json("title")+" "+r.json("state"))
	}
	return all
}

func (c *receiver) wantTitles(t testing.TB, want ...string) {
	t.Helper()
	if got := c.titles(); !slices.Equal(got, want) {
		t.Errorf("it was told %q, want %q", got, want)
	}
}

// status answers with a status and a text.
func status(code int, text string) func(w http.ResponseWriter, r *request) {
	return func(w http.ResponseWriter, _ *request) {
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// asOwner is the context of a request of an owner of the instance; as is one of somebody with a role in a team.
func asOwner(t testing.TB) context.Context { return as(t, 1, identity.Owner) }

func as(t testing.TB, team int64, role identity.Role) context.Context {
	return identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Email: "anna@example.com",
		Teams: map[int64]identity.Role{team: role}})
}
