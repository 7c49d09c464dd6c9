package plugin_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

func TestLogForwarding(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	waittest.Until(t, "the plugin's line is in the log under its name", func() bool {
		for line := range strings.Lines(b.log.String()) {
			if strings.Contains(line, "[INFO]  plugin.mem.") && strings.Contains(line, "memory hypervisor ready: release=1.0.0") {
				return true
			}
		}
		return false
	})
}

// A careless driver puts its credential into an error and into a panic, and dies with it. Neither the error nor any log
// has it, nor does the process show it.
func TestCanary(t *testing.T) {
	t.Parallel()
	const canary = "canary-5f0c2f9b-secret"
	b := running(t, nil)
	target := endpoint.Target{Credential: endpoint.Credential{
		Capability: endpoint.Lifecycle, ID: "service@mem!lifecycle", Secret: canary,
	}}
	for _, address := range []string{"leak-any.mem:1", "leakpanic-any.mem:1", "fine.mem:1", "not an address", "exit-any.mem:1"} {
		target.Address = address
		host, err := b.Hypervisor("mem").Open(t.Context(), target)
		if err != nil {
			t.Fatal("opening:", err)
		}
		_, err = host.Version(t.Context())
		told(t, address, canary, err)
		told(t, address, canary, host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil }))
		if address == "leak-any.mem:1" && (err == nil || !strings.Contains(err.Error(), "[secret]")) {
			t.Errorf("error is %v, want the leak with the secret cut out", err)
		}
		if s := b.status(t); s.PID != 0 {
			for _, file := range []string{"cmdline", "environ"} {
				content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.PID), file))
				if err == nil && strings.Contains(string(content), canary) {
					t.Errorf("the plugin's %s has the canary", file)
				}
			}
			if strings.Contains(s.Error, canary) {
				t.Error("the status has the canary")
			}
		}
	}
	b.Stop()
	if log := b.log.String(); strings.Contains(log, canary) {
		t.Error("the log has the canary")
	} else if !strings.Contains(log, "[secret]") {
		t.Error("the log does not tell of the leak at all")
	}
}

// A key of several lines is no more told than a word, nor is one that only looks like one.
func TestKeysStayOutOfErrorsAndLogs(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	certificate, err := endpoint.NewClientCertificate(endpoint.Lifecycle)
	if err != nil {
		t.Fatal(err)
	}
	other, err := endpoint.NewClientCertificate(endpoint.Lifecycle)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(certificate.Secret)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
			lines = append(lines, line)
		}
	}
	for _, address := range []string{"leak-any.mem:1", "leakpanic-any.mem:1", "exit-any.mem:1"} {
		host, err := b.Hypervisor("mem").Open(t.Context(), endpoint.Target{Address: address, Credential: certificate})
		if err != nil {
			t.Fatal("opening:", err)
		}
		_, err = host.Version(t.Context())
		for _, line := range lines {
			told(t, address, line, err)
		}
	}
	if p := problem.From(plugin.Problem(sdk.Errorf(sdk.Refused, "%s", string(other.Secret)))); strings.Contains(p.Detail, "PRIVATE") {
		t.Errorf("the problem tells a key: %s", p.Detail)
	}
	b.Stop()
	log := b.log.String()
	for _, line := range append(lines, "PRIVATE KEY") {
		if strings.Contains(log, line) {
			t.Errorf("the log has %s", line)
		}
	}
}

func told(t *testing.T, address, canary string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if strings.Contains(err.Error(), canary) || strings.Contains(plugin.Problem(err).Error(), canary) {
		t.Errorf("%s: the error has the canary", address)
	}
}

// The plugin gets nothing of the service's environment.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	b := running(t, func(cfg *plugin.Config) { cfg.Env = []string{"GOMEMLIMIT=64MiB"} })
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(b.status(t).PID), "environ"))
	if err != nil {
		t.Skip("no environment to be read here:", err)
	}
	if !strings.Contains(string(content), "GOMEMLIMIT=64MiB\x00") {
		t.Error("the configured environment is missing")
	}
	for entry := range strings.SplitSeq(string(content), "\x00") {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "", name == "GOMEMLIMIT", name == "HOSTLER_PLUGIN", name == "HOSTLER_PLUGIN_WATCH_FD", name == "HOSTLER_PLUGIN_LOG_LEVEL",
			strings.HasPrefix(name, "PLUGIN_"):
		case strings.HasPrefix(entry, "-----"), !strings.Contains(entry, "="): // the certificate's lines
		default:
			t.Errorf("the plugin has %s of the service", name)
		}
	}
}
