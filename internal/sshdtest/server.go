// Package sshdtest is for tests that log in to a machine: a real sshd on loopback, with keys and configuration of its own. It belongs to
// one test and touches nothing of the machine's SSH. Each connection is served by an sshd of its own ("sshd -i"), so that there is no port
// to be found, nothing that stays behind, and connections that a test can cut.
//
// A test is skipped where there is no OpenSSH server, and fails where HOSTLER_SERVERS_REQUIRED is set.
package sshdtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Server is a machine's SSH server.
type Server struct {
	t    testing.TB
	sshd string
	dir  string
	// User is who can log in: root where the test is root, else who runs it.
	User     string
	listener net.Listener
	logins   atomic.Int64

	mu    sync.Mutex
	keys  []string // files of host keys
	more  string   // of the configuration
	conns map[net.Conn]bool
	// inside are the words before sshd's.
	inside []string
	ended  bool
	all    sync.WaitGroup
}

// Start starts one with a host key of ed25519 and nobody's key to log in with. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("starts an SSH server: make check runs it")
	}
	sshd := find(t)
	who, err := user.Current()
	if err != nil {
		t.Fatal("asking who runs the test:", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("listening:", err)
	}
	s := &Server{t: t, sshd: sshd, dir: t.TempDir(), User: who.Username, listener: listener, conns: map[net.Conn]bool{}}
	s.SetHostKeys("ed25519")
	s.SetAuthorizedKeys("")
	s.all.Go(s.accept)
	t.Cleanup(func() {
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
		_ = listener.Close()
		s.CloseConnections()
		s.all.Wait()
	})
	return s
}

// find is where sshd is. As root it wants the folder that its package's unit makes.
func find(t testing.TB) string {
	t.Helper()
	for _, at := range []string{"/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(at); err == nil {
			if os.Geteuid() == 0 {
				if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
					t.Fatal("making the folder of sshd:", err)
				}
			}
			return at
		}
	}
	programtest.Missing(t, "there is no sshd: install openssh-server")
	return ""
}

// Port is the one that it listens at.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// AuthorizedKeys is the file with the keys that may log in.
func (s *Server) AuthorizedKeys() string { return filepath.Join(s.dir, "authorized_keys") }

// SetAuthorizedKeys writes that file.
func (s *Server) SetAuthorizedKeys(lines string) {
	s.t.Helper()
	s.write(s.AuthorizedKeys(), []byte(lines))
}

// Configure adds lines to the configuration, in place of those that were added before, for connections from now on.
func (s *Server) Configure(lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more = lines
}

// SetCommandPrefix puts words before the command that serves a connection, from now on: sshd may run somewhere else.
func (s *Server) SetCommandPrefix(words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside = words
}

// SetHostKeys gives the machine new host keys, of ed25519, ecdsa, rsa or rsa1024, and gives their fingerprints.
func (s *Server) SetHostKeys(kinds ...string) (fingerprints []string) {
	s.t.Helper()
	var files []string
	for _, kind := range kinds {
		var key crypto.Signer
		var err error
		switch kind {
		case "ed25519":
			_, key, err = ed25519.GenerateKey(rand.Reader)
		case "ecdsa":
			key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		case "rsa":
			key, err = rsa.GenerateKey(rand.Reader, 2048)
		default:
			s.t.Fatalf("there is no host key of %s", kind)
		}
		if err != nil {
			s.t.Fatal("making a host key:", err)
		}
		private, public := encode(s.t, key)
		file := filepath.Join(s.dir, fmt.Sprintf("host-%s-%d", kind, s.logins.Add(1)))
		s.write(file, []byte(private))
		files = append(files, file)
		fingerprints = append(fingerprints, endpoint.HostKeyFingerprint(public.Marshal()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = files
	return fingerprints
}

// HostKey is the fingerprint of the first host key.
func (s *Server) HostKey() string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := os.ReadFile(s.keys[0])
	if err != nil {
		s.t.Fatal("reading the host key:", err)
	}
	signer, err := ssh.ParsePrivateKey(raw)
	if err != nil {
		s.t.Fatal("reading the host key:", err)
	}
	return endpoint.HostKeyFingerprint(signer.PublicKey().Marshal())
}

// NewKey makes a key and gives its private half in PEM, and the line with which it may log in.
func NewKey(t testing.TB) (private plugin.Secret, line string) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal("making a key:", err)
	}
	text, public := encode(t, key)
	return plugin.Secret(text), string(ssh.MarshalAuthorizedKey(public))
}

func encode(t testing.TB, key crypto.Signer) (private string, public ssh.PublicKey) {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "test")
	if err != nil {
		t.Fatal("encoding a key:", err)
	}
	public, err = ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal("encoding a key:", err)
	}
	return string(pem.EncodeToMemory(block)), public
}

// Target is one that logs in with a new key, which is among the authorized ones from now on, and with the host key pinned.
func (s *Server) Target() endpoint.Target {
	s.t.Helper()
	private, line := NewKey(s.t)
	s.Authorize(line)
	return endpoint.Target{
		Address: "127.0.0.1:8006", AllowLocal: true, Credential: endpoint.Credential{Form: endpoint.FormSSHKey, ID: "test", Secret: private},
		SSH: endpoint.SSH{User: s.User, Port: s.Port(), HostKey: s.HostKey()},
	}
}

// Authorize adds a line to the authorized keys.
func (s *Server) Authorize(line string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := os.ReadFile(s.AuthorizedKeys())
	if err != nil {
		s.t.Fatal("reading the authorized keys:", err)
	}
	s.write(s.AuthorizedKeys(), append(raw, strings.TrimSpace(line)+"\n"...))
}

func (s *Server) write(file string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		s.t.Fatal("writing:", err)
	}
}

// Logins is how many connections have come.
func (s *Server) Logins() int64 { return s.logins.Load() }

// CloseConnections breaks all connections that are open.
func (s *Server) CloseConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// accept serves each connection with an sshd. Between the two stands a pipe of this process's, so that a connection can be cut at once.
func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.logins.Add(1)
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			_ = conn.Close()
			return
		}
		s.conns[conn] = true
		config := s.config()
		command := append(append([]string{}, s.inside...), s.sshd, "-i", "-f", config, "-E", config+".log")
		s.mu.Unlock()
		s.all.Go(func() {
			s.serve(conn, command)
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, conn)
		})
	}
}

// config writes the present configuration into a file. It needs the lock. Logins have no home: what a developer's shell reads there may
// take long, or wait for a lock that another login has.
func (s *Server) config() string {
	text := s.more + "\nAuthorizedKeysFile " + s.AuthorizedKeys() + `
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
PubkeyAuthentication yes
PidFile none
LogLevel VERBOSE
PrintMotd no
SetEnv HOME=/nonexistent
`
	for _, key := range s.keys {
		text += "HostKey " + key + "\n"
	}
	file := filepath.Join(s.dir, fmt.Sprint("config-", s.logins.Load()))
	s.write(file, []byte(text))
	return file
}

// serve runs one sshd to the connection's end.
func (s *Server) serve(conn net.Conn, command []string) {
	defer func() { _ = conn.Close() }()
	inner, outer, err := pair()
	if err != nil {
		s.t.Error("connecting sshd:", err)
		return
	}
	defer func() { _ = outer.Close() }()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout = inner, inner
	err = cmd.Start()
	_ = inner.Close()
	if err != nil {
		s.t.Error("starting sshd:", err)
		return
	}
	go func() {
		_, _ = io.Copy(outer, conn)
		_ = outer.Close() // sshd ends when nobody is there any more
	}()
	_, _ = io.Copy(conn, outer)
	_ = conn.Close()
	_ = cmd.Wait() // a connection that was never used ends it with a failure
}

// pair are two ends of a connection on loopback: sshd wants to know an address of the other side.
func pair() (inner *os.File, outer net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = listener.Close() }()
	outer, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	accepted, err := listener.Accept()
	if err != nil {
		_ = outer.Close()
		return nil, nil, err
	}
	defer func() { _ = accepted.Close() }()
	inner, err = accepted.(*net.TCPConn).File()
	return inner, outer, err
}
