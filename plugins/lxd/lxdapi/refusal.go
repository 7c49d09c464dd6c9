package lxdapi

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/plugin"
)

// maxMessage is the maximum length of a text of the server in an error, in
// bytes.
const maxMessage = 2 << 10

// refusal turns a response with a bad status into an error. A redirect is not
// followed, and a response that is not LXD's says so.
func (a *answer) refusal() error {
	a.body.left = maxError
	raw, _ := io.ReadAll(a.body) // what breaks off is no envelope
	var h head
	isEnvelope := json.Unmarshal(raw, &h) == nil && h.Type == typeError
	status := a.resp.StatusCode
	switch {
	case status >= 300 && status < 400:
		return plugin.Errorf(plugin.Protocol, "the host answered with a redirect (%d), which Hostler does not follow", status)
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return plugin.Errorf(plugin.Unreachable, "the host is temporarily unavailable: %d %s", status, scrub(h.Error))
	case !isEnvelope:
		return plugin.Errorf(plugin.Protocol, "a server other than LXD or Incus seems to answer at this address: %d", status)
	}
	return refuse(status, h.Error)
}

// refuse returns the error for a refusal. The status decides about its kind,
// and where the status says little, the text.
func refuse(status int, text string) error {
	text = scrub(text)
	if text == "" {
		text = "no reason given"
	}
	switch status {
	case http.StatusUnauthorized:
		return plugin.Errorf(plugin.TokenRejected, "the host rejected the certificate: %s", text)
	case http.StatusForbidden:
		return plugin.Errorf(plugin.Denied, "the host denied permission: %s", text)
	case http.StatusNotFound:
		if text == "not found" { // of a thing it is said what was not found
			return plugin.Errorf(plugin.Unsupported, "this release of the server does not support it")
		}
		return plugin.Errorf(plugin.NotFound, "%s", text)
	case http.StatusConflict, http.StatusPreconditionFailed:
		return plugin.Errorf(plugin.Conflict, "%s", text)
	case http.StatusNotImplemented:
		return plugin.Errorf(plugin.Unsupported, "%s", text)
	case http.StatusBadRequest:
		return plugin.Errorf(kindOfText(text, plugin.Invalid), "%s", text)
	}
	return plugin.Errorf(kindOfText(text, plugin.Refused), "%s", text)
}

// texts are parts of messages of LXD and Incus, in lower case, for status 400
// and 500 and for failed operations. The first entry that matches decides, so
// more specific ones come first.
var texts = []struct {
	kind  plugin.ErrorKind
	parts []string
}{
	{plugin.Denied, []string{"not have permission", "certificate is restricted", "not authorized", " is forbidden", " are forbidden"}},
	{plugin.Unreachable, []string{"missing event connection", "unable to connect", "connection refused", "no route to host",
		"server is shutting down"}},
	{plugin.Busy, []string{"instance is busy", "database is locked", "too many requests"}},
	{plugin.Conflict, []string{"already exists", "unique constraint", "already in use", "already running", "already stopped",
		"already frozen", "already used", "already defined", "isn't running", "is not running", "is running", "is currently in use",
		"still in use", "that is in use", "is protected", "must be stopped", "running container", "running instance",
		"can't be cancelled", "only empty projects"}},
	{plugin.Unsupported, []string{"not clustered", "not supported", "not implemented", "isn't installed", "required tool",
		"not container type", "isn't currently running", "only supported by"}},
	{plugin.NotFound, []string{"not found", "does not exist", "doesn't exist", "not provided for instance creation"}},
	{plugin.Invalid, []string{"unknown configuration key", "invalid ", "unsupported compression", "unknown action",
		"name can only contain", "must be one of"}},
}

// kindOfText returns the kind of error for a text of the server, or other for
// an unknown text.
func kindOfText(text string, other plugin.ErrorKind) plugin.ErrorKind {
	text = strings.ToLower(text)
	for _, t := range texts {
		if slices.ContainsFunc(t.parts, func(p string) bool { return strings.Contains(text, p) }) {
			return t.kind
		}
	}
	return other
}

// secrets match what must not be passed on although a server may send it: the
// secret of a websocket, which alone opens a console; a join token, which is
// base64 of a JSON object; and a private key.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(secret|password|trust_token)(["']?\s*[=:]\s*["']?)[^\s"'&,;)}\]]+`),
	regexp.MustCompile(`()()eyJ[A-Za-z0-9+/_=-]{16,}`),
	regexp.MustCompile(`()()-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?`),
}

// scrub makes a text of the server fit for messages: without secrets and
// control characters, valid UTF-8, and not too long.
func scrub(text string) string {
	text = cut(text, maxError)
	for _, s := range secrets {
		text = s.ReplaceAllString(text, "$1$2[secret]")
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.TrimSpace(text))
	return cut(text, maxMessage)
}

// cut returns a text as valid UTF-8 of at most the given number of bytes,
// without NUL, which neither protobuf nor PostgreSQL accepts.
func cut(text string, most int) string {
	if len(text) > most {
		text = strings.Clone(text[:most]) // a part would keep the whole in memory
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ReplaceAll(text, "\x00", "")
}
