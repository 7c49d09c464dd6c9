package updater

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(newVersion, filepath.Join(programs(t), "whole-new.tar.gz"))
	answer := s.do(order{Do: "run"})
	if answer == nil || answer.Err != "" || answer.Result.Step != installation.StepDone || answer.Result.To != newVersion {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.await(newVersion)
	if got := s.query("SELECT note FROM brought_by_update") + s.query("SELECT note FROM kept"); got != "migratedbefore" {
		t.Error(got)
	}
	s.runsAllPlugins(newVersion)
}

// runsAllPlugins makes the owner and looks whether every plugin of the release was trusted and started.
func (s *site) runsAllPlugins(version string) {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.state, "setup-token"))
	if err != nil {
		s.t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil) // fails for no options
	client := &http.Client{Jar: jar, Timeout: time.Minute}
	const who = `"email":"owner@example.com","password":"correct horse battery staple 7Q"}`
	s.ask(client, http.MethodPost, "/api/v1/setup", `{"setup_token":"`+strings.TrimSpace(string(token))+`",`+who)
	s.ask(client, http.MethodPost, "/api/v1/auth/login", "{"+who)
	want := plugins(s.t)
	waittest.Succeeds(s.t, "the service runs the plugins of "+version, func() error {
		var all []struct{ Name, Version, State string }
		text := s.ask(client, http.MethodGet, "/api/v1/plugins", "")
		if err := json.Unmarshal(text, &all); err != nil {
			s.t.Fatal(err)
		}
		running := map[string]bool{}
		for _, plugin := range all {
			if plugin.State == "running" && plugin.Version == version {
				running["hostler-plugin-"+plugin.Name] = true
			}
		}
		if slices.ContainsFunc(want, func(name string) bool { return !running[name] }) {
			return fmt.Errorf("it runs %s, want %v", text, want)
		}
		return nil
	})
}

// ask makes a request to the service that must go well.
func (s *site) ask(client *http.Client, method, path, body string) []byte {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.address()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s, %v: %s", method, path, answer.Status, err, text)
	}
	return text
}

// What the package does: the programs run as users with few rights, and whoever starts the updater may have a narrow umask.
func TestUpdateByOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become someone else")
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
	if answer == nil || answer.Err != "" || !strings.Contains(answer.Reason, "correct the address") {
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
