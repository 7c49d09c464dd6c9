// Package promtest starts a real Prometheus for tests, where one is installed.
package promtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// Prometheus is a running one at URL, with an empty history, that takes remote write.
type Prometheus struct{ URL string }

// Start starts a Prometheus with a configuration, and stops it in the end. The test is skipped where none is installed.
func Start(t *testing.T, configuration string) *Prometheus {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Prometheus: make check runs it")
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		programtest.Missing(t, "prometheus is not installed: .ci/deps installs Debian's")
	}
	address := fmt.Sprintf("127.0.0.1:%d", programtest.FreePort(t))
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address,
		"--web.enable-remote-write-receiver", "--log.level=error")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	p := &Prometheus{URL: "http://" + address}
	waittest.Until(t, "prometheus is ready", func() bool {
		answer, err := http.Get(p.URL + "/-/ready")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return p
}

// Query is the one value that a query of PromQL finds; empty when it finds none, or several.
func (p *Prometheus) Query(t *testing.T, query string) string {
	t.Helper()
	answer, err := http.Get(p.URL + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var found struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	if len(found.Data.Result) != 1 {
		return ""
	}
	return fmt.Sprint(found.Data.Result[0].Value[1])
}

// Target is one that a Prometheus has found.
type Target struct {
	DiscoveredLabels, Labels map[string]string
	ScrapePool, ScrapeURL    string
}

// Targets are those that it has found and did not drop.
func (p *Prometheus) Targets(t *testing.T) []Target {
	t.Helper()
	answer, err := http.Get(p.URL + "/api/v1/targets?state=active")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var found struct {
		Data struct{ ActiveTargets []Target }
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found.Data.ActiveTargets
}
