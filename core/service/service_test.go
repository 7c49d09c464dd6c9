package service_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/remotewrite"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
)

// fetch is the status and the body of a page outside the API.
func fetch(handler http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// A whole service runs all of its loops from Start to Drain, and tells how it is.
func TestRunsAllThatIsAskedFor(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := servicetest.New(t, func(c *service.Config) { c.Loops, c.StateDir = service.Loops, state })
	handler := s.Handler()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	waittest.Succeeds(t, "all loops give a sign of life", func() error {
		var waiting []service.Loop
		for loop, sign := range s.Heartbeats {
			if !sign.Begun() {
				waiting = append(waiting, loop)
			}
		}
		if len(waiting) > 0 {
			return fmt.Errorf("there is none of %q", waiting)
		}
		return nil
	})
	if _, err := os.Stat(filepath.Join(state, "setup-token")); err != nil {
		t.Error("there is no user, and no token to make one:", err)
	}
	for path, want := range map[string]string{"/healthz": `"status":"ok"`, "/readyz": `"plugins":"none pinned"`,
		"/metrics": "hostler_polls_total"} {
		status, text := fetch(handler, path)
		if healthy := path != "/readyz"; healthy != (status == http.StatusOK) || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	s.Drain(t.Context())
	if _, err := s.Receiver.Set(t.Context(), remotewrite.Receiver{URL: "https://metrics.example.com/"}); err != nil {
		t.Error(err)
	}
	if _, text := fetch(handler, "/metrics"); !strings.Contains(text, "hostler_remote_write_late_seconds") {
		t.Errorf("nothing tells how late the receiver of samples is: %s", text)
	}
	select {
	case <-s.Context().Done():
	default:
		t.Error("what streams goes on after the service was drained")
	}
	s.Close()
	if status, _ := fetch(handler, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz of a drained service is %d", status)
	}
}

// installed are the states of plugins.
type installed []plugin.Status

func (i installed) Status() []plugin.Status                          { return i }
func (installed) Start(context.Context) error                        { return nil }
func (installed) Stop()                                              {}
func (installed) TakeRequests(context.Context) []plugin.SentRequests { return nil }

// A service without a catalog works; one without its hypervisors does not.
func TestReady_ShowsAFailedCatalogAndIsReady(t *testing.T) {
	t.Parallel()
	of := func(kind string, state plugin.State) plugin.Status {
		return plugin.Status{Pin: plugin.Pin{Kind: kind, Name: kind + "-a", Enabled: true}, State: state}
	}
	for name, c := range map[string]struct {
		plugins installed
		status  int
		says    string
	}{
		"all run":               {installed{of("hypervisor", plugin.Running), of("catalog", plugin.Running)}, 200, `"plugins":"ok"`},
		"the catalog failed":    {installed{of("hypervisor", plugin.Running), of("catalog", plugin.Failed)}, 200, "catalog catalog-a is failed"},
		"the catalog waits":     {installed{of("hypervisor", plugin.Running), of("catalog", plugin.BackingOff)}, 200, `"status":"ok"`},
		"the catalog starts":    {installed{of("hypervisor", plugin.Running), of("catalog", plugin.Starting)}, 503, "is starting"},
		"the hypervisor failed": {installed{of("hypervisor", plugin.Failed), of("catalog", plugin.Running)}, 503, "hypervisor-a is failed"},
		"the firewall failed":   {installed{of("hypervisor", plugin.Running), of("firewall", plugin.Failed)}, 503, "firewall-a is failed"},
		"nothing runs":          {installed{of("catalog", plugin.Failed)}, 503, "none pinned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servicetest.New(t, func(config *service.Config) { config.Plugins = c.plugins })
			if status, text := fetch(s.Handler(), "/readyz"); status != c.status || !strings.Contains(text, c.says) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

// A column with secrets that a noun names and the service does not know would lose its key by a rotation.
func TestSealedHasTheColumnsOfAllNouns(t *testing.T) {
	t.Parallel()
	declared := regexp.MustCompile(`(?m)^var Sealed\w* = secret\.Table\{`)
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var nouns []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range declared.FindAll(text, -1) {
			nouns = append(nouns, file)
		}
	}
	if len(nouns) != len(service.SealedTables) {
		t.Errorf("service.Sealed has %d columns, and these files declare one each: %q", len(service.SealedTables), nouns)
	}
}
