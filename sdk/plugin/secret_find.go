package plugin

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// Patterns of secrets that are recognised by their form, wherever they appear and
// whoever wrote them.
var (
	// pemKey is a private key in PEM, up to its end line or to the end of the text
	// if it is cut off.
	pemKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)
	// encoded is base64, standard or URL-safe, of JSON ("eyJ" is `{"`) or of a DER
	// sequence (which begins with "M").
	encoded = regexp.MustCompile(`(eyJ|M)[A-Za-z0-9+/_-]{28,}={0,2}`)
	// userInURL is a URL with a password. queryInURL is a URL with a query, which
	// often contains a token. JSON may escape the slashes.
	userInURL  = regexp.MustCompile(`(://|:\\/\\/)[^\s/?#@:"'<>\\]*:[^\s/?#"'<>\\]*@`)
	queryInURL = regexp.MustCompile(`((?:://|:\\/\\/)[^\s?#"'<>]+\?)[^\s#"'<>]+`)
)

// HideSecrets replaces every secret in an untrusted text with a placeholder. It
// finds the given secrets in each spelling that a server may repeat them in:
// unchanged, URL-escaped, escaped for JSON or HTML, and in base64. It also finds
// secrets by their form: private keys in PEM or as base64 of DER, one-time codes
// that are base64 of JSON with a secret, and the passwords and queries of URLs. A
// text without secrets is returned unchanged.
//
// The run time is linear in the length of the text.
func HideSecrets(text string, secrets ...string) string {
	text = hideGiven(text, secrets)
	if strings.Contains(text, ":/") || strings.Contains(text, `:\/`) {
		text = userInURL.ReplaceAllString(text, "${1}"+hidden+"@")
		text = queryInURL.ReplaceAllString(text, "${1}"+hidden)
	}
	if strings.Contains(text, "PRIVATE KEY-----") {
		text = pemKey.ReplaceAllLiteralString(text, hidden)
	}
	if !strings.Contains(text, "eyJ") && !strings.Contains(text, "M") {
		return text
	}
	return encoded.ReplaceAllStringFunc(text, func(found string) string {
		if at := secretIn(found); at >= 0 {
			return found[:at] + hidden
		}
		return found
	})
}

// maxTries limits the positions at which a secret may begin in one run of base64
// letters, so that the run time grows only linearly with the text.
const maxTries = 256

// secretIn returns the position at which a secret begins in a run of base64
// letters, or -1. Letters before it may be a word that the run was joined to. If
// the run has too many candidate positions, the rest counts as a secret.
func secretIn(run string) int {
	tries := 0
	for i := range len(run) {
		rest := run[i:]
		code := strings.HasPrefix(rest, "eyJ")
		if !code && rest[0] != 'M' {
			continue
		}
		if code && isCode(rest) || !code && isKey(rest) {
			return i
		}
		if tries++; tries == maxTries {
			return i + 1
		}
	}
	return -1
}

// maxCode is the number of letters of a run that are decoded to look for a one-time
// code.
const maxCode = 8192

// isCode reports whether a run is JSON with a secret, possibly cut off.
func isCode(run string) bool {
	return strings.Contains(strings.ToLower(string(decode(run[:min(len(run), maxCode)]))), `secret"`)
}

// isKey reports whether a run is the beginning of a private key: a DER sequence
// that begins with the version 0 or 1, as in PKCS #8 (RFC 5958), PKCS #1 (RFC 8017)
// and SEC 1 (RFC 5915), followed by an algorithm, a number or an octet string.
// Certificates, certificate requests, public keys and signatures begin differently.
func isKey(run string) bool {
	der := decode(run[:min(len(run), 24)])
	if len(der) < 8 || der[0] != 0x30 {
		return false
	}
	body := der[2:]
	if der[1] >= 0x80 { // a length of its own so many bytes
		n := int(der[1] & 0x7f)
		if n < 1 || n > 3 {
			return false
		}
		body = der[2+n:]
	}
	if len(body) < 6 || body[0] != 0x02 || body[1] != 0x01 || body[2] > 1 {
		return false
	}
	// A certificate request has the name of its subject at the place of the
	// algorithm, and the name does not begin with an object identifier.
	return body[3] == 0x30 && body[5] == 0x06 || body[3] == 0x02 || body[3] == 0x04
}

// oneAlphabet turns URL-safe base64 into standard base64.
var oneAlphabet = strings.NewReplacer("-", "+", "_", "/")

// decode decodes as much of run as possible, in either alphabet.
func decode(run string) []byte {
	run = oneAlphabet.Replace(strings.TrimRight(run, "="))
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	plain, _ := base64.RawStdEncoding.DecodeString(run)
	return plain
}
