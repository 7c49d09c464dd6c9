package pvessh

import (
	"context"
	"crypto/rsa"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Timeouts are the time limits of a connection. Zero values mean the defaults.
type Timeouts struct {
	// Dial limits the TCP connection (10 s), and Handshake everything from
	// there to the end of the login (20 s).
	Dial, Handshake time.Duration
	// Alive is how often the machine is asked for a sign of life (15 s), and
	// Silence how long it may take to answer (30 s).
	Alive, Silence time.Duration
	// Kill limits the attempt to end a program whose caller gave up (5 s).
	Kill time.Duration
}

// orDefault returns the timeouts with defaults in place of zero values.
func (w Timeouts) orDefault() Timeouts {
	fallback := Timeouts{Dial: 10 * time.Second, Handshake: 20 * time.Second, Alive: 15 * time.Second, Silence: 30 * time.Second,
		Kill: 5 * time.Second}
	for _, f := range []struct{ value, fallback *time.Duration }{
		{&w.Dial, &fallback.Dial}, {&w.Handshake, &fallback.Handshake}, {&w.Alive, &fallback.Alive}, {&w.Silence, &fallback.Silence},
		{&w.Kill, &fallback.Kill},
	} {
		if *f.value == 0 {
			*f.value = *f.fallback
		}
	}
	return w
}

// Machine is a machine to log in to, with a user and a key. It keeps no
// connection and is safe for concurrent use.
type Machine struct {
	target endpoint.Target
	waits  Timeouts
}

// New returns the machine of a target whose credential has the form
// endpoint.FormSSHKey. It neither connects nor reads the key; errors in the
// target appear with the first call.
func New(target endpoint.Target, waits Timeouts) *Machine {
	return &Machine{target: target, waits: waits.orDefault()}
}

// families groups the algorithms of host keys by the kind of key, preferred
// ones first.
var families = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// modern are the algorithms of a connection. The ciphers authenticate messages
// themselves; MACs must be named for the negotiation, but are not used with
// them.
var modern = ssh.Config{
	KeyExchanges: []string{ssh.KeyExchangeMLKEM768X25519, ssh.KeyExchangeCurve25519},
	Ciphers:      []string{ssh.CipherChaCha20Poly1305, ssh.CipherAES256GCM, ssh.CipherAES128GCM},
	MACs:         []string{ssh.HMACSHA256ETM, ssh.HMACSHA512ETM},
}

// smallRSA is the minimum size of an RSA host key, in bits. NIST SP 800-131A
// disallows smaller keys.
const smallRSA = 2048

// connect logs in. If no host key is pinned, it accepts any key when learn is
// set and otherwise returns Invalid.
//
// A machine has host keys of several kinds and presents the one that both sides
// prefer, which can change when its SSH server is updated. If the presented key
// is not the pinned one, connect asks for the other kinds in turn; a machine
// that proves to have the pinned key is the right one. If none matches, the
// error is Untrusted with the key that was presented first.
func (m *Machine) connect(ctx context.Context, learn bool) (*connection, error) {
	signer, err := m.signer()
	if err != nil {
		return nil, err
	}
	if m.target.SSH.HostKey == "" && !learn {
		return nil, plugin.Errorf(plugin.Invalid, "no host key is pinned")
	}
	all := append(append(append([]string{}, families[0]...), families[1]...), families[2]...)
	c, first := m.login(ctx, signer, all)
	var shown *hostKeyError
	if !errors.As(first, &shown) {
		return c, m.told(ctx, first)
	}
	for _, family := range families {
		if kindOf(family) == shown.kind {
			continue
		}
		c, err := m.login(ctx, signer, family)
		var other *hostKeyError
		var lacks *ssh.AlgorithmNegotiationError
		if !errors.As(err, &other) && !errors.As(err, &lacks) {
			return c, m.told(ctx, err)
		}
	}
	return nil, endpoint.HostKeyChanged(m.target.SSH.HostKey, shown.seen)
}

// kindOf returns the kind of key of a family, in the form that
// ssh.PublicKey.Type returns, without the curve's size.
func kindOf(family []string) string { return strings.TrimRight(keyKind(family[0]), "0123456789") }

// keyKind returns the kind of key of an algorithm. Both RSA algorithms with
// SHA-2 use keys of type ssh-rsa.
func keyKind(algorithm string) string {
	if strings.HasPrefix(algorithm, "rsa-") {
		return ssh.KeyAlgoRSA
	}
	return algorithm
}

// signer parses the private key. Its error does not contain the cause, which
// could show parts of the key.
func (m *Machine) signer() (ssh.Signer, error) {
	credential := m.target.Credential
	if credential.Form != endpoint.FormSSHKey {
		return nil, plugin.Errorf(plugin.Invalid, "the credential is not an SSH key")
	}
	signer, err := ssh.ParsePrivateKey([]byte(credential.Secret))
	if err != nil {
		return nil, plugin.Errorf(plugin.Invalid, "the SSH key cannot be read") // the cause may tell of the key
	}
	return signer, nil
}

// hostKeyError reports a host key that is not the pinned one: its fingerprint
// and its kind.
type hostKeyError struct{ seen, kind string }

func (e *hostKeyError) Error() string { return "the host key is " + e.seen }

// address returns the address of the SSH server: the host of the target with
// the SSH port, 22 unless the target sets another one. The port of the target's
// address belongs to the API of Proxmox VE.
func (m *Machine) address() (string, error) {
	name, _, err := net.SplitHostPort(m.target.Address)
	if err != nil {
		return "", plugin.Errorf(plugin.Invalid, "the address must be a host name and a port")
	}
	port := m.target.SSH.Port
	if port == 0 {
		port = endpoint.SSHPort
	}
	if port < 1 || port > 65535 || m.target.SSH.User == "" {
		return "", plugin.Errorf(plugin.Invalid, "the target has an invalid SSH port or no SSH user")
	}
	return net.JoinHostPort(name, strconv.Itoa(port)), nil
}

// login opens one connection with the given algorithms of host keys. The caller
// closes it. The dialer refuses local addresses unless the target allows them.
// A handshake that takes too long is ended by closing the socket, because the
// library has no context for it.
func (m *Machine) login(ctx context.Context, signer ssh.Signer, hostKeys []string) (*connection, error) {
	address, err := m.address()
	if err != nil {
		return nil, err
	}
	dialler := net.Dialer{Timeout: m.waits.Dial, Control: endpoint.DialControl(m.target)}
	wire, err := dialler.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	shaking, stop := context.WithTimeout(ctx, m.waits.Handshake)
	defer stop()
	release := context.AfterFunc(shaking, func() { _ = wire.Close() })
	c := &connection{waits: m.waits}
	conn, channels, requests, err := ssh.NewClientConn(wire, address, &ssh.ClientConfig{
		Config: modern, User: m.target.SSH.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyAlgorithms: hostKeys,
		ClientVersion: "SSH-2.0-Hostler",
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			c.hostKey, c.hostKeyType = endpoint.HostKeyFingerprint(key.Marshal()), key.Type()
			return m.judge(key, c.hostKey)
		},
	})
	if !release() {
		if err == nil {
			_ = conn.Close()
		}
		return nil, context.DeadlineExceeded // or the caller's end, which is looked at first
	}
	if err != nil {
		_ = wire.Close()
		return nil, err
	}
	c.client = ssh.NewClient(conn, channels, requests)
	c.server = string(conn.ServerVersion())
	go c.watch()
	return c, nil
}

// judge checks a host key: it accepts the pinned key, or any key if none is
// pinned, but no short RSA key.
func (m *Machine) judge(key ssh.PublicKey, fingerprint string) error {
	if public, ok := key.(ssh.CryptoPublicKey); ok {
		if small, ok := public.CryptoPublicKey().(*rsa.PublicKey); ok && small.N.BitLen() < smallRSA {
			return plugin.Errorf(plugin.Protocol, "the machine's host key is RSA with only %d bits, which is not secure", small.N.BitLen())
		}
	}
	if pinned := m.target.SSH.HostKey; pinned != "" && !endpoint.EqualHostKey(pinned, fingerprint) {
		return &hostKeyError{fingerprint, strings.TrimRight(key.Type(), "0123456789")}
	}
	return nil
}

// told converts an error of a login into the error of a driver. The SSH library
// reports a rejected key only as text, so its wording is compared.
func (m *Machine) told(ctx context.Context, err error) error {
	var known *plugin.Error
	var lacks *ssh.AlgorithmNegotiationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return endpoint.NetworkError(ctx, err)
	case errors.As(err, &lacks):
		return (&plugin.Error{Kind: plugin.Protocol,
			Message: "the machine's SSH server and Hostler have no algorithm in common: Hostler uses only modern algorithms"}).WithCause(err)
	case strings.Contains(err.Error(), "unable to authenticate"):
		return (&plugin.Error{Kind: plugin.TokenRejected,
			Message: "the machine does not accept the SSH key for " + m.target.SSH.User}).WithCause(err)
	case strings.Contains(err.Error(), "version string"), strings.Contains(err.Error(), "invalid packet length"):
		return (&plugin.Error{Kind: plugin.Protocol, Message: "the server at this port does not speak SSH"}).WithCause(err)
	}
	return endpoint.NetworkError(ctx, err)
}
