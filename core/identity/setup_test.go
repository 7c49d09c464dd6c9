package identity_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

var first = identity.NewUser{Email: "owner@example.com", Password: identitytest.Password}

// prepared is a setup in a state directory of its own, with its token.
func prepared(t *testing.T, s *identity.Store) (setup *identity.Setup, dir, token string) {
	t.Helper()
	dir = t.TempDir()
	setup = identity.NewSetup(s, dir)
	return setup, dir, prepare(t, setup)
}

func prepare(t *testing.T, setup *identity.Setup) string {
	t.Helper()
	path, needed, err := setup.Prepare(t.Context())
	if err != nil || !needed {
		t.Fatalf("%v, %v", needed, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func trail(t *testing.T, d *db.DB) []audit.Row {
	t.Helper()
	rows, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestSetupMakesTheFirstOwnerOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	setup, dir, token := prepared(t, s)
	for name, bad := range map[string]string{"empty": "", "unknown": strings.Repeat("A", 43), "cut": token[1:], "more": token + "A",
		"NUL": token + "\x00", "SQL": "' OR true --", "huge": strings.Repeat("A", 1<<20)} {
		if _, err := setup.Complete(t.Context(), bad, first); code(err) != problem.CodeInvalidCredentials {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Hashes() != 0 {
		t.Error("a wrong token led to a password hash")
	}
	bad := "   \x01 "
	_, err := setup.Complete(t.Context(), token, identity.NewUser{Email: "x", Password: "short", DisplayName: &bad})
	if p := problem.From(err); p.Code != problem.CodeInvalid || len(p.Faults) != 3 {
		t.Errorf("all faults in one answer: %v", err)
	}
	ctx, _ := audit.Begin(t.Context(), audit.Entry{ActorType: audit.ActorAnonymous, Action: "setup.complete"})
	user, err := setup.Complete(ctx, token, first)
	if err != nil {
		t.Fatal(err)
	}
	account := identitytest.LogIn(t, s, user)
	if c, err := s.Authenticate(t.Context(), with(account.Cookie)); err != nil || c.Instance() != identity.Owner {
		t.Errorf("%+v, %v", c, err)
	}
	if n := entries(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if _, err := setup.Complete(t.Context(), token, first); code(err) != problem.CodeAlreadySetUp {
		t.Errorf("again: %v", err)
	}
	if _, needed, err := setup.Prepare(t.Context()); needed || err != nil || entries(t, dir) != 0 {
		t.Errorf("prepared again: %v, %v", needed, err)
	}
	rows := trail(t, d)
	if len(rows) != 1 || rows[0].Action != "setup.complete" || *rows[0].ActorID != user.ID || rows[0].ActorType != audit.ActorUser {
		t.Errorf("%+v", rows)
	}
	if text := fmt.Sprintf("%+v", rows); strings.Contains(text, token) || strings.Contains(text, identitytest.Password) {
		t.Error("a secret is in the audit log")
	}
}

func TestSetupTokenFileIsKeptOrRenewed(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	for name, spoil := range map[string]func(path string) error{
		"lost":             os.Remove,
		"emptied":          func(path string) error { return os.Truncate(path, 0) },
		"overwritten":      func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("A", 43)), 0o600) },
		"binary":           func(path string) error { return os.WriteFile(path, []byte{0, 0xff, 10}, 0o600) },
		"readable":         func(path string) error { return os.Chmod(path, 0o644) },
		"huge":             func(path string) error { return os.Truncate(path, 1<<30) },
		"link":             func(path string) error { return replaceByLink(path, t.TempDir()) },
		"of old database":  func(string) error { _, err := d.Pool.Exec(t.Context(), "DELETE FROM setup_tokens"); return err },
		"kept as it was":   func(string) error { return nil },
		"kept with spaces": func(path string) error { return appendTo(path, "\n \n") },
	} {
		setup, dir, token := prepared(t, s)
		if err := spoil(filepath.Join(dir, "setup-token")); err != nil {
			t.Fatal(err)
		}
		again := prepare(t, setup)
		if kept := again == token; kept != strings.HasPrefix(name, "kept") {
			t.Errorf("%s: kept is %v", name, kept)
		}
		if n := entries(t, dir); n != 1 {
			t.Errorf("%s: %d files", name, n)
		}
	}
}

func replaceByLink(path, dir string) error {
	target := filepath.Join(dir, "elsewhere")
	if err := os.Rename(path, target); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func TestSetupSaysWhenItsDirectoryCannotBeWritten(t *testing.T) {
	t.Parallel()
	setup := identity.NewSetup(identitytest.New(dbtest.New(t)), filepath.Join(t.TempDir(), "missing"))
	if _, _, err := setup.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "setup token") {
		t.Errorf("got %v", err)
	}
}

// Instances on one database: each one's file is good at every other, and one setup ends it for all.
func TestSetupOfSeveralInstances(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := identitytest.New(dbtest.Open(t, url)), identitytest.New(dbtest.Open(t, url))
	setupA, dirA, tokenA := prepared(t, a)
	setupB, dirB, tokenB := prepared(t, b)
	if tokenA == tokenB || prepare(t, setupA) != tokenA || prepare(t, setupB) != tokenB {
		t.Error("the instances do not keep a token each")
	}
	if _, err := setupB.Complete(t.Context(), tokenA, first); err != nil {
		t.Fatal(err)
	}
	if _, err := setupA.Complete(t.Context(), tokenB, first); code(err) != problem.CodeAlreadySetUp {
		t.Errorf("got %v", err)
	}
	if needed, err := setupA.Needed(t.Context()); needed || err != nil || entries(t, dirA)+entries(t, dirB) != 0 {
		t.Errorf("needed %v, %v, files are left", needed, err)
	}
}

func TestOneOfManySetupsAtOnceWins(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	d := dbtest.Open(t, url)
	a, b := identitytest.New(d), identitytest.New(dbtest.Open(t, url))
	setupA, _, tokenA := prepared(t, a)
	setupB, _, tokenB := prepared(t, b)
	results := make([]error, 12)
	var wg sync.WaitGroup
	for i := range results {
		in := first
		in.Email = fmt.Sprintf("owner%d@example.com", i)
		wg.Go(func() {
			if i%2 == 0 {
				_, results[i] = setupA.Complete(t.Context(), tokenA, in)
			} else {
				_, results[i] = setupB.Complete(t.Context(), tokenB, in)
			}
		})
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		if got := code(err); got == "" {
			won++
		} else if got != problem.CodeAlreadySetUp && got != problem.CodeInvalidCredentials {
			t.Errorf("got %v", err)
		}
	}
	var users int
	if err := d.Pool.QueryRow(t.Context(), "SELECT count(*) FROM users").Scan(&users); err != nil || won != 1 || users != 1 {
		t.Errorf("%d won, %d users, %v", won, users, err)
	}
}

func TestCreateOwner(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	setup, dir, token := prepared(t, s)
	name := " Anna "
	for _, email := range []string{"anna@example.com", "bert@example.com"} {
		user, err := s.CreateOwner(t.Context(), email, identitytest.Password, &name)
		if err != nil || *user.DisplayName != "Anna" {
			t.Fatalf("%+v, %v", user, err)
		}
		c, err := s.Authenticate(t.Context(), with(identitytest.LogIn(t, s, user).Cookie))
		if err != nil || c.Instance() != identity.Owner || c.DisplayName != "Anna" {
			t.Errorf("%+v, %v", c, err)
		}
	}
	if _, err := s.CreateOwner(t.Context(), "ANNA@example.com", identitytest.Password, nil); code(err) != problem.CodeConflict ||
		!strings.Contains(err.Error(), "email") {
		t.Errorf("got %v", err)
	}
	if _, err := setup.Complete(t.Context(), token, first); code(err) != problem.CodeAlreadySetUp || entries(t, dir) != 0 {
		t.Errorf("got %v", err)
	}
	rows := trail(t, d)
	if len(rows) != 2 || rows[1].ActorType != audit.ActorSystem || rows[1].Action != "owner.create" ||
		rows[1].TargetName != "anna@example.com" {
		t.Errorf("%+v", rows)
	}
}
