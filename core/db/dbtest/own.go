package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
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
)

// OwnServer is a PostgreSQL server of one test. The test can kill it, freeze it
// and start it again. It ends with the test, and with the process
// (PR_SET_PDEATHSIG).
type OwnServer struct {
	at   throwaway
	args []string
	cmd  *exec.Cmd
	// ended is closed when the process that cmd started has ended.
	ended chan struct{}
	disk  int
}

// OwnOptions are the settings of an OwnServer. The zero value is a server like
// the shared one.
type OwnOptions struct {
	// Settings are added to PostgreSQL's command line, as name=value.
	Settings []string
	// Disk is the size in MiB of a separate file system for the tables of URL's
	// databases; 0 for none. The write-ahead log is outside it, so that a full
	// disk fails a statement and does not stop the server. It requires root;
	// for other users the test is skipped. The file system disappears with the
	// server, and its data with it.
	Disk int
}

// NewServer starts a server for the test.
func NewServer(t testing.TB, o OwnOptions) *OwnServer {
	t.Helper()
	if o.Disk > 0 && os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	account, err := private.FindAccount("")
	if err != nil {
		t.Fatal(err)
	}
	installed, err := private.FindBinaries(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &OwnServer{at: throwaway{binaries: installed[0], account: account}, disk: o.Disk}
	if s.at.dir, err = os.MkdirTemp(append(short(), "/tmp")[0], "hostler-own-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		_ = os.RemoveAll(s.at.dir)
	})
	for _, name := range []string{"run", "disk", ""} {
		if err := os.MkdirAll(filepath.Join(s.at.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(s.at.dir, name), account.UID, account.GID); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.at.fill(ctx); err != nil {
		t.Fatal(err)
	}
	s.args = append(s.args, settings...)
	for _, setting := range o.Settings {
		s.args = append(s.args, "-c", setting)
	}
	s.Start(t)
	return s
}

// mounted mounts the file system in its own mount namespace, so that only the
// server sees it, and then becomes the server. $1 is the folder, $2 the size,
// and $3 and $4 are the user and the group.
const mounted = `set -e
mount -t tmpfs -o size="$2m",mode=700,uid="$3",gid="$4" tmpfs "$1/disk"
user=$3 group=$4; shift 4
exec setpriv --pdeathsig QUIT --reuid="$user" --regid="$group" --clear-groups "$@"
`

// Start starts the server again after Kill and waits until it accepts
// connections.
func (s *OwnServer) Start(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		err := s.start(ctx)
		if err == nil {
			return
		}
		// The processes of a killed server leave its shared memory a moment later.
		if !strings.Contains(err.Error(), "shared memory") || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func (s *OwnServer) start(ctx context.Context) error {
	data := filepath.Join(s.at.dir, "data")
	log, err := os.Create(filepath.Join(s.at.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	args := append([]string{s.at.binaries.Path("postgres"), "-D", data}, s.args...)
	credential := s.at.account.Credential()
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Credential: credential}
	if s.disk > 0 {
		id := s.at.account
		args = append([]string{"/bin/sh", "-c", mounted, "mounted", s.at.dir, fmt.Sprint(s.disk), fmt.Sprint(id.UID), fmt.Sprint(id.GID)},
			args...)
		attributes = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Unshareflags: syscall.CLONE_NEWNS}
	}
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Dir = s.at.dir
	s.cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = attributes
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(s.cmd, s.ended)
	for {
		conn, err := pgx.Connect(ctx, s.address("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			said, _ := os.ReadFile(filepath.Join(s.at.dir, "log"))
			return fmt.Errorf("PostgreSQL did not start: %s", said)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Kill kills the server at once, like kill -9, and waits for its end. It
// continues a frozen server first. It may be called twice.
func (s *OwnServer) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// stop shuts the server down regularly, with all data on the disk.
func (s *OwnServer) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return fmt.Errorf("stopping PostgreSQL: %w", err)
	}
	<-s.ended
	s.cmd = nil
	return nil
}

func (s *OwnServer) address(database string) string {
	query := url.Values{"host": {filepath.Join(s.at.dir, "run")}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres://" + private.Superuser + "@/" + database + "?" + query.Encode()
}

// Exec runs a statement as superuser on a new connection to the database at a
// URL; empty means the database postgres.
func (s *OwnServer) Exec(t testing.TB, database, statement string) {
	t.Helper()
	if database == "" {
		database = s.address("postgres")
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// URL creates an empty database and returns its URL. If the server has a Disk,
// the tables of the database are on it.
func (s *OwnServer) URL(t testing.TB) string {
	t.Helper()
	name := "own_" + strings.ToLower(rand.Text()[:12])
	where := ""
	if s.disk > 0 {
		folder := filepath.Join(s.at.dir, "disk")
		s.Exec(t, "", fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, folder))
		where = " TABLESPACE " + name
	}
	s.Exec(t, "", "CREATE DATABASE "+name+where)
	return s.address(name)
}
