package updater

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/programtest"
)

// Everybody may create in the schema public of the database postgres, as on servers that began before PostgreSQL 15. What a
// hostile owner lays there must not be found by the administrator's statements. What takes the live database's place is as
// open as that was, and all others are closed.
func TestHostileOwner(t *testing.T) {
	t.Parallel()
	c, _ := newCluster(t, 0)
	admin := &site{t: t, database: c.url("postgres")}
	admin.sql("CREATE ROLE owner LOGIN", `CREATE ROLE "a ""reader""" LOGIN`, "CREATE DATABASE live OWNER owner",
		"GRANT CREATE ON SCHEMA public TO PUBLIC",
		"REVOKE ALL ON DATABASE live FROM PUBLIC", `GRANT CONNECT ON DATABASE live TO "a ""reader""" WITH GRANT OPTION`)
	run := filepath.Join(c.dir, "run")
	owner := &site{t: t, database: "postgres://owner@/postgres?" +
		url.Values{"host": {run}, "port": {"5432"}, "sslmode": {"disable"}}.Encode()}
	seize := "BEGIN IF current_setting('is_superuser') = 'on' THEN ALTER ROLE owner SUPERUSER; END IF; "
	owner.sql(
		"CREATE FUNCTION public.matches(name, name) RETURNS boolean LANGUAGE plpgsql AS $$ "+seize+
			"RETURN $1 OPERATOR(pg_catalog.~) $2::text; END $$",
		"CREATE OPERATOR public.~ (LEFTARG = name, RIGHTARG = name, FUNCTION = public.matches)",
		"CREATE FUNCTION public.pg_terminate_backend(integer, integer) RETURNS boolean LANGUAGE plpgsql AS $$ "+seize+"RETURN true; END $$",
		"CREATE FUNCTION public.pg_terminate_backend(integer) RETURNS boolean LANGUAGE plpgsql AS $$ "+seize+"RETURN true; END $$",
		"CREATE FUNCTION public.format(text, text, text, text) RETURNS text LANGUAGE plpgsql AS $$ "+seize+"RETURN 'SELECT 1'; END $$")

	// This one keeps the live database locked from another one, and outlives its program.
	conn, err := pgx.Connect(t.Context(), owner.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "COMMENT ON DATABASE live IS 'mine'"); err != nil {
		t.Fatal(err)
	}

	d := Database{Host: run, Port: 5432, Name: "live", Owner: "owner", Admin: private.Superuser}
	if names, err := d.names(t.Context()); err != nil || len(names) != 1 || names[0] != "live" {
		t.Fatalf("%v, %v", names, err)
	}
	within, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := errors.Join(d.rename(within, "live", "live_aside"), d.rename(within, "live_aside", "live")); err != nil {
		t.Errorf("a database that is locked: %v", err)
	}
	for what, err := range map[string]error{
		"silence": d.silence(t.Context()), "copy": d.copy(t.Context(), "live", "live_copy"), "create": d.create(t.Context(), "live_trial"),
		"rename": d.rename(t.Context(), "live_copy", "live_back"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := admin.query("SELECT rolsuper::text FROM pg_roles WHERE rolname = 'owner'"); got != "false" {
		t.Errorf("the owner is a superuser: %s", got)
	}
	const openTo = "SELECT coalesce(string_agg(grantee::regrole || ' ' || privilege_type || ' ' || is_grantable, ', '), '') FROM " +
		"pg_database, aclexplode(datacl) WHERE grantee <> datdba AND datname = "
	if want, got := admin.query(openTo+"'live'"), admin.query(openTo+"'live_back'"); got != want || want == "" {
		t.Errorf("the copy is open to %q, and the live one to %q", got, want)
	}
	if got := admin.query(openTo + "'live_trial'"); got != "" {
		t.Errorf("the trial's database is open to %q", got)
	}
	if err := d.admit(t.Context(), "live", "live_trial"); err != nil || admin.query(openTo+"'live_trial'") != admin.query(openTo+"'live'") {
		t.Errorf("what is filled from a backup is not as open as the live one: %v", err)
	}
}

// Whoever comes back between being sent away and the renaming is sent away again, a few times; what else fails is not tried
// again. It is not parallel: the program is found by PATH.
func TestRenameIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, test := range []struct {
		says         string
		fails, tries int
		good         bool
	}{
		{"", 0, 1, true},
		{`database "live" is being accessed by other users`, renameTries - 1, renameTries, true},
		{"canceling statement due to lock timeout", renameTries - 1, renameTries, true},
		{`database "live" is being accessed by other users`, 100, renameTries, false},
		{`database "live" does not exist`, 1, 1, false},
	} {
		_ = os.Remove(calls)
		text := fmt.Sprintf("#!/bin/sh\necho call >> %s\n[ $(wc -l < %s) -gt %d ] || { echo 'psql: error: ERROR:  %s' >&2; exit 3; }\n",
			calls, calls, test.fails, test.says)
		if err := programtest.Write(filepath.Join(dir, "psql"), []byte(text)); err != nil {
			t.Fatal(err)
		}
		err := nowhere.rename(t.Context(), "live", "aside")
		said, _ := os.ReadFile(calls) // there is none when it was not called
		if tries := strings.Count(string(said), "\n"); (err == nil) != test.good || tries != test.tries {
			t.Errorf("%q for %d times: %v after %d tries", test.says, test.fails, err, tries)
		}
	}
}
