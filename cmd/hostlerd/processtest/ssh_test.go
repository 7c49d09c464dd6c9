package processtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/sshdtest"
)

// sshView is what a host tells of SSH.
type sshView struct {
	Enrolled    bool
	Fingerprint *string
	PublicKey   *string `json:"public_key"`
	Pending     *struct {
		PublicKey      string `json:"public_key"`
		InstallCommand string `json:"install_command"`
	}
	Consent *struct{ By string }
}

// machineLogin is a host whose machine is a real SSH server.
type machineLogin struct {
	t       *testing.T
	service *service
	owner   *client
	server  *sshdtest.Server
	path    string
}

// From enrolling to removing, on a real SSH server: the line that is printed is brought there by the command that is printed, a machine
// that was installed anew is refused with both host keys, keys are replaced, plugin and service are killed meanwhile, and in the end
// nothing is left.
func TestMachineIsLoggedInTo(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("who logs in is root, and the SSH server of a test lets in only who runs the test")
	}
	server := sshdtest.Start(t)
	cluster := startSim(t, "--scenario", "one", "--guests", "2", "--auth-delay", "0")
	s := startService(t, options{})
	m := &machineLogin{t: t, service: s, owner: setUp(t, s), server: server}
	m.owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"ssh.from_addresses": []string{"127.0.0.1"}}, nil)
	body := map[string]any{"name": "lab", "address": cluster.URL, "tls_fingerprint": cluster.Fingerprint, "ssh_enroll": true,
		"token_id": cluster.Tokens["monitoring"].ID, "token_secret": cluster.Tokens["monitoring"].Secret, "ssh_port": server.Port()}
	if a := m.owner.do(t, http.MethodPost, "/api/v1/hosts", body); a.Status != http.StatusConflict || a.problem() != "consent_required" {
		t.Fatalf("without consent: %d %s", a.Status, a.Body)
	}
	body["ssh_consent"] = true
	var host struct {
		ID  int64
		SSH sshView
	}
	m.owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", body, &host)
	m.path = fmt.Sprintf("/api/v1/hosts/%d", host.ID)
	if host.SSH.Pending == nil || host.SSH.Consent == nil ||
		!strings.HasPrefix(host.SSH.Pending.PublicKey, `restrict,from="127.0.0.1" ssh-ed25519 `) {
		t.Fatalf("the new host has %+v", host.SSH)
	}

	m.refused(http.StatusBadGateway, "hypervisor_error", `"reason":"auth"`)
	m.runs(host.SSH.Pending.InstallCommand)
	var check struct {
		Fingerprint, User string
		Pinned, Activated bool
		Remove            *string `json:"remove_command"`
	}
	m.owner.must(t, http.StatusOK, http.MethodPost, m.path+"/ssh/verify", nil, &check)
	if check.Fingerprint != server.HostKey() || check.User != "root" || !check.Pinned || !check.Activated {
		t.Errorf("the first check: %+v, want %s", check, server.HostKey())
	}

	was := check.Fingerprint
	now := server.SetHostKeys("ed25519", "ecdsa")[0]
	m.refused(http.StatusConflict, "ssh_host_key_changed", was, now)
	m.owner.must(t, http.StatusOK, http.MethodPatch, m.path, map[string]any{"ssh_host_key_fingerprint": now}, nil)
	m.verified()

	for what, kill := range map[string]func(){
		"plugin": func() {
			for _, pid := range pluginsOf(t, s) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		},
		"service": func() { s.kill(); s.start(t) },
	} {
		kill()
		m.owner.answered(t, http.MethodPost, m.path+"/ssh/verify")
		if t.Failed() {
			t.Fatalf("after the death of the %s", what)
		}
	}
	run(t, s.env, "", "keys", "rotate").succeeds(t)
	m.verified()
	m.replaced(*m.view().PublicKey)

	var removal struct{ Commands []string }
	m.owner.must(t, http.StatusOK, http.MethodDelete, m.path+"/credentials/ssh_key", nil, &removal)
	for _, command := range removal.Commands {
		m.runs(command)
	}
	if lines := strings.TrimSpace(m.authorized()); lines != "" || len(removal.Commands) != 1 {
		t.Errorf("%d commands leave %q", len(removal.Commands), lines)
	}
	m.refused(http.StatusConflict, "consent_required")
	if log := s.Log.String(); strings.Contains(log, "PRIVATE KEY") || strings.Contains(log, "b3BlbnNzaC1rZXktdjE") {
		t.Error("a private key is in the log")
	}
}

// replaced puts a second key in the first one's place, which works until the second was seen to.
func (m *machineLogin) replaced(old string) {
	m.t.Helper()
	var made struct {
		PublicKey      string `json:"public_key"`
		InstallCommand string `json:"install_command"`
	}
	m.owner.must(m.t, http.StatusOK, http.MethodPost, m.path+"/credentials", map[string]any{"rotate_ssh": true}, &made)
	m.refused(http.StatusBadGateway, "hypervisor_error", `"reason":"auth"`)
	if v := m.view(); !v.Enrolled || *v.PublicKey != old || v.Pending == nil || v.Pending.PublicKey != made.PublicKey {
		m.t.Errorf("with a pending key the host has %+v", v)
	}
	m.runs(made.InstallCommand)
	var check struct {
		Activated bool
		Remove    *string `json:"remove_command"`
	}
	m.owner.must(m.t, http.StatusOK, http.MethodPost, m.path+"/ssh/verify", nil, &check)
	if !check.Activated || check.Remove == nil {
		m.t.Fatalf("the second key: %+v", check)
	}
	m.runs(*check.Remove)
	if lines := m.authorized(); strings.Contains(lines, old) || !strings.Contains(lines, made.PublicKey) {
		m.t.Errorf("the machine has the keys %q", lines)
	}
	m.verified()
}

// runs runs a command on the machine, whose keys are in a file of the test.
func (m *machineLogin) runs(command string) {
	m.t.Helper()
	file := m.server.AuthorizedKeys()
	if !strings.Contains(command, "/root/.ssh/authorized_keys") {
		m.t.Fatalf("the command is %q", command)
	}
	command = strings.ReplaceAll(command, "/root/.ssh/authorized_keys", file)
	command = strings.ReplaceAll(command, "/root/.ssh", strings.TrimSuffix(file, "/authorized_keys"))
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v: %s", command, err, out)
	}
}

func (m *machineLogin) authorized() string {
	m.t.Helper()
	raw, err := os.ReadFile(m.server.AuthorizedKeys())
	if err != nil {
		m.t.Fatal(err)
	}
	return string(raw)
}

func (m *machineLogin) view() sshView {
	m.t.Helper()
	var host struct{ SSH sshView }
	m.owner.must(m.t, http.StatusOK, http.MethodGet, m.path, nil, &host)
	return host.SSH
}

func (m *machineLogin) verified() {
	m.t.Helper()
	m.owner.must(m.t, http.StatusOK, http.MethodPost, m.path+"/ssh/verify", nil, nil)
}

func (m *machineLogin) refused(status int, code string, contains ...string) {
	m.t.Helper()
	a := m.owner.do(m.t, http.MethodPost, m.path+"/ssh/verify", nil)
	if a.Status != status || a.problem() != code {
		m.t.Fatalf("verifying: %d %s, want %d %s", a.Status, a.Body, status, code)
	}
	for _, text := range contains {
		if !strings.Contains(string(a.Body), text) {
			m.t.Errorf("the answer lacks %s: %s", text, a.Body)
		}
	}
}
