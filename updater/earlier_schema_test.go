package updater

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/updater/installation"
)

// The trial takes what an earlier release has written, and the live database stays as it is. Where the migrations cannot take it, the
// update ends there.
func TestTrialOnAnEarlierSchema(t *testing.T) {
	t.Parallel()
	s := &site{t: t, server: &httptest.Server{},
		database: dbtest.Restore(t, filepath.Join("..", "migrations", "testdata", "schema24", "database.sql"))}
	u, v := newUpdater(t, s.config().Database)
	tree := s.tree("new", newVersion, nil)
	var tried []string
	u.hook = func(point string) {
		if strings.HasSuffix(point, " "+string(installation.StepTrial)) {
			tried = append(tried, point)
		}
	}
	dry := func() *Result {
		t.Helper()
		end, err := u.beginNew()
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		result, err := u.run(t.Context(), oldVersion, Options{DryRun: true, tree: tree})
		if err != nil {
			t.Fatal(err)
		}
		// What is live is as it was, and serves.
		if got := s.query("SELECT concat_ws(' ', (SELECT max(version_id) FROM goose_db_version), (SELECT count(vmid) FROM guests))"); got !=
			"24 24" {
			t.Errorf("the live database is at version and has guests: %s", got)
		}
		if names, err := u.cfg.Database.names(t.Context()); err != nil || len(names) != 1 || v.stops > 0 {
			t.Errorf("there are the databases %v, %v; the service was stopped %d times", names, err, v.stops)
		}
		return result
	}
	if r := dry(); r.Step != installation.StepDone || r.To != newVersion || len(tried) != 3 {
		t.Fatalf("%+v, %v", r, tried)
	}
	s.sql("ALTER TABLE apps DROP CONSTRAINT apps_cluster_id_vmid_key")
	r := dry()
	if r.Step != installation.StepFailed || r.Reason == nil {
		t.Fatalf("%+v", r)
	}
	for _, piece := range []string{"running the migrations on a copy", "apps_cluster_id_vmid_key"} {
		if !strings.Contains(r.Reason.Error(), piece) {
			t.Errorf("it does not say %q: %v", piece, r.Reason)
		}
	}
}
