package updater

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/updater/installation"
)

// Files of the updater that are damaged, lost or of another version, while nothing is under way.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.must(s.do(order{Do: "run"}), installation.StepFailed) // there is no release yet
	journal := installation.Journal(s.own)
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	current := filepath.Join(s.prefix, "current")
	link := func(target string) {
		t.Helper()
		if err := os.Remove(current); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, current); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(path string) {
		t.Helper()
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		damage func()
		// run and resume are what the updater's errors say; empty for a run that comes to its end as if nothing were.
		run, resume string
		mend        func()
	}{
		{"half a line", func() { s.put(journal, string(whole)+`{"at":"20`, 0o644) }, "", "", nil},
		{"zeros at the end", func() { s.put(journal, string(whole)+strings.Repeat("\x00", 5000), 0o644) }, "", "", nil},
		{"garbage inside", func() { s.put(journal, "{]\n\x00\xff\n"+string(whole), 0o644) }, "", "", nil},
		{"truncated", func() { s.put(journal, "", 0o644) }, "", "", nil},
		{"missing", func() { remove(journal) }, "", "", nil},
		{"garbage at the end", func() { s.put(journal, string(whole)+"{]\n", 0o644) }, "last line of the journal", "last line of the journal",
			func() { s.put(journal, string(whole), 0o644) }},
		{"a folder", func() { remove(journal); s.mkdir(journal) }, "is a directory", "is a directory", func() { remove(journal) }},
		{"a step of a newer version", func() {
			s.put(journal, string(whole)+`{"at":"2026-01-02T03:04:05Z","run":"x","step":"teleport","event":"begun","plan":{"from":"1.0.0",`+
				`"to":"2.0.0"}}`+"\n", 0o644)
		}, ErrUnfinished.Error(), "newer updater", func() { s.put(journal, string(whole), 0o644) }},
		{"a lock of a process that is gone", func() { s.put(filepath.Join(s.own, "lock"), "4711\n", 0o600) }, "", "", nil},
		{"a lock that is a link", func() {
			remove(filepath.Join(s.own, "lock"))
			if err := os.Symlink("/etc/passwd", filepath.Join(s.own, "lock")); err != nil {
				t.Fatal(err)
			}
		}, "updater's lock", "updater's lock", func() { remove(filepath.Join(s.own, "lock")) }},
		{"the refusal", func() { s.put(filepath.Join(s.own, "refused.json"), "{", 0o644) }, "", "", nil},
		{"no backups", func() { remove(filepath.Join(s.own, "backups")) }, "", "", nil},
		{"no state", func() { remove(s.own) }, "", "", nil},
		{"a link to nowhere", func() { link("releases/0.9.0") }, "is incomplete", "", func() { link("releases/" + oldVersion) }},
		{"a link to the outside", func() { link("/usr/lib/" + oldVersion) }, "does not point to a release", "",
			func() { link("releases/" + oldVersion) }},
		{"no link", func() { remove(current) }, "current release", "", func() {
			if err := os.Symlink("releases/"+oldVersion, current); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		test.damage()
		answer := s.do(order{Do: "resume"})
		if answer == nil || test.resume == "" && (answer.Err != "" || answer.Result != nil) || !strings.Contains(answer.Err, test.resume) {
			t.Errorf("%s: resume: %+v", test.name, answer)
		}
		answer = s.do(order{Do: "run"})
		if test.run == "" {
			if step, err := answer.end(); err != nil || step != installation.StepFailed || !strings.Contains(answer.Reason, "manifest.json") {
				t.Errorf("%s: %+v", test.name, answer)
			}
		} else if answer == nil || !strings.Contains(answer.Err, test.run) {
			t.Errorf("%s: %+v", test.name, answer)
		}
		if test.mend != nil {
			test.mend()
		} else if _, err := installation.LastStatus(s.own); err != nil {
			t.Errorf("%s: the status: %v", test.name, err)
		}
		s.await(oldVersion)
		if t.Failed() {
			t.FailNow()
		}
	}
	s.publish(newVersion, "")
	seen := Layout{StateDir: s.own}.seen()
	s.put(seen, "{", 0o644)
	if answer := s.do(order{Do: "run"}); answer == nil || !strings.Contains(answer.Reason, "remove the file") {
		t.Errorf("%+v", answer)
	}
	remove(seen)
	s.update()
}

// The journal is lost or damaged while an update is half-way: nothing is dropped, and the error says what to do.
func TestJournalLostInARun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	journal := installation.Journal(s.own)
	if answer := s.do(order{Do: "run", KillAt: "in migrate"}); answer != nil {
		t.Fatalf("%+v", answer)
	}
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	s.put(journal, string(whole)+"{]\n", 0o644)
	if answer := s.do(order{Do: "resume"}); answer == nil || !strings.Contains(answer.Err, "remove the line") {
		t.Fatalf("%+v", answer)
	}
	s.put(journal, string(whole), 0o644)
	s.settle("a last line that is removed")

	if answer := s.do(order{Do: "run", KillAt: "in migrate"}); answer != nil {
		t.Fatalf("%+v", answer)
	}
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if answer := s.do(order{Do: "resume"}); answer == nil || answer.Err == "" &&
			!strings.Contains(answer.Reason, ErrUnknownDatabase.Error()) || answer.Err != "" &&
			!strings.Contains(answer.Err, ErrUnknownDatabase.Error()) {
			t.Fatalf("%+v", answer)
		}
		if answer := s.do(order{Do: "run"}); answer == nil || !strings.Contains(answer.Reason+answer.Err, ErrUnknownDatabase.Error()) {
			t.Fatalf("%+v", answer)
		}
		if err := os.Remove(journal); err != nil {
			t.Fatal(err)
		}
	}
	// The administrator does what the error says.
	d := s.config().Database
	names, err := d.names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	admin := &site{t: t, database: strings.Replace(s.database, "/"+d.Name, "/postgres", 1)}
	for _, name := range names {
		switch kind, _ := d.left(name); kind {
		case "before":
			admin.sql(fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", name, d.Name))
		case "failed":
			admin.sql("DROP DATABASE " + name)
		}
	}
	if err := s.supervisor.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.await(oldVersion)
	s.update()
}

// The statement of an updater that was killed goes on in the server: nobody else must be hit by it.
func TestStatementOutlivesItsUpdater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	if answer := s.do(order{Do: "run", KillAt: "in snapshot"}); answer != nil {
		t.Fatalf("%+v", answer)
	}
	config, err := pgx.ParseConfig(s.database)
	if err != nil {
		t.Fatal(err)
	}
	config.Database = "postgres"
	config.RuntimeParams["application_name"] = s.config().Database.application()
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT pg_sleep(120)")
		ended <- err
	}()
	if _, err := s.do(order{Do: "resume"}).end(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "terminating connection") {
		t.Errorf("%v", err)
	}
	s.holds(oldVersion, "failed")
}
