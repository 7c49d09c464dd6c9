package private_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/private"
)

// newDir gives a folder path for a cluster that does not exist yet, below a folder that only its owner can pass.
func newDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "postgresql")
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// start starts a cluster and stops it when the test ends.
func start(t *testing.T, config private.Config) *private.Cluster {
	t.Helper()
	if config.Logger == nil {
		config.Logger = hclog.New(&hclog.LoggerOptions{Name: "private", Level: hclog.Debug, Output: t.Output()})
	}
	c, err := private.Start(testContext(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *private.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// query runs one query that gives one text.
func query(t *testing.T, url, sql string, args ...any) string {
	t.Helper()
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var text string
	if err := conn.QueryRow(ctx, sql, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

func TestFreshAndRestart(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	query(t, c.URL(), "WITH x AS (SELECT 1) SELECT current_user || ' ' || current_database() FROM x")
	stop(t, c)
	if _, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid")); !os.IsNotExist(err) {
		t.Errorf("postmaster.pid after Stop: %v", err)
	}
	began := time.Now()
	start(t, private.Config{Dir: dir})
	t.Log("second start took", time.Since(began))
}
