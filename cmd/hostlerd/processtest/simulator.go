package processtest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// apiToken is one token of the simulator.
type apiToken struct{ ID, Secret string }

// sim is a running pvesim, as its line of JSON describes it.
type sim struct {
	URL         string
	Fingerprint string
	Tokens      map[string]apiToken
	AdminToken  apiToken `json:"admin_token"`
	Control     string
	Hosts       []sim // of the scenario fleet
	Nodes       []struct{ Name, URL, Fingerprint string }

	// query chooses the installation of a fleet in calls of the control API.
	query string
	cmd   *exec.Cmd
}

// startSim starts pvesim and waits for its line. It ends with the test.
func startSim(t testing.TB, args ...string) *sim {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin(t), "pvesim"), append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	var errs waittest.Text
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting pvesim: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReaderSize(out, 1<<20).ReadBytes('\n')
	if err != nil {
		t.Fatalf("pvesim did not become ready: %v %s", err, errs.String())
	}
	s := &sim{cmd: cmd}
	if err := json.Unmarshal(line, s); err != nil {
		t.Fatalf("reading pvesim's line: %v: %s", err, line)
	}
	for i := range s.Hosts {
		s.Hosts[i].Control, s.Hosts[i].query = s.Control, fmt.Sprintf("?host=%d", i)
	}
	return s
}

// printed returns what the role script prints after it created the tokens of
// some capabilities.
func (s *sim) printed(capabilities ...string) string {
	var out strings.Builder
	out.WriteString("\nEnter these tokens in Hostler. The secrets are not shown again.\n")
	for _, capability := range capabilities {
		token := s.Tokens[capability]
		fmt.Fprintf(&out, "\n  %s\n    token id: %s\n    secret:   %s", capability, token.ID, token.Secret)
	}
	return out.String() + "\n"
}

// newUUID looks like the secret of a token.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// control calls pvesim's control interface and decodes the response into out
// unless that is nil.
func (s *sim) control(t testing.TB, method, path string, in, out any) {
	t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.Control, "/")+path+s.query, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("calling pvesim's control: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode >= 300 {
		t.Fatalf("pvesim's control %s %s: %s: %s", method, path, resp.Status, text)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("pvesim's control %s %s: %v", method, path, err)
		}
	}
}

// statistics are pvesim's counters. Requests is keyed by method and path
// template.
type statistics struct {
	Requests map[string]int
	Total    int
	BytesOut int64 `json:"bytes_out"`
}

func (s *sim) stats(t testing.TB) statistics {
	t.Helper()
	var st statistics
	s.control(t, http.MethodGet, "/stats", nil, &st)
	return st
}

// sent is how often an action was asked of the simulator, over all guests.
func (s *sim) sent(t testing.TB, action string) int {
	t.Helper()
	return s.stats(t).Requests["POST /nodes/{node}/qemu/{vmid}/status/"+action]
}

// fault adds a fault; see package pvesim for its fields. Faults add up until
// healFaults.
func (s *sim) fault(t testing.TB, fault map[string]any) {
	t.Helper()
	s.control(t, http.MethodPost, "/fault", fault, nil)
}

func (s *sim) healFaults(t testing.TB) {
	t.Helper()
	s.control(t, http.MethodDelete, "/fault", nil, nil)
}

// struck is how often any fault has struck.
func struck(t testing.TB, cluster *sim) int {
	t.Helper()
	var faults []struct{ Struck int }
	cluster.control(t, http.MethodGet, "/fault", nil, &faults)
	n := 0
	for _, f := range faults {
		n += f.Struck
	}
	return n
}
