package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/hostler/hostler/sdk/plugin"
)

// SSH describes the SSH login (RFC 4251) to the machine of a target. It is used by
// calls whose credential has the form FormSSHKey. The machine is the one at
// Target.Address, on another port.
type SSH struct {
	// User is the name of the user who logs in.
	User string
	// Port is the port of the SSH server. 0 means SSHPort.
	Port int
	// HostKey is the fingerprint of the key that the machine must prove on every
	// connection, in the form of HostKeyFingerprint. It may be empty only while the
	// key is being learned: a call that runs something on behalf of a user must
	// refuse an empty one.
	HostKey string
}

// SSHPort is the standard port of SSH servers.
const SSHPort = 22

// hostKeyPrefix names the digest of a fingerprint, in OpenSSH's notation.
const hostKeyPrefix = "SHA256:"

// HostKeyFingerprint returns the SHA-256 of a public key in the encoding of RFC
// 4253 section 6.6, as `ssh-keygen -l` prints it: "SHA256:" and unpadded base64.
func HostKeyFingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return hostKeyPrefix + base64.RawStdEncoding.EncodeToString(sum[:])
}

// ParseHostKey normalises the fingerprint of a host key as people paste it, with
// surrounding space or padding. Anything else, such as the older MD5 form, is
// Invalid with the field FieldHostKey.
func ParseHostKey(s string) (string, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(s), hostKeyPrefix)
	sum, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimSuffix(digits, "="))
	if !ok || err != nil || len(sum) != sha256.Size || strings.ContainsAny(digits, "\r\n") {
		e := plugin.Errorf(plugin.Invalid, "the fingerprint of a host key must be SHA256: and 43 characters, as ssh-keygen -l prints it")
		e.Field = FieldHostKey
		return "", e
	}
	return hostKeyPrefix + base64.RawStdEncoding.EncodeToString(sum), nil
}

// EqualHostKey compares two fingerprints of host keys in constant time. A malformed
// fingerprint equals nothing.
func EqualHostKey(a, b string) bool {
	a, errA := ParseHostKey(a)
	b, errB := ParseHostKey(b)
	return errA == nil && errB == nil && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// FieldHostKey is the Field of an Untrusted error that concerns an SSH host key
// instead of a certificate. Fingerprint of that error is the key that the machine
// presented.
const FieldHostKey = "ssh_host_key"

// HostKeyChanged returns the Untrusted error of a machine that presents another
// host key than the pinned one.
func HostKeyChanged(pinned, seen string) error {
	e := plugin.Errorf(plugin.Untrusted, "the machine presented the SSH host key %s, but %s is pinned", seen, pinned)
	e.Field, e.Fingerprint = FieldHostKey, seen
	return e
}
