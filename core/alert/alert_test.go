package alert_test

import (
	"testing"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// An alert is open once however often it is raised, and its end is told once.
func TestAnAlertIsOpenOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	if _, err := d.Pool.Exec(t.Context(), "INSERT INTO hosts (driver, name, address) VALUES ('fake', 'lab', 'a:1')"); err != nil {
		t.Fatal(err)
	}
	step := func(fn func(tx *db.Tx) error, want string) {
		t.Helper()
		for range 2 {
			if err := d.Tx(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
			var got string
			err := d.Pool.QueryRow(t.Context(), `SELECT COALESCE(string_agg(severity || ' ' || target_name || ' ' || team_id || CASE WHEN `+
				`resolved_at IS NULL THEN ' open' ELSE '' END, ', ' ORDER BY id), '') FROM alerts`).Scan(&got)
			if err != nil || got != want {
				t.Errorf("alerts are %q (%v), want %q", got, err, want)
			}
		}
	}
	raise := func(tx *db.Tx) error {
		return alert.RaiseOnHost(t.Context(), tx.Pgx, 1, alert.HostPermission, alert.Warning, "x")
	}
	resolve := func(tx *db.Tx) error { return alert.ResolveOnHost(t.Context(), tx.Pgx, 1, alert.HostPermission, "y") }
	step(resolve, "")
	step(raise, "warning lab 1 open")
	step(resolve, "warning lab 1, info lab 1")
	step(raise, "warning lab 1, info lab 1, warning lab 1 open")
}

// Alerts of other rules and other hosts neither keep one from being raised nor end with it.
func TestAlertsOfHostsAndRulesStandAlone(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, name := range []string{"one", "two"} {
		if _, err := d.Pool.Exec(t.Context(), "INSERT INTO hosts (driver, name, address) VALUES ('fake', $1, $1)", name); err != nil {
			t.Fatal(err)
		}
	}
	do := func(fn func(tx *db.Tx) error) {
		t.Helper()
		if err := d.Tx(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range []int64{1, 2} {
		for _, rule := range []string{"a", "b"} {
			do(func(tx *db.Tx) error { return alert.RaiseOnHost(t.Context(), tx.Pgx, host, rule, alert.Warning, "x") })
		}
	}
	do(func(tx *db.Tx) error { return alert.ResolveOnHost(t.Context(), tx.Pgx, 1, "a", "y") })
	var got string
	err := d.Pool.QueryRow(t.Context(),
		`SELECT string_agg(target_name || ' ' || rule || ' ' || severity || CASE WHEN resolved_at IS NULL THEN ' open' ELSE '' END, ', '
			ORDER BY id)
		FROM alerts`).Scan(&got)
	if want := "one a warning, one b warning open, two a warning open, two b warning open, one a info"; err != nil || got != want {
		t.Errorf("alerts are %q (%v), want %q", got, err, want)
	}
}
