package channel_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// trail writes rows with an action for each, and gives them their places.
func (f *fixture) trail(actions ...string) {
	f.t.Helper()
	for _, action := range actions {
		team := int64(1)
		err := f.DB.Tx(f.t.Context(), func(tx *db.Tx) error {
			return audit.WriteEntry(tx, audit.Entry{ActorType: "user", ActorEmail: "anna@example.com", Action: action, TargetKind: "vm",
				TargetID: "7", TargetName: "web", TeamID: &team, Result: audit.ResultOK, Address: "192.0.2.9",
				Details: map[string]any{"password": "canary", "size_gb": 8}})
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	f.seal()
}

func (f *fixture) seal() {
	f.t.Helper()
	sealer := audit.NewSealer(audit.SealerConfig{Chain: audit.NewChain(f.DB, f.keys)})
	for n := -1; n != 0; {
		var err error
		if n, err = sealer.Seal(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
}

// follower makes a webhook that is told of actions of the audit log.
func (f *fixture) follower(to *receiver, actions ...string) *channel.Channel {
	f.t.Helper()
	return f.hook(to, func(c *channel.Channel) { c.AuditActions = actions })
}

// actions are those of the rows that a receiver was told, in order.
func (c *receiver) actions() []string {
	var all []string
	for _, r := range c.requests() {
		all = append(all, r.json("audit", "action"))
	}
	return all
}

func (c *receiver) wantActions(t testing.TB, want ...string) {
	t.Helper()
	if got := c.actions(); !slices.Equal(got, want) {
		t.Errorf("it was told of %q, want %q", got, want)
	}
}

// A webhook is told of the actions that it asks for, once each, in the order of the audit log, from when it began, signed, and of nothing
// else.
func TestWebhookIsToldOfTheTrail(t *testing.T) {
	t.Parallel()
	f, some, all, alerts := newFixture(t), newReceiver(t), newReceiver(t), newReceiver(t)
	f.trail("vm.start", "before.all")
	f.follower(some, "vm.*", "host.patch")
	f.follower(all, "*")
	f.hook(alerts)
	f.turn()
	some.wantActions(t)
	f.trail("vm.start", "vmx.start", "host.patch", "host.patches", "vm.", "app_vm.stop")
	f.tell(notify.Event{})
	f.turn()
	f.turn()
	some.wantActions(t, "vm.start", "host.patch", "vm.")
	all.wantActions(t, "vm.start", "vmx.start", "host.patch", "host.patches", "vm.", "app_vm.stop")
	alerts.wantTitles(t, "web1 is down told")

	r := some.requests()[0]
	stamp := r.Header.Get("Webhook-Timestamp")
	if want, err := channel.Sign("canary-secret", r.Header.Get("Webhook-Id"), stamp, r.body); err != nil ||
		r.Header.Get("Webhook-Signature") != want {
		t.Errorf("the signature is %q, want %q %v", r.Header.Get("Webhook-Signature"), want, err)
	}
	for path, want := range map[string]string{"actor_email": "anna@example.com", "result": "ok", "address": "192.0.2.9", "team_id": "1",
		"target": `{"id":"7","kind":"vm","name":"web"}`, "error": "null"} {
		if got := r.json("audit", path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, r.json("audit", "at")); err != nil || r.json("kind") != "audit" || r.json("title") !=
		"vm.start: web" || r.json("audit", "details", "size_gb") != "8" || strings.Contains(string(r.body), "canary") {
		t.Errorf("it was sent %s %v", r.body, err)
	}
	if got := dbtest.Value[string](t, f.DB, `SELECT string_agg(kind || ' ' || coalesce(target_id::text, ''), ',' ORDER BY id)
		FROM notification_events WHERE audit_id IS NOT NULL AND title = 'host.patch: web'`); got != "audit 7,audit 7" {
		t.Errorf("the events are %s", got)
	}
}

// What a receiver does not take waits, and all behind it, in order. No more than the limit is made of the audit log, and what is too
// old is counted.
func TestBacklogOfTheTrail(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a long backlog: make check runs it")
	}
	t.Parallel()
	f, to := newFixture(t), newReceiver(t)
	c := f.follower(to, "*")
	to.answer(status(http.StatusServiceUnavailable, "not now"))
	f.trail("a.first")
	f.exec(`INSERT INTO audit (actor_type, action, result) SELECT 'system', 'a.' || i, 'ok' FROM generate_series(1, 2500) i`)
	f.seal()
	f.turn()
	f.again()
	f.turn()
	to.wantActions(t, "a.first", "a.first")
	if got := f.queue(c.ID); got.Pending != 1000 || got.Failures != 2 {
		t.Errorf("%+v", got)
	}
	f.exec("UPDATE notification_deliveries SET due_at = now() - interval '2 days'")
	f.exec("UPDATE audit SET at = now() - interval '2 days' WHERE action IN ('a.2499', 'a.2000')")
	to.answer(status(http.StatusOK, ""))
	for range 4 {
		f.again()
		f.turn()
	}
	if got := f.queue(c.ID); got.Pending != 0 || got.AuditSkipped != 2 {
		t.Errorf("%+v", got)
	}
	got := to.actions()[2:]
	if len(got) != 1499 || got[0] != "a.1000" || got[len(got)-1] != "a.2500" || slices.Contains(got, "a.2000") {
		t.Errorf("it was told of %d, from %s to %s", len(got), got[0], got[len(got)-1])
	}
}

// Two instances tell each row once. A row that was cleared meanwhile is not told, and does not hold up the others.
func TestTrailOfTwoInstancesAndAfterClearing(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	one, to := newFixtureOn(t, dbtest.Open(t, url), newKeys(t, t.TempDir()+"/k/secret.key")), newReceiver(t)
	other := newFixtureOn(t, dbtest.Open(t, url), one.keys)
	c := one.follower(to, "vm.*")
	to.answer(status(http.StatusServiceUnavailable, ""))
	one.trail("vm.one", "vm.two")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = other.Turn(t.Context())
	}()
	one.turn()
	<-done
	one.exec("DELETE FROM audit WHERE action = 'vm.one'")
	to.answer(status(http.StatusOK, ""))
	before := len(to.requests())
	one.again()
	one.turn()
	if got := to.actions()[before:]; !slices.Equal(got, []string{"vm.two"}) {
		t.Errorf("it was told of %q", got)
	}
	one.wantStates("audit told failed", "audit told sent")
	if got := one.queue(c.ID).LastError; got == nil || !strings.Contains(*got, "deleted from the audit log") {
		t.Errorf("the error is %v", got)
	}
}

// One that was switched off, or that stopped to ask, is told from when it goes on.
func TestTrailFromWhenItIsAskedFor(t *testing.T) {
	t.Parallel()
	f, to := newFixture(t), newReceiver(t)
	c := f.follower(to, "*")
	set := func(edit func(*channel.Channel)) {
		t.Helper()
		if _, err := f.Update(t.Context(), c.ID, edit, nil); err != nil {
			t.Fatal(err)
		}
	}
	set(func(c *channel.Channel) { c.Enabled = false })
	f.trail("a.off")
	f.turn()
	set(func(c *channel.Channel) { c.Enabled = true })
	f.trail("a.on")
	f.turn()
	set(func(c *channel.Channel) { c.AuditActions = []string{} })
	f.trail("a.none")
	f.tell(notify.Event{})
	f.turn()
	set(func(c *channel.Channel) { c.AuditActions = []string{"b.*"} })
	f.trail("a.more", "b.more")
	f.turn()
	to.wantActions(t, "a.on", "null", "b.more")
}

func TestWhatMayFollowTheTrail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec("INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two')")
	good := channel.Channel{TeamID: 1, Name: "x", Kind: channel.Webhook, Enabled: true, HourlyCap: 1,
		Settings: channel.Settings{URL: "https://hooks.example.com/in"}, AuditActions: []string{"*", "vm.*", "vm.start"}}
	for name, edit := range map[string]func(*channel.Channel) string{
		"good":         func(*channel.Channel) string { return "" },
		"of a team":    func(c *channel.Channel) string { c.TeamID = 2; return "audit_actions" },
		"another kind": func(c *channel.Channel) string { c.Kind = channel.Discord; return "audit_actions" },
		"with routes": func(c *channel.Channel) string {
			c.Routes = []channel.Route{{Severity: "info"}}
			return "audit_actions"
		},
		"in clear":      func(c *channel.Channel) string { c.Settings.URL = "http://hooks.example.com/in"; return "url" },
		"without a key": func(c *channel.Channel) string { c.Name = "unsigned"; return "secret" },
		"no pattern":    func(c *channel.Channel) string { c.AuditActions = []string{""}; return "audit_actions 0" },
		"a star within": func(c *channel.Channel) string {
			c.AuditActions = []string{"vm.start", "v*m"}
			return "audit_actions 1"
		},
		"LIKE's own": func(c *channel.Channel) string { c.AuditActions = []string{"%"}; return "audit_actions 0" },
		"NUL":        func(c *channel.Channel) string { c.AuditActions = []string{"vm\x00"}; return "audit_actions 0" },
		"a line":     func(c *channel.Channel) string { c.AuditActions = []string{"vm.start\n"}; return "audit_actions 0" },
		"longer than any": func(c *channel.Channel) string {
			c.AuditActions = []string{strings.Repeat("a", 101)}
			return "audit_actions 0"
		},
	} {
		c := good
		at := edit(&c)
		secrets := channel.Secrets{"secret": secret.New("k")}
		switch name {
		case "without a key":
			secrets = channel.Secrets{}
		case "another kind":
			c.Settings, secrets = channel.Settings{}, channel.Secrets{"url": secret.New("https://discord.example/x")}
		}
		_, err := f.Create(asOwner(t), c, secrets)
		said := ""
		if err != nil {
			said = fmt.Sprint(problem.From(err).Faults)
		}
		if (err == nil) != (at == "") || !strings.Contains(said, at) {
			t.Errorf("%s: %v %s", name, err, said)
		}
	}
}

// While the export of the audit log is switched off, webhooks do not send it either; once it is on again they go on where they were.
func TestTrailIsNotSentWhileItsExportIsOff(t *testing.T) {
	t.Parallel()
	f, to := newFixture(t), newReceiver(t)
	f.follower(to, "*")
	f.turn()
	dbtest.Exec(t, f.DB, `INSERT INTO settings (key, value) VALUES ('entitlements.disabled', '["audit.log"]')`)
	f.trail("vm.start")
	f.turn()
	f.turn()
	to.wantActions(t)
	dbtest.Exec(t, f.DB, "DELETE FROM settings WHERE key = 'entitlements.disabled'")
	f.turn()
	f.turn()
	to.wantActions(t, "vm.start")
}
