package updater

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/updater/installation"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	answer := s.do(order{Do: "run"})
	if answer == nil || answer.Err != "" || answer.Result.Step != installation.StepDone || answer.Result.To != newVersion {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.await(newVersion)
	if got := s.query("SELECT note FROM brought_by_update") + s.query("SELECT note FROM kept"); got != "migratedbefore" {
		t.Error(got)
	}
}

// What the package does: the programs run as users with few rights, and whoever starts the updater may have a narrow umask.
func TestUpdateByOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	s := newSite(t)
	s.publish(newVersion, "")
	s.database = dbtest.Public(t, s.database)
	config := s.config()
	config.Database.OwnerUser, config.Database.AdminUser = "nobody", "nobody"
	// What others must read and execute lies below folders of the test's own.
	for dir := filepath.Dir(s.prefix); dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	answer := s.do(order{Do: "run", Config: config})
	if answer == nil || answer.Err != "" || answer.Result.Step != installation.StepDone {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.holds(newVersion, "done")
}

// An update whose new version could not be asked for its health is not begun.
func TestServiceThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	config := s.config()
	config.Ready = "http://127.0.0.1:1/readyz"
	config.ReadyTime = 2 * time.Second
	answer := s.do(order{Do: "run", Config: config})
	if answer == nil || answer.Err != "" || !strings.Contains(answer.Reason, "mend the address") {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.holds(oldVersion, "failed")
}

// A service beyond loopback has a certificate of its own.
func TestServiceWithItsOwnCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"ok","version":"1.1.0"}`))
	}))
	t.Cleanup(server.Close)
	r := &run{Updater: &Updater{cfg: Config{Ready: server.URL + "/readyz", HTTP: local()}}}
	if err := r.ready(t.Context(), "1.1.0"); err != nil {
		t.Error(err)
	}
	if err := r.ready(t.Context(), "1.2.0"); err == nil {
		t.Error("another version passed")
	}
}
