package pveapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// A refusal does not repeat the value that was sent, which may be anything, and keeps what there may be.
func TestHideValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"dport: invalid format - invalid port 'canary'":                  "dport: invalid format - invalid port",
		"proto: unknown protocol 'canary'; dport: invalid port 'canary'": "proto: unknown protocol; dport: invalid port",
		"log: value 'canary' does not have a value in the enumeration 'emerg, alert'": "log: value does not have a value in the " +
			"enumeration 'emerg, alert'",
		"value '' is wrong": "value is wrong",
		"vmid: type check ('integer') failed - got 'canary'": "vmid: type check ('integer') failed - got",
		"no such property ('canary')":                        "no such property",
		"'canary' and 'canary', 'canary'":                    " and,",
		`unable to parse "canary" as a number`:               "unable to parse as a number",
		"it can't be 'canary': there's no more":              "it can't be: there's no more",
		"value 'it's a canary' is wrong":                     "value is wrong",
		"value 'a' canary' is wrong":                         "value is wrong",
		"value 'canary that does not end":                    "value",
		"unable to parse canary-unquoted here":               "unable to parse [value] here",
		"property is missing and it is not optional":         "property is missing and it is not optional",
		"2001:db8:7::1 with type 'DOCUMENTATION', cannot be": "[value] with type 'DOCUMENTATION', cannot be",
		"value must have a minimum value of 16":              "value must have a minimum value of 16",
	} {
		got := pveapi.HideValues(text, url.Values{"x": {"a' canary", "canary-unquoted", "16", "", "bridge=vmbr0,ip6=2001:db8:7::1/64"}})
		if got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Whatever a parameter is refused with, over HTTP: the error names it, and not its value.
func TestParameterRefusalsRepeatNoValue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, field string }{
		"quoted": {`{"errors":{"net0":"invalid format - format error\nnet0.model: value 'canary' does not have a value in the ` +
			`enumeration 'e1000, virtio'"}}`, "net0"},
		"of several":   {`{"errors":{"a":"got 'canary'","b":"unable to parse value 'canary'"}}`, "a"},
		"in the title": {`{"message":"invalid storage ID 'canary'\n"}`, ""},
		"bare":         {`{"errors":{"comment":"my canary, with spaces 'n quotes\n is too long"}}`, "comment"},
		"a key":        {`{"errors":{"delete":"unknown option 'canary'"}}`, "canary"},
		"a property":   {`{"errors":{"delete":"no such property ('canary')"}}`, "canary"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				raw(w, fmt.Sprintf("HTTP/1.1 400 Parameter verification failed.\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
					"Connection: close\r\n\r\n%s", len(c.body), c.body))
			})
			_, err := client.Post(t.Context(), "/x", url.Values{"comment": {"my canary, with spaces 'n quotes\n"}}, nil)
			if e := wantKind(t, err, plugin.Invalid); e.Field != c.field || strings.Contains(e.Message, "canary") {
				t.Errorf("%q: %s", e.Field, e.Message)
			}
		})
	}
}
