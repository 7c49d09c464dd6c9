package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/hostler/hostler/sdk/plugin"
)

// SSH is how the machine behind a target is logged in to (RFC 4251), for calls whose credential has the form FormSSHKey. The machine is
// the one of Target.Address, at another port.
type SSH struct {
	// User is who logs in.
	User string
	// Port is that of the server; 0 is 22.
	Port int
	// HostKey is the fingerprint of the key that the machine must prove to have on every connection, as HostKeyFingerprint gives it.
	// Empty is right only for learning it: a call that runs something of the caller's must refuse that.
	HostKey string
}

// SSHPort is the usual port of SSH servers.
const SSHPort = 22

// hostKeyPrefix says with which digest a fingerprint was made, as OpenSSH writes it.
const hostKeyPrefix = "SHA256:"

// HostKeyFingerprint is the SHA-256 over a public key in the form of RFC 4253 section 6.6, as ssh-keygen -l prints it: "SHA256:" and
// base64 without padding.
func HostKeyFingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return hostKeyPrefix + base64.RawStdEncoding.EncodeToString(sum[:])
}

// ParseHostKey reads a fingerprint of a host key as people paste it, with space around it or with padding. Anything else, such as the
// older form in MD5, is Invalid.
func ParseHostKey(s string) (string, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(s), hostKeyPrefix)
	sum, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimSuffix(digits, "="))
	if !ok || err != nil || len(sum) != sha256.Size || strings.ContainsAny(digits, "\r\n") {
		e := plugin.Errorf(plugin.Invalid, "the fingerprint of a host key is SHA256: and 43 letters, as ssh-keygen -l prints it")
		e.Field = FieldHostKey
		return "", e
	}
	return hostKeyPrefix + base64.RawStdEncoding.EncodeToString(sum), nil
}

// EqualHostKey compares two fingerprints of host keys in constant time. One that cannot be read equals nothing.
func EqualHostKey(a, b string) bool {
	a, errA := ParseHostKey(a)
	b, errB := ParseHostKey(b)
	return errA == nil && errB == nil && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// FieldHostKey is the Field of an Untrusted error that is about a host key and no certificate: its Fingerprint is the key that was seen.
const FieldHostKey = "ssh_host_key"

// HostKeyChanged is the error of a machine that shows another host key than the pinned one.
func HostKeyChanged(pinned, seen string) error {
	e := plugin.Errorf(plugin.Untrusted, "the machine shows the SSH host key %s, and %s is pinned", seen, pinned)
	e.Field, e.Fingerprint = FieldHostKey, seen
	return e
}
