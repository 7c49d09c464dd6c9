package pveapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hostler/hostler/sdk/plugin"
)

// maxMessage is the longest text of Proxmox VE that is passed on, in bytes.
const maxMessage = 2 << 10

// minSecret is the length from which a secret is removed from texts. Real ones
// are UUIDs. Removing a short one would make every text unreadable, and the
// gaps would show the secret.
const minSecret = 8

// refusal turns an answer other than 200 into an error.
func (a *Response) refusal(ctx context.Context, path string) error {
	a.body.left = maxError
	raw, _ := io.ReadAll(a.body) // the status line says most; a body that breaks off takes nothing away
	status := a.resp.StatusCode
	var body struct {
		Errors  map[string]Text `json:"errors"`
		Message Text            `json:"message"`
	}
	isJSON := json.Unmarshal(raw, &body) == nil
	told := firstText(string(body.Message), a.reason())
	text := strings.TrimSuffix(a.client.scrub(told), ".")

	switch {
	case status == http.StatusUnauthorized:
		// The text differs between releases, so nothing may depend on it.
		return plugin.Errorf(plugin.TokenRejected, "the host rejected the token: %s", text)
	case status == http.StatusForbidden:
		e := denied(text)
		e.Remedy = a.client.RemedyOf(ctx, e.Missing, e.Path)
		return e
	case status == http.StatusBadRequest:
		return a.invalid(told, body.Errors)
	case status == http.StatusNotImplemented:
		return plugin.Errorf(plugin.Unsupported, "%s (%s)", text, path)
	case status >= 595 && status <= 599:
		return innerProxy(status, text, path)
	case status >= 300 && status < 400:
		return plugin.Errorf(plugin.Protocol, "the hypervisor answered with a redirect (%d), which Hostler does not follow", status)
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return plugin.Errorf(plugin.Unreachable, "the host is temporarily unavailable: %d %s", status, text)
	case len(raw) > 0 && !isJSON && looksLikeHTML(raw):
		return plugin.Errorf(plugin.Protocol, "the answer is a web page (%d %s): a server other than Proxmox VE answers at this address",
			status, text)
	}
	// A status of success other than 200, and 404 and 409, which Proxmox VE
	// never sends, come from a proxy in between.
	if status < 500 {
		return plugin.Errorf(plugin.Protocol, "a server other than Proxmox VE seems to answer at this address: %d %s", status, text)
	}
	if detail := a.client.details(body.Errors); detail != "" {
		text += ": " + detail
	}
	if strings.Contains(strings.ToLower(text), "hostname lookup") {
		return plugin.Errorf(plugin.Unreachable, "%w: %s", ErrNodeLookup, text)
	}
	return plugin.Errorf(KindOfText(text), "%s", text)
}

// reason returns the reason phrase of the status line as it was sent. Proxmox
// VE writes its message there.
func (a *Response) reason() string {
	return strings.TrimSpace(strings.TrimPrefix(a.resp.Status, strconv.Itoa(a.resp.StatusCode)))
}

// firstText gives the first text that is not empty.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return "no reason given"
}

// looksLikeHTML reports whether an answer is a page: a proxy before the host
// answers so, not Proxmox VE.
func looksLikeHTML(raw []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(raw[:min(len(raw), 256)])), "<")
}

// permission finds path and privileges in the text by which Proxmox VE refuses
// (PVE::RPCEnvironment, check).
var permission = regexp.MustCompile(`Permission check failed \((/[^,]*), *([A-Za-z|. ]+)\)`)

// denied reads path and privileges from a 403. Some contain only prose, for
// example about actions that only root@pam may do.
func denied(text string) *plugin.Error {
	e := plugin.Errorf(plugin.Denied, "the host denied permission: %s", text)
	e.Missing, e.Path = ParseMissingPrivileges(text)
	return e
}

// ParseMissingPrivileges reads privileges, "A|B" for alternatives, and the path from a text of
// Proxmox VE, such as the end of a task. Both are empty if it names none.
func ParseMissingPrivileges(text string) (missing []string, path string) {
	if m := permission.FindStringSubmatch(text); m != nil {
		return []string{m[2]}, m[1]
	}
	return nil, ""
}

// RemedyOf returns the command that grants what is missing; empty if nothing is
// named or no command is known.
func (c *Client) RemedyOf(ctx context.Context, missing []string, path string) string {
	if c.Remedy == nil || len(missing) == 0 {
		return ""
	}
	asking := *c
	asking.Remedy = nil // what it asks itself has no remedy
	return c.Remedy(ctx, &asking, missing, path)
}

// namedKey finds the key in an error about keys to delete. By its name it is
// known as a parameter.
var namedKey = regexp.MustCompile(`(?:unknown|no such) (?:option|property) (?:'([^']+)'|\('([^']+)'\))`)

// invalid returns the error for a 400, with the parameter that it names; the
// alphabetically first of several, because their order is random. All such
// errors are made here, and none repeats a sent value.
func (a *Response) invalid(text string, faults map[string]Text) error {
	hidden := make(map[string]Text, len(faults))
	for name, fault := range faults {
		hidden[name] = Text(HideValues(string(fault), a.sent))
	}
	e := plugin.Errorf(plugin.Invalid, "%s", strings.TrimSuffix(a.client.scrub(HideValues(text, a.sent)), "."))
	if len(faults) > 0 {
		e.Message += ": " + a.client.details(hidden)
		e.Field = clean(firstKey(faults))
		if m := namedKey.FindStringSubmatch(string(faults[e.Field])); e.Field == "delete" && m != nil {
			e.Field = clean(m[1] + m[2])
		}
	}
	return e
}

// firstKey gives the first key in order, so that an answer with several faults
// always names the same field.
func firstKey(faults map[string]Text) string {
	names := keys(faults)
	return names[0]
}

// keys lists the keys in order.
func keys(faults map[string]Text) []string {
	names := make([]string, 0, len(faults))
	for name := range faults {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// details writes all faults in one line, without secrets.
func (c *Client) details(faults map[string]Text) string {
	parts := make([]string, 0, len(faults))
	for _, name := range keys(faults) {
		parts = append(parts, name+": "+strings.TrimSpace(string(faults[name])))
	}
	return c.scrub(strings.Join(parts, "; "))
}

// ErrNodeName is in the error of a call for a node that the cluster does not
// know. pveproxy looks such names up in DNS, and whatever answers there has
// another certificate.
var ErrNodeName = errors.New("the node may not exist under exactly this name")

// ErrNodeLookup is in the error of a call for a node whose name the called node
// cannot resolve. The node exists and cannot be reached.
var ErrNodeLookup = errors.New("the called node cannot resolve the name of the node")

// ErrNodeUnreachable is in the error of a call for a node that cannot be reached for
// another reason: the node is off, or pveproxy on it.
var ErrNodeUnreachable = errors.New("the node or its API daemon does not answer")

// errDaemonAway is in the error of a call for the called node itself.
var errDaemonAway = errors.New("the host's API daemon does not answer")

// innerProxy explains the statuses that the called node's pveproxy generates
// when it cannot reach the daemon for a call: its own one, or that of the node
// in the path.
func innerProxy(status int, text, path string) error {
	away := errDaemonAway
	if strings.HasPrefix(path, "/nodes/") {
		away = ErrNodeUnreachable
	}
	switch {
	case strings.Contains(text, "certificate verify failed"):
		return plugin.Errorf(plugin.Unreachable, "%v: %d %s (%w)", away, status, text, ErrNodeName)
	case strings.Contains(text, "timed out"), strings.Contains(text, "timeout"):
		return plugin.Errorf(plugin.Timeout, "%w: %d %s", away, status, text)
	}
	return plugin.Errorf(plugin.Unreachable, "%w: %d %s", away, status, text)
}

// missingFile is what programs report about a file or a device behind the
// object of a request. The object itself may exist.
const missingFile = "no such file or directory"

// KindOfText classifies the texts of a 500, and of the end of a task, by parts
// that have not changed between releases.
func KindOfText(text string) plugin.ErrorKind {
	t := strings.ToLower(text)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(t, p) })
	}
	switch {
	// The cluster's file system is down, and with it the whole API.
	case has("rpcenvironment init request failed"):
		return plugin.Unreachable
	case has("is locked"), has("lock") && has("got timeout", "timed out", "timeout"), has("got no worker upid"):
		return plugin.Busy
	case has("already exists", "already running", "not running", "is running", "already in use", "detected modified configuration",
		"checksum mismatch"):
		return plugin.Conflict
	case has("does not exist", "unable to find configuration file"), strings.Contains(strings.ReplaceAll(t, missingFile, ""), "no such "):
		return plugin.NotFound
	case has("permission check failed", "permission denied"):
		return plugin.Denied
	}
	return plugin.Refused
}

// scrub makes a text of Proxmox VE safe to pass on: without the token's secret,
// in case the other side echoes it, without control characters, valid UTF-8,
// and not too long.
func (c *Client) scrub(text string) string {
	if len(c.secret) >= minSecret {
		text = plugin.HideSecrets(text, c.secret)
	}
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, clean(strings.TrimSpace(text)))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
