package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// sshFixture is a store with one cluster in memory whose machine takes no key until it is told to.
type sshFixture struct {
	dbtest.SQL
	t       *testing.T
	s       *host.Store
	cluster *memdriver.Cluster
	ctx     context.Context
}

func newSSHFixture(t *testing.T) *sshFixture {
	t.Helper()
	d := dbtest.New(t)
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := memdriver.New()
	f := &sshFixture{SQL: dbtest.On(t, d), t: t, cluster: driver.Add("a.mem:8006", memdriver.Spec{Nodes: 2})}
	f.cluster.ChangeMachine(func(m *memdriver.Machine) { m.Keys = []string{} })
	f.s = host.New(host.Config{DB: d, Drivers: drivers{driver}, Keys: box, Timeout: time.Minute})
	f.Exec(`INSERT INTO users (id, email, email_key, password_hash) OVERRIDING SYSTEM VALUE
		VALUES (7, 'ada@example.com', 'ada@example.com', 'x')`)
	f.ctx = identity.WithCaller(t.Context(), &identity.Caller{UserID: 7, Email: "ada@example.com",
		Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Owner}})
	return f
}

func (f *sshFixture) enrolment(change func(*host.EnrolRequest)) host.EnrolRequest {
	token := f.cluster.Target(endpoint.Monitoring).Credential
	in := host.EnrolRequest{Name: "a", Address: "a.mem", TokenID: token.ID, Secret: secret.New(string(token.Secret))}
	if change != nil {
		change(&in)
	}
	return in
}

// install brings a line to the machine, where all others are forgotten.
func (f *sshFixture) install(lines ...string) {
	f.t.Helper()
	var ids []string
	for _, line := range lines {
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil || len(options) == 0 || options[0] != "restrict" {
			f.t.Fatalf("the line %q has the options %q, %v", line, options, err)
		}
		ids = append(ids, endpoint.HostKeyFingerprint(key.Marshal()))
	}
	f.cluster.ChangeMachine(func(m *memdriver.Machine) { m.Keys = append([]string{}, ids...) })
}

func (f *sshFixture) get() host.SSH {
	f.t.Helper()
	h, err := f.s.Get(f.t.Context(), 1)
	if err != nil {
		f.t.Fatal(err)
	}
	return h.SSH
}

func (f *sshFixture) onNode() error {
	_, err := host.OnNode(f.ctx, f.s, 1, time.Minute, func(ctx context.Context, node hypervisor.NodeExecutor) (bool, error) {
		result, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
		return result.OK(), err
	})
	return err
}

func wantCode(t *testing.T, what string, err error, code problem.Code) *problem.Error {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != code {
		t.Fatalf("%s: %v, want %s", what, err, code)
	}
	return p
}

// From enrolling to removing: without consent nothing, without a check nothing, a new key beside the old one, another host key.
func TestLifeOfAnSSHKey(t *testing.T) {
	t.Parallel()
	f := newSSHFixture(t)
	_, _, err := f.s.Create(f.ctx, f.enrolment(func(in *host.EnrolRequest) { in.SSHEnroll = true }))
	p := wantCode(t, "a key without consent", err, problem.CodeConsentRequired)
	if text := fmt.Sprint(p.Members["consent"]); !strings.Contains(text, "root") || f.cluster.Calls("version") != 0 {
		t.Errorf("it tells %q, and the host was asked %d times", text, f.cluster.Calls("version"))
	}
	made, _, err := f.s.Create(f.ctx, f.enrolment(func(in *host.EnrolRequest) { in.SSHEnroll, in.SSHConsent, in.SSHPort = true, true, 2222 }))
	if err != nil {
		t.Fatal(err)
	}
	first := made.SSH.Pending
	if first == nil || made.SSH.Enrolled || made.SSH.PublicKey != nil || made.SSH.Port != 2222 || made.SSH.Consent == nil ||
		made.SSH.Consent.By != "ada@example.com" || made.SSH.Consent.Version != host.SSHConsentVersion {
		t.Fatalf("the new host has %+v", made.SSH)
	}
	wantCode(t, "before it was seen to work", f.onNode(), problem.CodeSSHNotEnrolled)
	_, err = f.s.VerifySSH(f.ctx, 1)
	p = wantCode(t, "before it was brought there", err, problem.CodeHypervisorError)
	if p.Members["reason"] != "auth" || p.Members["public_key"] != first.PublicKey {
		t.Errorf("it tells %v", p.Members)
	}
	if f.get().Fingerprint != nil {
		t.Error("a host key was pinned by a login that failed")
	}
	f.install(first.PublicKey)
	check, err := f.s.VerifySSH(f.ctx, 1)
	if err != nil || !check.Pinned || !check.Activated || check.Remove != nil || check.User != "root" {
		t.Fatalf("the first check: %+v, %v", check, err)
	}
	now := f.get()
	if !now.Enrolled || now.Pending != nil || *now.PublicKey != first.PublicKey ||
		*now.Fingerprint != check.Fingerprint || now.VerifiedAt == nil {
		t.Errorf("after it the host has %+v", now)
	}
	if err := f.onNode(); err != nil {
		t.Errorf("running something: %v", err)
	}
	f.rotated(first.PublicKey)
	f.changedHostKey()
	f.removed()
}

// rotated makes a second key, which is the one in use only when it was seen to work.
func (f *sshFixture) rotated(old string) {
	f.t.Helper()
	done, err := f.s.Rotate(f.ctx, 1, host.RotateRequest{SSH: true})
	if err != nil || done.SSH == nil || done.SSH.PublicKey == old || len(done.Stored) != 0 {
		f.t.Fatalf("rotating: %+v, %v", done, err)
	}
	_, err = f.s.VerifySSH(f.ctx, 1)
	wantCode(f.t, "a new key that is not there yet", err, problem.CodeHypervisorError)
	if now := f.get(); *now.PublicKey != old || now.Pending == nil || now.Pending.PublicKey != done.SSH.PublicKey {
		f.t.Errorf("the host has %+v", now)
	}
	if err := f.onNode(); err != nil {
		f.t.Errorf("the old key meanwhile: %v", err)
	}
	f.install(old, done.SSH.PublicKey)
	check, err := f.s.VerifySSH(f.ctx, 1)
	if err != nil || check.Pinned || !check.Activated || check.Remove == nil || !strings.Contains(*check.Remove, strings.Fields(old)[2]) {
		f.t.Fatalf("the new key: %+v, %v", check, err)
	}
	f.install(done.SSH.PublicKey)
	if err := f.onNode(); err != nil {
		f.t.Errorf("the new key: %v", err)
	}
	if n := f.Value("SELECT count(*) FROM host_ssh_keys"); n != "1" {
		f.t.Errorf("%s keys are stored", n)
	}
	// Another check changes nothing but its time.
	if check, err = f.s.VerifySSH(f.ctx, 1); err != nil || check.Activated || check.Pinned || check.Remove != nil {
		f.t.Errorf("another check: %+v, %v", check, err)
	}
}

// changedHostKey is refused with both until it is accepted.
func (f *sshFixture) changedHostKey() {
	f.t.Helper()
	was, other := *f.get().Fingerprint, endpoint.HostKeyFingerprint([]byte("another"))
	f.cluster.ChangeMachine(func(m *memdriver.Machine) { m.HostKey = other })
	_, verify := f.s.VerifySSH(f.ctx, 1)
	for what, err := range map[string]error{"a check": verify, "running something": f.onNode()} {
		p := wantCode(f.t, what, err, problem.CodeSSHHostKeyChanged)
		if p.Members["fingerprint"] != other || p.Members["pinned_fingerprint"] != was {
			f.t.Errorf("%s tells %v, want %s and %s", what, p.Members, other, was)
		}
	}
	if _, err := f.s.Patch(f.ctx, 1, host.Change{SSHHostKey: &other}); err != nil {
		f.t.Fatal(err)
	}
	if err := f.onNode(); err != nil {
		f.t.Errorf("after it was accepted: %v", err)
	}
	if _, err := f.s.Patch(f.ctx, 1, host.Change{SSHHostKey: new("")}); err != nil {
		f.t.Fatal(err)
	}
	wantCode(f.t, "without a pinned host key", f.onNode(), problem.CodeSSHNotEnrolled)
	if f.get().Enrolled {
		f.t.Error("without a pinned host key the host counts as enrolled")
	}
	if check, err := f.s.VerifySSH(f.ctx, 1); err != nil || !check.Pinned || check.Fingerprint != other {
		f.t.Errorf("pinned anew: %+v, %v", check, err)
	}
}

// removed forgets the key and the consent.
func (f *sshFixture) removed() {
	f.t.Helper()
	removal, err := f.s.RemoveCredential(f.ctx, 1, "ssh_key")
	if err != nil || len(removal.Commands) != 1 {
		f.t.Fatalf("removing: %+v, %v", removal, err)
	}
	logins := f.cluster.Calls("runonnode") + f.cluster.Calls("checklogin")
	_, verify := f.s.VerifySSH(f.ctx, 1)
	_, rotate := f.s.Rotate(f.ctx, 1, host.RotateRequest{SSH: true})
	for what, err := range map[string]error{"a check": verify, "running something": f.onNode(), "a new key": rotate} {
		wantCode(f.t, what, err, problem.CodeConsentRequired)
	}
	if f.cluster.Calls("runonnode")+f.cluster.Calls("checklogin") != logins {
		f.t.Error("the machine was asked")
	}
	_, err = f.s.RemoveCredential(f.ctx, 1, "ssh_key")
	wantCode(f.t, "removing again", err, problem.CodeNotFound)
	if now := f.get(); now.Enrolled || now.PublicKey != nil || now.Consent != nil {
		f.t.Errorf("the host has %+v", now)
	}
	if _, err := f.s.Rotate(f.ctx, 1, host.RotateRequest{SSH: true, SSHConsent: true}); err != nil {
		f.t.Errorf("enrolled again with consent: %v", err)
	}
	if err := f.s.Remove(f.ctx, 1, "a", false); err != nil {
		f.t.Fatal(err)
	}
	if n := f.Value("SELECT (SELECT count(*) FROM host_ssh_keys) + (SELECT count(*) FROM host_ssh_consents)"); n != "0" {
		f.t.Errorf("%s rows are left of a host that was removed", n)
	}
}

// A key in the table without consent on record does nothing, however it came there.
func TestNothingWorksWithoutConsent(t *testing.T) {
	t.Parallel()
	f := newSSHFixture(t)
	if _, _, err := f.s.Create(f.ctx, f.enrolment(func(in *host.EnrolRequest) { in.SSHEnroll, in.SSHConsent = true, true })); err != nil {
		t.Fatal(err)
	}
	f.cluster.ChangeMachine(func(m *memdriver.Machine) { m.Keys = nil })
	if _, err := f.s.VerifySSH(f.ctx, 1); err != nil {
		t.Fatal(err)
	}
	f.Exec("DELETE FROM host_ssh_consents")
	logins := f.cluster.Calls("runonnode") + f.cluster.Calls("checklogin")
	_, verify := f.s.VerifySSH(f.ctx, 1)
	_, rotate := f.s.Rotate(f.ctx, 1, host.RotateRequest{SSH: true})
	for what, err := range map[string]error{"a check": verify, "running": f.onNode(), "a new key": rotate,
		"asking": f.s.RequireSSH(f.ctx, 1)} {
		wantCode(t, what, err, problem.CodeConsentRequired)
	}
	if f.get().Enrolled || f.cluster.Calls("runonnode")+f.cluster.Calls("checklogin") != logins {
		t.Error("the host counts as enrolled, or was logged in to")
	}
}

// The private half is in no answer, sealed at rest, and goes to the driver of its host alone; a rotation of tokens with it is one step.
func TestPrivateKeysStayInside(t *testing.T) {
	t.Parallel()
	f := newSSHFixture(t)
	if _, _, err := f.s.Create(f.ctx, f.enrolment(nil)); err != nil {
		t.Fatal(err)
	}
	token := f.cluster.Target(endpoint.Lifecycle).Credential
	wrong := host.RotateRequest{Capability: "lifecycle", TokenID: token.ID, Secret: secret.New("wrong"), SSH: true, SSHConsent: true}
	if _, err := f.s.Rotate(f.ctx, 1, wrong); problem.CodeOf(err) != problem.CodeTokenRejected {
		t.Fatalf("a wrong token: %v", err)
	}
	if f.Value("SELECT (SELECT count(*) FROM host_ssh_keys) + (SELECT count(*) FROM host_ssh_consents)") != "0" {
		t.Error("a key was made, or consent recorded, though the token was rejected")
	}
	both := wrong
	both.Secret = secret.New(string(token.Secret))
	done, err := f.s.Rotate(f.ctx, 1, both)
	if err != nil || len(done.Stored) != 1 || done.SSH == nil {
		t.Fatalf("both at once: %+v, %v", done, err)
	}
	if raw := f.Value("SELECT encode(private_key, 'escape') FROM host_ssh_keys"); strings.Contains(raw, "PRIVATE") || len(raw) < 100 {
		t.Errorf("the private key is stored as %.60q", raw)
	}
	h, err := f.s.Get(f.ctx, 1)
	if err != nil || strings.Contains(fmt.Sprintf("%+v", h)+fmt.Sprintf("%+v", done), "PRIVATE KEY") {
		t.Errorf("a private key is told: %v", err)
	}
}

// Keys are for the addresses that the setting names.
func TestKeysAreForAddresses(t *testing.T) {
	t.Parallel()
	f := newSSHFixture(t)
	f.Exec(`INSERT INTO settings (key, value) VALUES ('ssh.from_addresses', '["192.0.2.7","2001:db8::/32"]')`)
	made, _, err := f.s.Create(f.ctx, f.enrolment(func(in *host.EnrolRequest) { in.SSHEnroll, in.SSHConsent = true, true }))
	if err != nil || !strings.HasPrefix(made.SSH.Pending.PublicKey, `restrict,from="192.0.2.7,2001:db8::/32" ssh-ed25519 `) {
		t.Fatalf("the line is %+v, %v", made.SSH.Pending, err)
	}
	f.install(made.SSH.Pending.PublicKey)
}

// Four logins to a machine at once, and who waits in vain is told so.
func TestLoginsAtOnceAreFew(t *testing.T) {
	t.Parallel()
	f := newSSHFixture(t)
	if _, _, err := f.s.Create(f.ctx, f.enrolment(func(in *host.EnrolRequest) { in.SSHEnroll, in.SSHConsent = true, true })); err != nil {
		t.Fatal(err)
	}
	f.cluster.ChangeMachine(func(m *memdriver.Machine) { m.Keys = nil })
	if _, err := f.s.VerifySSH(f.ctx, 1); err != nil {
		t.Fatal(err)
	}
	var now, most atomic.Int64
	hold := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := host.OnNode(f.ctx, f.s, 1, time.Minute, func(context.Context, hypervisor.NodeExecutor) (bool, error) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				<-hold
				now.Add(-1)
				return true, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	waittest.Until(t, "four logins are under way", func() bool { return now.Load() == 4 })
	_, err := host.OnNode(f.ctx, f.s, 1, 20*time.Millisecond, func(context.Context, hypervisor.NodeExecutor) (bool, error) {
		return true, nil
	})
	if kind := sdk.KindOf(err); kind != sdk.Timeout {
		t.Errorf("one too many: %v", err)
	}
	close(hold)
	all.Wait()
	if most.Load() != 4 {
		t.Errorf("%d logins at once", most.Load())
	}
}

// The command that removes a key removes exactly its line, from a file behind a link too, and leaves the file in its place.
func TestRemoveCommand(t *testing.T) {
	t.Parallel()
	f := newSSHFixture(t)
	made, _, err := f.s.Create(f.ctx, f.enrolment(func(in *host.EnrolRequest) { in.SSHEnroll, in.SSHConsent = true, true }))
	if err != nil {
		t.Fatal(err)
	}
	removal, err := f.s.RemoveCredential(f.ctx, 1, "ssh_key")
	if err != nil || len(removal.Commands) != 1 {
		t.Fatal(removal, err)
	}
	folder := t.TempDir()
	file, link := filepath.Join(folder, "shared"), filepath.Join(folder, "authorized_keys")
	ran := func(command string) {
		t.Helper()
		if n := strings.Count(command, "/root/.ssh/authorized_keys"); n == 0 {
			t.Fatalf("the command is %q", command)
		}
		command = strings.ReplaceAll(strings.ReplaceAll(command, "/root/.ssh/authorized_keys", link), "/root/.ssh", folder)
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	const others = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIother one@example.com\n# a comment\nssh-rsa AAAAB3 two@example.com"
	if err := errors.Join(os.WriteFile(file, []byte(others), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(file)
	ran(made.SSH.Pending.InstallCommand)
	if raw, _ := os.ReadFile(file); string(raw) != others+"\n"+made.SSH.Pending.PublicKey+"\n" {
		t.Errorf("installed, the file is %q", raw)
	}
	for range 2 { // again it does no harm
		ran(removal.Commands[0])
		if raw, _ := os.ReadFile(file); string(raw) != others+"\n" {
			t.Errorf("removed, the file is %q", raw)
		}
	}
	after, err := os.Stat(file)
	if target, _ := os.Readlink(link); err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() || target != file {
		t.Errorf("the file is another one, %v", err)
	}
	if err := os.WriteFile(file, []byte(made.SSH.Pending.PublicKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran(removal.Commands[0])
	if raw, _ := os.ReadFile(file); len(raw) != 0 {
		t.Errorf("of one line there is left %q", raw)
	}
}
