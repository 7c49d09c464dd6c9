package route_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/route"
)

type row struct{ method, path string }

// rows are all operations: each has a row in its resource's table of who may ask for it.
func rows(t testing.TB) []row {
	t.Helper()
	files, err := filepath.Glob("../*/testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if cells := strings.Split(line, "\t"); strings.HasPrefix(cells[0], "/") {
				all = append(all, row{method: cells[1], path: cells[0]})
			}
		}
	}
	if len(all) < 250 {
		t.Fatalf("only %d operations in the tables", len(all))
	}
	return all
}

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// pattern turns {name} into :name, and the two parameters that may hold slashes into catch-alls.
func pattern(path string) string {
	for _, name := range []string{"cidr", "volid"} {
		path = strings.TrimSuffix(path, "{"+name+"}") + map[bool]string{true: "*" + name}[strings.HasSuffix(path, "{"+name+"}")]
	}
	return placeholder.ReplaceAllString(path, ":$1")
}

func full(t testing.TB) *route.Router {
	t.Helper()
	rt := route.New()
	for _, r := range rows(t) {
		rt.Handle(r.method, pattern(r.path), func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
			_, _ = w.Write([]byte(r.path))
		})
	}
	return rt
}

func TestEveryOperationResolves(t *testing.T) {
	t.Parallel()
	rt := full(t)
	values := map[string][2]string{ // escaped in the path → what the handler gets
		"name": {"web%20server", "web server"}, "node": {"pve%2F1", "pve/1"}, "upid": {"UPID:pve:0001:root@pam:", "UPID:pve:0001:root@pam:"},
		"cidr": {"10.0.0.0%2F8", "10.0.0.0/8"}, "volid": {"local:iso%2Fdebian.iso", "local:iso/debian.iso"}, "slug": {"st%61tus2", "status2"},
	}
	for _, r := range rows(t) {
		var want route.Params
		path := placeholder.ReplaceAllStringFunc(r.path, func(p string) string {
			name := p[1 : len(p)-1]
			value, ok := values[name]
			if !ok {
				value = [2]string{"17", "17"}
			}
			want = append(want, route.Param{Name: name, Value: value[1]})
			return value[0]
		})
		_, got, params, ok := rt.Match(r.method, path)
		if !ok || got != pattern(r.path) {
			t.Errorf("%s %s: resolved to %q, want %q", r.method, path, got, pattern(r.path))
			continue
		}
		if !slices.Equal(params, want) {
			t.Errorf("%s %s: parameters %v, want %v", r.method, path, params, want)
		}
	}
}

func TestLiteralsComeFirst(t *testing.T) {
	t.Parallel()
	rt := full(t)
	const v1 = "/api/v1"
	tests := []struct{ method, path, pattern string }{
		{"POST", "/vms/1/clone", "/vms/:vm_id/clone"},
		{"POST", "/vms/1/start", "/vms/:vm_id/:action"},
		{"POST", "/vms/1/snapshots", "/vms/:vm_id/snapshots"},
		{"POST", "/vms/1/snapshots/a/rollback", "/vms/:vm_id/snapshots/:name/rollback"},
		{"GET", "/catalog/status", "/catalog/status"},
		{"GET", "/catalog/statuses", "/catalog/:slug"},
		{"GET", "/catalog/status/icon", "/catalog/:slug/icon"},
		{"POST", "/catalog/refresh", "/catalog/refresh"},
		{"POST", "/catalog/refresh/install", "/catalog/:slug/install"},
		{"GET", "/hosts/capabilities", "/hosts/capabilities"},
		{"GET", "/hosts/capabilities/peers", "/hosts/:host_id/peers"},
		{"POST", "/hosts/probe", "/hosts/probe"},
		{"POST", "/hosts/token-script", "/hosts/token-script"},
		{"POST", "/hosts/9/test", "/hosts/:host_id/test"},
		{"PUT", "/hosts/self", "/hosts/self"},
		{"GET", "/apps/discovered", "/apps/discovered"},
		{"GET", "/apps/1", "/apps/:app_id"},
		{"POST", "/apps/update-all", "/apps/update-all"},
		{"POST", "/apps/1/update", "/apps/:app_id/update"},
		{"POST", "/apps/1/stop", "/apps/:app_id/:action"},
		{"POST", "/apps/1/migrate", "/apps/:app_id/migrate"},
		{"POST", "/apps/1/migrate/preflight", "/apps/:app_id/migrate/preflight"},
		{"POST", "/apps/1/script/revert", "/apps/:app_id/script/revert"},
		{"POST", "/backups/run", "/backups/run"},
		{"POST", "/backups/run/restore", "/backups/:backup_id/restore"},
		{"POST", "/network/bridges", "/network/bridges"},
		{"POST", "/network/1/pve/apply", "/network/:host_id/:node/apply"},
		{"PUT", "/firewall/cluster/1/groups/rules/rules/0", "/firewall/cluster/:host_id/groups/:group/rules/:pos"},
		{"GET", "/jobs/5/events/stream", "/jobs/:job_id/events/stream"},
		{"GET", "/jobs/5/events", "/jobs/:job_id/events"},
		{"PUT", "/vms/1/firewall/ipsets/x/members/10.0.0.0/8", "/vms/:vm_id/firewall/ipsets/:name/members/*cidr"},
		{"DELETE", "/vms/1/firewall/ipsets/x/members/fd00::%2F64", "/vms/:vm_id/firewall/ipsets/:name/members/*cidr"},
		{"POST", "/vms/1/firewall/ipsets/x/members", "/vms/:vm_id/firewall/ipsets/:name/members"},
		{"DELETE", "/vms/1/firewall/ipsets/x", "/vms/:vm_id/firewall/ipsets/:name"},
		{"DELETE", "/storage/1/local/content/local:iso/a/b.iso", "/storage/:host_id/:name/content/*volid"},
		{"DELETE", "/storage/1/content", "/storage/:host_id/:name"},
	}
	for _, tt := range tests {
		if _, got, _, ok := rt.Match(tt.method, v1+tt.path); !ok || got != v1+tt.pattern {
			t.Errorf("%s %s: resolved to %q, want %q", tt.method, tt.path, got, v1+tt.pattern)
		}
	}
}

func TestCatchAllTakesRawAndEscapedSlashes(t *testing.T) {
	t.Parallel()
	rt := full(t)
	for path, want := range map[string]string{
		"/storage/1/local/content/local:iso/d%C3%A9bian.iso": "local:iso/débian.iso",
		"/storage/1/local/content/local:iso%2Fdebian.iso":    "local:iso/debian.iso",
		"/storage/1/local/content/a%252Fb":                   "a%2Fb", // unescaped once
		"/firewall/nodes/1/pve/ipsets/s/members/10.0.0.0/8":  "10.0.0.0/8",
		"/firewall/node/1/pve/ipsets/s/members/10.0.0.0%2f8": "10.0.0.0/8",
	} {
		_, _, params, ok := rt.Match("DELETE", "/api/v1"+path)
		if !ok || params[len(params)-1].Value != want {
			t.Errorf("%s: got %v, %v, want %q", path, params, ok, want)
		}
	}
}

func TestHostilePathsAreNotFound(t *testing.T) {
	t.Parallel()
	rt := full(t)
	for _, path := range []string{
		"", "/", "//", "*", "/api", "/api/v1", "/api/v1/", "/api/v1/vms/", "/api/v1/vms/1/", "/API/v1/vms", "/api/v1/VMS", "/api/v1//vms",
		"/api/v1/vms//start", "/api/v1/vms/../users", "/api/v1/vms/%2e%2e/firewall/rules", "/api/v1/vms/./network", "/api/v1/vms/%2E",
		"/api/v1/vms/%00", "/api/v1/vms/1%00", "/api/v1/vms/%", "/api/v1/vms/%zz", "/api/v1/vms/%ff%fe", "/api/v1/vms/1/x/y/z/a/b/c",
		"/api/v1/storage/1/local/content/", "/api/v1/storage/1/local/content/../../../users", "/api/v1/storage/1/local/content/a%2F..%2Fb",
		"/api/v1/storage/1/local/content/a//b", "/api/v1/storage/1/local/content/a/", "/api/v1/storage/1/local/content/%2e%2e",
		"/api/v1/" + strings.Repeat("a", 5000), "/api/v1/vms/" + strings.Repeat("%41", 2000), strings.Repeat("/", 4000),
		strings.Repeat("/..", 1000),
		"/api/v1/vms/:vm_id/*x/y", "/api/v1/vms\\1\\start", "vms", "api/v1/vms", "/api/v1%2Fvms",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "x", ""} {
			if _, pattern, params, ok := rt.Match(method, path); ok {
				t.Errorf("%s %.60q: resolved to %s %v", method, path, pattern, params)
			}
		}
		if allowed := rt.Allowed(path); len(allowed) > 0 {
			t.Errorf("%.60q: allowed %v", path, allowed)
		}
	}
}

// FuzzMatch holds Match against the plain reading of the patterns: whatever matches, matches segment by segment.
func FuzzMatch(f *testing.F) {
	rt := full(f)
	for _, r := range rows(f) {
		f.Add(r.method, r.path)
	}
	f.Add("DELETE", "/api/v1/storage/1/a/content/%2e%2e/%00")
	f.Fuzz(func(t *testing.T, method, path string) {
		_, pattern, params, ok := rt.Match(method, path)
		if !ok {
			return
		}
		got, want := strings.Split(path, "/"), strings.Split(pattern, "/")
		for i, segment := range want {
			switch {
			case strings.HasPrefix(segment, "*"):
				got[i] = strings.Join(got[i:], "/")
				fallthrough
			case strings.HasPrefix(segment, ":"):
				value, err := url.PathUnescape(got[i])
				if err != nil || value != params.Get(segment[1:]) || value == "" || value == ".." {
					t.Fatalf("%s: parameter %s is %q", path, segment, params.Get(segment[1:]))
				}
			case got[i] != segment:
				t.Fatalf("%s matched %s", path, pattern)
			}
		}
	})
}

func TestServeHTTP(t *testing.T) {
	t.Parallel()
	rt := full(t)
	for _, tt := range []struct {
		method, path string
		status       int
		allow, body  string
	}{
		{"GET", "/api/v1/vms/1", 200, "", "/api/v1/vms/{vm_id}"},
		{"HEAD", "/api/v1/vms/1", 200, "", "/api/v1/vms/{vm_id}"}, // the real server drops the body
		{"GET", "/api/v1/vms/1/", 404, "", ""},
		{"GET", "/api/v1/VMS/1", 404, "", ""},
		{"PUT", "/api/v1/vms/1", 405, "DELETE, GET, HEAD, PATCH", ""},
		{"GET", "/api/v1/vms/1/clone", 405, "POST", ""},
		{"OPTIONS", "/api/v1/hosts", 405, "GET, HEAD, POST", ""},
		{"GET", "/elsewhere", 404, "", ""},
		{"TRACE", "/elsewhere", 405, "", ""},
		{"TRACE", "/api/v1/hosts", 405, "GET, HEAD, POST", ""},
		{"GET", "/api/v1/apps/adopt", 405, "POST", ""}, // and not the app of the id "adopt"
		{"HEAD", "/api/v1/apps/adopt", 405, "POST", ""},
		{"DELETE", "/api/v1/apps/update-all", 405, "POST", ""},
		{"GET", "/api/v1/apps/discovered", 200, "", "/api/v1/apps/discovered"},
		{"PATCH", "/api/v1/apps/discovered", 405, "GET, HEAD", ""},
		{"GET", "/api/v1/apps/adop%74", 200, "", "/api/v1/apps/{app_id}"}, // literals are written plainly
		{"GET", "/api/v1/hosts/self", 405, "PUT", ""},
		{"DELETE", "/api/v1/hosts/probe", 405, "POST", ""},
		{"GET", "/api/v1/vms/1/start", 405, "POST", ""},
	} {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || (tt.body != "" && w.Body.String() != tt.body) {
			t.Errorf("%s %s: %d, Allow %q, %q", tt.method, tt.path, w.Code, w.Header().Get("Allow"), w.Body)
		}
	}
}

func TestHandleRefuses(t *testing.T) {
	t.Parallel()
	nothing := func(http.ResponseWriter, *http.Request, route.Params) {}
	for name, patterns := range map[string][]string{
		"the same twice":              {"/a/b", "/a/b"},
		"the same by other names":     {"/a/:x/c", "/a/:y/c"},
		"a trailing slash":            {"/a/"},
		"no leading slash":            {"a"},
		"an empty segment":            {"/a//b"},
		"a nameless wildcard":         {"/a/:"},
		"a catch-all in the middle":   {"/a/*x/b"},
		"one name for two":            {"/a/:x/:x"},
		"braces":                      {"/a/{x}"},
		"a wildcard inside a segment": {"/a/b:c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			rt := route.New()
			for _, p := range patterns {
				rt.Handle("GET", p, nothing)
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	rt := full(b)
	for _, bm := range []struct{ name, method, path string }{
		{"literal", "GET", "/api/v1/hosts/capabilities"},
		{"wildcard", "GET", "/api/v1/vms/17"},
		{"action", "POST", "/api/v1/vms/17/start"},
		{"catchall", "DELETE", "/api/v1/firewall/cluster/1/groups/g/ipsets/s/members/10.0.0.0%2F8"},
		{"miss", "GET", "/api/v1/vms/17/nothing"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rt.Match(bm.method, bm.path)
			}
		})
	}
}

// What Allow lists is what the path has: each of those methods matches there, at patterns that answer the same paths, and
// no other method does.
func TestAllowedAgreesWithMatch(t *testing.T) {
	t.Parallel()
	rt := full(t)
	for _, r := range rows(t) {
		path := placeholder.ReplaceAllString(r.path, "17")
		allowed := rt.Allowed(path)
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"} {
			_, got, _, ok := rt.Match(method, path)
			if ok != slices.Contains(allowed, method) {
				t.Errorf("%s %s: matched %v, allowed %v", method, path, ok, allowed)
			}
			if ok && strings.Count(got, ":")+strings.Count(got, "*") != strings.Count(r.path, "{") {
				t.Errorf("%s %s is answered by %s, beside %s", method, path, got, r.path)
			}
		}
		if !slices.Contains(allowed, r.method) {
			t.Errorf("%s %s is not in %v", r.method, path, allowed)
		}
	}
}
