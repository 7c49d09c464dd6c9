package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/core/setting"
)

const (
	// reportNames is how many guests a report names in each section; the others
	// are only counted.
	reportNames = 20
	// reportSpan is the longest period that a report covers. It matters after
	// the service was off for a while.
	reportSpan = 7 * 24 * time.Hour
)

// defaultTeam is the ID of the team that every instance has. It gets no report,
// because the report of the instance covers all teams.
const defaultTeam = 1

// reportKind is the report's row in notification_reports.
const reportKind = "backup_report"

// Report writes the daily report of backups if it is due at now: the time of
// day in the setting backup.report_at has passed, and no instance has written
// the report since. There is one event for the instance and one for each team
// with guests.
//
// Every instance calls it at every turn. A cheap query without a lock finds out
// whether the report is due; inside the transaction, a row lock and a second
// check decide which instance writes it.
func (s *Store) Report(ctx context.Context, now time.Time) error {
	at, err := setting.Get(ctx, s.DB, setting.BackupReportAt)
	if err != nil {
		return err
	}
	due, err := setting.LastClock(at, now)
	if err != nil || due.IsZero() {
		return err
	}
	var written time.Time
	err = s.DB.Pool.QueryRow(ctx, "SELECT written_at FROM notification_reports WHERE kind = $1", reportKind).Scan(&written)
	if err != nil || !written.Before(due) {
		return db.Problem(err)
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		err := tx.Pgx.QueryRow(ctx, "SELECT written_at FROM notification_reports WHERE kind = $1 AND written_at < $2 FOR UPDATE", reportKind,
			due).Scan(&written)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another instance has written it
		}
		if err != nil {
			return fmt.Errorf("reading the last backup report: %w", err)
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE notification_reports SET written_at = $2 WHERE kind = $1", reportKind, now); err != nil {
			return fmt.Errorf("recording the backup report: %w", err)
		}
		since := written
		if oldest := now.Add(-reportSpan); since.Before(oldest) {
			since = oldest
		}
		return s.report(ctx, tx, since)
	})
}

// tally has the numbers and lines of one team's report. Sizes are in bytes.
type tally struct {
	made, size, failed, stale, covered, partial int64
	failures, late, gaps                        []string
}

// add adds the tally of another team.
func (t *tally) add(o *tally) {
	t.made, t.size, t.failed, t.stale, t.covered = t.made+o.made, t.size+o.size, t.failed+o.failed, t.stale+o.stale, t.covered+o.covered
	t.partial, t.gaps = t.partial+o.partial, append(t.gaps, o.gaps...)
	t.failures, t.late = append(t.failures, o.failures...), append(t.late, o.late...)
}

// report writes the events for the period that begins at since.
func (s *Store) report(ctx context.Context, tx *db.Tx, since time.Time) error {
	teams, err := s.tally(ctx, tx, since)
	if err != nil {
		return err
	}
	all := &tally{}
	for _, t := range teams {
		all.add(t)
	}
	for team, t := range teams {
		if team == defaultTeam {
			continue // its report is the instance's
		}
		if err := t.write(ctx, tx, &team, since); err != nil {
			return err
		}
	}
	return all.write(ctx, tx, nil, since)
}

// tally counts by team, with one statement for each section. Each statement
// limits the rows per team to reportNames and returns the full count with each
// row.
func (s *Store) tally(ctx context.Context, tx *db.Tx, since time.Time) (map[int64]*tally, error) {
	days, err := setting.Get(ctx, s.DB, setting.BackupMaxAge)
	if err != nil {
		return nil, err
	}
	teams := map[int64]*tally{}
	of := func(team int64) *tally {
		if teams[team] == nil {
			teams[team] = &tally{}
		}
		return teams[team]
	}
	var team int64
	var name string
	each := func(to []any, row func() error, sql string, args ...any) error {
		rows, err := tx.Pgx.Query(ctx, sql, args...)
		if err == nil {
			_, err = pgx.ForEachRow(rows, to, row)
		}
		if err != nil {
			return fmt.Errorf("reading the data of a backup report: %w", err)
		}
		return nil
	}
	var made, size int64
	err = each([]any{&team, &made, &size}, func() error {
		of(team).made, of(team).size = made, size
		return nil
	}, `SELECT h.team_id, count(*), COALESCE(sum(b.size), 0)::bigint FROM backups b JOIN backup_storages s ON s.id = b.storage_id
		JOIN hosts h ON h.id = s.host_id WHERE b.taken_at > $1 AND `+guest.GoodBackup+` GROUP BY 1`, since)
	if err != nil {
		return nil, err
	}
	var reason string
	var count int64
	err = each([]any{&team, &name, &reason, &count}, func() error {
		of(team).failed = count
		of(team).failures = append(of(team).failures, name+": "+cmp.Or(reason, "reason unknown"))
		return nil
	}, `SELECT team, target_name, error, count FROM (SELECT COALESCE(team_id, 1) AS team, target_name, error, count(*) OVER (PARTITION BY
		COALESCE(team_id, 1)),
			row_number() OVER (PARTITION BY COALESCE(team_id, 1) ORDER BY finished_at, id) AS n FROM jobs
			WHERE kind = 'backup.run' AND status IN ('failed', 'unknown') AND finished_at > $1) j WHERE n <= $2 ORDER BY team, n`, since,
		reportNames)
	if err != nil {
		return nil, err
	}
	var state, gaps string
	var taken *time.Time
	err = each([]any{&team, &state, &name, &taken, &gaps, &count}, func() error {
		t := of(team)
		switch state {
		case "covered":
			t.covered = count
			return nil
		case "partial":
			t.partial = count
			t.gaps = append(t.gaps, name+": "+gaps)
			return nil
		}
		t.stale = count
		last := "never"
		if taken != nil {
			last = taken.UTC().Format("2006-01-02 15:04 MST")
		}
		t.late = append(t.late, name+": "+last)
		return nil
	}, CoverageSQL+` SELECT team_id, state, name, taken_at, CASE WHEN state = 'partial' THEN (SELECT left(string_agg(v.key || COALESCE(
			' (' || NULLIF(v.path, '') || ')', ''), ', ' ORDER BY v.key), 200) FROM guest_volumes v WHERE v.guest_id = j.id AND `+missing+`)
			ELSE '' END, count
		FROM (SELECT h.team_id, j.id, j.state, j.name, j.taken_at, count(*) OVER w, row_number() OVER (w ORDER BY j.taken_at NULLS FIRST,
			j.id) AS n
			FROM judged j JOIN hosts h ON h.id = j.host_id WHERE j.state IN ('stale', 'covered', 'partial')
			WINDOW w AS (PARTITION BY h.team_id, j.state)) j
		WHERE n <= CASE state WHEN 'covered' THEN 1 ELSE $4 END ORDER BY team_id, state, n`, true, []int64{}, days, reportNames)
	return teams, err
}

// write writes one event, for a team or with nil for the instance. It writes
// nothing if there is nothing to report.
func (t *tally) write(ctx context.Context, tx *db.Tx, team *int64, since time.Time) error {
	if t.made+t.failed+t.stale+t.covered+t.partial == 0 {
		return nil
	}
	severity := "info"
	if t.failed+t.stale > 0 {
		severity = "warning"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Since %s: %d backups with %s in total, %d failed.\n%d guests have a recent enough backup, %d do not.\n",
		since.UTC().Format("2006-01-02 15:04 MST"), t.made, amount(t.size), t.failed, t.covered+t.partial,
		t.stale)
	for _, part := range []struct {
		heading string
		lines   []string
		of      int64
	}{{"Failed", t.failures, t.failed}, {"Last good backup of guests that are overdue", t.late, t.stale},
		{"Volumes not included in backups", t.gaps, t.partial}} {
		if len(part.lines) == 0 {
			continue
		}
		slices.Sort(part.lines)
		lines := part.lines[:min(len(part.lines), reportNames)]
		fmt.Fprintf(&b, "\n%s:\n- %s\n", part.heading, strings.Join(lines, "\n- "))
		if more := part.of - int64(len(lines)); more > 0 {
			fmt.Fprintf(&b, "and %d more\n", more)
		}
	}
	return notify.Write(ctx, tx.Pgx, notify.Event{TeamID: team, Kind: notify.BackupReport, State: notify.OneTime, Severity: severity,
		Title: fmt.Sprintf("Backups: %d done, %d failed, %d overdue", t.made, t.failed, t.stale), Body: b.String(),
		Link: "/backups"})
}

// amount formats a number of bytes with a binary unit.
func amount(bytes int64) string {
	size, unit := float64(bytes), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.4g %s", size, units[unit])
}
