package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
)

var everything = feed.Filter{Visible: identity.VisibleTeams{All: true, Teams: []int64{}}}

func ofTeam(team int64) feed.Filter {
	return feed.Filter{Visible: identity.VisibleTeams{Teams: []int64{team}}}
}

// fixture is a database with the feed of one instance.
type fixture struct {
	dbtest.SQL
	t    testing.TB
	db   *db.DB
	feed *feed.Feed
}

// newFixture has the cluster 1 of the default team with the host 1 "rack1", the VMs 1 "web" and 2 "mail" and the container 3 "ct"; and the
// cluster 2 of team 2 with the host 2 "far" and the VM 4 "theirs".
func newFixture(t testing.TB) *fixture {
	t.Helper()
	d := dbtest.New(t)
	inventorytest.Write(t, d,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1"}},
			Nodes: []inventorytest.Node{{Name: "n1", CPU: 0.25, CPUs: 4, Memory: 1000, Uptime: 9}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "n1", Name: "web", CPU: 0.5, Memory: 2048, Uptime: 60},
				{VMID: 101, Node: "n1", Name: "mail", CPU: 0.1}, {Container: true, VMID: 102, Node: "n1", Name: "ct", Status: "stopped"}}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "far"}},
			Nodes: []inventorytest.Node{{Name: "m1"}}, Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "theirs"}}})
	return &fixture{SQL: dbtest.On(t, d), t: t, db: d, feed: instance(t, d)}
}

// instance is the feed of one more instance on the database.
func instance(t testing.TB, d *db.DB) *feed.Feed {
	t.Helper()
	queue, err := job.New(job.Config{DB: d})
	if err != nil {
		t.Fatal(err)
	}
	f := feed.New(feed.Config{DB: d, Guests: &guest.Store{DB: d, Self: &guest.Self{DB: d}}, Hosts: host.New(host.Config{DB: d}),
		Clusters: &cluster.Store{DB: d}, Jobs: queue, Version: "1.2.3"})
	t.Cleanup(f.Close)
	return f
}

// change is one of a message, as a client reads it.
type change struct {
	Kind    string
	ID      int64
	Cluster int64  `json:"cluster_id"`
	Node    string `json:"node"`
	Version int64
	Whole   bool
	Gone    bool
	Set     map[string]any
	Guests  [][]any
	Nodes   [][]any
}

func (c change) String() string {
	if c.Gone {
		return fmt.Sprintf("%s %d gone", c.Kind, c.ID)
	}
	if c.Whole {
		return fmt.Sprintf("%s %d whole", c.Kind, c.ID)
	}
	encoded, _ := json.Marshal(c.Set)
	return fmt.Sprintf("%s %d %s", c.Kind, c.ID, encoded)
}

// client is a reader with what it knows, made of what it was told alone.
type client struct {
	*feed.Reader
	t testing.TB
	// last is the id that it comes back with; known are the objects by kind and id; resets are the reasons.
	last   string
	known  map[string]map[string]any
	resets []string
	// told counts messages with changes.
	told int
}

// join joins a client that comes back with last.
func join(t testing.TB, f *feed.Feed, sight feed.Filter, last string) *client {
	t.Helper()
	r, err := f.Join(t.Context(), sight, last)
	if err != nil {
		t.Fatal(err)
	}
	return &client{Reader: r, t: t, last: last, known: map[string]map[string]any{}}
}

// limit bounds what hangs.
const limit = time.Minute

// next takes one message.
func (c *client) next() feed.Message {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	m, err := c.Next(ctx)
	if err != nil {
		c.t.Fatalf("waiting for a message: %v", err)
	}
	c.take(m)
	return m
}

// quiet reports whether nothing comes for a moment.
func (c *client) quiet(moment time.Duration) bool {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), moment)
	defer cancel()
	m, err := c.Next(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.take(m)
	return m.Event == ""
}

func (c *client) take(m feed.Message) {
	if m.ID != "" {
		c.last = m.ID
	}
	switch m.Event {
	case "reset":
		c.resets = append(c.resets, string(m.Data))
	case "changes":
		c.told++
		for _, one := range changesOf(c.t, m) {
			name := fmt.Sprint(one.Kind, one.ID)
			switch {
			case one.Gone:
				delete(c.known, name)
			case one.Whole || c.known[name] == nil:
				c.known[name] = maps.Clone(one.Set)
			default:
				maps.Copy(c.known[name], one.Set)
			}
		}
	}
}

func changesOf(t testing.TB, m feed.Message) []change {
	t.Helper()
	var body struct{ Changes []change }
	if err := json.Unmarshal(m.Data, &body); err != nil {
		t.Fatalf("%v in %s", err, m.Data)
	}
	return body.Changes
}

// changes takes the next message, which must have changes.
func (c *client) changes() []change {
	c.t.Helper()
	m := c.next()
	if m.Event != "changes" {
		c.t.Fatalf("%s %s", m.Event, m.Data)
	}
	return changesOf(c.t, m)
}

// hello joins and takes the greeting.
func hello(t testing.TB, f *feed.Feed, sight feed.Filter) *client {
	t.Helper()
	c := join(t, f, sight, "")
	t.Cleanup(c.Close)
	if m := c.next(); m.Event != "hello" || m.ID == "" || string(m.Data) != `{"version":"1.2.3","resumed":false,"poll_interval_s":30}` {
		t.Fatalf("the first message is %s %s", m.Event, m.Data)
	}
	return c
}

// is compares the next message's changes.
func (c *client) is(want ...string) {
	c.t.Helper()
	got := c.changes()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.t.Errorf("told %v, want %v", got, want)
	}
}

var errUndo = errors.New("undo")

func jsonOf(v any) string {
	encoded, _ := json.Marshal(v)
	return string(encoded)
}

// newGuest makes the guest 5.
const newGuest = "INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status) " +
	"VALUES (1, 1, 'vm', 9, '9', 'n1', 'new', 'running')"
