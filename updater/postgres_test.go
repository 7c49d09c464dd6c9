package updater

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
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
	"github.com/hostler/hostler/updater/installation"
)

// cluster is a PostgreSQL of the test's own, that it may stop and whose disk it may fill.
type cluster struct {
	t        testing.TB
	dir      string
	account  private.Account
	binaries private.Binaries
	cmd      *exec.Cmd
	gone     chan struct{}
	log      waittest.Text
}

// newCluster makes a cluster in a folder, which is a disk of so many MiB when that is not 0, and starts it.
func newCluster(t testing.TB, mib int) (*cluster, disk) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "hostler-cluster-") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &cluster{t: t, dir: dir}
	if c.account, err = private.FindAccount(""); err != nil {
		t.Fatal(err)
	}
	installed, err := private.FindBinaries(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	c.binaries = installed[0]
	var d disk
	store := filepath.Join(dir, "store")
	if mib > 0 {
		d = newDisk(t, store, mib)
	}
	for _, folder := range []string{filepath.Join(dir, "run"), store, filepath.Join(store, "data")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{dir, filepath.Join(dir, "run"), store, filepath.Join(store, "data")} {
		if err := os.Chown(folder, c.account.UID, c.account.GID); err != nil {
			t.Fatal(err)
		}
	}
	if err := private.InitDB(t.Context(), c.binaries, c.account, filepath.Join(store, "data"), "--auth=trust", "--no-sync",
		"--wal-segsize=1"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	c.start()
	return c, d
}

func (c *cluster) url(name string) string {
	return "postgres://" + private.Superuser + "@/" + name + "?" +
		url.Values{"host": {filepath.Join(c.dir, "run")}, "port": {"5432"}, "sslmode": {"disable"}}.Encode()
}

// start returns when the server takes connections.
func (c *cluster) start() {
	c.t.Helper()
	args := []string{"-D", filepath.Join(c.dir, "store", "data"), "-c", "listen_addresses=", "-c",
		"unix_socket_directories=" + filepath.Join(c.dir, "run"),
		"-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_wal_size=8MB", "-c", "min_wal_size=2MB", "-c", "max_connections=50"}
	c.cmd = exec.Command(c.binaries.Path("postgres"), args...)
	c.cmd.Dir, c.cmd.Env = c.dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.account.Credential(), Pdeathsig: syscall.SIGQUIT}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	gone := make(chan struct{})
	c.gone = gone
	go func(cmd *exec.Cmd) { defer close(gone); _ = cmd.Wait() }(c.cmd) // how it ended is in its log
	waittest.Succeeds(c.t, "the database server is there", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err != nil {
			return fmt.Errorf("%w\n%s", err, c.log.String())
		}
		_ = conn.Close(ctx)
		return nil
	})
}

// stop sends everybody away, as a crash does.
func (c *cluster) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGQUIT)
	<-c.gone
}

func (c *cluster) create(name string) string {
	c.t.Helper()
	s := &site{t: c.t, database: c.url("postgres")}
	s.sql("CREATE DATABASE " + name)
	return c.url(name)
}

// PostgreSQL goes away at every step, for a moment or until the updater has given up.
func TestDatabaseServerGoesAway(t *testing.T) {
	t.Parallel()
	points := []struct {
		point string
		// moment is how the run ends when the server is back soon, and long when it stays away until the updater is gone.
		// Empty is not tried: the step takes as long as the moment.
		moment, long installation.State
	}{
		{"start", "failed", "failed"}, {"in backup", "failed", "failed"}, {"in trial", "failed", "failed"}, {"in stop", "", "failed"},
		{"in snapshot", "failed", "failed"},
		{"put aside", "failed", "failed"}, {"in migrate", "rolled_back", "rolled_back"}, {"in switch", "rolled_back", "rolled_back"},
		{"switched", "rolled_back", "rolled_back"},
		{"between renames", "rolled_back", "rolled_back"}, {"database back", "rolled_back", "rolled_back"},
		{"copy dropped", "done", "done"},
	}
	for _, long := range []bool{false, true} {
		t.Run(map[bool]string{false: "for a moment", true: "for long"}[long], func(t *testing.T) {
			t.Parallel()
			c, _ := newCluster(t, 0)
			s := newSiteOn(t, c.create("hostler"))
			config := s.config()
			config.ReadyTime, config.DatabaseWait = 8*time.Second, 10*time.Second // which resume has more of
			if long {
				// Enough for a service with its plugins on a busy machine, where the server is there again.
				config.ReadyTime, config.DatabaseWait = 6*time.Second, time.Second
			}
			s.untidy = true
			for _, p := range points {
				name := "server away " + p.point
				want := p.moment
				if long {
					want = p.long
				}
				if want == "" {
					continue
				}
				script := ""
				if p.point == "between renames" || p.point == "database back" {
					script = `[ "$1" = serve ] && exit 3`
				}
				s.publish(newVersion, script)
				_ = os.Remove(Layout{StateDir: s.own}.seen())
				if p.point == "start" {
					c.stop()
					s.do(order{Do: "run", Config: config})
					c.start()
				} else {
					o := order{Do: "run", Config: config, PauseAt: p.point}
					proc := s.start(o)
					proc.paused()
					said := len(s.supervisor.log.String())
					c.stop()
					proc.goOn()
					if !long {
						proc.noticed(said)
						c.start()
					}
					proc.wait()
					if long {
						c.start()
					}
				}
				if err := s.supervisor.Start(t.Context()); err != nil && p.point != "start" { // it may have given up, as systemd does after a while
					t.Fatal(err)
				}
				got := s.settle(name)
				if got != want {
					t.Fatalf("%s: %q, want %q\n%s", name, got, want, s.supervisor.log.String())
				}
				if got == installation.StateDone {
					return
				}
			}
			s.untidy = false
			s.publish(newVersion, "")
			_ = os.Remove(Layout{StateDir: s.own}.seen())
			s.update()
		})
	}
}

// The database server's own disk is full. PostgreSQL stops altogether when it cannot write its log.
func TestFullDatabaseDisk(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t, 600)
	s := newSiteOn(t, c.create("hostler"))
	config := s.config()
	config.ReadyTime, config.DatabaseWait, config.StopTime = 5*time.Second, 2*time.Second, 5*time.Second
	s.publish(newVersion, `[ "$1" = serve ] && exit 3`)
	s.suffers("full database", []fault{
		{"start", "failed", false}, {"in backup", "failed", false}, {"in trial", "failed", false}, {"in snapshot", "failed", false},
		{"put aside", "failed", false},
		{"in migrate", "rolled_back", false}, {"in switch", "rolled_back", false}, {"before rollback", "rolled_back", false},
		{"between renames", "rolled_back", false},
	}, order{Config: config}, d.fill, func() {
		d.free()
		select {
		case <-c.gone: // it could not write its log
			c.start()
		default:
		}
		if err := s.supervisor.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// Other programs use the database all the time: they hold connections and transactions, and come back at once when they
// are sent away.
func TestOthersOnTheDatabase(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		name := map[bool]string{false: "update", true: "rollback"}[broken]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			version, end := newVersion, installation.StepDone
			if broken {
				version, end = oldVersion, installation.StepRolledBack
				s.publish(newVersion, `[ "$1" = serve ] && exit 3`)
			} else {
				s.publish(newVersion, "")
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan int, 3)
			for n := range cap(done) {
				go func() {
					came := 0
					for ctx.Err() == nil {
						conn, err := pgx.Connect(ctx, s.database)
						if err != nil { // it is away for a moment
							time.Sleep(5 * time.Millisecond)
							continue
						}
						came++
						switch n {
						case 0: // comes and goes
						case 1: // sits in a transaction
							_, _ = conn.Exec(ctx, "BEGIN; SELECT count(*) FROM kept")
							_, _ = conn.WaitForNotification(ctx) // until it is sent away
						case 2: // is in a long query
							_, _ = conn.Exec(ctx, "SELECT pg_sleep(60)")
						}
						_ = conn.Close(context.Background())
					}
					done <- came
				}()
			}
			// A command of the service beside it, which may work or fail but must not harm.
			at := "in trial"
			answer := s.during(at, order{Do: "run"}, func() {
				cmd := exec.Command(filepath.Join(s.prefix, "current", "bin", "hostlerd"), "owner", "create", "--email", "owner@example.org",
					"--password-stdin")
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOSTLER_DATABASE_URL=" + s.database, "HOSTLER_STATE_DIR=" + s.state}
				cmd.Stdin = bytes.NewReader([]byte("Trombone-Quartz-Lagoon-71\n"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
			s.must(answer, end)
			if n := s.query("SELECT count(*)::text FROM users WHERE email = 'owner@example.org'"); n != "1" {
				t.Errorf("%s owners", n)
			}
			cancel()
			for range cap(done) {
				<-done
			}
			s.holds(version, strings.ReplaceAll(string(end), " ", "_"))
		})
	}
}
