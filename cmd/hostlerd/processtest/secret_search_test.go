package processtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// search looks for secrets where none may be: in texts, rows, files and what the kernel tells of processes. It knows each
// secret in every form that a careless program would write it in.
type secretSearch struct {
	mu sync.Mutex
	// forms are all spellings of a secret, by the secret's name.
	forms map[string][][]byte
	found map[string]bool
}

func newSecretSearch() *secretSearch {
	return &secretSearch{forms: map[string][][]byte{}, found: map[string]bool{}}
}

// add makes a secret known. Shorter ones than 8 bytes would be found by chance.
func (h *secretSearch) add(t testing.TB, name, secret string) string {
	t.Helper()
	if len(secret) < 8 {
		t.Fatalf("%s is too short to look for: %q", name, secret)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forms[name] = spellings(secret)
	return secret
}

func spellings(secret string) [][]byte {
	raw := []byte(secret)
	numbers := fmt.Sprint(raw)
	quoted, _ := json.Marshal(secret) // a string always can
	all := map[string]bool{
		secret: true, hex.EncodeToString(raw): true, strings.ToUpper(hex.EncodeToString(raw)): true,
		numbers[1 : len(numbers)-1]: true, string(quoted[1 : len(quoted)-1]): true, url.QueryEscape(secret): true, url.PathEscape(secret): true,
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 { // how many bytes of something else stand before it in its group of three
			text := encoding.EncodeToString(append(make([]byte, shift), raw...))
			first, last := (shift*8+5)/6, len(text)
			if (shift+len(raw))%3 != 0 {
				last--
			}
			all[text[first:last]] = true
		}
		// What looks like base64 itself may be kept decoded.
		if plain, err := encoding.DecodeString(secret); err == nil && len(plain) >= 16 {
			all[string(plain)], all[hex.EncodeToString(plain)] = true, true
		}
	}
	if plain, err := hex.DecodeString(strings.ReplaceAll(secret, "-", "")); err == nil { // a UUID
		all[string(plain)], all[hex.EncodeToString(plain)] = true, true
	}
	forms := make([][]byte, 0, len(all))
	for _, form := range slices.Sorted(maps.Keys(all)) {
		forms = append(forms, []byte(form))
	}
	return forms
}

// text looks into one text. except names secrets that are due there.
func (h *secretSearch) text(where string, text []byte, except ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, forms := range h.forms {
		if slices.Contains(except, name) {
			continue
		}
		for _, form := range forms {
			if i := bytes.Index(text, form); i >= 0 {
				from, to := max(0, i-60), min(len(text), i+len(form)+20)
				h.found[fmt.Sprintf("%s is in %s: …%q…", name, where, text[from:to])] = true
				break
			}
		}
	}
}

// findings are what was found so far.
func (h *secretSearch) findings() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.found))
}

var hexadecimal = regexp.MustCompile(`x((?:[0-9a-f]{2}){8,})`)

// database looks into every row of every table, into bytes as hexadecimal and as they are, and into the queries that the
// server shows of its connections.
func (h *secretSearch) database(t testing.TB, address string) (rows int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatalf("connecting to look for secrets: %v", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	tables := column(t, conn, `SELECT format('%I.%I', table_schema, table_name) FROM information_schema.tables
		WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`)
	if len(tables) < 10 {
		t.Fatalf("only %d tables are there: %v", len(tables), tables)
	}
	for _, table := range tables {
		for _, row := range column(t, conn, "SELECT r::text FROM "+table+" r") {
			rows++
			h.stored("a row of "+table, row)
		}
	}
	for _, query := range column(t, conn, "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query IS NOT NULL") {
		h.text("a query", []byte(query))
	}
	return rows
}

// stored looks into text of the database, and into the bytes that it has as hexadecimal.
func (h *secretSearch) stored(where, text string) {
	h.text(where, []byte(text))
	for _, match := range hexadecimal.FindAllStringSubmatch(text, -1) {
		plain, _ := hex.DecodeString(match[1]) // it matched
		h.text("bytes in "+where, plain)
	}
}

// dump looks into what pg_dump writes of the database: besides rows its large objects, comments and definitions.
func (h *secretSearch) dump(t testing.TB, address string) {
	t.Helper()
	program, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Log("there is no pg_dump: the dump is not looked at")
		return
	}
	cmd := exec.CommandContext(t.Context(), program, "--dbname", address)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || len(out) < 10_000 {
		t.Fatalf("pg_dump: %v, %d bytes: %s", err, len(out), errs.String())
	}
	for line := range strings.Lines(string(out)) {
		h.stored("the dump", line)
	}
}

func column(t testing.TB, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// files looks into every file below a folder. due names the secrets that a file may hold, by its path in the folder.
func (h *secretSearch) files(t testing.TB, dir string, due map[string]string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // it went meanwhile, or is a socket
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		h.text("the file "+name, text, due[name])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// process looks at the arguments and the environment of a process. The operator gives the service's own process the
// address of the database: there it is due.
func (h *secretSearch) process(pid int, except ...string) {
	base := fmt.Sprintf("/proc/%d/", pid)
	program, _ := os.Readlink(base + "exe")
	environment, _ := os.ReadFile(base + "environ")
	arguments, _ := os.ReadFile(base + "cmdline")
	if after, _ := os.Readlink(base + "exe"); after != program {
		return // it became another program in between; the next look sees it
	}
	program = filepath.Base(program)
	h.text("the arguments of "+program, arguments)
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if program == "hostlerd" && bytes.HasPrefix(entry, []byte("HOSTLER_DATABASE_URL=")) {
			h.text("the environment of "+program, entry, except...)
			continue
		}
		h.text("the environment of "+program, entry)
	}
}

// watch looks at a process and all that it starts again and again until the returned function is called.
func (h *secretSearch) watch(t testing.TB, root int, except ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond) // looking costs a core while it lasts
		defer tick.Stop()
		for {
			for pid := range family(t, root) {
				h.process(pid, except...)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// seenTransport lets the search see every answer of a client before the client does. Cookies are due where a session begins.
type seenTransport struct {
	secretSearch *secretSearch
	next         http.RoundTripper
	// cookies tells whether the answer to this request may set one.
	cookies func(*http.Request) bool
}

var _ http.RoundTripper = (*seenTransport)(nil)

func (s *seenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var body []byte
	if resp.StatusCode != http.StatusSwitchingProtocols { // of a socket, what comes is the caller's
		body, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
	}
	where := "the answer to " + r.Method + " " + r.URL.Path
	s.secretSearch.text(where, body)
	for name, values := range resp.Header {
		if name == "Set-Cookie" && s.cookies(r) {
			continue
		}
		s.secretSearch.text(where+", its header "+name, []byte(strings.Join(values, "\n")))
	}
	return resp, nil
}

// The search finds what is planted, in each place and each form.
func TestHuntFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	const secret = "canary/9f+Zq?Kettle=12"
	s := startService(t, options{})
	c := newClient(s)
	for _, place := range []struct {
		name  string
		plant func(t *testing.T, h *secretSearch)
	}{
		{"log", func(_ *testing.T, h *secretSearch) { h.text("log", []byte(`{"cause":"token `+secret+` refused"}`)) }},
		{"address", func(_ *testing.T, h *secretSearch) { h.text("log", []byte("GET /x?q="+url.QueryEscape(secret))) }},
		{"base64", func(_ *testing.T, h *secretSearch) {
			h.text("header", []byte(base64.StdEncoding.EncodeToString([]byte("user:"+secret+":more"))))
		}},
		{"bytes in a row", func(t *testing.T, h *secretSearch) {
			plantRow(t, h, s.DB, "decode('"+hex.EncodeToString([]byte("ab"+secret))+"', 'hex')")
		}},
		{"base64 in bytes in a row", func(t *testing.T, h *secretSearch) {
			plantRow(t, h, s.DB, "'"+base64.URLEncoding.EncodeToString([]byte("a"+secret))+"'::bytea")
		}},
		{"comment in a dump", func(t *testing.T, h *secretSearch) {
			d := dbtest.Open(t, s.DB)
			alter(t, d, "COMMENT ON TABLE users IS '"+secret+"'")
			h.dump(t, s.DB)
			alter(t, d, "COMMENT ON TABLE users IS NULL")
		}},
		{"text in a row", func(t *testing.T, h *secretSearch) { plantRow(t, h, s.DB, "'"+secret+"'::bytea") }},
		{"file", func(t *testing.T, h *secretSearch) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("\x00\xff"+secret), 0o600); err != nil {
				t.Fatal(err)
			}
			h.files(t, dir, map[string]string{"other": "planted"})
		}},
		{"environment", func(t *testing.T, h *secretSearch) { plantProcess(t, h, exec.Command("cat"), "X="+secret) }},
		{"another program's HOSTLER_DATABASE_URL", func(t *testing.T, h *secretSearch) {
			plantProcess(t, h, exec.Command("cat"), "HOSTLER_DATABASE_URL="+secret)
		}},
		{"arguments", func(t *testing.T, h *secretSearch) {
			plantProcess(t, h, exec.Command("sh", "-c", "cat; : "+secret), "X=1")
		}},
		{"answer", func(t *testing.T, h *secretSearch) {
			h.add(t, "planted", `"status":"`)
			watched := *c.http
			watched.Transport = &seenTransport{secretSearch: h, next: http.DefaultTransport}
			resp, err := watched.Get(s.Base + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}},
	} {
		t.Run(place.name, func(t *testing.T) {
			h := newSecretSearch()
			h.add(t, "planted", secret)
			h.add(t, "another", "nowhere-to-be-found-77")
			place.plant(t, h)
			if got := h.findings(); len(got) == 0 || !strings.HasPrefix(got[0], "planted is in ") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func plantRow(t *testing.T, h *secretSearch, database, value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), "CREATE TABLE planted AS SELECT "+value+" AS v"); err != nil {
		t.Fatal(err)
	}
	h.database(t, database)
	if _, err := conn.Exec(t.Context(), "DROP TABLE planted"); err != nil {
		t.Fatal(err)
	}
}

// plantProcess runs a program that waits for its input to end, and watches it.
func plantProcess(t *testing.T, h *secretSearch, cmd *exec.Cmd, env string) {
	t.Helper()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), env}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := h.watch(t, cmd.Process.Pid)
	waittest.Succeeds(t, "the process is seen", func() error {
		if len(h.findings()) == 0 {
			return fmt.Errorf("nothing was found")
		}
		return nil
	})
	stop()
	_ = in.Close()
	_ = cmd.Wait()
}
