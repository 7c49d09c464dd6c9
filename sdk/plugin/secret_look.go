package plugin

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// Secrets that are known by their look, wherever they stand and whoever wrote them.
var (
	// pemKey is a private key in PEM, to its end line or to the end of the text where that is cut off.
	pemKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)
	// encoded is base64, plain or for URLs, of JSON ("eyJ" is `{"`) or of a DER sequence (which begins with "M").
	encoded = regexp.MustCompile(`(eyJ|M)[A-Za-z0-9+/_-]{28,}={0,2}`)
	// userInURL is a URL with a password, and queryInURL one with a query, which often has a token. JSON may escape the slashes.
	userInURL  = regexp.MustCompile(`(://|:\\/\\/)[^\s/?#@:"'<>\\]*:[^\s/?#"'<>\\]*@`)
	queryInURL = regexp.MustCompile(`((?:://|:\\/\\/)[^\s?#"'<>]+\?)[^\s#"'<>]+`)
)

// HideSecrets puts a placeholder in the place of every secret in a text that comes from elsewhere: of the given secrets, in whatever
// spelling (as they are, URL-escaped, escaped for JSON or HTML, in base64), and of what is known by its look, which is private keys in
// PEM or as the base64 of DER, one-time codes that are the base64 of JSON with a secret, and the passwords and queries of URLs. A text
// without any is returned as it is.
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

// maxTries bounds the places of a run at which a secret may begin: the time that a long text takes grows with its length alone.
const maxTries = 256

// secretIn is where a secret begins in a run of base64 letters; -1 for nowhere. What stands before may be a word that the run was
// glued to. Where there are too many places to look at, what is left counts as one.
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

// maxCode is how many letters of a run are looked at for a code.
const maxCode = 8192

// isCode holds for JSON that has a secret, cut off or not.
func isCode(run string) bool {
	return strings.Contains(strings.ToLower(string(decode(run[:min(len(run), maxCode)]))), `secret"`)
}

// isKey holds for the beginning of a private key: a DER sequence that begins with the number 0 or 1, as PKCS #8, PKCS #1 and
// SEC 1 have it, and goes on with an algorithm, a number or a string of octets. Certificates, requests, public keys and signatures
// begin otherwise.
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
	// A request for a certificate has its subject's name in the place of the algorithm, which begins with an identifier.
	return body[3] == 0x30 && body[5] == 0x06 || body[3] == 0x02 || body[3] == 0x04
}

var oneAlphabet = strings.NewReplacer("-", "+", "_", "/")

// decode decodes as much as there is of either alphabet.
func decode(run string) []byte {
	run = oneAlphabet.Replace(strings.TrimRight(run, "="))
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	plain, _ := base64.RawStdEncoding.DecodeString(run)
	return plain
}
