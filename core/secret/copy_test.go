package secret_test

import (
	"errors"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
)

// A rotation and services with a copy of the key file keep each other away, whatever breaks in between.
func TestCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a connection to come back: make check runs it")
	}
	t.Parallel()
	v := newFixture(t, 2)
	b := v.load(t)
	hold := func() *secret.KeyFileCopy {
		t.Helper()
		c, err := secret.RegisterCopy(t.Context(), v.db, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, second := hold(), hold()
	if _, err := b.Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrCopyInUse) {
		t.Errorf("beside two: %v", err)
	}
	first.Close()
	// The second loses its connection and takes hold anew.
	holder := func() (pid int) {
		t.Helper()
		if err := v.db.Pool.QueryRow(t.Context(), `SELECT coalesce(max(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	old := holder()
	if old == 0 {
		t.Fatal("nobody holds")
	}
	dbtest.Exec(t, v.db, "SELECT pg_terminate_backend($1)", old)
	waittest.Until(t, "the hold is taken anew", func() bool { now := holder(); return now != 0 && now != old })
	if _, err := b.Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrCopyInUse) {
		t.Errorf("beside one that was cut off: %v", err)
	}
	// It waits for one that is ending.
	go second.Close()
	tried := false
	_, err := b.Rotate(t.Context(), v.rotation().Reaching(func(string) error {
		if !tried {
			tried = true
			if _, err := secret.RegisterCopy(t.Context(), v.db, hclog.NewNullLogger()); !errors.Is(err, secret.ErrRotating) {
				t.Errorf("a service that starts during a rotation: %v", err)
			}
		}
		return nil
	}))
	if err != nil || !tried {
		t.Errorf("with none: %v", err)
	}
	hold().Close()
	var none *secret.KeyFileCopy
	none.Close()
}
