package pvesim_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// TestGarbageIsAnswered sends hostile values to every endpoint: each gets an answer, and never the 502 or silence of a crash.
func TestGarbageIsAnswered(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	nasty := []string{"", "..", "../../etc/passwd", "\x00", "\r\nX: y", "-1", "99999999999999999999", "1e9", "0x10",
		strings.Repeat("a", 5000), "ü☃", "';--", "a,b;c d", "[]", "true", "%", "UPID:"}
	for _, e := range pvesim.Endpoints() {
		if !sampletest.Selected(e.Method+e.Path, 4) {
			continue
		}
		for i, v := range nasty {
			path := e.Path
			for _, p := range e.Parameters {
				path = strings.ReplaceAll(path, "{"+p+"}", url.PathEscape(v))
			}
			form := url.Values{}
			for _, p := range e.Parameters {
				if !strings.Contains(e.Path, "{"+p+"}") {
					form.Set(p, v)
				}
			}
			form.Set(fmt.Sprint("unknown", i), v)
			body := ""
			if e.Method == "POST" || e.Method == "PUT" {
				body = form.Encode()
			} else {
				path += "?" + form.Encode()
			}
			ans := root.raw(e.Method, path, body)
			if ans.status < 400 || ans.status > 599 || strings.ContainsAny(ans.reason, "\r\n\x00") {
				t.Errorf("%s %s with %q: %d %q", e.Method, e.Path, v, ans.status, ans.reason)
			}
		}
	}
}

func TestJSONBodies(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	admin := c.AdminToken()
	for body, want := range map[string]int{
		`{"timeout":5}`: 200, `{"timeout":"5","overrule-shutdown":true}`: 200, ``: 200, `{}`: 200, `{"timeout":[5]}`: 400,
		`{"timeout":{}}`: 400, `{"timeout":null}`: 400,
		`{"timeout":1.5}`: 400, `[1]`: 500, `{`: 500, `nonsense`: 500, `{"keepActive":1}`: 400, `{"bogus":1}`: 400,
	} {
		ans := send(t, c.URL(""),
			rawRequest{method: "POST", path: "/api2/json/nodes/pve1/qemu/100/status/stop", body: body, header: map[string]string{
				"Authorization": "PVEAPIToken=" + admin.ID + "=" + admin.Secret, "Content-Type": "application/json",
			}})
		if ans.status != want {
			t.Errorf("%s: %d %s, want %d", body, ans.status, ans.reason, want)
		}
	}
}
