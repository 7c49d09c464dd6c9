package pveapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
)

func TestRefusalsBecomeTypedErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status              int
		reason, mime, body  string
		kind                plugin.ErrorKind
		message, field, has string
	}{
		"401 without body": {401, "No ticket", "", "", plugin.TokenRejected, "No ticket", "", ""},
		"401 of today":     {401, "Authentication failed!", "", "", plugin.TokenRejected, "Authentication failed!", "", ""},
		"401 of old":       {401, "no such token 'x' for user 'a@pve'", "", "", plugin.TokenRejected, "no such token", "", ""},
		"403 with alternatives": {403, "Permission check failed (/storage/a b, Datastore.Audit|Datastore.AllocateSpace)", "application/json",
			`{"data":null}`, plugin.Denied, "", "", "Datastore.Audit|Datastore.AllocateSpace at /storage/a b"},
		"403 one privilege": {403, "x", "application/json", `{"data":null,"message":"Permission check failed (/vms/101, ` +
			`VM.PowerMgmt)\n"}`, plugin.Denied, "Permission check failed", "", "VM.PowerMgmt at /vms/101"},
		"403 in prose": {403, "Permission check failed (changing feature flags is only allowed for root@pam)", "", `{"data":null}`,
			plugin.Denied, "root@pam", "", ""},
		"403 bare": {403, "Permission check failed", "", `{"data":null}`, plugin.Denied, "Permission check failed", "", ""},
		"400 with parameters": {400, "Parameter verification failed.", "application/json", `{"data":null,"message":"Parameter ` +
			`verification failed.\n","errors":{"vmid":"type check ('integer') failed - got ''","b":"x"}}`, plugin.Invalid,
			"b: x; vmid: type check", "b", ""},
		"400 of old": {400, "Parameter verification failed.", "", `{"data":null}`, plugin.Invalid,
			"Parameter verification failed", "", ""},
		"501": {501, "Method 'GET /nope' not implemented", "", `{"data":null}`, plugin.Unsupported, "not implemented", "",
			""},
		"500 not there": {500, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist", "", `{"data":null}`,
			plugin.NotFound, "999.conf", "", ""},
		"500 a file behind it": {500, "could not activate storage 'tank', zfs error: exec of zpool failed: No such file or directory", "",
			`{"data":null}`, plugin.Refused, "zfs error", "", ""},
		"500 message goes first": {500, "first line", "application/json",
			`{"data":null,"message":"first line\nVM 5 already exists on node 'a'\n"}`, plugin.Conflict, "first line VM 5", "", ""},
		"500 running":     {500, "CT 114 already running", "", `{"data":null}`, plugin.Conflict, "CT 114", "", ""},
		"500 not running": {500, "VM 210 not running", "", `{"data":null}`, plugin.Conflict, "", "", ""},
		"500 locked":      {500, "VM is locked (clone)", "", `{"data":null}`, plugin.Busy, "", "", ""},
		"500 lock time-out": {500, "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout", "", `{"data":null}`,
			plugin.Busy, "", "", ""},
		"500 cfs lock": {500, "error with cfs lock 'file-user_cfg': got lock request timeout", "", `{"data":null}`, plugin.Busy, "",
			"", ""},
		"500 cfs lock of today": {500, "error during cfs-locked 'file-user_cfg' operation: got lock request timeout", "", `{"data":null}`,
			plugin.Busy, "", "", ""},
		"500 other time-out": {500, "VM quit/powerdown failed - got timeout", "", `{"data":null}`, plugin.Refused, "", "", ""},
		"500 nested status": {500, "create ha rule failed: 400 Rule 'x' is invalid.", "", `{"data":null}`, plugin.Refused, "Rule 'x'",
			"", ""},
		"500 nested parameter": {500, "400 Parameter verification failed.", "", `{"data":null,"errors":{"id":"no such job"}}`,
			plugin.NotFound, "id: no such job", "", ""},
		"500 unknown node": {500, "hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known", "",
			`{"data":null}`, plugin.Unreachable, "cannot resolve the name of the node", "", ""},
		"500 cluster file system": {500, "RPCEnvironment init request failed: Unable to load access control list: Connection refused", "", "",
			plugin.Unreachable, "access control list", "", ""},
		"500 digest": {500, "detected modified configuration - file changed by other user? Try again.", "", `{"data":null}`,
			plugin.Conflict, "", "", ""},
		"500 without a word": {500, "", "", "", plugin.Refused, "no reason given", "", ""},
		"595":                {595, "Connection refused", "", "", plugin.Unreachable, "595 Connection refused", "", ""},
		"596 wrong name": {596, "Errors during TLS negotiation, request sending and header processing: error:0A000086:SSL " +
			"routines::certificate verify failed", "", "", plugin.Unreachable, "may not exist under exactly this name", "", ""},
		"596 time-out": {596, "Errors during TLS negotiation, request sending and header processing: Connection timed out", "", "",
			plugin.Timeout, "596", "", ""},
		"599": {599, "Too many redirections", "", "", plugin.Unreachable, "599", "", ""},
		"web page": {500, "Internal Server Error", "text/html", "<!DOCTYPE html><title>nginx</title>", plugin.Protocol,
			"web page", "", ""},
		"404 of something":        {404, "Not Found", "text/html", "<html>", plugin.Protocol, "web page", "", ""},
		"404 bare":                {404, "Not Found", "", "", plugin.Protocol, "answer at this address: 404", "", ""},
		"redirect":                {302, "Found", "", "", plugin.Protocol, "redirect", "", ""},
		"good status of nobody's": {204, "No Content", "", "", plugin.Protocol, "answer at this address: 204", "", ""},
		"502 of a proxy":          {502, "Bad Gateway", "text/html", "<html>", plugin.Unreachable, "502", "", ""},
		"echo of the secret": {500, "token " + secret + " is bad", "application/json",
			`{"message":"` + secret + `","errors":{"x":"` + secret + `"}}`, plugin.Refused, "[secret]", "", ""},
		"endless text": {500, "x", "application/json", `{"message":"` + strings.Repeat("y", 30<<10) + `"}`, plugin.Refused, "yyy", "", ""},
		"endless body": {500, "already exists", "application/json", `{"message":"` + strings.Repeat("y", 300<<10) + `"}`, plugin.Conflict,
			"already exists", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The reason phrase cannot be set through net/http.
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				head := ""
				if c.mime != "" {
					head = "Content-Type: " + c.mime + "\r\n"
				}
				if c.status == 302 {
					head = "Location: https://example.com/\r\n"
				}
				raw(w, fmt.Sprintf("HTTP/1.1 %d %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", c.status, c.reason, head, len(c.body),
					c.body))
			})
			_, err := client.Post(t.Context(), "/x", nil, nil)
			e := wantKind(t, err, c.kind)
			if !strings.Contains(e.Message, c.message) || e.Field != c.field || len(e.Message) > 4<<10 {
				t.Errorf("got %q, field %q", e.Message, e.Field)
			}
			has := ""
			if len(e.Missing) > 0 {
				has = strings.Join(e.Missing, ",") + " at " + e.Path
			}
			if has != c.has {
				t.Errorf("missing %q, want %q", has, c.has)
			}
		})
	}
}

// raw writes an answer byte by byte as given.
func raw(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text)
}
