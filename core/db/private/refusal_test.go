package private_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

func withTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

// refused starts a cluster that must not start, with an error of that kind and with that text in it.
func refused(t *testing.T, config private.Config, kind error, text string) {
	t.Helper()
	c, err := private.Start(testContext(t), config)
	if err == nil {
		stop(t, c)
		t.Fatal("it started")
	}
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v", err)
	}
}

// snapshot lists a tree with sizes and times.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + info.Mode().String() + info.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// account is the user that PostgreSQL runs as.
func account(t *testing.T) private.Account {
	t.Helper()
	a, err := private.FindAccount("")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// foreign makes a cluster as somebody else would, in a folder that PostgreSQL's user owns.
func foreign(t *testing.T, dir string) private.Binaries {
	t.Helper()
	a := account(t)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chown(dir, a.UID, a.GID)); err != nil {
		t.Fatal(err)
	}
	all, err := private.FindBinaries(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := private.InitDB(testContext(t), all[0], a, dir, "--no-sync", "--auth=trust"); err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// sleeper is a process of PostgreSQL's user that is no PostgreSQL.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account(t).Credential(), Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// writeLike writes a file and gives it to the owner of another.
func writeLike(t *testing.T, path, text, like string) {
	t.Helper()
	info, err := os.Stat(like)
	if err != nil {
		t.Fatal(err)
	}
	s := info.Sys().(*syscall.Stat_t)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chown(path, int(s.Uid), int(s.Gid))); err != nil {
		t.Fatal(err)
	}
}

func TestForeignFolders(t *testing.T) {
	t.Parallel()
	t.Run("the folder is a cluster", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		foreign(t, dir)
		if err := os.Chown(dir, os.Geteuid(), os.Getegid()); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, dir)
		refused(t, private.Config{Dir: dir}, private.ErrForeign, "Choose an empty folder")
		if snapshot(t, dir) != before {
			t.Error("the folder was changed")
		}
	})
	t.Run("the folder holds clusters", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		foreign(t, filepath.Join(dir, "15", "main"))
		before := snapshot(t, dir)
		refused(t, private.Config{Dir: dir}, private.ErrForeign, "Choose an empty folder")
		if snapshot(t, dir) != before {
			t.Error("the folder was changed")
		}
	})
	t.Run("no marker", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		stop(t, start(t, private.Config{Dir: dir}))
		if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		foreign(t, filepath.Join(dir, "data"))
		before := snapshot(t, filepath.Join(dir, "data"))
		refused(t, private.Config{Dir: dir}, private.ErrForeign, "hostler.json")
		if snapshot(t, filepath.Join(dir, "data")) != before {
			t.Error("the data was changed")
		}
	})
	t.Run("marker of another cluster", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		stop(t, start(t, private.Config{Dir: dir}))
		marker, err := os.ReadFile(filepath.Join(dir, "data", "hostler.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		foreign(t, filepath.Join(dir, "data"))
		writeLike(t, filepath.Join(dir, "data", "hostler.json"), string(marker), filepath.Join(dir, "data"))
		refused(t, private.Config{Dir: dir}, private.ErrForeign, "its marker belongs to cluster")
	})
	t.Run("half a cluster", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		stop(t, start(t, private.Config{Dir: dir}))
		if err := os.Remove(filepath.Join(dir, "data", "global", "pg_control")); err != nil {
			t.Fatal(err)
		}
		refused(t, private.Config{Dir: dir}, private.ErrForeign, "contains no complete cluster")
	})
}

// TestForeignPostmaster: somebody runs our data directory by hand, with a socket of his own.
func TestForeignPostmaster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several database servers: make check runs it")
	}
	t.Parallel()
	dir := filepath.Join(passable(t), "postgresql")
	stop(t, start(t, private.Config{Dir: dir}))
	all, err := private.FindBinaries(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(all[0].Path("postgres"), "-D", filepath.Join(dir, "data"), "-c", "listen_addresses=", "-c",
		"unix_socket_directories="+filepath.Join(dir, "data"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account(t).Credential(), Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	waittest.Until(t, "the foreign postmaster", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
		return strings.Contains(string(text), "ready")
	})
	refused(t, private.Config{Dir: dir}, private.ErrForeign, "Stop it first")
	if !alive(cmd.Process.Pid) {
		t.Error("the foreign postmaster was stopped")
	}
	if _, err := os.Stat(filepath.Join(dir, "data", ".s.PGSQL.5432")); err != nil {
		t.Error("its socket was removed:", err)
	}
}

func TestSecondService(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several database servers: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir})
	refused(t, private.Config{Dir: dir}, private.ErrInUse, "stop that service first")
	s := run(t, private.Config{Dir: dir}, -1)
	if !strings.Contains(s.first, private.ErrInUse.Error()) {
		t.Errorf("the second service says %q", s.first)
	}
	query(t, c.URL(), "SELECT 'ok'")
}

func TestConcurrentFirstStart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several database servers: make check runs it")
	}
	t.Parallel()
	dir := newDir(t)
	type result struct {
		c   *private.Cluster
		err error
	}
	results := make(chan result)
	for range 4 {
		go func() {
			c, err := private.Start(testContext(t), private.Config{Dir: dir})
			results <- result{c, err}
		}()
	}
	won := 0
	for range 4 {
		r := <-results
		if r.err == nil {
			won++
			defer stop(t, r.c)
		} else if !errors.Is(r.err, private.ErrInUse) {
			t.Error(r.err)
		}
	}
	if won != 1 {
		t.Errorf("%d of 4 started", won)
	}
}

func TestBinaries(t *testing.T) {
	t.Parallel()
	fake := func(t *testing.T, version string) string {
		dir := t.TempDir()
		for _, name := range []string{"postgres", "initdb"} {
			if err := programtest.Write(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+version+"'\n")); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		refused(t, private.Config{Dir: newDir(t), Binaries: t.TempDir()}, private.ErrNoBinaries, "apt-get install postgresql")
		refused(t, private.Config{Dir: newDir(t), Binaries: "/nonexistent"}, private.ErrNoBinaries, "apt-get install postgresql")
	})
	t.Run("too old", func(t *testing.T) {
		t.Parallel()
		refused(t, private.Config{Dir: newDir(t), Binaries: fake(t, "postgres (PostgreSQL) 13.2")}, private.ErrNoBinaries, "older than 14")
	})
	t.Run("no version", func(t *testing.T) {
		t.Parallel()
		refused(t, private.Config{Dir: newDir(t), Binaries: fake(t, "hello")}, private.ErrNoBinaries, "printed no version")
	})
	t.Run("another major version", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		c := start(t, private.Config{Dir: dir})
		major, _, _ := strings.Cut(c.Version(), ".")
		stop(t, c)
		refused(t, private.Config{Dir: dir, Binaries: fake(t, "postgres (PostgreSQL) 99.1")}, private.ErrNoBinaries,
			"apt-get install postgresql-"+major)
	})
}

func TestAccess(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	t.Run("writable by all", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		refused(t, private.Config{Dir: dir}, private.ErrAccess, "chmod 0755")
	})
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, private.Config{Dir: dir}, private.ErrAccess, "is not a folder")
	})
	t.Run("data of another user", func(t *testing.T) {
		t.Parallel()
		if !root {
			t.Skip("only root can give a folder away")
		}
		dir := newDir(t)
		stop(t, start(t, private.Config{Dir: dir}))
		if err := os.Chown(filepath.Join(dir, "data"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		refused(t, private.Config{Dir: dir}, private.ErrAccess, "belongs to user ID 65534")
	})
	t.Run("no such user", func(t *testing.T) {
		t.Parallel()
		if !root {
			t.Skip("only root runs PostgreSQL as another user")
		}
		refused(t, private.Config{Dir: newDir(t), User: "no-such-user"}, private.ErrAccess, "apt-get install postgresql")
		refused(t, private.Config{Dir: newDir(t), User: "root"}, private.ErrAccess, "refuses to run as root")
	})
	t.Run("a folder that cannot be made", func(t *testing.T) {
		t.Parallel()
		if !root {
			t.Skip("only root can start a service as another user")
		}
		s := run(t, private.Config{Dir: "/nonexistent-for-hostler/postgresql"}, 65534)
		if !strings.Contains(s.first, private.ErrAccess.Error()) || !strings.Contains(s.first, "/nonexistent-for-hostler") {
			t.Errorf("the service says %q", s.first)
		}
	})
}

func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk: make check runs it")
	}
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	for name, size := range map[string]string{"no room at all": "20m", "as much as is asked for": "129m"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := passable(t)
			if err := syscall.Mount("none", disk, "tmpfs", 0, "size="+size); err != nil {
				t.Skip("mounting a small disk: ", err)
			}
			t.Cleanup(func() {
				waittest.Succeeds(t, "the disk is unmounted", func() error { return syscall.Unmount(disk, 0) })
			})
			dir := filepath.Join(disk, "postgresql")
			if size == "20m" {
				refused(t, private.Config{Dir: dir}, private.ErrNoSpace, "free some space")
				return
			}
			// A disk that fills while initdb works.
			stopped, filled := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(filled)
				fillDisk(disk, stopped)
			}()
			refused(t, private.Config{Dir: dir}, private.ErrNoSpace, "free some space")
			close(stopped)
			<-filled
			left, err := filepath.Glob(filepath.Join(dir, "init-*"))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
				t.Fatal(err)
			}
			start(t, private.Config{Dir: dir})
		})
	}
}

// fillDisk waits for initdb's folder and then takes all of the disk.
func fillDisk(disk string, stopped <-chan struct{}) {
	for {
		select {
		case <-stopped:
			return
		default:
		}
		if found, _ := filepath.Glob(filepath.Join(disk, "postgresql", "init-*", "*")); len(found) > 0 {
			break
		}
	}
	f, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		return
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	for {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}

func TestNamedUser(t *testing.T) {
	t.Parallel()
	nobody, err := user.LookupId("65534")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("only root can run PostgreSQL as another user: ", err)
	}
	dir := newDir(t)
	c := start(t, private.Config{Dir: dir, User: nobody.Username})
	if got := query(t, c.URL(), "SELECT current_user::text"); got != private.Role {
		t.Errorf("the role is %q", got)
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d", postmasterOf(dir)))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 65534 {
		t.Errorf("PostgreSQL does not run as %s: %v", nobody.Username, err)
	}
	stop(t, c)
	refused(t, private.Config{Dir: dir}, private.ErrAccess, "belongs to user ID 65534")
}

func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the other tests run as an ordinary user already")
	}
	nobody, err := user.LookupId("65534")
	if err != nil {
		t.Skip(err)
	}
	state := passable(t)
	if err := os.Chown(state, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(state, "postgresql")
	s := run(t, private.Config{Dir: dir}, 65534)
	if !strings.HasPrefix(s.first, "postgres://") {
		t.Fatalf("the service of %s says %q", nobody.Username, s.first)
	}
	pid := postmasterOf(dir)
	if owner, err := os.Stat(filepath.Join(dir, "data")); err != nil || owner.Sys().(*syscall.Stat_t).Uid != 65534 {
		t.Errorf("owner: %v", err)
	}
	s.kill(t)
	if !alive(pid) {
		t.Fatal("PostgreSQL died with the service")
	}
	s = run(t, private.Config{Dir: dir}, 65534)
	if got := postmasterOf(dir); got != pid || !strings.HasPrefix(s.first, "postgres://") {
		t.Errorf("not taken over: %d and %d, %q", pid, got, s.first)
	}
	s.end()
	if alive(pid) {
		t.Error("PostgreSQL lives after the service")
	}
	// Root must not take an ordinary user's cluster for its own.
	refused(t, private.Config{Dir: dir}, private.ErrAccess, "start the service as the user that created it")
}
