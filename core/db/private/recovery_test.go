package private_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/waittest"
)

// fill writes a row that must survive.
func fill(t *testing.T, url string) {
	t.Helper()
	query(t, url, "SELECT 'ok'")
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE kept AS SELECT 'kept'::text AS word"); err != nil {
		t.Fatal(err)
	}
}

func TestPostmasterKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a database server: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	fill(t, c.URL())
	for range 2 {
		old := postmasterOf(dir)
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		answers(t, c.URL())
		if postmasterOf(dir) == old {
			t.Error("the dead one answers")
		}
	}
	if got := query(t, c.URL(), "SELECT word FROM kept"); got != "kept" {
		t.Errorf("got %q", got)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// answers waits until a query works.
func answers(t *testing.T, url string) {
	t.Helper()
	waittest.Until(t, "the cluster to answer", func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return false
		}
		defer conn.Close(t.Context())
		return conn.Ping(t.Context()) == nil
	})
}

// TestPostmasterKilledWithBusyChild leaves a child that does not notice the death of its parent.
func TestPostmasterKilledWithBusyChild(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a database server: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	child := int(conn.PgConn().PID())
	busy := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "DO $$ BEGIN LOOP END LOOP; END $$")
		busy <- err
	}()
	waittest.Until(t, "the child to be busy", func() bool {
		return query(t, c.URL(), "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'") == "1"
	})
	if err := syscall.Kill(postmasterOf(dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-busy; err == nil {
		t.Error("the busy child came to an end by itself")
	}
	answers(t, c.URL())
	if alive(child) {
		t.Error("the busy child lives")
	}
}

func TestServiceKilledAndTakenOver(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	first := run(t, private.Config{Dir: dir}, -1)
	fill(t, first.first)
	pid := postmasterOf(dir)
	first.kill(t)
	if !alive(pid) {
		t.Fatal("PostgreSQL died with the service")
	}
	c := start(t, private.Config{Dir: dir})
	if got := postmasterOf(dir); got != pid {
		t.Errorf("process %d was not taken over: now %d", pid, got)
	}
	if got := query(t, c.URL(), "SELECT word FROM kept"); got != "kept" {
		t.Errorf("got %q", got)
	}
	// What was taken over is watched as what was started.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	answers(t, c.URL())
	pid = postmasterOf(dir)
	stop(t, c)
	if alive(pid) {
		t.Error("PostgreSQL lives after Stop")
	}
}

func TestServiceKilledThenPostmasterKilled(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	first := run(t, private.Config{Dir: dir}, -1)
	fill(t, first.first)
	pid := postmasterOf(dir)
	first.kill(t)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c := start(t, private.Config{Dir: dir})
	if got := query(t, c.URL(), "SELECT word FROM kept"); got != "kept" {
		t.Errorf("got %q", got)
	}
}

// TestServiceKilledAnywhere kills the first start at many moments; the next start must work every time.
func TestServiceKilledAnywhere(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{5, 50, 150, 300, 450, 600} {
		after *= time.Millisecond
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			s := launch(t, private.Config{Dir: dir}, -1)
			time.Sleep(after) // the moment is the point; every moment must do
			s.kill(t)
			c := start(t, private.Config{Dir: dir})
			query(t, c.URL(), "SELECT 'ok'")
			left, err := filepath.Glob(filepath.Join(dir, "init-*"))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestStalePidFileOfReusedNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a database server: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	stop(t, c)
	// A process of PostgreSQL's user that is no PostgreSQL now has the number that a dead postmaster noted.
	other := sleeper(t)
	text := fmt.Sprintf("%d\n%s/data\n%d\n5432\n../run\n\n  1  2\nready   \n", other, dir, time.Now().Unix())
	for _, name := range []string{"data/postmaster.pid", "run/.s.PGSQL.5432.lock"} {
		writeLike(t, filepath.Join(dir, name), text, filepath.Join(dir, "data"))
	}
	start(t, private.Config{Dir: dir})
	if !alive(other) {
		t.Error("a foreign process was killed")
	}
}

// A copy of a state folder has the name of the cluster that it was made of: what runs on the other folder is left alone.
func TestCopyBesideItsOrigin(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several database servers: make check runs it")
	}
	t.Parallel()
	dir, copied := newDir(t), newDir(t)
	c := start(t, private.Config{Dir: dir})
	fill(t, c.URL())
	if err := c.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", dir+"/.", copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c = start(t, private.Config{Dir: dir})
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	other := start(t, private.Config{Dir: copied})
	if postmasterOf(dir) == postmasterOf(copied) {
		t.Error("it has taken over the other one's PostgreSQL")
	}
	if got := query(t, other.URL(), "SELECT word FROM kept"); got != "kept" {
		t.Errorf("got %q", got)
	}
	if err := conn.Ping(ctx); err != nil { // the connection that was open before
		t.Error("the first one was disturbed:", err)
	}
}

func TestStopInAHurry(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a database server: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	fill(t, c.URL())
	pid := postmasterOf(dir)
	// A stopped child cannot answer to a fast shutdown.
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := syscall.Kill(int(conn.PgConn().PID()), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := withTimeout(t, 500*time.Millisecond)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
	if alive(pid) {
		t.Error("PostgreSQL lives after Stop")
	}
	c = start(t, private.Config{Dir: dir})
	if got := query(t, c.URL(), "SELECT word FROM kept"); got != "kept" {
		t.Errorf("got %q", got)
	}
}

func TestDataVanishes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the data away: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c, err := private.Start(testContext(t), private.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "data", "hostler.json")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(postmasterOf(dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-testContext(t).Done():
		t.Fatal("the supervisor goes on")
	}
	if err := c.Err(); !errors.Is(err, private.ErrForeign) || !strings.Contains(err.Error(), "hostler.json") {
		t.Errorf("got %v", err)
	}
}
