package processtest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// sealed waits until every row of the audit log has its place.
func (s *service) sealed(t *testing.T) {
	t.Helper()
	waittest.Succeeds(t, "sealing the audit log", func() error {
		if out := run(t, s.env, "", "audit", "verify").succeeds(t).Out; !strings.Contains(out, " 0 not sealed yet") {
			return fmt.Errorf("it says %q", out)
		}
		return nil
	})
}

// The command sees what was done to the audit log beside the running service, after a rotation of the key, and without the service.
func TestAuditVerify(t *testing.T) {
	t.Parallel()
	s := startService(t, options{})
	owner := setUp(t, s)
	s.sealed(t)
	out := run(t, s.env, "", "audit", "verify").succeeds(t)
	if !strings.HasPrefix(out.Out, "The audit log is intact: ") || strings.Count(out.Out, "\n") != 1 ||
		strings.HasPrefix(out.Out, "The audit log is intact: 0 ") {
		t.Errorf("it says %q", out.Out)
	}
	run(t, s.env, "", "keys", "rotate").succeeds(t)
	s.sealed(t)
	owner.must(t, http.StatusOK, http.MethodDelete, "/api/v1/audit", map[string]string{"confirm": "clear audit log"}, nil)
	s.sealed(t)
	d := dbtest.Open(t, s.DB)
	change := func(statement string) {
		t.Helper()
		if tag, err := d.Pool.Exec(t.Context(), statement); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %v %v", statement, tag, err)
		}
	}
	change("UPDATE audit SET action = action || 'x' WHERE id = (SELECT min(id) FROM audit)")
	broken(t, run(t, s.env, "", "audit", "verify"), "was altered", "(id ")
	change("UPDATE audit SET action = left(action, -1) WHERE id = (SELECT min(id) FROM audit)")
	s.sealed(t)
	s.stop(t)
	run(t, s.env, "", "audit", "verify").succeeds(t)
	change("DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)")
	broken(t, run(t, s.env, "", "audit", "verify"), "was removed")
	for name, env := range map[string][]string{
		"no database": append(slices.Clone(s.env), "HOSTLER_DATABASE_URL=postgres://nobody@127.0.0.1:1/none"),
		"no key":      append(slices.Clone(s.env), "HOSTLER_KEY_FILE="+filepath.Join(t.TempDir(), "none")),
	} {
		if out := run(t, env, "", "audit", "verify"); out.Code != 1 {
			t.Errorf("%s: it ended with %d: %s%s", name, out.Code, out.Out, out.Err)
		}
	}
	if _, err := d.Pool.Exec(t.Context(), "TRUNCATE audit, audit_chain, audit_links, audit_pending, audit_anchors"); err != nil {
		t.Fatal(err)
	}
	broken(t, run(t, s.env, "", "audit", "verify"), "the audit log is empty")
	run(t, s.env, "", "audit", "verfy").fails(t, "unknown command")
}

// broken holds what the command said and how it ended against an audit log that it looked at and that is not good.
func broken(t *testing.T, o outcome, pieces ...string) {
	t.Helper()
	if o.fails(t, pieces...); o.Code != 2 {
		t.Errorf("it ended with %d", o.Code)
	}
}

func TestAuditVerifyOfThePrivateDatabase(t *testing.T) {
	t.Parallel()
	s := startService(t, options{DB: privateDatabase})
	setUp(t, s)
	s.sealed(t)
	s.stop(t)
	run(t, s.env, "", "audit", "verify").succeeds(t)
}
