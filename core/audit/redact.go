package audit

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/hostler/hostler/sdk/plugin"
)

// Redacted replaces a value that is a secret by its key or by its form.
const Redacted = "[redacted]"

// secretWords mark a key as that of a secret if they occur anywhere in it. Keys
// are compared in small letters and without punctuation, so that apiKey,
// api-key and API_KEY are equal.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "token", "cookie", "session", "privatekey", "apikey", "sshkey", "credential",
	"ticket", "recoverycode", "authorization", "bearer", "totp", "otpauth", "csrf", "passwort",
}

// secretNames are keys that mark a secret only as a whole: inside other words
// they are harmless.
var secretNames = map[string]bool{"pass": true, "pwd": true, "otp": true, "pin": true, "seed": true, "auth": true, "salt": true,
	"hash": true, "pending": true}

// public are keys that contain one of the words and no secret.
var public = map[string]bool{"tokenid": true, "tokenids": true, "sessionid": true, "sessionsrevoked": true}

// secretLooks matches values that are secrets under any key, besides those that
// plugin.HideSecrets knows: tokens of hypervisors, API keys, headers.
var secretLooks = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE ` +
	`KEY|PVEAPIToken=|PVEAuthCookie|![A-Za-z][\w.-]*=[0-9a-fA-F]{8}-|\bsvc_[A-Za-z0-9_-]{16,}|(?i:\b(bearer|basic) [a-z0-9+/_.=-]{8,` +
	`})|otpauth://|\$argon2id?\$|://[^/\s:@]*:[^/\s@]+@`)

// Bounds of what one row keeps.
const (
	maxDetailDepth = 16
	maxDetailText  = 4096
)

// Redact returns a copy of the details in which every secret is replaced, at
// any depth and in any type, and in which every text can be stored.
func Redact(details map[string]any) map[string]any { return redactMap(details, 0) }

// redactMap returns a map without secrets. A secret is recognised by the name
// of its key.
func redactMap(in map[string]any, depth int) map[string]any {
	out := make(map[string]any, len(in))
	for key, value := range in {
		key = cleanTo(key, 128)
		if named(key) {
			out[key] = Redacted
			continue
		}
		out[key] = redactValue(value, depth+1)
	}
	return out
}

// redactValue returns a value without secrets, up to a depth.
func redactValue(value any, depth int) any {
	if depth > maxDetailDepth {
		return Redacted
	}
	switch v := value.(type) {
	case nil, bool, int, int64:
		return v
	case string:
		if secretLooks.MatchString(v) || plugin.HideSecrets(v) != v {
			return Redacted
		}
		return cleanTo(v, maxDetailText)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil // JSON has no such number
		}
		return v
	case json.Number:
		return v
	case map[string]any:
		return redactMap(v, depth)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = redactValue(item, depth+1)
		}
		return out
	default:
		return redactOther(v, depth)
	}
}

// redactOther converts any other type to JSON first: structs, typed maps and
// slices, raw JSON.
func redactOther(v any, depth int) any {
	text, err := json.Marshal(v)
	if err != nil {
		return Redacted
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber() // ids beyond 2^53 stay what they are
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return Redacted
	}
	return redactValue(plain, depth+1)
}

// named reports whether a key names a secret, in any spelling.
func named(key string) bool {
	key = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	if public[key] {
		return false
	}
	if secretNames[key] {
		return true
	}
	for _, word := range secretWords {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}
