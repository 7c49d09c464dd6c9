package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"github.com/hostler/hostler/sdk/plugin"
	"strings"
)

// Fingerprint returns the SHA-256 of the DER form of a certificate as upper-case
// hexadecimal bytes with colons between them, 95 characters.
func Fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.Raw)
	return formatFingerprint(sum[:])
}

// ParseFingerprint brings what people paste into the form of Fingerprint. It
// accepts either case, with or without colons, surrounding space, and a leading
// "SHA256:", "sha256=" or "sha256 Fingerprint=", as openssl and browsers print it.
// Anything else is Invalid with the field "fingerprint".
func ParseFingerprint(s string) (string, error) {
	s = strings.TrimSpace(s)
	for _, prefix := range []string{"sha256 fingerprint=", "sha256:", "sha256="} {
		if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			s = strings.TrimSpace(s[len(prefix):])
			break
		}
	}
	digits := s
	if strings.Contains(s, ":") {
		pairs := strings.Split(s, ":")
		for _, pair := range pairs {
			if len(pair) != 2 {
				return "", badFingerprint()
			}
		}
		digits = strings.Join(pairs, "")
	}
	sum, err := hex.DecodeString(digits)
	if err != nil || len(sum) != sha256.Size {
		return "", badFingerprint()
	}
	return formatFingerprint(sum), nil
}

// EqualFingerprint compares two fingerprints, in any form that ParseFingerprint
// accepts, in constant time. A malformed fingerprint equals nothing, not even
// itself.
func EqualFingerprint(a, b string) bool {
	a, errA := ParseFingerprint(a)
	b, errB := ParseFingerprint(b)
	return errA == nil && errB == nil && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// badFingerprint returns the Invalid error of a malformed fingerprint.
func badFingerprint() error {
	e := plugin.Errorf(plugin.Invalid, "a fingerprint must be 32 bytes in hexadecimal, such as AB:CD:…")
	e.Field = "fingerprint"
	return e
}

// formatFingerprint writes a digest in the form of Fingerprint.
func formatFingerprint(sum []byte) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(sum)*3 - 1)
	for i, c := range sum {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
