package updater

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

// A program has a session of its own, so that it cannot reach the terminal of whoever started the updater.
func TestCommandHasNoTerminal(t *testing.T) {
	t.Parallel()
	said, err := command{name: "/bin/sh", args: []string{"-c", `read -r pid name state parent group session rest < /proc/$$/stat; echo ` +
		`"$pid $group $session"`}}.output(t.Context())
	words := strings.Fields(said)
	if err != nil || len(words) != 3 || words[0] != words[1] || words[0] != words[2] {
		t.Errorf("process, group and session are %q, %v", said, err)
	}
}

// What a program says is told to everybody, some of it on terminals: it gives no orders to those, and quotes no rows.
func TestCommandsWords(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "pg_restore")
	script := `#!/bin/sh
printf 'pg_restore: error: COPY failed for table "t": ERROR:  duplicate key\nDETAIL:  Key (mail)=(canary) already exists.\n'\
'CONTEXT:  COPY t, line 1: "canary\nsecond canary"\npg_restore: \033]0;x\007the end\n' >&2
exit 1
`
	if err := programtest.Write(program, []byte(script)); err != nil {
		t.Fatal(err)
	}
	for _, terse := range []bool{false, true} {
		err := command{name: program, terse: terse}.run(t.Context())
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\a\n") || strings.Contains(err.Error(), "canary") == terse ||
			!strings.Contains(err.Error(), "duplicate key") || !strings.Contains(err.Error(), "the end") {
			t.Errorf("%v: %v", terse, err)
		}
	}
}

// What stands in the place of the key is another user's doing.
func TestSecretThatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(in("secret"), []byte("canary"), 0o600), os.Symlink(in("secret"), in("link")),
		unix.Mkfifo(in("fifo"), 0o600),
		os.Mkdir(in("folder"), 0o700), os.WriteFile(in("large"), nil, 0o600), os.Truncate(in("large"), maxSecret+1)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "fifo", "folder", "large", "none"} {
		ended := make(chan error, 1)
		go func() { ended <- copyFile(in(name), in(name+".copy"), maxSecret) }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s was copied", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is waited for", name)
		}
	}
	if err := copyFile(in("secret"), in("copy"), maxSecret); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(in("copy")); err != nil || !bytes.Equal(text, []byte("canary")) {
		t.Errorf("%q, %v", text, err)
	}
}

// Whoever can ask for runs cannot wear the backups out by runs that come to nothing.
func TestBackupsAndRunsInVain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	config.KeepBackups = 2
	s.publish(newVersion, "")
	updated := s.do(order{Do: "run", Config: config})
	s.must(updated, installation.StepDone)
	// The journal does not reach back to the update that it is of.
	const old = "20200101t000000_abcdef"
	s.mkdir(filepath.Join(config.Layout.backups(), old))
	var last string
	for range 4 {
		answer := s.do(order{Do: "run", Config: config})
		s.must(answer, installation.StepFailed)
		last = answer.Result.Run
	}
	entries, err := os.ReadDir(config.Layout.backups())
	if err != nil || len(entries) != 4 || entries[0].Name() != old || entries[1].Name() != updated.Result.Run || entries[3].Name() != last {
		t.Fatalf("%v, %v", entries, err)
	}
}

// The database's owner can keep a table locked, and can look into what the program that dumps it has open.
func TestDumpOfALockedDatabase(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	config.MigrateTime = 10 * time.Second
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, statement := range []string{"BEGIN", "LOCK TABLE users IN ACCESS EXCLUSIVE MODE"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	running := s.start(order{Do: "run", Config: config})
	out := ""
	waittest.Until(t, "the program that dumps runs", func() bool {
		processes, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range processes {
			environ, _ := os.ReadFile(path) // it may be gone
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
			if string(name) == "pg_dump\n" && bytes.Contains(environ, []byte("PGDATABASE="+config.Database.Name+"\x00")) {
				out, _ = os.Readlink(filepath.Join(filepath.Dir(path), "fd", "1"))
			}
		}
		return out != "" || running.ended()
	})
	if !strings.HasPrefix(out, "pipe:") {
		t.Errorf("the program that dumps writes to %q", out)
	}
	answer := running.wait()
	if step, err := answer.end(); err != nil || step != installation.StepFailed || !strings.Contains(answer.Reason, "longer than 10s") {
		t.Errorf("%+v", answer)
	}
}
