package scenarios

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/console"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
)

// record switches the recording of apps on.
func (f *consolesFixture) record() {
	f.ask(f.owner, "PATCH", "settings", `{"console.record_apps":true}`, 200)
}

// recordings are all that somebody may see.
func (f *consolesFixture) recordings(by *identitytest.Account, query string) (all []console.Recording) {
	f.t.Helper()
	if err := json.Unmarshal(f.ask(by, "GET", "console-recordings"+query, "", 200), &all); err != nil {
		f.t.Fatal(err)
	}
	return all
}

// cast is what the events of a recording of a kind hold together, and its header.
func (f *consolesFixture) cast(id int64, kind string) (header map[string]any, text string) {
	f.t.Helper()
	cast := f.ask(f.owner, "GET", fmt.Sprintf("console-recordings/%d/cast", id), "", 200)
	lines := bytes.Split(bytes.TrimSuffix(cast, []byte("\n")), []byte("\n"))
	if err := json.Unmarshal(lines[0], &header); err != nil {
		f.t.Fatalf("%v: %s", err, lines[0])
	}
	last := -1.0
	var all strings.Builder
	for _, line := range lines[1:] {
		var at float64
		var of, data string
		if err := json.Unmarshal(line, &[]any{&at, &of, &data}); err != nil || at < last {
			f.t.Fatalf("%v after %v: %v: %s", at, last, err, line)
		}
		if last = at; of == kind {
			all.WriteString(data)
		}
	}
	return header, all.String()
}

// notice reads the first message.
func (c *consoleTerminal) notice() (n console.Notice) {
	c.t.Helper()
	kind, data, err := c.Read(c.t.Context())
	if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &n) != nil {
		c.t.Fatalf("the first message is %v %q: %v", kind, data, err)
	}
	return n
}

// What a terminal shows is recorded and what is typed is not; the person is told, admins of its team read it, and others do not.
func TestRecordingOfConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	mine := consoleSession{f.user(identity.Operator)}
	c := f.connect(mine, wikiConsole, "")
	c.shows("wiki$ ")
	if len(f.recordings(f.owner, "")) != 0 {
		t.Error("consoles are recorded by default")
	}
	f.record()
	if made := f.ticket(mine, wikiConsole, "?columns=90&rows=33"); !made.Recorded {
		t.Errorf("the ticket does not tell of the recording: %+v", made)
	}
	if made := f.ticket(mine, f.vm("serial"), ""); made.Recorded {
		t.Errorf("the setting of apps holds for VMs: %+v", made)
	}
	c = f.connect(mine, wikiConsole, "?columns=90&rows=33")
	if n := c.notice(); !n.Recorded || !strings.Contains(n.Notice, "recorded") {
		t.Errorf("the notice: %+v", n)
	}
	c.shows("wiki$ ")
	c.tells(`{"resize":{"columns":132,"rows":50}}`)
	c.shows("[132x50]")
	c.types("echo grüße <b>\r")
	c.shows("grüße <b>\r\nwiki$ ")
	waittest.Until(t, "what was shown is kept while the console is open", func() bool {
		_, text := f.cast(f.recordings(f.owner, "")[0].ID, "o")
		return strings.Contains(text, "grüße <b>\r\nwiki$ ")
	})
	if r := f.recordings(f.owner, "")[0]; r.Status != "recording" || r.EndedAt != nil {
		t.Errorf("while it is made: %+v", r)
	}
	c.types("exit\r")
	c.shows("exit\r\n")
	c.ends(websocket.StatusNormalClosure, "")
	var r console.Recording
	waittest.Until(t, "the recording has ended", func() bool { r = f.recordings(f.owner, "")[0]; return r.Status == "ended" })
	if r.TargetKind != "app" || r.TargetName != "wiki" || r.UserEmail != mine.Email || r.Address != "127.0.0.1" || r.Node == "" ||
		r.Output != int64(c.shown.Len()) || r.Stored == 0 || r.Truncated || r.EndedAt == nil || *r.HostID != 1 || r.TeamID != 1 {
		t.Errorf("%+v", r)
	}
	header, text := f.cast(r.ID, "o")
	if text != c.shown.String() || header["width"] != 90.0 || header["height"] != 33.0 || header["version"] != 2.0 {
		t.Errorf("%v, and %q, not %q", header, text, c.shown.String())
	}
	if _, typed := f.cast(r.ID, "i"); typed != "" {
		t.Errorf("what was typed is recorded: %q", typed)
	}
	if _, sizes := f.cast(r.ID, "r"); sizes != "132x50" {
		t.Errorf("the sizes are %q", sizes)
	}
	if n := f.Value("SELECT count(*) FROM console_recording_chunks WHERE position('wiki' IN encode(content, 'escape')) > 0"); n != "0" {
		t.Error("what was shown is readable in the database")
	}
	path := fmt.Sprintf("console-recordings/%d", r.ID)
	f.ask(f.user(identity.Operator), "GET", "console-recordings", "", 403)
	foreign := identitytest.User(t, f.Users, identitytest.In{2: identity.Owner})
	if all := f.recordings(foreign, ""); len(all) != 0 {
		t.Errorf("another team sees %+v", all)
	}
	for _, request := range []string{"GET " + path, "GET " + path + "/cast", "DELETE " + path} {
		method, url, _ := strings.Cut(request, " ")
		f.ask(foreign, method, url, "", 404)
	}
	f.Exec("UPDATE console_recordings SET team_id = 2")
	if all := f.recordings(foreign, "?target_kind=app&target_id=1&user="+fmt.Sprint(mine.ID)); len(all) != 1 {
		t.Errorf("its team sees %+v", all)
	}
	if all := f.recordings(f.owner, "?target_kind=vm"); len(all) != 0 {
		t.Errorf("of VMs there are %+v", all)
	}
	f.ask(foreign, "DELETE", path, "", 204)
	f.ask(f.owner, "GET", path, "", 404)
	if got := f.trail("console_recording.delete"); !strings.HasPrefix(got, "refused not_found") || !strings.Contains(got, "; ok ") {
		t.Errorf("the audit log: %s", got)
	}
	if got := f.trail("console_recording.read"); !strings.HasPrefix(got, "ok ") {
		t.Errorf("the audit log: %s", got)
	}
}

// A recording that grows too long is cut, and its console goes on.
func TestRecordingIsCut(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	f.record()
	f.ask(f.owner, "PATCH", "settings", `{"console.recording_limit_mib":1}`, 200)
	c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "")
	c.notice()
	random := make([]byte, 3<<20)
	_, _ = rand.Read(random) // which cannot be compressed, as text by a quarter
	text := base64.StdEncoding.EncodeToString(random)
	go func() {
		for part := range slices.Chunk([]byte(text), 1<<20) {
			_ = c.Write(t.Context(), websocket.MessageBinary, part) // what it shows is missed when this fails
		}
		_ = c.Write(t.Context(), websocket.MessageBinary, []byte("\recho on\r"))
	}()
	c.shows(text)
	c.shows("echo on\r\non\r\n")
	_ = c.CloseNow()
	var r console.Recording
	waittest.Until(t, "the recording has ended", func() bool { r = f.recordings(f.owner, "")[0]; return r.Status == "ended" })
	if _, text := f.cast(r.ID, "o"); !r.Truncated || r.Stored < 1<<20 || r.Stored > 2<<20 || strings.Contains(text, "echo on") ||
		!strings.HasPrefix(text, c.shown.String()[:1<<20]) {
		t.Errorf("%+v, %d bytes", r, len(text))
	}
}

// All recordings together take no more than the setting says: the oldest go, and what is being made counts.
func TestRecordings_HaveATotalLimit(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	f.record()
	add := func(mib int, ended string) {
		t.Helper()
		f.Exec(fmt.Sprintf(`INSERT INTO console_recordings (host_id, target_kind, target_id, target_name, node, user_email, address,
			stored_bytes, ended_at) VALUES (1, 'app', 1, 'wiki', 'n', 'a@example.com', '', %d, %s)`, mib<<20, ended))
	}
	left := func() string {
		return f.Value("SELECT coalesce(string_agg((stored_bytes >> 20)::text, ' ' ORDER BY id), '') FROM console_recordings")
	}
	add(10, "now()")
	add(20, "NULL") // is being made
	add(30, "now()")
	add(40, "now()")
	f.ask(f.owner, "PATCH", "settings", `{"console.recordings_total_mib":95}`, 200)
	if n, err := f.Consoles.Prune(t.Context()); err != nil || n != 1 || left() != "20 30 40" {
		t.Errorf("%d went, and %v; left are %s", n, err, left())
	}
	f.ask(f.owner, "PATCH", "settings", `{"console.recordings_total_mib":65}`, 200)
	c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "") // which makes room
	c.notice()
	if got := left(); got != "20 40 0" {
		t.Errorf("left are %s", got)
	}
	// One that grows ends where those that are being made take all the room, and its console goes on.
	f.ask(f.owner, "PATCH", "settings", `{"console.recordings_total_mib":21}`, 200)
	random := make([]byte, 3<<20)
	_, _ = rand.Read(random)
	text := base64.StdEncoding.EncodeToString(random)
	go func() {
		for part := range slices.Chunk([]byte(text), 1<<20) {
			_ = c.Write(t.Context(), websocket.MessageBinary, part)
		}
		_ = c.Write(t.Context(), websocket.MessageBinary, []byte("\recho on\r"))
	}()
	c.shows(text)
	c.shows("echo on\r\non\r\n")
	waittest.Until(t, "the recording is cut", func() bool {
		return f.Value("SELECT truncated FROM console_recordings ORDER BY id DESC LIMIT 1") == "true"
	})
	if got := left(); !strings.HasPrefix(got, "20 1") && !strings.HasPrefix(got, "20 2") || strings.Contains(got, "40") {
		t.Errorf("left are %s", got)
	}
	f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "").ends(4507, "cannot record this console")
}

// What a killed service had stored can be read, and is told to be a part. Nobody can change it, and a rotated key opens it.
func TestRecordingOfAKilledService(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a service: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t)
	f.record()
	c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "")
	c.notice()
	c.types("echo first\r")
	c.shows("first\r\nwiki$ ")
	var id int64
	waittest.Until(t, "it is stored", func() bool {
		id = f.recordings(f.owner, "")[0].ID
		_, text := f.cast(id, "o")
		return strings.Contains(text, "first\r\nwiki$ ")
	})
	f.Exec("UPDATE console_recordings SET seen_at = now() - interval '3 minutes'")
	if r := f.recordings(f.owner, "")[0]; r.Status != "lost" {
		t.Errorf("%+v", r)
	}
	if _, err := f.keys.Rotate(t.Context(), secret.Rotation{DB: f.db, Tables: []secret.Table{console.SealedTable}}); err != nil {
		t.Fatal(err)
	}
	if _, text := f.cast(id, "o"); !strings.Contains(text, "first") {
		t.Errorf("after a rotation: %q", text)
	}
	f.Exec("UPDATE console_recording_chunks SET content = set_byte(content, 5, 1 - get_byte(content, 5) % 2)")
	f.ask(f.owner, "GET", fmt.Sprintf("console-recordings/%d/cast", id), "", 500)
}

// A console whose recording cannot be kept any more ends: here it was deleted.
func TestRecordingIsDeletedWhileItIsMade(t *testing.T) {
	if testing.Short() {
		t.Skip("lets two requests race: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t)
	f.record()
	c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "")
	c.notice()
	c.shows("wiki$ ")
	f.ask(f.owner, "DELETE", fmt.Sprintf("console-recordings/%d", f.recordings(f.owner, "")[0].ID), "", 204)
	c.types("echo on\r")
	waittest.Until(t, "the console ends", func() bool {
		_ = c.Write(t.Context(), websocket.MessageBinary, []byte("\r"))
		return f.cluster.Consoles() == 0
	})
}

// Recordings go after the time of the setting, and none that is made just now.
func TestOldRecordingsGo(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	for _, row := range []string{"40 days', seen_at = now(), ended_at = NULL",
		"40 days', seen_at = now() - interval '1 hour', ended_at = NULL",
		"40 days', ended_at = now()", "20 days', ended_at = now()"} {
		f.Exec(`INSERT INTO console_recordings (host_id, target_kind, target_id, target_name, node, user_email, address)
			VALUES (1, 'app', 1, 'wiki', 'n', 'a@example.com', '')`)
		f.Exec("UPDATE console_recordings SET started_at = now() - interval '" + row + " WHERE id = (SELECT max(id) FROM console_recordings)")
	}
	if n, err := f.Consoles.Prune(t.Context()); err != nil || n != 2 {
		t.Errorf("%d went, and %v", n, err)
	}
	f.ask(f.owner, "PATCH", "settings", `{"console.recording_days":10}`, 200)
	if n, err := f.Consoles.Prune(t.Context()); err != nil || n != 1 {
		t.Errorf("%d went, and %v", n, err)
	}
}
