package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hostler/hostler/core/db/private"
)

// ServerVariable is the environment variable with the URL of an existing
// PostgreSQL server to use. Its role must be allowed to create databases. The
// server's settings are used as they are.
const ServerVariable = "HOSTLER_TEST_DATABASE_URL"

// Server returns the connection string of a superuser on the server that
// ServerVariable names. Without the variable, the first call starts a server
// for this process, with 600 connections. The server disappears with the
// process.
//
// It differs from a production server: it has no durability (fsync,
// full_page_writes and synchronous_commit are off), no autovacuum, no JIT, and
// it always uses generic plans. A watchdog process holds the reading end of a
// pipe from the test process. When that process ends in any way, kill -9
// included, the kernel closes the pipe, and the watchdog stops PostgreSQL and
// removes its folder. No TestMain is needed.
func Server() (string, error) {
	// Not os.Getenv: go test reuses cached results only if the variables that a test read are unchanged, and the address changes each time.
	if given, _ := syscall.Getenv(ServerVariable); given != "" {
		return given, nil
	}
	return server()
}

var server = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	account, err := private.FindAccount("")
	if err != nil {
		return "", fmt.Errorf("finding a system user for the test database: %w", err)
	}
	installed, err := private.FindBinaries(ctx, "")
	if err != nil {
		return "", fmt.Errorf("finding PostgreSQL for the test database: %w", err)
	}
	keepAlive = throwaway{binaries: installed[0], account: account}
	connection, err := keepAlive.start(ctx)
	if err != nil {
		return "", fmt.Errorf("starting the test database: %w", err)
	}
	return connection, nil
})

// watchdog runs as the user of PostgreSQL. $1 is the folder, $2 the program,
// and the rest are its arguments. The first line on standard input says that
// the data directory is ready; the end of input says that the test process has
// ended.
const watchdog = `trap '' HUP INT TERM
dir=$1; shift
if read -r line; then
	"$@" </dev/null >"$dir/log" 2>&1 &
	while read -r line; do :; done
	kill -QUIT $!
	wait $!
fi
cd / && rm -rf "$dir"
`

// throwaway is a server with its folder, which a watchdog removes.
type throwaway struct {
	binaries private.Binaries
	account  private.Account
	dir      string
	pipe     *os.File
}

// keepAlive keeps the pipe to the watchdog open for the life of the process.
// Without it, the garbage collector would close the file.
var keepAlive throwaway

func (t *throwaway) start(ctx context.Context) (string, error) {
	if err := t.watch(); err != nil {
		return "", err
	}
	if err := t.fill(ctx); err != nil {
		return "", errors.Join(err, t.pipe.Close())
	}
	if _, err := t.pipe.WriteString("start\n"); err != nil {
		return "", errors.Join(fmt.Errorf("telling the watchdog to start: %w", err), t.pipe.Close())
	}
	if err := t.ready(ctx); err != nil {
		return "", errors.Join(err, t.pipe.Close())
	}
	query := url.Values{"host": {filepath.Join(t.dir, "run")}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres://" + private.Superuser + "@/postgres?" + query.Encode(), nil
}

// watch creates the folder and starts the watchdog in it. It takes the first
// place that the user of PostgreSQL can enter and whose path is short enough
// for a socket (108 bytes on Linux).
func (t *throwaway) watch() error {
	var failures []error
	for _, base := range places() {
		if len(base) > 60 {
			continue
		}
		err := t.watchIn(base)
		if err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	return fmt.Errorf("starting the watchdog: %w", errors.Join(failures...))
}

// roomy is how many bytes must be free in memory to put databases there. The
// databases of one test process take about a tenth of it.
const roomy = 4 << 30

// places are the candidates for the folder: memory if there is room, then
// TMPDIR, then /tmp.
func places() []string { return append(short(), os.TempDir(), "/tmp") }

// short returns the folder in memory, if there is one. Its path is short enough
// for any socket.
func short() []string {
	if dir := Memory(roomy); dir != "" {
		return []string{dir}
	}
	return nil
}

func (t *throwaway) watchIn(base string) (err error) {
	if t.dir, err = os.MkdirTemp(base, "hostler-test-"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(t.dir)
		}
	}()
	if err := os.Mkdir(filepath.Join(t.dir, "run"), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"run", ""} {
		if err := os.Chown(filepath.Join(t.dir, name), t.account.UID, t.account.GID); err != nil {
			return err
		}
	}
	read, writing, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	args := []string{"-c", watchdog, "watchdog", t.dir, t.binaries.Path("postgres"), "-D", filepath.Join(t.dir, "data")}
	cmd := exec.Command("/bin/sh", append(args, settings...)...)
	cmd.Dir = t.dir // also proves that PostgreSQL's user can get there
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: t.account.Credential()}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, writing.Close())
	}
	t.pipe = writing
	go func() { _ = cmd.Wait() }() // reaps it should it end before us
	return nil
}

// settings trade durability for speed. The folder of the socket is relative to
// the data directory.
var settings = []string{
	"-c", "listen_addresses=", "-c", "unix_socket_directories=../run", "-c", "unix_socket_permissions=0700", "-c", "port=5432",
	"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0",
	"-c", "max_connections=600", "-c", "shared_buffers=128MB", "-c", "max_wal_size=64MB", "-c", "checkpoint_timeout=1h",
	"-c", "jit=off", "-c", "timezone=UTC",
	"-c", "plan_cache_mode=force_generic_plan", // planning a statement anew for its first five values would be a tenth of the work
	"-c", "autovacuum=off", // it would visit every test's database in turn, and databases live for seconds
	"-c", "dynamic_shared_memory_type=mmap", // in its folder, which goes with it
}

// ready waits until PostgreSQL's postmaster.pid says that it accepts
// connections.
func (t *throwaway) ready(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(filepath.Join(t.dir, "data", "postmaster.pid"))
		if err == nil && strings.Contains(string(text), "\nready ") {
			return nil
		}
		said, _ := os.ReadFile(filepath.Join(t.dir, "log")) // not there before the first message
		if strings.Contains(string(said), "FATAL:") {
			return fmt.Errorf("PostgreSQL did not start: %s", said)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for PostgreSQL: %w: %s", ctx.Err(), said)
		case <-tick.C:
		}
	}
}
