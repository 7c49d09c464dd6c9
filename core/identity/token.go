package identity

import (
	"crypto/sha256"
	"encoding/base64"
)

// tokenBytes of randomness are in a session cookie and in a setup token: 256 bits.
const tokenBytes = 32

// newToken is a new random token in URL-safe text.
func newToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(tokenBytes)) }

// isToken reports whether the text has the form of a token, so that nothing else is hashed or looked up.
func isToken(s string) bool {
	if len(s) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil
}

// hashToken is what is stored of a token. The token is random and long, so a plain SHA-256 cannot be guessed back.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
