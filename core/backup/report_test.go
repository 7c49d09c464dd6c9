package backup_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/db/dbtest"
)

// The report comes once a day, from one of several instances, for the instance and for each team, and tells what was made, what failed and
// what is late.
func TestReport(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	d := dbtest.Open(t, url)
	now := time.Now().UTC()
	seven := time.Date(now.Year(), now.Month(), now.Day(), 7, 0, 0, 0, time.UTC).AddDate(0, 0, 1)
	report := func(at time.Time) {
		t.Helper()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := (&backup.Store{DB: dbtest.Open(t, url)}).Report(t.Context(), at); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	told := func() []string {
		t.Helper()
		text := dbtest.Value[string](t, d, `SELECT COALESCE(string_agg(concat_ws('|', COALESCE(team_id, 0), severity, title, body), '~'
			ORDER BY team_id NULLS FIRST), '') FROM notification_events`)
		dbtest.Exec(t, d, "DELETE FROM notification_events")
		if text == "" {
			return nil
		}
		return strings.Split(text, "~")
	}
	dbtest.Exec(t, d, "UPDATE notification_reports SET written_at = $1", seven.AddDate(0, 0, -1))
	report(seven)
	if got := told(); got != nil {
		t.Errorf("told of nothing: %q", got)
	}
	fill(t, d, 3, 1) // each has one of an hour ago
	dbtest.Exec(t, d, `UPDATE backups SET size = 3 * 1024 * 1024; INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
		INSERT INTO clusters (team_id, name) VALUES (2, 'two');
		INSERT INTO hosts (team_id, cluster_id, driver, name, address) VALUES (2, 2, 'mem', 'rack2', 'rack2:8006');
		INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) VALUES (2, 2, '', 'nas', now());
		INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status) SELECT 2, 2, 'vm', i, i::text, 'n', 'late-' || i, 'running'
			FROM generate_series(1, 25) i;
		INSERT INTO jobs (kind, team_id, target_kind, target_id, target_name, status, error, finished_at) VALUES
			('backup.run', 2, 'vm', 4, 'late-1', 'failed', 'no space left', now()), ('vm.start', 2, 'vm', 4, 'late-1', 'failed', 'x', now())`)
	report(seven.Add(23 * time.Hour)) // not again on that day
	if got := told(); got != nil {
		t.Errorf("told twice a day: %q", got)
	}
	dbtest.Exec(t, d, "UPDATE notification_reports SET written_at = $1", now.Add(-2*time.Hour))
	report(seven)
	got := told()
	if len(got) != 2 || !strings.HasPrefix(got[0], "0|warning|Backups: 3 done, 1 failed, 25 overdue|Since ") ||
		!strings.HasPrefix(got[1], "2|warning|Backups: 0 done, 1 failed, 25 overdue|") {
		t.Fatalf("told %q", got)
	}
	for _, part := range []string{"3 backups with 9 MiB in total, 1 failed.\n3 guests have a recent enough backup",
		"\nFailed:\n- late-1: no space left\n",
		"- late-10: never\n", "and 5 more\n"} {
		if !strings.Contains(got[0], part) {
			t.Errorf("%q lacks %q", got[0], part)
		}
	}
	dbtest.Exec(t, d, `INSERT INTO guest_volumes (guest_id, key, storage, volume, removable, path, left_out, unused) VALUES
		(1, 'mp0', 'local', 'a', false, '/srv', true, false), (1, 'scsi1', 'local', 'b', false, '', true, false),
		(2, 'unused0', 'local', 'c', false, '', true, true), (3, 'mp0', '', '', false, '/media', true, false)`)
	dbtest.Exec(t, d, "UPDATE notification_reports SET written_at = $1", now.Add(-2*time.Hour))
	report(seven)
	if got = told(); !strings.Contains(got[0], "3 guests have a recent enough backup") ||
		!strings.Contains(got[0], "\nVolumes not included in backups:\n- vm-1: mp0 (/srv), scsi1\n") {
		t.Errorf("told %q", got)
	}
	dbtest.Exec(t, d, `INSERT INTO settings (key, value) VALUES ('backup.report_at', '""')`)
	report(seven.AddDate(0, 0, 5))
	if got := told(); got != nil {
		t.Errorf("told though it is switched off: %q", got)
	}
}
