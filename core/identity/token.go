package identity

import (
	"crypto/sha256"
	"encoding/base64"
)

// tokenBytes is the number of random bytes in a session cookie and in a setup
// token: 256 bits.
const tokenBytes = 32

// newToken returns a new random token in URL-safe text.
func newToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(tokenBytes)) }

// isToken reports whether the text has the form of a token. Other texts are
// neither hashed nor looked up.
func isToken(s string) bool {
	if len(s) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil
}

// hashToken returns the stored form of a token. The token is long and random,
// so that nobody can find it from a plain SHA-256.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
