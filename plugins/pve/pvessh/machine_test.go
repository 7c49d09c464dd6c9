package pvessh_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// patient waits for a machine that is starved.
var patient = pvessh.Timeouts{Dial: time.Minute, Handshake: time.Minute, Silence: time.Minute, Kill: time.Minute}

func runTrue(t *testing.T, target endpoint.Target) error {
	t.Helper()
	result, err := pvessh.New(target, patient).RunOnNode(t.Context(),
		hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
	if err == nil && !result.OK() {
		t.Errorf("true ended with %+v", result)
	}
	return err
}

func TestLoginTellsWhatItSaw(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	target := server.Target()
	pinned := target.SSH.HostKey
	for _, pin := range []string{"", pinned} {
		target.SSH.HostKey = pin
		login, err := pvessh.New(target, patient).CheckLogin(t.Context())
		if err != nil || login.HostKey != pinned || login.HostKeyType != "ssh-ed25519" || login.User != server.User ||
			!strings.HasPrefix(login.Server, "SSH-2.0-OpenSSH") || (login.UserID == 0) != (server.User == "root") {
			t.Errorf("pinned %q: %+v, %v", pin, login, err)
		}
	}
	target.SSH.HostKey = ""
	before := server.Logins()
	kind(t, "running without a pinned key", runTrue(t, target), plugin.Invalid)
	if server.Logins() != before {
		t.Error("the machine was asked")
	}
}

// Another host key is refused with both, whatever kinds of keys there are, and the pinned one is looked for among all.
func TestHostKeys(t *testing.T) {
	t.Parallel()
	for _, kinds := range [][]string{{"ed25519"}, {"ecdsa"}, {"rsa"}, {"ed25519", "ecdsa", "rsa"}} {
		t.Run(strings.Join(kinds, " "), func(t *testing.T) {
			t.Parallel()
			server := sshdtest.Start(t)
			target := server.Target()
			was := target.SSH.HostKey
			now := server.SetHostKeys(kinds...)
			e := kind(t, "another key", runTrue(t, target), plugin.Untrusted)
			if e.Field != endpoint.FieldHostKey || e.Fingerprint != now[0] || !strings.Contains(e.Message, was) ||
				!strings.Contains(e.Message, now[0]) {
				t.Errorf("the error is %+v, want %s and %s", e, was, now[0])
			}
			for _, key := range now {
				target.SSH.HostKey = key
				if err := runTrue(t, target); err != nil {
					t.Errorf("the pinned key %s: %v", key, err)
				}
			}
		})
	}
}

// Keys that the machine does not know, and what is no key.
func TestRefusedLogins(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	good := server.Target()
	other, _ := sshdtest.NewKey(t)
	for name, c := range map[string]struct {
		change func(*endpoint.Target)
		want   plugin.ErrorKind
	}{
		"another key":         {func(t *endpoint.Target) { t.Credential.Secret = other }, plugin.TokenRejected},
		"no such user":        {func(t *endpoint.Target) { t.SSH.User = "no-such-user" }, plugin.TokenRejected},
		"no user":             {func(t *endpoint.Target) { t.SSH.User = "" }, plugin.Invalid},
		"no key":              {func(t *endpoint.Target) { t.Credential.Secret = "canary-of-a-key" }, plugin.Invalid},
		"a token":             {func(t *endpoint.Target) { t.Credential.Form = endpoint.FormToken }, plugin.Invalid},
		"a port out of range": {func(t *endpoint.Target) { t.SSH.Port = 70000 }, plugin.Invalid},
		"a closed port":       {func(t *endpoint.Target) { t.SSH.Port = 1 }, plugin.Unreachable},
		"no local addresses":  {func(t *endpoint.Target) { t.AllowLocal = false }, plugin.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := good
			c.change(&target)
			e := kind(t, name, runTrue(t, target), c.want)
			if strings.Contains(e.Message+e.Error(), "canary") || strings.Contains(e.Message, "PRIVATE KEY") {
				t.Errorf("the error tells the key: %v", e)
			}
		})
	}
	// The line's restrictions hold, and programs run all the same.
	restricted := sshdtest.Start(t)
	target := restricted.Target()
	private, line := sshdtest.NewKey(t)
	target.Credential.Secret = private
	restricted.SetAuthorizedKeys(`restrict,from="127.0.0.1,192.0.2.0/24" ` + line)
	if err := runTrue(t, target); err != nil {
		t.Errorf("a restricted key: %v", err)
	}
	restricted.SetAuthorizedKeys(`restrict,from="192.0.2.1" ` + line)
	kind(t, "from elsewhere", runTrue(t, target), plugin.TokenRejected)
}

// Servers that know old algorithms only are not logged in to.
func TestOldAlgorithms(t *testing.T) {
	t.Parallel()
	for _, lines := range []string{"KexAlgorithms diffie-hellman-group14-sha1", "Ciphers aes128-cbc", "Ciphers aes128-ctr",
		"HostKeyAlgorithms ssh-rsa", "KexAlgorithms ecdh-sha2-nistp256"} {
		t.Run(lines, func(t *testing.T) {
			t.Parallel()
			server := sshdtest.Start(t)
			if strings.HasPrefix(lines, "HostKey") {
				server.SetHostKeys("rsa")
			}
			target := server.Target()
			server.Configure(lines)
			kind(t, "an old server", runTrue(t, target), plugin.Protocol)
		})
	}
}

// What is no SSH server, or never answers, ends a call in time.
func TestOtherServers(t *testing.T) {
	t.Parallel()
	key, _ := sshdtest.NewKey(t)
	for name, c := range map[string]struct {
		says string
		ends bool
		want plugin.ErrorKind
	}{
		"HTTP":               {"HTTP/1.1 400 Bad Request\r\n\r\n" + strings.Repeat("x", 4000), true, plugin.Protocol},
		"nothing and closes": {"", true, plugin.Unreachable},
		"nothing at all":     {"", false, plugin.Timeout},
		"a version, no more": {"SSH-2.0-x\r\n", false, plugin.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Write([]byte(c.says))
					if c.ends {
						_ = conn.Close()
					} else {
						t.Cleanup(func() { _ = conn.Close() })
					}
				}
			}()
			target := endpoint.Target{Address: "127.0.0.1:1", AllowLocal: true,
				Credential: endpoint.Credential{Form: endpoint.FormSSHKey, Secret: key},
				SSH: endpoint.SSH{User: "root", Port: listener.Addr().(*net.TCPAddr).Port,
					HostKey: endpoint.HostKeyFingerprint([]byte("x"))}}
			waits := patient
			if c.want == plugin.Timeout {
				waits.Handshake = 500 * time.Millisecond
			}
			_, err = pvessh.New(target, waits).CheckLogin(t.Context())
			kind(t, name, err, c.want)
		})
	}
}
