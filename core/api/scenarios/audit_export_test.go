package scenarios

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	resource "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
)

// auditUpTo leaves out the rows that making users and exporting leaves behind.
const auditUpTo = "to=2026-02-01T00:00:00Z"

// auditTable is a CSV answer taken apart, its line of names checked and left out.
func auditTable(t *testing.T, answer *apitest.Response) [][]string {
	t.Helper()
	if answer.Status != 200 || !bytes.HasSuffix(answer.Body, []byte("\r\n")) {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	lines, err := csv.NewReader(bytes.NewReader(answer.Body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const names = "id at actor_type actor_id actor_email action target_kind target_id target_name result error address request_id job_id " +
		"host_id details"
	if strings.Join(lines[0], " ") != names {
		t.Errorf("%q", lines[0])
	}
	return lines[1:]
}

func TestAuditExportCSV(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, append(auditSample(),
		audit.Entry{ActorType: audit.ActorAnonymous, ActorEmail: "=cmd|'/c calc'!A1", Action: "auth.login", TargetKind: "+1", TargetID: "-1",
			TargetName: "@SUM(A1)", Result: audit.ResultRefused,
			Error: "\tx", Address: "\rx", RequestID: "\nx", Details: map[string]any{"=1": "=1"}},
		audit.Entry{ActorType: audit.ActorAnonymous, ActorEmail: "\uFF1Dx", Action: "\uFF0Bx", TargetKind: "\uFF0Dx", TargetID: "\uFF20x",
			TargetName: "a\"b,c\nd", Result: audit.ResultRefused,
			Error: "'x", Address: "\uFF01x", RequestID: "=\"x\"", Details: map[string]any{"text": "a\"b\nü"}})...)
	named := func() string { return "attachment; filename=audit-" + time.Now().UTC().Format(time.DateOnly) + ".csv" }
	before := named()
	answer := s.Expect(t, "GET", "audit/export?"+auditUpTo, "", apitest.Admin, 200, "")
	after := named() // of another day at midnight
	lines := auditTable(t, answer)
	for i, want := range [][]string{
		{"1", "2026-01-01T12:00:00Z", "user", "41", "anna@example.com", "vm.stop", "vm", "11", "db01", "ok", "", "192.0.2.7", "rid", "99", "3",
			`{"force": true, "token_secret": "[redacted]"}`},
		{"2", "2026-01-02T12:00:00Z", "user", "42", "bert@example.com", "vm.start", "vm", "12", "web_1", "refused", "forbidden", "", "", "",
			"", "{}"},
		{"3", "2026-01-03T12:00:00Z", "system", "", "", "owner.create", "user", "1", "100%", "ok", "", "", "", "", "", "{}"},
		{"4", "2026-01-04T12:00:00Z", "anonymous", "", "", "auth.login", "", "", "", "refused", "invalid_credentials", "", "", "", "", "{}"},
		// The reader takes a carriage return for a line feed.
		{"5", "2026-01-05T12:00:00Z", "anonymous", "", "'=cmd|'/c calc'!A1", "auth.login", "'+1", "'-1", "'@SUM(A1)", "refused", "'\tx",
			"'\rx", "'\nx", "", "", `{"=1": "=1"}`},
		{"6", "2026-01-06T12:00:00Z", "anonymous", "", "'\uFF1Dx", "'\uFF0Bx", "'\uFF0Dx", "'\uFF20x", "a\"b,c\nd", "refused", "'x", "\uFF01x",
			"'=\"x\"", "", "", `{"text": "a\"b\nü"}`},
	} {
		if i >= len(lines) || !reflect.DeepEqual(lines[i], want) {
			t.Errorf("line %d:\n got %q\nwant %q", i, lines[min(i, len(lines)-1)], want)
		}
	}
	h := answer.Header
	if name := h.Get("Content-Disposition"); len(lines) != 6 || h.Get("Content-Type") != "text/csv; charset=utf-8" ||
		name != before && name != after {
		t.Errorf("%d lines, %v", len(lines), h)
	}
}

// Every line of JSON is the list's object, whatever is in it.
func TestAuditExportJSONLIsTheList(t *testing.T) {
	t.Parallel()
	entries := append(auditSample(),
		audit.Entry{ActorType: audit.ActorAPIKey, ActorID: new(int64(1) << 62), ActorEmail: "q\"\\\u2028<&>\x01\x7fü\U0001F4A5",
			Action: "a\tb", TargetKind: "k", TargetName: "\n", Result: audit.ResultFailed,
			Details: map[string]any{"deep": map[string]any{"list": []any{1, 2.5, nil, "\u2028\"<"}}}},
		audit.Entry{ActorType: audit.ActorSystem, Action: "x", TargetID: "lonely", Result: audit.ResultOK},
		audit.Entry{ActorType: audit.ActorSystem, Action: "x", TargetName: "no kind", Result: audit.ResultOK})
	s, _ := newAudit(t, entries...)
	var list []map[string]any
	decode := func(text []byte, into any) {
		t.Helper()
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	decode(s.Expect(t, "GET", "audit?"+auditUpTo, "", apitest.Admin, 200, "").Body, &list)
	answer := s.Expect(t, "GET", "audit/export?format=jsonl&"+auditUpTo, "", apitest.Admin, 200, "")
	lines := strings.Split(strings.TrimSuffix(string(answer.Body), "\n"), "\n")
	if len(lines) != len(entries) || len(list) != len(entries) || answer.Header.Get("Content-Type") != "application/x-ndjson" ||
		!strings.HasSuffix(answer.Header.Get("Content-Disposition"), `.jsonl`) {
		t.Fatalf("%d lines, %v", len(lines), answer.Header)
	}
	for i, line := range lines {
		var got map[string]any
		decode([]byte(line), &got)
		if want := list[len(list)-1-i]; !reflect.DeepEqual(got, want) {
			t.Errorf("line %d:\n got %v\nwant %v", i, got, want)
		}
	}
}

func TestAuditExportFilters(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, auditSample()...)
	for query, want := range map[string]string{
		"":                           "db01 web_1 100% -",
		"format=csv&format=jsonl":    "db01 web_1 100% -", // the first one
		"page=2&per_page=1":          "db01 web_1 100% -",
		"from=2026-01-04T00:00:00Z":  "db01 web_1 100% -",
		"action=vm.*":                "db01 web_1",
		"action=%25*":                "",
		"action=v_*":                 "",
		"search=%25":                 "100%",
		"search=_":                   "web_1",
		"search=%5C":                 "",
		"search='%3B--":              "",
		"actor_type=user":            "db01 web_1",
		"actor=41":                   "db01",
		"actor=9223372036854775807":  "",
		"from_=2026-01-03T00:00:00Z": "100% -",
		"from_=2026-01-09T00:00:00Z": "",
		"format=xml":                 "422",
		"format=CSV":                 "422",
		"format=csv%00":              "422",
		"actor_type=nobody":          "422",
		"actor=x":                    "422",
		"from_=yesterday":            "422",
		"search=%ff":                 "422",
	} {
		url := "audit/export?" + auditUpTo + "&" + query
		if want == "422" {
			s.Expect(t, "GET", url, "", apitest.Admin, 422, "invalid")
			continue
		}
		names := []string{}
		for _, line := range auditTable(t, s.Expect(t, "GET", url, "", apitest.Admin, 200, "")) {
			if line[8] == "" {
				line[8] = "-"
			}
			names = append(names, line[8])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

func TestWhoMayExportWhatOfAudit(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, auditSample()...)
	for as, code := range map[*apitest.Caller]string{nil: "unauthenticated", apitest.NoRole: "forbidden", apitest.Viewer: "forbidden",
		apitest.Operator: "forbidden", apitest.In(7, identity.Operator): "forbidden"} {
		s.Expect(t, "GET", "audit/export?"+auditUpTo, "", as, map[string]int{"unauthenticated": 401, "forbidden": 403}[code], code)
	}
	for as, want := range map[*apitest.Caller]int{apitest.Admin: 4, apitest.Owner: 4, apitest.In(7, identity.Admin): 1,
		apitest.In(8, identity.Owner): 1} {
		if lines := auditTable(t, s.Expect(t, "GET", "audit/export?"+auditUpTo, "", as, 200, "")); len(lines) != want {
			t.Errorf("%s: %q", as, lines)
		}
	}
	r, _ := http.NewRequest("HEAD", s.URL+"/api/v1/audit/export?format=jsonl", nil)
	answer, err := s.Do(t.Context(), r, apitest.Admin)
	if err != nil || answer.Status != 200 || answer.Header.Get("Content-Type") != "application/x-ndjson" || len(answer.Body) != 0 {
		t.Errorf("HEAD: %+v %v", answer, err)
	}
}

func TestAuditExportNeedsItsEntitlement(t *testing.T) {
	t.Parallel()
	whole := servicetest.New(t)
	handler := apitest.Resource(op.Config{Authenticator: whole.Users, Recorder: whole.API.Recorder,
		Entitlements: func(_ context.Context, name string) bool { return name != "audit.log" }},
		func(a *op.API) { resource.Register(a, whole.API.Audit) })
	s := &apitest.API{Handler: handler, URL: "http://hostler.example",
		LogIn: func(r *http.Request, c *apitest.Caller) { r.AddCookie(identitytest.As(t, whole.Users, c.Role).Cookie) }}
	s.Expect(t, "GET", "audit/export?format=xml", "", apitest.Owner, 403, "entitlement_required", `"feature":"audit.log"`)
	s.Expect(t, "GET", "audit", "", apitest.Owner, 200, "")
}

func TestAuditExportIsInTheTrail(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, auditSample()...)
	s.Expect(t, "GET", "audit/export?search=canary-text&actor=4&"+auditUpTo, "", apitest.Admin, 200, "")
	s.Expect(t, "GET", "audit/export?format=xml", "", apitest.Admin, 422, "invalid")
	s.Run(t, do("rows", "GET", "/api/v1/audit?action=audit.export", "", apitest.Admin, 200, "",
		`"action":"audit.export","target":{"kind":"audit","id":null,"name":null},"result":"ok"`,
		`"details":{"format":"csv","filters":["search","actor","to"]}`, `"result":"refused","error":"invalid"`))
}

// auditExports is an API on a real server with a large audit log.
type auditExports struct {
	db    *db.DB
	users *identity.Store
	url   string
}

func newAuditExports(t testing.TB, rows, hashes int) *auditExports {
	t.Helper()
	s := servicetest.New(t)
	r := &auditExports{db: s.DB, users: s.Users}
	manyAuditRows(t, s.DB, rows, hashes)
	server := httptest.NewServer(apitest.Resource(op.Config{Authenticator: s.Users, Recorder: s.API.Recorder,
		Reauthorise: 20 * time.Millisecond}, func(a *op.API) { resource.Register(a, s.API.Audit) }))
	t.Cleanup(server.Close)
	r.url = server.URL + "/api/v1/audit/export"
	return r
}

// manyAuditRows fills the audit log with rows of usual size, each with a note of so many hashes.
func manyAuditRows(t testing.TB, d *db.DB, rows, hashes int) {
	t.Helper()
	_, err := d.Pool.Exec(t.Context(), `INSERT INTO audit (at, actor_type, actor_id, actor_email, action, target_kind, target_id,
		target_name, team_id, host_id, job_id, result, address, request_id, details)
		SELECT '2026-01-01'::timestamptz + i * interval '1 second', 'user', i % 50, 'user' || i % 50 || '@example.com', 'vm.stop', 'vm',
		i % 1000, 'web-' || i % 1000, 1, 1, i, 'ok', '192.0.2.7',
			md5(i::text), jsonb_strip_nulls(jsonb_build_object('force', i % 2 = 0, 'task', 'UPID:pve1:' || i,
				'note', (SELECT string_agg(md5(i || ' ' || j), '') FROM generate_series(1, $2::int) j)))
		FROM generate_series(1, $1::int) i`, rows, hashes)
	if err != nil {
		t.Fatal(err)
	}
}

// open begins an export and reads a little of it.
func (r *auditExports) open(t *testing.T, cookie *http.Cookie) io.ReadCloser {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", r.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(cookie)
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%v %v", answer, err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if _, err := io.ReadFull(answer.Body, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	return answer.Body
}

// idle waits until no connection is in use.
func (r *auditExports) idle(t *testing.T) {
	t.Helper()
	waittest.Until(t, "the export gives its connection back", func() bool { return r.db.Pool.Stat().AcquiredConns() == 0 })
}

// ended waits until the audit log says how the export ended; an empty code is any.
func (r *auditExports) ended(t *testing.T, result, code string) {
	t.Helper()
	waittest.Succeeds(t, "the end of the export is in the audit log", func() error {
		rows, _, err := audit.List(t.Context(), r.db, audit.Filter{AllTeams: true, Action: "audit.export"})
		if err == nil && (len(rows) != 2 || rows[0].Result != result || code != "" && rows[0].Error != code ||
			rows[1].Result != audit.ResultOK) {
			err = fmt.Errorf("%+v", rows)
		}
		return err
	})
}

// Sockets do not hold enoughAuditRows with notes of longAuditNotes hashes each: 20 MB.
const (
	enoughAuditRows = 2000
	longAuditNotes  = 300
)

func TestAuditExportEndsWithTheSession(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a reader that leaves: make check runs it")
	}
	t.Parallel()
	r := newAuditExports(t, enoughAuditRows, longAuditNotes)
	account := identitytest.As(t, r.users, identity.Admin)
	body := r.open(t, account.Cookie)
	if _, err := r.db.Pool.Exec(t.Context(), "DELETE FROM sessions WHERE user_id = $1", account.ID); err != nil {
		t.Fatal(err)
	}
	r.idle(t) // its reader does not read meanwhile
	if n, err := io.Copy(io.Discard, body); err == nil {
		t.Errorf("the file looks whole after %d bytes more", n)
	}
	r.ended(t, audit.ResultRefused, "unauthenticated")
}

func TestAuditExportEndsWithItsReader(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a reader that leaves: make check runs it")
	}
	t.Parallel()
	r := newAuditExports(t, enoughAuditRows, longAuditNotes)
	account := identitytest.As(t, r.users, identity.Admin)
	r.open(t, account.Cookie).Close()
	r.idle(t)
	r.ended(t, audit.ResultRefused, "canceled")
}

// Readers who hardly read leave connections for the others.
func TestAuditExportsAtOnceAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("sends many requests at once: make check runs it")
	}
	t.Parallel()
	r := newAuditExports(t, enoughAuditRows, longAuditNotes)
	account := identitytest.As(t, r.users, identity.Admin)
	var bodies []io.ReadCloser
	for range 2 { // one user has no more than two of the four
		other := identitytest.As(t, r.users, identity.Admin)
		bodies = append(bodies, r.open(t, other.Cookie), r.open(t, other.Cookie))
	}
	try := func() *http.Response {
		request, _ := http.NewRequestWithContext(t.Context(), "GET", r.url+"?actor=49", nil)
		request.AddCookie(account.Cookie)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	if answer := try(); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	bodies[0].Close()
	waittest.Until(t, "a place comes free", func() bool { return try().StatusCode == 200 })
}

func TestAuditExportThatTheDatabaseBreaksOff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	r := newAuditExports(t, enoughAuditRows, longAuditNotes)
	body := r.open(t, identitytest.As(t, r.users, identity.Admin).Cookie)
	if _, err := r.db.Pool.Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT at%'"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, body); err == nil {
		t.Error("the file looks whole")
	}
	r.idle(t)
	r.ended(t, audit.ResultFailed, "")
}

func TestClearAudit(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, auditSample()...)
	url := "/api/v1/audit"
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	refuse := func(name, body string, status int, code string, as *apitest.Caller) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "DELETE", URL: url, Body: body, As: as, Status: status, Error: code}
	}
	confirm := refuse("no body", "", 409, "confirm_required", apitest.Owner)
	confirm.Contains = []string{`"confirm_phrase":"clear audit log"`, `"text":"All entries of the audit log are deleted."`}
	s.Run(t, confirm,
		refuse("admin", `{"confirm":"clear audit log"}`, 403, "forbidden", apitest.Admin),
		refuse("owner elsewhere", `{"confirm":"clear audit log"}`, 403, "forbidden", apitest.In(7, identity.Owner)),
		apitest.Scenario{Name: "plan", Method: "DELETE", URL: url + "?plan=true", Body: `{"before":"2026-01-03T00:00:00Z"}`, As: apitest.Owner,
			Status: 200, Contains: []string{"before 2026-01-03T00:00:00Z are deleted", `"confirm_phrase":"clear audit log"`}},
		refuse("null", `{"confirm":null,"before":null}`, 409, "confirm_required", apitest.Owner),
		refuse("other words", `{"confirm":"Clear Audit Log"}`, 409, "confirm_required", apitest.Owner),
		refuse("no time", `{"before":"yesterday","confirm":"clear audit log"}`, 422, "invalid", apitest.Owner),
		refuse("a day", `{"before":"2026-01-01","confirm":"clear audit log"}`, 422, "invalid", apitest.Owner),
		refuse("empty", `{"before":"","confirm":"clear audit log"}`, 422, "invalid", apitest.Owner),
		refuse("unknown key", `{"befor":"2026-01-01T00:00:00Z","confirm":"clear audit log"}`, 422, "invalid", apitest.Owner),
		refuse("future", fmt.Sprintf(`{"before":%q}`, future), 422, "invalid", apitest.Owner),
		apitest.Scenario{Name: "nothing is gone", Method: "GET", URL: url + "?" + auditUpTo, As: apitest.Admin, Status: 200,
			Contains: []string{"db01", "100%"}},
		apitest.Scenario{Name: "before", Method: "DELETE", URL: url, Body: `{"before":"2026-01-03T00:00:00Z","confirm":"clear audit log"}`,
			As: apitest.Owner, Status: 200, Contains: []string{`{"deleted":2}`}},
		apitest.Scenario{Name: "the older are gone", Method: "GET", URL: url + "?" + auditUpTo, As: apitest.Admin, Status: 200,
			Contains: []string{"100%"}, Lacks: []string{"db01", "web_1"}},
		apitest.Scenario{Name: "rows", Method: "GET", URL: url + "?action=audit.clear", As: apitest.Admin, Status: 200, Contains: []string{
			`"result":"ok","error":null`, `"details":{"before":"2026-01-03T00:00:00Z","deleted":2}`,
			`"result":"refused","error":"confirm_required"`}},
		apitest.Scenario{Name: "everything", Method: "DELETE", URL: url, Body: `{"before":null,"confirm":"clear audit log"}`,
			As: apitest.Owner, Status: 200, Contains: []string{`{"deleted":`}},
		apitest.Scenario{Name: "only its row is left", Method: "GET", URL: url, As: apitest.Admin, Status: 200,
			Contains: []string{`"everything":true`}, Lacks: []string{"confirm_required", "100%"}},
	)
	if answer := s.Expect(t, "GET", "audit", "", apitest.Admin, 200, ""); answer.Header.Get("X-Total-Count") != "1" {
		t.Errorf("%s", answer.Body)
	}
}
