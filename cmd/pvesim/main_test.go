package main_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/programtest"
)

// build makes the program once for all tests.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "pvesim")
	if err := programtest.Build(t.Context(), "", bin, "."); err != nil {
		t.Fatal(err)
	}
	return bin
}

type ready struct {
	URL, Fingerprint, Control string
	Tokens                    map[string]struct{ ID, Secret string }
	AdminToken                struct{ ID, Secret string } `json:"admin_token"`
	Nodes                     []struct{ Name, URL, Fingerprint string }
	Hosts                     []struct {
		URL, Fingerprint string
		Tokens           map[string]struct{ ID, Secret string }
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for name, tc := range map[string]struct {
		args  []string
		nodes int
		hosts int
		stop  func(cmd *exec.Cmd, stdin io.Closer) error
	}{
		"one, SIGTERM": {[]string{"--scenario", "one"}, 1, 0,
			func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) }},
		"cluster, SIGINT": {[]string{"--scenario", "cluster", "--nodes", "4", "--guests", "9"}, 4, 0,
			func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(os.Interrupt) }},
		"fleet, stdin eof": {[]string{"--scenario", "fleet", "--stdin-eof", "--seed", "7"}, 3, 4,
			func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(bin, tc.args...)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			line, err := bufio.NewReader(stdout).ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			var r ready
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if len(r.Nodes) != tc.nodes || len(r.Hosts) != tc.hosts || len(r.Tokens) != 5 || len(r.Fingerprint) != 95 ||
				r.Tokens["node_power"].ID != "service@pve!node_power" {
				t.Errorf("ready line %s", line)
			}
			get(t, r.URL+"/api2/json/version", "PVEAPIToken="+r.AdminToken.ID+"="+r.AdminToken.Secret)
			for _, h := range r.Hosts {
				get(t, h.URL+"/api2/json/cluster/status", "PVEAPIToken="+h.Tokens["monitoring"].ID+"="+h.Tokens["monitoring"].Secret)
			}
			get(t, r.Control+"/stats", "")
			if err := tc.stop(cmd, stdin); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("ended with %v", err)
				}
			case <-time.After(time.Minute):
				t.Error("did not stop")
			}
		})
	}
	for _, args := range [][]string{{"--scenario", "x"}, {"--control-listen", "0.0.0.0:0"}, {"--nope"}, {"extra"}, {"--listen", "x"}} {
		if out, err := exec.Command(bin, args...).Output(); err == nil || len(out) > 0 {
			t.Errorf("%v: %v, printed %q", args, err, out)
		}
	}
}

func get(t *testing.T, url, auth string) {
	t.Helper()
	h := &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", auth)
	resp, err := h.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("GET %s: %s", url, resp.Status)
	}
}
