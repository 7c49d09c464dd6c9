package maintenance_test

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/maintenance"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/migrations"
)

// down takes the schema back to before a version.
func (i *instance) down(before int64) {
	i.t.Helper()
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		i.t.Fatal(err)
	}
	slices.Sort(files)
	slices.Reverse(files)
	for _, file := range files {
		number, _, _ := strings.Cut(file, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version < before {
			break
		}
		sql, err := migrations.FS.ReadFile(file)
		if err != nil {
			i.t.Fatal(err)
		}
		_, undo, found := strings.Cut(string(sql), "-- +goose Down")
		if !found {
			i.t.Fatalf("%s has no way back", file)
		}
		if _, err := i.db.Pool.Exec(i.t.Context(), undo, pgx.QueryExecModeSimpleProtocol); err != nil {
			i.t.Fatalf("%s: %v", file, err)
		}
	}
	i.Exec("DELETE FROM goose_db_version WHERE version_id >= $1", before)
}

// A database that has collected samples before there were rollups is rolled up from its oldest day on.
func TestMigrationOfADatabaseWithSamples(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	i := prepare(t, url, maintenance.Config{})
	i.down(8)
	yesterday := metric.Day(time.Now()).AddDate(0, 0, -1)
	for day := range 3 {
		from := yesterday.AddDate(0, 0, day)
		i.Exec("CREATE TABLE metric_samples_" + from.Format("20060102") + " PARTITION OF metric_samples FOR VALUES FROM ('" +
			from.Format(time.RFC3339) + "') TO ('" + from.AddDate(0, 0, 1).Format(time.RFC3339) + "')")
	}
	i.Exec(`INSERT INTO metric_samples (at, target_kind, target_id, cpu, net_in) SELECT $1::timestamptz + n * interval '30 seconds',
		'guest', g, 0.25, n
		FROM generate_series(0, 2879) n, generate_series(1, 3) g`, yesterday)
	if err := i.db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := start(t, url, maintenance.Config{})
	again.did("metrics.maintain")
	if got := again.Value("SELECT (SELECT count(*) || ' ' || sum(samples) || ' ' || sum(net_in) FROM metric_5m) || ', ' || (SELECT " +
		"count(*) || ' ' || sum(samples) || ' ' || sum(net_in) FROM metric_1h)"); got != "864 8640 8637, 72 8640 8637" {
		t.Errorf("rolled up: %s", got)
	}
	if n := again.Value("SELECT count(*) FROM schedules WHERE seeded"); n != "6" { // with update.check, which is off, and catalog.refresh
		t.Errorf("%s schedules came with the service", n)
	}
}
