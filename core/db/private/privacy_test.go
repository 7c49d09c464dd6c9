package private_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/waittest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir, Settings: map[string]string{"work_mem": "5MB", "search_path": `"o'dd\path"`}})
	for name, want := range map[string]string{
		"listen_addresses": "", "data_checksums": "on", "server_encoding": "UTF8", "shared_buffers": "64MB", "timezone": "UTC",
		"work_mem": "5MB", "search_path": `"o'dd\path"`, "fsync": "on", "unix_socket_permissions": "0700",
	} {
		if got := query(t, c.URL(), "SELECT current_setting($1)", name); got != want {
			t.Errorf("%s is %q and not %q", name, got, want)
		}
	}
	if got := query(t, c.URL(), "SELECT rolsuper::text FROM pg_roles WHERE rolname = current_user"); got != "false" {
		t.Error("the service works as a superuser")
	}
	if got := query(t, c.URL(), "SELECT lower('ÄÖ') || upper('ß')"); got != "äöß" && got != "äöSS" {
		t.Errorf("the locale gives %q", got)
	}
	for name, bad := range map[string]map[string]string{
		"protected": {"listen_addresses": "*"}, "line break": {"work_mem": "1MB'\nlisten_addresses = '*"}, "name": {"work_mem = 1\nx": "1"},
		"NUL": {"work_mem": "\x00"},
	} {
		if c, err := private.Start(testContext(t), private.Config{Dir: newDir(t), Settings: bad}); err == nil {
			stop(t, c)
			t.Errorf("%s: started", name)
		}
	}
}

// TestNoSecretAndNoPort looks at what others on the machine can see of the processes.
func TestNoSecretAndNoPort(t *testing.T) {
	t.Parallel()
	const canary = "canary-51c0ffee"
	dir := newDir(t)
	s := runWith(t, private.Config{Dir: dir}, "HOSTLER_CANARY="+canary)
	pid := postmasterOf(dir)
	for _, name := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), canary) {
			t.Errorf("the secret is in %s", name)
		}
	}
	config, err := pgx.ParseConfig(s.first)
	if err != nil {
		t.Fatal(err)
	}
	if config.Password != "" {
		t.Error("the URL holds a password")
	}
	// No socket of the postmaster is a network one: what it holds is not among the kernel's TCP sockets.
	var inodes []string
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) == 0 {
		t.Fatal("no open files:", err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes = append(inodes, strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]"))
		}
	}
	if len(inodes) == 0 {
		t.Fatal("no socket found")
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table) // absent without IPv6
		for _, inode := range inodes {
			if strings.Contains(string(text), " "+inode+" ") {
				t.Errorf("socket %s is in %s", inode, table)
			}
		}
	}
}

// TestOthersStayOutside: another user of the machine reaches neither socket nor files, and PostgreSQL's own user is not let in.
func TestOthersStayOutside(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can try as another user")
	}
	dir := filepath.Join(passable(t), "postgresql")
	start(t, private.Config{Dir: dir})
	for name, mode := range map[string]os.FileMode{"": 0o711, "run": 0o700, "data": 0o700, "hostler.lock": 0o600, "postgresql.log": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q has mode %v, %v", name, info.Mode(), err)
		}
	}
	all, err := private.FindBinaries(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	a := account(t)
	for user, c := range map[string]struct {
		uid  int
		want string
	}{"nobody": {65534, "Permission denied"}, a.User: {a.UID, "Peer authentication failed"}} {
		out, err := runAs(c.uid, all[0].Path("psql"), "-h", filepath.Join(dir, "run"), "-U", private.Role, "-c", "SELECT 1", private.Database)
		if err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v, %s", user, err, out)
		}
	}
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	for name, uid := range map[string]int{"root": -1, "ordinary user": 65534} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if uid >= 0 && os.Geteuid() != 0 {
				t.Skip("only root can start a service as another user")
			}
			top := passable(t)
			state := filepath.Join(top, strings.Repeat("long/", 40))
			if err := os.MkdirAll(state, 0o755); err != nil {
				t.Fatal(err)
			}
			if uid >= 0 {
				if err := os.Chown(state, uid, uid); err != nil {
					t.Fatal(err)
				}
			}
			dir := filepath.Join(state, "postgresql")
			s := run(t, private.Config{Dir: dir}, uid)
			config, err := pgx.ParseConfig(s.first)
			if err != nil {
				t.Fatalf("%v: %s", err, s.first)
			}
			// Killed and started again: the short way is found again, and removed in the end.
			s.kill(t)
			s = run(t, private.Config{Dir: dir}, uid)
			again, err := pgx.ParseConfig(s.first)
			if err != nil || again.Host != config.Host {
				t.Errorf("the URL changed from %s to %s, %v", config.Host, again.Host, err)
			}
			short := filepath.Dir(config.Host)
			info, err := os.Lstat(short)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Fatalf("%v, %v", info, err)
			}
			if conn, err := net.Dial("unix", filepath.Join(config.Host, ".s.PGSQL.5432")); err != nil {
				t.Error(err)
			} else {
				conn.Close()
			}
			s.end()
			if _, err := os.Lstat(short); !os.IsNotExist(err) {
				t.Errorf("%s is left behind: %v", short, err)
			}
		})
	}
}

// TestLogIsBounded writes more than the log file may hold.
func TestLogIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a log: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	path := filepath.Join(dir, "postgresql.log")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := strings.Repeat("x", 1023) + "\n"
	for range 5 << 10 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	waittest.Until(t, "the log to be emptied", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() < 1<<20
	})
	if err := syscall.Kill(postmasterOf(dir), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "PostgreSQL to write on", func() bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "SIGHUP")
	})
	query(t, c.URL(), "SELECT 'ok'")
}

// TestErrorsKeepValues: what a failing statement holds must not reach the log.
func TestErrorsKeepValues(t *testing.T) {
	t.Parallel()
	const canary = "canary-90d2aa"
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE TABLE one (word text PRIMARY KEY, n int)"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"INSERT INTO one VALUES ('" + canary + "', 1), ('" + canary + "', 1)", "SELECT '" + canary + "'::int", "SELECT \"" + canary + "\"",
		"DO $$ BEGIN RAISE WARNING '" + canary + "'; RAISE EXCEPTION '" + canary + "'; END $$",
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s worked", sql)
		}
	}
	stop(t, c)
	text, err := os.ReadFile(filepath.Join(dir, "postgresql.log"))
	if err != nil || len(text) == 0 {
		t.Fatal("no log:", err)
	}
	if strings.Contains(string(text), canary) {
		t.Errorf("the log holds the value: %s", text)
	}
}
