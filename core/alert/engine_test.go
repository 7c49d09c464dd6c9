package alert_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/migrations"
)

// Whichever instances look at the same moment, one of them evaluates.
func TestOneInstanceEvaluates(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	w := newWorld(t)
	w.busy(map[string]string{"for_s": "0"})
	w.level("guest:1", "cpu", 95)
	engines := []*alert.Engine{}
	for range 4 {
		engines = append(engines, w.engine(dbtest.Open(t, w.url)))
	}
	for turn := range 10 {
		w.now = w.now.Add(time.Minute)
		w.sample()
		var done atomic.Int64
		var all sync.WaitGroup
		for _, e := range engines {
			all.Go(func() {
				did, err := e.Cycle(t.Context())
				if err != nil {
					t.Error(err)
				}
				if did {
					done.Add(1)
				}
			})
		}
		all.Wait()
		if n := done.Load(); n != 1 {
			t.Errorf("turn %d: %d instances evaluated", turn, n)
		}
	}
	w.listen()
	if got := strings.Join(w.said, "; "); got != "10 open r web" {
		t.Errorf("said is %s", got)
	}
}

// An instance that holds the turn and dies leaves it to the others, and nothing of what it had begun.
func TestACycleThatIsCutOffLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	w := newWorld(t)
	w.busy(map[string]string{"for_s": "0"})
	w.level("guest:1", "cpu", 95)
	w.Exec(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
		CREATE TRIGGER test_wait BEFORE INSERT ON notification_events FOR EACH ROW EXECUTE FUNCTION wait()`)
	w.now = w.now.Add(time.Minute)
	w.sample()
	ctx, die := context.WithCancel(t.Context())
	ended := make(chan error)
	dying := w.engine(dbtest.Open(t, w.url))
	go func() {
		_, err := dying.Cycle(ctx)
		ended <- err
	}()
	waittest.Until(t, "the cycle tells of an alert", func() bool {
		return w.Value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%notification_events%' "+
			"AND wait_event = 'PgSleep'") == "1"
	})
	if did, err := w.engines[0].Cycle(t.Context()); did || err != nil {
		t.Errorf("another instance evaluates beside: %v %v", did, err)
	}
	die()
	if err := <-ended; err == nil {
		t.Error("the cycle was not cut off")
	}
	if got := w.Value("SELECT (SELECT count(*) FROM alerts) || ' ' || (SELECT count(*) FROM alert_states)"); got != "0 0" {
		t.Errorf("alerts and states: %s", got)
	}
	w.Exec("DROP TRIGGER test_wait ON notification_events")
	w.cycle()
	w.minutes(3)
	if got := strings.Join(w.said, "; "); got != "1 open r web" {
		t.Errorf("said is %s", got)
	}
}

// How many statements a cycle has depends on neither rules nor things.
func TestStatementsOfACycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	counted, statements := dbtest.Counting(t, w.url)
	w.engines[0] = w.engine(counted)
	w.busy(nil)
	cycle := func() int64 {
		w.now = w.now.Add(time.Minute)
		w.sample()
		return statements.Count(w.cycle)
	}
	cycle()
	one := cycle()
	w.Exec(`INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status)
		SELECT 1, 1, 'vm', 1000 + i, 1000 + i, 'alpha', 'm' || i, 'running' FROM generate_series(1, 100) i`)
	w.Exec(`INSERT INTO alert_rules (name, kind, threshold, clear_level, for_s, severity)
		SELECT 'm' || i, 'cpu', 40 + i, 30 + i, 60 * (i % 3), 'info' FROM generate_series(1, 10) i`)
	w.Exec(`CREATE FUNCTION many(at timestamptz) RETURNS void LANGUAGE sql AS 'INSERT INTO metric_samples (at, target_kind, target_id, cpu)
		SELECT at, ''guest'', id, 0.7 FROM guests WHERE vmid >= 1000'`)
	most := int64(0)
	for range 4 {
		w.now = w.now.Add(time.Minute)
		w.sample()
		w.Exec("SELECT many($1)", w.now)
		most = max(most, statements.Count(w.cycle))
	}
	// Besides those of a quiet cycle: raising alerts with what raised them, and keeping and forgetting states.
	if n := w.Value("SELECT count(*) FROM alerts"); n != "1000" || most > one+5 {
		t.Errorf("%d statements for nothing, %d for %s alerts", one, most, n)
	}
}

// What is written for people outside has all that they are chosen by.
func TestWhatIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.busy(map[string]string{"for_s": "0", "clear_for_s": "0", "severity": "'critical'"})
	w.level("guest:1", "cpu", 95)
	w.minutes(1)
	w.level("guest:1", "cpu", 5)
	w.Exec("UPDATE hosts SET team_id = 2 WHERE id = 1")
	w.minutes(1)
	const told = `SELECT string_agg(concat_ws('|', team_id, state, severity, rule, target_kind, target_id, tags, title, body, link,
		user_id), E'\n'
		ORDER BY id) FROM notification_events`
	want := "1|open|critical|r|vm|1|{prod}|web: CPU usage is 95 %, at least 90 %.||/alerts/1\n" +
		"2|resolved|critical|r|vm|1|{prod}|Resolved: web: CPU usage is 95 %, at least 90 %.|The condition has cleared.|/alerts/1"
	if got := w.Value(told); got != want {
		t.Errorf("told is\n%s\nand not\n%s", got, want)
	}
}

// An alert keeps the samples that raised it, though the samples themselves go.
func TestWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.busy(nil)
	w.minutes(3)
	w.level("guest:1", "cpu", 50)
	w.minutes(3)
	w.level("guest:1", "cpu", 95)
	w.flow("guest:2", "net_in", 60e6)
	w.minutes(6)
	w.Exec("DELETE FROM metric_samples")
	d, err := w.store().Get(t.Context(), 1, everything)
	if err != nil {
		t.Fatal(err)
	}
	why := d.Why
	if len(why.Samples) != 9 || why.Samples[0].Value != 50 || why.Samples[8].Value != 95 || !why.Samples[8].At.Equal(w.now) ||
		*why.Threshold != 90 || *why.ClearLevel != 80 || *why.Unit != alert.Percent || why.ForS != 300 || *why.Value != 95 {
		t.Errorf("%+v", why)
	}
	w.rule("net_in", map[string]string{"threshold": "1e5", "clear_level": "1e5"})
	w.Exec("DELETE FROM alert_rules WHERE kind = 'cpu'")
	w.minutes(3)
	d, err = w.store().Get(t.Context(), 2, everything)
	if err != nil || len(d.Why.Samples) != 1 || d.Why.Samples[0].Value != 1e6 {
		t.Errorf("%+v, %v", d, err)
	}
}

// The loop evaluates by itself, by the database's clock, and beats.
func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 3; UPDATE alert_rules SET for_s = 0 WHERE key = 'host.offline'")
	beats := &heartbeat.Monitor{}
	e := alert.NewEngine(alert.Config{DB: w.d, Every: 50 * time.Millisecond, Heartbeat: beats})
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		e.Run(ctx)
		close(ended)
	}()
	waittest.Until(t, "the host is told of", func() bool {
		return w.Value("SELECT count(*) FROM notification_events WHERE rule = 'host.offline'") == "1" && beats.Begun()
	})
	end()
	<-ended
}

// All rules that come with the service are good ones, and say what they are good for.
func TestRulesOfTheService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rules, total, err := w.store().Rules(t.Context(), 0, 500)
	if err != nil || total < 15 || len(rules) != total {
		t.Fatalf("%d rules of %d: %v", len(rules), total, err)
	}
	for _, r := range rules {
		d := alert.RuleInput{Name: r.Name, Description: r.Description, Kind: r.Kind, On: r.On, Threshold: r.Threshold, ClearLevel: r.ClearLevel}
		if faults := d.Faults(); len(faults) > 0 || !strings.HasSuffix(r.Description, ".") || r.Key == nil || !r.Seeded {
			t.Errorf("%s: %v, %q", r.Name, faults, r.Description)
		}
	}
}

// Lists show what rules and windows are about, so that it is bounded. What an older release kept stays, and all else of it can be changed.
func TestLongScopesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.store()
	var tags []string
	for i := range 200 {
		tags = append(tags, fmt.Sprint(i, strings.Repeat("x", 390)))
	}
	on, about := alert.Scope{Tags: tags}, alert.WindowScope{Tags: tags}
	rule := alert.RuleInput{Name: "x", Kind: alert.CPU, Threshold: new(90.0), Severity: alert.Warning}
	window := alert.WindowInput{Name: "x", Timezone: "UTC", Cron: new("0 1 * * *"), DurationS: new(int64(600))}
	refused := func(what string, err error) {
		t.Helper()
		if faults := problem.From(err).Faults; len(faults) != 1 || fmt.Sprint(faults[0].Loc) != "[body on]" {
			t.Errorf("%s: %v, %v", what, faults, err)
		}
	}
	r, err := s.CreateRule(t.Context(), rule)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.CreateWindow(t.Context(), window)
	if err != nil {
		t.Fatal(err)
	}
	widenRule, widenWindow := func(d *alert.RuleInput) { d.On = on }, func(d *alert.WindowInput) { d.On = about }
	_, err = s.UpdateRule(t.Context(), r.ID, widenRule)
	refused("a rule that becomes long", err)
	_, err = s.UpdateWindow(t.Context(), m.ID, widenWindow)
	refused("a window that becomes long", err)
	widenRule(&rule)
	_, err = s.CreateRule(t.Context(), rule)
	refused("a long rule", err)
	widenWindow(&window)
	_, err = s.CreateWindow(t.Context(), window)
	refused("a long window", err)

	w.Exec("UPDATE alert_rules SET tags = $1 WHERE id = $2", tags, r.ID)
	w.Exec("UPDATE maintenance_windows SET tags = $1 WHERE id = $2", tags, m.ID)
	if r, err = s.UpdateRule(t.Context(), r.ID, func(d *alert.RuleInput) { d.Enabled = false }); err != nil || r.Enabled ||
		len(r.On.Tags) != 200 {
		t.Errorf("a long rule of an older release: %v", err)
	}
	if m, err = s.UpdateWindow(t.Context(), m.ID, func(d *alert.WindowInput) { d.Enabled = false }); err != nil || m.Enabled ||
		len(m.On.Tags) != 200 {
		t.Errorf("a long window of an older release: %v", err)
	}
}

// What was raised before there were rules goes on, and nobody is told of it again.
func TestAlertsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	provider, err := goose.NewProvider(goose.DialectPostgres, w.d.SQL, migrations.FS, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 65); err != nil {
		t.Fatal(err)
	}
	w.Exec(`UPDATE host_credentials SET missing = '{VM.Audit}' WHERE host_id IN (1, 3);
		INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity, resolved_at) VALUES
		(1, 1, 'host', 1, 'h1', 'host.permission', 'warning', NULL), (1, 1, 'host', 1, 'h1', 'host.permission', 'warning', NULL),
		(1, 2, 'host', 2, 'h2', 'host.permission', 'warning', NULL), (2, 3, 'host', 3, 'solo', 'host.permission', 'warning', now())`)
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.minutes(1)
	const all = `SELECT string_agg(concat_ws(' ', id, target_name, CASE WHEN resolved_at IS NULL THEN 'open' ELSE NULLIF(resolution,
		'') END), ', ' ORDER BY id)
		FROM alerts`
	if got := w.Value(all); got != "1 h1 open, 2 h1 The rule was removed., 3 h2 The condition has cleared., 4 solo, 5 solo open" {
		t.Errorf("alerts are %s", got)
	}
	w.Exec("UPDATE host_credentials SET missing = '{}'")
	w.minutes(1)
	if got := strings.Join(w.said, "; "); got != "1 open host.permission solo; 2 resolved host.permission solo" {
		t.Errorf("said is %s", got)
	}
}

// What was done about alerts before each act was kept stays in their histories.
func TestActsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	provider, err := goose.NewProvider(goose.DialectPostgres, w.d.SQL, migrations.FS, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 78); err != nil {
		t.Fatal(err)
	}
	w.Exec(`INSERT INTO users (email, email_key, password_hash) VALUES ('ann@example.com', 'ann@example.com', 'x');
		INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity, message, raised_at, acknowledged_at,
			acknowledged_by, ack_note, silenced_at, silenced_until, silence_note)
		VALUES (1, 1, 'host', 1, 'h1', 'r', 'warning', 'm', '2026-01-01', '2026-01-02', (SELECT max(id) FROM users), 'mine', '2026-01-03',
			'2026-01-04', 'known'),
		(1, 1, 'host', 1, 'h1', 'r', 'warning', 'm', '2026-01-01', NULL, NULL, '', NULL, NULL, '')`)
	if _, err := provider.UpTo(t.Context(), 79); err != nil {
		t.Fatal(err)
	}
	s := &alert.Store{DB: w.d}
	for id, want := range map[int64]string{1: "raised m; acknowledged mine ann@example.com; silenced known until 2026-01-04", 2: "raised m"} {
		d, err := s.Get(t.Context(), id, everything)
		if err != nil {
			t.Fatal(err)
		}
		told := make([]string, len(d.History))
		for i, e := range d.History {
			told[i] = e.What + " " + e.Text
			if e.By != nil && e.By.Email != "" {
				told[i] += " " + e.By.Email
			}
			if e.Until != nil {
				told[i] += " until " + e.Until.Format("2006-01-02")
			}
		}
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("the history of alert %d is %q, want %q", id, got, want)
		}
	}
}
