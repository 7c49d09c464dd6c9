package processtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/hostler/hostler/internal/waittest"
)

// commandLine is the program hostler with a home of its own.
type commandLine struct {
	env []string
	dir string
}

func newCommandLine(t testing.TB) commandLine {
	t.Helper()
	dir := t.TempDir()
	return commandLine{dir: dir, env: []string{"HOME=" + dir, "PATH=" + bin(t) + ":" + os.Getenv("PATH"), "TERM=dumb"}}
}

// do runs the program until it ends by itself.
func (c commandLine) do(t testing.TB, typed string, words ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin(t), "hostler"), words...)
	cmd.Env, cmd.Dir, cmd.Stdin = c.env, c.dir, strings.NewReader(typed)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("hostler %s: %v: %s", strings.Join(words, " "), err, errs.String())
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// gives is do with this exit status.
func (c commandLine) gives(t testing.TB, code int, words ...string) outcome {
	t.Helper()
	o := c.do(t, "", words...)
	if o.Code != code {
		t.Errorf("hostler %s ended with %d, not %d: %s%s", strings.Join(words, " "), o.Code, code, o.Out, o.Err)
	}
	return o
}

// The command line at a real service: what it starts ends as it says, what it is refused has its status, and the service has done it.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "24", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "lab", "lifecycle", "console", "backup", "node_power")
	c := newCommandLine(t)
	c.gives(t, 3, "vm", "list").fails(t, "hostler login")
	if o := c.do(t, "wrong\n", "login", s.Base, "--email", ownerEmail, "--password-stdin"); o.Code != 3 {
		t.Errorf("a wrong password: %+v", o)
	}
	if o := c.do(t, ownerPassword+"\n", "login", s.Base, "--email", ownerEmail, "--password-stdin", "--name", "here"); o.Code != 0 {
		t.Fatalf("logging in: %+v", o)
	}
	file := filepath.Join(c.dir, ".config", "hostler", "contexts.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of contexts: %v %v", info, err)
	}
	var stopped, running []guestView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?status=stopped", nil, &stopped)
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?status=running", nil, &running)
	c.actsOnGuests(t, owner, stopped[0].Name, running[0].Name)
	c.takesFiles(t)
	c.watches(t, stopped[0].Name)
	c.opensConsoles(t, owner)
	c.logsOut(t, owner, file)
}

// actsOnGuests starts, is refused, confirms, cancels and follows.
func (c commandLine) actsOnGuests(t *testing.T, owner *client, stopped, running string) {
	t.Helper()
	c.gives(t, 6, "vm", "delete", stopped).fails(t, "--confirm", stopped, "request ")
	if o := c.gives(t, 0, "vm", "start", stopped, "--wait"); !strings.Contains(o.Err, "succeeded") || o.Out == "" {
		t.Errorf("the transcript: %+v", o)
	}
	c.gives(t, 5, "vm", "start", "no-such-vm").fails(t, "VM no-such-vm not found")
	if o := c.gives(t, 0, "vm", "delete", running, "--plan"); !strings.Contains(o.Out, "Effects") {
		t.Errorf("the plan: %+v", o)
	}
	c.gives(t, 7, "api", "POST", "/api/v1/vms", "--field", "name=x").fails(t, "host_id")
	c.gives(t, 0, "guest", "stop", stopped, "--wait")
	c.gives(t, 0, "vm", "stop", running, "--wait")
	var job struct{ Job struct{ ID int64 } }
	o := c.gives(t, 0, "vm", "start", running, "--json")
	if err := json.Unmarshal([]byte(o.Out), &job); err != nil || job.Job.ID == 0 {
		t.Fatalf("the job: %v %+v", err, o)
	}
	c.gives(t, 0, "job", "wait", fmt.Sprint(job.Job.ID))
	if o := c.gives(t, 0, "job", "list", "--limit", "3", "--jq", ".[].kind"); strings.Count(o.Out, "\n") != 3 {
		t.Errorf("three jobs are %q", o.Out)
	}
	var listed []struct{ ID int64 }
	o = c.gives(t, 0, "guest", "list", "--json")
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/guests", nil, &listed)
	var shown []struct{ ID int64 }
	if err := json.Unmarshal([]byte(o.Out), &shown); err != nil || len(shown) != len(listed) || len(shown) == 0 {
		t.Errorf("%d guests, and the API has %d: %v", len(shown), len(listed), err)
	}
	if o := c.do(t, "nine-blue-giraffes\n", "user", "create", "anna@example.org", "--role", "viewer", "--password-file", "-"); o.Code != 0 {
		t.Errorf("making a user: %+v", o)
	}
	for _, words := range [][]string{
		{"host", "show", "lab"}, {"host", "list"}, {"node", "list"}, {"node", "show", "pve1"}, {"node", "hardware", "lab/pve1"},
		{"storage", "list"}, {"storage", "content", "local"}, {"backup", "coverage"}, {"schedule", "list"}, {"schedule", "kinds"},
		{"alert", "list"}, {"alert", "rules"}, {"audit", "list"}, {"audit", "verify"}, {"team", "list"},
		{"team", "members", "default"}, {"key", "list"}, {"user", "list"}, {"catalog", "list"}, {"catalog", "status"}, {"whoami"},
		{"app", "discovered"}, {"snapshot", "list", running}, {"context", "list"}, {"inventory"}, {"vm", "config", running},
		{"vm", "nics", running}, {"node", "reboot", "pve2", "--plan"}, {"audit", "export", "--output", "trail.ndjson"},
	} {
		if o := c.gives(t, 0, words...); strings.TrimSpace(o.Out+o.Err) == "" {
			t.Errorf("%q says nothing", words)
		}
	}
}

// takesFiles uploads one with its checksum, and is told of one that arrives with another.
func (c commandLine) takesFiles(t *testing.T) {
	t.Helper()
	content := make([]byte, 3<<20)
	_, _ = rand.Read(content) // never fails
	if err := os.WriteFile(filepath.Join(c.dir, "rescue.iso"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	c.gives(t, 7, "storage", "upload", "local", "rescue.iso", "--node", "pve1", "--content", "iso", "--sha256", strings.Repeat("0", 64))
	c.gives(t, 0, "storage", "upload", "local", "rescue.iso", "--node", "pve1", "--content", "iso", "--sha256", sum, "--wait")
	if o := c.gives(t, 0, "storage", "content", "local", "--node", "pve1", "--jq", ".[].volid"); !strings.Contains(o.Out, "rescue.iso") {
		t.Errorf("the storage has %q", o.Out)
	}
	c.gives(t, 0, "storage", "delete-volume", "local", "local:iso/rescue.iso", "--node", "pve1", "--confirm", "rescue.iso", "--wait")
}

// watches sees what somebody else does, and ends by Ctrl-C.
func (c commandLine) watches(t *testing.T, name string) {
	t.Helper()
	shown := &waittest.Text{}
	cmd := exec.Command(filepath.Join(bin(t), "hostler"), "vm", "list", "--watch", "--search", name, "--columns", "name,status")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, shown, shown
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	shows := func(status string) {
		waittest.Until(t, "the list shows "+status, func() bool { return strings.Contains(shown.String(), status) })
	}
	shows("stopped")
	c.gives(t, 0, "vm", "start", name, "--wait")
	shows("running")
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("it ended with %v: %s", err, shown.String())
	}
}

// opensConsoles types into the console of an app, and into the shell of a node.
func (c commandLine) opensConsoles(t *testing.T, owner *client) {
	t.Helper()
	app, _ := owner.running(t, 1)
	o := c.do(t, "echo hello from the other side\r", "app", "console", fmt.Sprint(app))
	if o.Code != 0 || strings.Count(o.Out, "hello from the other side") != 2 {
		t.Errorf("the console: %+v", o)
	}
	c.gives(t, 6, "node", "shell", "pve1")
}

// logsOut ends the key, which is good for nothing then.
func (c commandLine) logsOut(t *testing.T, owner *client, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.gives(t, 0, "logout")
	c.gives(t, 3, "vm", "list")
	if err := os.WriteFile(file, text, 0o600); err != nil { // as a thief would who has copied it
		t.Fatal(err)
	}
	c.gives(t, 3, "vm", "list").fails(t, "hostler login")
	var keys []struct{ Name string }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/api-keys", nil, &keys)
	if len(keys) != 0 {
		t.Errorf("keys that are left: %+v", keys)
	}
}

// Over TLS a certificate that nobody vouches for is taken by its fingerprint alone and pinned; the second factor is asked for; and a
// service with another certificate gets no request.
func TestCommandLineLogsInOverTLS(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	certificate := filepath.Join(state, "tls", "self-signed.pem")
	s := startService(t, options{State: state, Env: []string{"HOSTLER_LISTEN=0.0.0.0:0"}, Transport: trusting(t, certificate)})
	owner := setUp(t, s)
	var factor struct {
		Secret string
		Codes  []string `json:"recovery_codes"`
	}
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/totp/enroll", nil, &factor)
	code, err := totp.GenerateCode(factor.Secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	owner.must(t, http.StatusNoContent, http.MethodPost, "/api/v1/auth/totp/confirm", map[string]any{"code": code}, nil)

	c := newCommandLine(t)
	typed := ownerPassword + "\n" + factor.Codes[0] + "\n"
	login := []string{"login", s.Base, "--email", ownerEmail, "--password-stdin", "--name", "far"}
	o := c.do(t, typed, login...)
	if o.Code != 9 || !strings.Contains(o.Err, "SHA-256") || !strings.Contains(o.Err, "--fingerprint") {
		t.Errorf("without a fingerprint: %+v", o)
	}
	text, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := ""
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if parsed, err := x509.ParseCertificate(block.Bytes); err == nil {
			fingerprint = fmt.Sprintf("%x", sha256.Sum256(parsed.Raw))
		}
	}
	if o := c.do(t, typed, append(login, "--fingerprint", strings.Repeat("0", 64))...); o.Code != 9 {
		t.Errorf("another fingerprint: %+v", o)
	}
	if o := c.do(t, typed, append(login, "--fingerprint", fingerprint)...); o.Code != 0 {
		t.Fatalf("logging in: %+v", o)
	}
	c.gives(t, 0, "whoami")
	// Another certificate at the same address.
	s.stop(t)
	if err := os.Remove(certificate); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(s.Base, "https://")
	s.env = append(s.env, "HOSTLER_LISTEN=0.0.0.0:"+address[strings.LastIndexByte(address, ':')+1:])
	s.start(t)
	c.gives(t, 9, "whoami").fails(t, "is not the pinned one", "presented")
}
