package selfupdate_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/activity"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

// trail returns the rows of the audit log about finished updates.
func (i *instance) trail() string {
	i.t.Helper()
	return i.Value(`SELECT coalesce(string_agg(action || ' ' || result || ' ' || actor_type
		|| ' ' || actor_email || ' ' || target_name
		|| ' ' || coalesce(details->>'reason', '-'), E'\n' ORDER BY action, id), '')
		FROM audit WHERE action LIKE 'update.%' AND action <> 'update.request'`)
}

// Every end of an update is told exactly once, whoever asks and however many instances look.
func TestTell(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Exec(`INSERT INTO update_requests (id, version_from, version_to, machine, actor_type, actor_id, actor_email) VALUES ('r1', ` +
		`'1.0.0', '1.1.0', 'm', 'user', 7, 'ann@example.org')`)
	to := func(version, request string) *installation.Plan {
		return &installation.Plan{From: "1.0.0", To: version, Request: request}
	}
	ended := func(minute int, run string, step installation.Step, text string, plan *installation.Plan) []string {
		return []string{written(minute, run, "backup", "begun", "", plan), written(minute+1, run, step, "ended", text, plan)}
	}
	var lines []string
	lines = append(lines, ended(0, "a", "done", "", to("1.1.0", "r1"))...)
	lines = append(lines, ended(2, "b", "failed", "full disk", to("1.2.0", "unknown"))...)
	lines = append(lines, ended(4, "c", "rolled back", "health-check: svc_abcdefghijklmnopqrstuvwxyz", to("1.2.0", ""))...)
	lines = append(lines, ended(6, "d", "done", "", &installation.Plan{From: "1.0.0", To: "1.3.0", DryRun: true})...)
	// With the backup, a roll-back by hand begins as an update does.
	back := &installation.Plan{From: "1.0.0", To: "1.1.0", Revert: true}
	lines = append(lines, written(8, "e", "backup", "begun", "", back), written(8, "e", "rollback", "begun", "it was asked for", back),
		written(9, "e", "rolled back", "ended", "it was asked for", back))
	lines = append(lines, written(20, "f", "backup", "begun", "", to("1.4.0", "")))
	i.Journal(lines...)
	i.Refuse(installation.Refusal{At: selfupdatetest.Day, Request: "r1", Version: "1.1.0", Reason: "busy"})
	var wg sync.WaitGroup
	for n := range 12 {
		of := i
		if n%2 == 0 {
			of = again(t, i.url, i.Installation, nil)
		}
		wg.Go(func() {
			if err := of.RecordRuns(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := strings.Join([]string{
		"update.done ok user ann@example.org 1.1.0 -",
		"update.dry_run ok system hostler-updater 1.3.0 -",
		"update.failed failed system hostler-updater 1.2.0 full disk",
		"update.refused refused user ann@example.org 1.1.0 busy",
		"update.rolled_back failed system hostler-updater 1.2.0 [redacted]",
		"update.rolled_back ok system hostler-updater 1.1.0 it was asked for",
	}, "\n")
	if got := i.trail(); got != want {
		t.Errorf("the audit log has\n%s\nwant\n%s", got, want)
	}
	if got := i.Value(`SELECT string_agg(kind || ' ' || severity || ' ' || title, E'\n' ORDER BY title) FROM notification_events`); got !=
		"update_done info Hostler was updated from 1.0.0 to 1.1.0\nupdate_rolled_back critical The update from 1.0.0 to 1.2.0 failed\n"+
			"update_rolled_back info The update to 1.1.0 was undone as requested; Hostler is 1.0.0 again\n"+
			"update_rolled_back warning The update to 1.2.0 was undone; Hostler stays at 1.0.0" {
		t.Errorf("the events are\n%s", got)
	}
	rows, _, err := audit.List(t.Context(), i.db, audit.Filter{Action: "update.done", AllTeams: true})
	if err != nil || len(rows) != 1 || *rows[0].ActorID != 7 || rows[0].TargetKind != "release" || rows[0].TeamID != nil ||
		!strings.Contains(string(rows[0].Details), `"finished_at": "2025-05-04T12:01:00Z"`) ||
		!strings.Contains(string(rows[0].Details), `"run": "a"`) {
		t.Errorf("%+v, %v", rows, err)
	}
	feed, err := activity.List(t.Context(), i.db,
		activity.VisibilityOf(&identity.Caller{Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Admin}}), 20)
	if err != nil || len(feed) != 6 || feed[0].Kind != activity.Audit || !strings.HasPrefix(feed[0].Name, "update.") {
		t.Errorf("the feed has %+v, %v", feed, err)
	}
	// A journal that cannot be read tells nothing, and takes nothing back.
	i.Journal("{")
	if err := i.RecordRuns(t.Context()); err == nil || i.trail() != want {
		t.Errorf("a damaged journal: %v", err)
	}
}

// The loop tells at the start what ended before, and then what ends, without anyone asking.
func TestRunTells(t *testing.T) {
	t.Parallel()
	log := &words{}
	i := start(t, func(c *selfupdate.Config) { c.Logger = hclog.New(&hclog.LoggerOptions{Output: log}) })
	plan := &installation.Plan{From: "1.0.0", To: "1.1.0"}
	lines := []string{written(0, "a", "backup", "begun", "", plan), written(1, "a", "done", "ended", "", plan)}
	i.Journal(lines...)
	stop := i.run()
	told := func(n int) {
		t.Helper()
		waittest.Succeeds(t, fmt.Sprintf("%d ends are told", n), func() error {
			if got := i.Value("SELECT count(*) FROM audit WHERE action LIKE 'update.%'"); got != fmt.Sprint(n) {
				return fmt.Errorf("%s", got)
			}
			return nil
		})
	}
	told(1)
	lines = append(lines, written(2, "b", "backup", "begun", "", plan))
	i.Journal(lines...)
	i.Journal(append(lines, "damaged")...)
	lines = append(lines, written(3, "b", "rolled back", "ended", "why", plan))
	i.Journal(lines...)
	told(2)
	i.Refuse(installation.Refusal{At: selfupdatetest.Day, Request: "r", Version: "1.2.0", Reason: "busy"})
	told(3)
	// What the database refuses is tried again, although no file changes; another instance has not less to tell.
	i.Exec("ALTER TABLE update_reports RENAME TO away")
	lines = append(lines, written(4, "c", "backup", "begun", "", plan), written(5, "c", "failed", "ended", "why", plan))
	before := log.count("could not write the results of updates")
	i.Journal(lines...)
	waittest.Succeeds(t, "it was tried twice", func() error {
		if log.count("could not write the results of updates") < before+2 {
			return errors.New("it was not")
		}
		return nil
	})
	i.Exec("ALTER TABLE away RENAME TO update_reports")
	told(4)
	stop()
	stop = again(t, i.url, i.Installation, nil).run()
	lines = append(lines, written(6, "d", "backup", "begun", "", plan), written(7, "d", "failed", "ended", "why", plan))
	i.Journal(lines...)
	told(5)
	stop()
	if got := i.trail(); strings.Count(got, "\n") != 4 {
		t.Errorf("the audit log has %s", got)
	}
}

// words is what was logged.
type words struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *words) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.text.String(), text)
}
