package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/client/command"
	"github.com/hostler/hostler/client/output"
)

// fake is a service that answers as it is told; the real one is in cmd/hostlerd/processtest.
type fake struct {
	http.ServeMux
	mu sync.Mutex
	// asked are the requests that came: method, path with query, and body.
	asked []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	f.mu.Unlock()
	f.ServeMux.ServeHTTP(w, r)
}

func (f *fake) answer(pattern string, status int, body string) {
	f.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// start gives a run of the command line against the service; a test that has one is not parallel, for it sets the environment.
func (f *fake) start(t *testing.T) func(typed string, words ...string) (status int, out, said string) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("svc_canary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOSTLER_URL", server.URL)
	t.Setenv("HOSTLER_KEY_FILE", key)
	t.Setenv("HOSTLER_CONTEXT", "")
	t.Setenv("HOSTLER_CONFIG", filepath.Join(dir, "contexts.json"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return func(typed string, words ...string) (int, string, string) {
		var out, said bytes.Buffer
		screen := &output.Screen{Out: &out, Err: &said}
		root := command.New("test", strings.NewReader(typed), screen)
		status := command.Run(t.Context(), root, screen, words)
		if strings.Contains(out.String()+said.String(), "canary") {
			t.Errorf("%q shows the key: %s %s", words, out.String(), said.String())
		}
		return status, out.String(), said.String()
	}
}

const twoNamesakes = `[{"id":4,"name":"web","host":"lab","node":"pve1","vmid":101},
	{"id":9,"name":"web","host":"lab","node":"pve2","vmid":107},
	{"id":5,"name":"webster","host":"lab","node":"pve1","vmid":102}]`

// A name is that of one thing, an id is not looked for, and what means several is told with all of them, and nothing is done.
func TestNames(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/vms", 200, twoNamesakes)
	f.answer("POST /api/v1/vms/{id}/start", 202, `{"job":{"id":7,"kind":"vm.start","status":"queued","target":{"name":"web"}}}`)
	run := f.start(t)
	status, _, said := run("", "vm", "start", "web")
	if status != 5 || !strings.Contains(said, "4  host lab  node pve1  vmid 101") || !strings.Contains(said, "9  host lab  node pve2") ||
		strings.Contains(said, "webster") {
		t.Errorf("namesakes: %d %s", status, said)
	}
	for _, word := range []string{"nobody", "name:4"} {
		if status, _, said = run("", "vm", "start", word); status != 5 {
			t.Errorf("%s: %d %s", word, status, said)
		}
	}
	if status, _, said = run("", "vm", "start", "webster"); status != 0 || !strings.Contains(said, "Job 7") {
		t.Errorf("one of the name: %d %s", status, said)
	}
	if got := f.asked[len(f.asked)-1]; got != "POST /api/v1/vms/5/start {}" {
		t.Errorf("asked %s", got)
	}
	before := len(f.asked)
	if status, _, _ = run("", "vm", "start", "9"); status != 0 || len(f.asked) != before+1 {
		t.Errorf("an id was looked for: %v", f.asked[before:])
	}
	for _, word := range []string{"0", "-1", "", "name:", "99999999999999999999"} {
		if status, _, said = run("", "vm", "start", "--", word); status != 2 && status != 5 {
			t.Errorf("%q: %d %s", word, status, said)
		}
	}
}

func TestCatalogEntry_IsNamedBySlug(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/catalog/wiki", 200, `{"slug":"wiki"}`)
	if status, _, said := f.start(t)("", "catalog", "show", "wiki"); status != 0 {
		t.Errorf("%d, asked %q: %s", status, f.asked, said)
	}
}

func TestAdopt_ShowsAppsAsTable(t *testing.T) {
	f := &fake{}
	f.answer("POST /api/v1/apps/adopt", 200,
		`[{"id":3,"name":"wiki","slug":null,"vmid":105,"status":"running","host":"lab","node":"pve1","cpu":0.1}]`)
	status, out, said := f.start(t)("", "app", "adopt", "--items", `[{"host_id":1,"vmid":105}]`)
	if status != 0 || !strings.HasPrefix(out, "ID  NAME") || !strings.Contains(out, "wiki") || strings.Contains(out, "[0]") {
		t.Errorf("%d %s %s", status, out, said)
	}
}

// A phrase that is asked for is told with what helps, nobody is waited for, and --confirm sends it.
func TestPhrase(t *testing.T) {
	f := &fake{}
	f.HandleFunc("DELETE /api/v1/vms/5", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Confirm string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		switch {
		case r.URL.Query().Get("plan") == "true":
			_, _ = io.WriteString(w, `{"effects":[{"kind":"guest","text":"The VM web\u001b[2J is destroyed."}],"warnings":["mind"],"blockers":[],
				"confirm_phrase":"web","is_self":false,"digest":"d"}`)
		case in.Confirm != "web":
			w.WriteHeader(409)
			_, _ = io.WriteString(w, `{"error":"confirm_required","detail":"type the name","confirm_phrase":"web","request_id":"R7"}`)
		default:
			_, _ = io.WriteString(w, `{"job":{"id":8,"kind":"vm.delete","status":"queued","target":{"name":"web"}}}`)
		}
	})
	run := f.start(t)
	status, _, said := run("web\n", "vm", "delete", "5")
	if status != 6 || !strings.Contains(said, `--confirm "web"`) || !strings.Contains(said, "R7") {
		t.Errorf("without the phrase: %d %s", status, said)
	}
	if status, _, said = run("", "vm", "delete", "5", "--confirm", "web"); status != 0 || !strings.Contains(said, "Job 8") {
		t.Errorf("with it: %d %s", status, said)
	}
	status, out, said := run("", "vm", "delete", "5", "--plan")
	if status != 0 || !strings.Contains(out, "is destroyed.") || !strings.Contains(out, "mind") || strings.Contains(out, "\x1b") {
		t.Errorf("the plan: %d %q %s", status, out, said)
	}
}

// Each end of a job has a status of its own, and a stream that breaks is taken up behind its last event.
func TestJobsEnd(t *testing.T) {
	f := &fake{}
	var resumed string
	for id, end := range map[int]string{1: "succeeded", 2: "failed", 3: "canceled", 4: "unknown"} {
		f.HandleFunc(fmt.Sprintf("GET /api/v1/jobs/%d/events/stream", id), func(w http.ResponseWriter, r *http.Request) {
			last := r.Header.Get("Last-Event-ID")
			if last == "" {
				_, _ = io.WriteString(w, "id: 1\nevent: log\ndata: {\"seq\":1,\"kind\":\"log\",\"text\":\"first\\u001b[2J\"}\n\n")
				return // it breaks
			}
			resumed = last
			_, _ = fmt.Fprintf(w, "id: 2\nevent: log\ndata: {\"seq\":2,\"kind\":\"log\",\"text\":\"10%%\\r20%%\\r\"}\n\n")
			job := fmt.Sprintf(`{"id":%d,"kind":"vm.start","status":%q,"error":"so it is","target":{"name":"web"}}`, id, end)
			_, _ = fmt.Fprintf(w, "event: end\ndata: %s\n\n", job)
		})
	}
	run := f.start(t)
	for id, want := range map[string]int{"1": 0, "2": 10, "3": 11, "4": 12} {
		status, out, said := run("", "job", "wait", id)
		if status != want || resumed != "1" || out != "first\ufffd[2J\n20%\n" {
			t.Errorf("the job %s: %d, resumed behind %q, %q %s", id, status, resumed, out, said)
		}
		if want != 0 && !strings.Contains(said, "so it is") {
			t.Errorf("the job %s does not say why: %s", id, said)
		}
	}
	f.HandleFunc("GET /api/v1/jobs/5/events/stream", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if status, _, said := run("", "job", "wait", "5", "--timeout", "50ms"); status != 13 {
		t.Errorf("one that goes on: %d %s", status, said)
	}
}

// A path is that of the document, with what all of them begin with or without it; a page is no answer of the API.
func TestPathOfTheAPI(t *testing.T) {
	f := &fake{}
	f.HandleFunc("GET /api/v1/vms", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, twoNamesakes)
	})
	f.HandleFunc("GET /nope", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>")
	})
	run := f.start(t)
	for _, path := range []string{"/api/v1/vms", "/vms"} {
		if status, out, said := run("", "api", "GET", path, "--jq", "length"); status != 0 || out != "3\n" {
			t.Errorf("%s: %d %q %s", path, status, out, said)
		}
	}
	if status, out, said := run("", "api", "GET", "/nope"); status != 2 || out != "" || !strings.Contains(said, "/api/v1") {
		t.Errorf("a page: %d %q %s", status, out, said)
	}
}

// Refusals have the statuses of the table, and say what helps.
func TestStatuses(t *testing.T) {
	f := &fake{}
	for status, code := range map[int]string{
		401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 422: "invalid", 501: "unsupported",
	} {
		f.answer(fmt.Sprintf("GET /api/v1/vms/%d", status), status, fmt.Sprintf(`{"error":%q,"detail":"no","request_id":"R"}`, code))
	}
	f.answer("GET /api/v1/vms/1", 200, "<html>")
	run := f.start(t)
	for id, want := range map[string]int{"401": 3, "403": 4, "404": 5, "409": 6, "422": 7, "501": 8, "1": 1} {
		if status, _, said := run("", "vm", "show", id); status != want || said == "" {
			t.Errorf("%s: %d, want %d: %s", id, status, want, said)
		}
	}
	for _, words := range [][]string{
		{"vm"}, {"vm", "list", "--nope"}, {"vm", "nope"}, {"nope"}, {"vm", "show"}, {"vm", "list", "--status", "nope"},
		{"vm", "list", "--jq", ".["}, {"vm", "list", "--json", "--columns", "id"}, {"api", "GET", "http://evil.example/"}, {"vm", "create", "x"},
		{"user", "create", "a@example.org"}, {"vm", "edit", "1", "--cores", "x"}, {"api", "TRACE", "/x"},
	} {
		want := 2
		if len(words) == 1 && words[0] == "vm" {
			want = 0
		}
		if status, _, said := run("", words...); status != want {
			t.Errorf("%q: %d %s", words, status, said)
		}
	}
}

// Fields go into the body as the document has them, secrets come from files alone, and pages are read to the end.
func TestRequests(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/hosts", 200, `[{"id":3,"name":"lab"}]`)
	f.answer("POST /api/v1/vms", 202, `{"job":{"id":1}}`)
	f.answer("POST /api/v1/users", 201, `{"id":1}`)
	f.answer("PATCH /api/v1/vms/1", 200, `{}`)
	f.answer("GET /api/v1/search", 200, `[{"kind":"vm","id":1,"name":"web"}]`)
	f.answer("GET /api/v1/guests", 200, `[{"id":1,"kind":"vm","name":"a"},{"id":2,"kind":"container","name":"b","app_id":8},
		{"id":3,"kind":"container","name":"c"}]`)
	f.answer("POST /api/v1/backups/run", 202, `{"jobs":[],"skipped":[{"target":{"vm":1},"detail":"it is locked"}]}`)
	f.HandleFunc("GET /api/v1/users", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Total-Count", "501")
		row, n := `{"id":1,"email":"a@b"}`, 500
		if r.URL.Query().Get("page") == "2" {
			n = 1
		}
		_, _ = io.WriteString(w, "["+strings.TrimSuffix(strings.Repeat(row+",", n), ",")+"]")
	})
	run := f.start(t)
	last := func() string { return f.asked[len(f.asked)-1] }
	for _, tt := range []struct {
		typed, words, want string
		status             int
	}{
		{"", "vm create shop --host lab --disk-gb 8 --start", `POST /api/v1/vms {"disk_gb":8,"host_id":3,"name":"shop","start":true}`, 0},
		{"a password that is long\n", "user create a@example.org --password-file -",
			`POST /api/v1/users {"email":"a@example.org","password":"a password that is long"}`, 0},
		{"", "vm edit 1 --tags a,b --clear description", `PATCH /api/v1/vms/1 {"description":null,"tags":["a","b"]}`, 0},
		{`{"cores":2}`, "vm edit 1 --body - --memory-mb 512", `PATCH /api/v1/vms/1 {"cores":2,"memory_mb":512}`, 0},
		{"", "backup run a b --storage nas", `POST /api/v1/backups/run {"storage":"nas","targets":[{"vm":1},{"app":8}]}`, 6},
		{"", "user list --limit 0 --json", "GET /api/v1/users?page=2&per_page=500", 0},
		{"", "user list --limit 5", "GET /api/v1/users?page=1&per_page=5", 0},
		{"", "search web tag:prod", "GET /api/v1/search?page=1&per_page=20&q=web+tag%3Aprod", 0},
		{"", "search --limit 3 -- 10.0.0.5 -is:job", "GET /api/v1/search?page=1&per_page=3&q=10.0.0.5+-is%3Ajob", 0},
		{"", "search", "GET /api/v1/search?page=1&per_page=3&q=10.0.0.5+-is%3Ajob", 2}, // nothing is asked
	} {
		if status, _, said := run(tt.typed, strings.Fields(tt.words)...); status != tt.status || last() != tt.want {
			t.Errorf("%s: %d, asked %s: %s", tt.words, status, last(), said)
		}
	}
	if status, _, said := run("", "backup", "run", "c"); status != 6 || !strings.Contains(said, "adopt") {
		t.Errorf("a container that is no app: %d %s", status, said)
	}
	if status, _, said := run("", "vm", "edit", "1", "--clear", "cores"); status != 2 {
		t.Errorf("a field that cannot be cleared: %d %s", status, said)
	}
}

func TestSecrets_AreRefusedOnTheCommandLine(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/hosts", 200, `[{"id":3,"name":"lab"}]`)
	f.answer("POST /api/v1/hosts/probe", 200, `{}`)
	f.answer("POST /api/v1/storage", 201, `{}`)
	f.answer("POST /api/v1/catalog/wiki/install", 202, `{}`)
	f.answer("POST /api/v1/users", 201, `{"id":1}`)
	f.answer("PUT /api/v1/metrics/remote-write", 200, `{}`)
	run := f.start(t)
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "value")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	probe := []string{"host", "probe", "--address", "pve1", "--tokens"}
	attach := []string{"storage", "attach", "nas", "--host", "lab", "--type", "cifs", "--config"}
	install := []string{"catalog", "install", "wiki", "--host", "lab", "--name", "wiki"}
	for _, tt := range []struct {
		words                    []string
		before, value, want, bad string
	}{
		{words: probe, value: `[{"token_id":"a","token_secret":"b"}]`, want: `"tokens":[{"token_id":"a","token_secret":"b"}]`, bad: "{"},
		{words: attach, value: `{"password":"b"}`, want: `"config":{"password":"b"}`, bad: "{"},
		{words: append(install, "--overrides"), value: `{"pw":"b"}`, want: `"overrides":{"pw":"b"}`, bad: "{"},
		{words: append(install, "--answers"), value: "admin\r\n\nb, c\n", want: `"answers":["admin","","b, c"]`},
		{words: []string{"api", "POST", "/users", "--field"}, before: "password=", value: "12345\n", want: `{"password":"12345"}`},
		{words: []string{"api", "POST", "/hosts/probe", "--field"}, before: "tokens=", value: `[{"token_secret":"b"}]`,
			want: `{"tokens":[{"token_secret":"b"}]}`},
	} {
		before := len(f.asked)
		status, _, said := run("", append(slices.Clone(tt.words), tt.before+tt.value)...)
		if status != 2 || !strings.Contains(said, "@FILE") || strings.Contains(said, "token_secret") || len(f.asked) > before+1 {
			t.Errorf("%q with the value itself: %d, asked %q: %s", tt.words, status, f.asked[before:], said)
		}
		for typed, value := range map[string]string{"": file(tt.value), tt.value: "-"} {
			status, _, said := run(typed, append(slices.Clone(tt.words), tt.before+value)...)
			if last := f.asked[len(f.asked)-1]; status != 0 || !strings.Contains(last, tt.want) {
				t.Errorf("%q with %s: %d, asked %s: %s", tt.words, value, status, last, said)
			}
		}
		if tt.bad != "" {
			if status, _, said := run(tt.bad, append(slices.Clone(tt.words), "-")...); status != 2 {
				t.Errorf("%q with what is no JSON: %d %s", tt.words, status, said)
			}
		}
	}
	if status, _, said := run("", "api", "PUT", "/metrics/remote-write", "--field", "password=null"); status != 0 ||
		!strings.HasSuffix(f.asked[len(f.asked)-1], `{"password":null}`) {
		t.Errorf("null, which clears a secret: %d %s", status, said)
	}
}

// Names are offered as the service has them, kept for a moment, and those that a shell would read as more than a name are not.
func TestCompletion(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/vms", 200, `[{"id":1,"name":"web-1"},{"id":2,"name":"web-2"},{"id":3,"name":"db"},
		{"id":4,"name":"web$(reboot)"},{"id":5,"name":"web\u001b[2J"}]`)
	run := f.start(t)
	for range 2 {
		if _, out, said := run("", "__complete", "vm", "start", "we"); !strings.HasPrefix(out, "web-1\nweb-2\n:4\n") {
			t.Errorf("offered %q %s", out, said)
		}
	}
	if len(f.asked) != 1 {
		t.Errorf("asked %d times", len(f.asked))
	}
	if _, out, _ := run("", "__complete", "vm", "list", "--status", ""); !strings.HasPrefix(out, "running\nstopped\n") {
		t.Errorf("offered %q", out)
	}
	if _, out, _ := run("", "__complete", "api", "GET", "/api/v1/vm"); !strings.Contains(out, "/api/v1/vms\n") {
		t.Errorf("offered %q", out)
	}
}

func TestChoice_NullSendsNull(t *testing.T) {
	f := &fake{}
	f.answer("POST /api/v1/users", 201, `{"id":1}`)
	run := f.start(t)
	status, _, said := run("a password that is long\n", "user", "create", "a@example.org", "--role", "null", "--password-file", "-")
	want := `POST /api/v1/users {"email":"a@example.org","password":"a password that is long","role":null}`
	if status != 0 || !slices.Contains(f.asked, want) {
		t.Errorf("%d, asked %q: %s", status, f.asked, said)
	}
	if status, _, said := run("", "user", "create", "a@example.org", "--role", "nobody", "--password-file", "-"); status != 2 ||
		!strings.Contains(said, "owner, null") {
		t.Errorf("another word: %d %s", status, said)
	}
	if _, out, _ := run("", "user", "create", "--help"); !strings.Contains(out, "owner, null") {
		t.Errorf("the help: %s", out)
	}
}

func TestPlan_ShowsDigestAndTimesOfEffects(t *testing.T) {
	f := &fake{}
	f.answer("DELETE /api/v1/vms/5", 200, `{"effects":[
		{"kind":"uptime","text":"web is interrupted.","at":"2030-01-31T08:00:30Z"},
		{"kind":"backup","text":"A backup remains.","size_bytes":2147483648,"at":"2030-01-30T08:00:00Z"},
		{"kind":"guest","text":"It was read.","at":"2030-01-29T08:00:00Z"},
		{"kind":"disk","text":"A disk is destroyed."}],
		"warnings":[],"blockers":[],"confirm_phrase":"web","is_self":false,"digest":"5f2b0c9e81d4a7f3"}`)
	status, out, said := f.start(t)("", "vm", "delete", "5", "--plan")
	want := `Effects
  web is interrupted. (since 2030-01-31 08:00 UTC)
  A backup remains. (2.0 GiB, taken 2030-01-30 08:00 UTC)
  It was read. (as of 2030-01-29 08:00 UTC)
  A disk is destroyed.
Confirmation phrase
  web
Digest
  5f2b0c9e81d4a7f3
`
	if status != 0 || out != want {
		t.Errorf("%d %s %s", status, out, said)
	}
}

func TestScheduleRun_WaitFollowsAllJobs(t *testing.T) {
	f := &fake{}
	f.answer("POST /api/v1/schedules/3/run", 202, `{"job":{"id":7,"kind":"backup.run","status":"queued","target":{"name":"web"}},
		"jobs":[{"id":7,"kind":"backup.run","status":"queued","target":{"name":"web"}},
		{"id":8,"kind":"backup.run","status":"queued","target":{"name":"db"}}]}`)
	for id, end := range map[int]string{7: "succeeded", 8: "failed"} {
		job := fmt.Sprintf(`{"id":%d,"kind":"backup.run","status":%q,"error":"no space","target":{"name":"job %d"}}`, id, end, id)
		f.answer(fmt.Sprintf("GET /api/v1/jobs/%d/events/stream", id), 200, "event: end\ndata: "+job+"\n\n")
	}
	run := f.start(t)
	status, _, said := run("", "schedule", "run", "3", "--wait")
	if status != 10 || strings.Count(said, "job 7") != 1 || !strings.Contains(said, "job 8") {
		t.Errorf("%d %s", status, said)
	}
	if status, _, said := run("", "schedule", "run", "3"); status != 0 || strings.Count(said, "Job 7") != 1 || strings.Count(said,
		"Job 8") != 1 {
		t.Errorf("without --wait: %d %s", status, said)
	}
}

func TestReboot_HasTheAliasRestart(t *testing.T) {
	f := &fake{}
	f.answer("POST /api/v1/vms/{id}/restart", 202, `{"job":{"id":7}}`)
	f.answer("POST /api/v1/apps/{id}/restart", 202, `{"job":{"id":7}}`)
	f.answer("POST /api/v1/guests/actions", 202, `{"jobs":[{"id":7}],"skipped":[]}`)
	f.answer("GET /api/v1/cluster/nodes", 200, `[{"node":"pve2","host_id":1,"host":"lab"}]`)
	f.answer("POST /api/v1/hosts/1/nodes/pve2/power", 202, `{"job":{"id":7}}`)
	run := f.start(t)
	for _, words := range []string{"vm restart 5", "app restart 5", "guest restart vm:5", "node restart pve2"} {
		status, _, said := run("", strings.Fields(words)...)
		if last := f.asked[len(f.asked)-1]; status != 0 || !strings.Contains(last, "restart") && !strings.Contains(last, "reboot") {
			t.Errorf("%s: %d, asked %s: %s", words, status, last, said)
		}
	}
}
