package processtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/internal/waittest"
)

// longTrail fills the audit log with 32 MiB of rows: more than what lies in the buffers between a service and a reader that
// does not read.
func longTrail(t testing.TB, d *db.DB) {
	t.Helper()
	alter(t, d, `INSERT INTO audit (actor_type, action, result, details)
		SELECT 'system', 'test.filler', 'ok', jsonb_build_object('text', repeat('x', 32768)) FROM generate_series(1, 1024)`)
}

// begin opens an answer without reading it. It must be closed.
func (c *client) begin(t testing.TB, path, key string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.service.Base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	// What is compressed fits into the buffers between a service and its reader.
	req.Header.Set("Accept-Encoding", "identity")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("GET %s: %s: %s", path, resp.Status, text)
	}
	return resp
}

// beginExport opens an export of the long audit log and reads its beginning: it is under way, and stands still for its reader.
func (c *client) beginExport(t testing.TB, key string) *http.Response {
	t.Helper()
	resp := c.begin(t, "/api/v1/audit/export?format=jsonl", key)
	if _, err := io.ReadFull(resp.Body, make([]byte, 64<<10)); err != nil {
		t.Fatal(err)
	}
	return resp
}

// brokenOff reads the rest of an answer that must not look whole.
func brokenOff(t testing.TB, resp *http.Response) {
	t.Helper()
	n, err := io.Copy(io.Discard, resp.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("after %d more bytes the answer ended with %v", n, err)
	}
	if n >= 32<<20 {
		t.Errorf("%d bytes came", n)
	}
}

// brokenExports are the rows of the audit log about exports by that person, the oldest first, without those of a beginning.
func (p *pair) brokenExports(t testing.TB, email string) (rows []string) {
	t.Helper()
	found, err := p.db.Pool.Query(t.Context(),
		"SELECT result || ' ' || error FROM audit WHERE action = 'audit.export' AND actor_email = $1 AND result <> 'ok' ORDER BY id", email)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var row string
		if err := found.Scan(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// endedInTheTrail waits until the audit log says that the person's export was broken off.
func (p *pair) endedInTheTrail(t testing.TB, email string, want ...string) {
	t.Helper()
	waittest.Succeeds(t, "the export is broken off", func() error {
		if got := p.brokenExports(t, email); len(got) == 0 {
			return errors.New("the audit log knows of none")
		}
		return nil
	})
	if got := p.brokenExports(t, email); len(got) != len(want) || got[0] != want[0] {
		t.Errorf("the audit log has %q", got)
	}
}

// A user is deactivated on one instance: what the other sends that user ends.
func rightsEnd(t *testing.T, p *pair) {
	t.Helper()
	longTrail(t, p.db)
	defer holdJobs(t, p.db)()
	var started struct{ Job jobView }
	p.owner.must(t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/schedules/%d/run", seed(t, p.db, "jobs.prune")), nil, &started)
	gone := p.owner.user(t, "gone", "admin")
	reader := gone.as(t, p.a)
	stream := reader.begin(t, fmt.Sprintf("/api/v1/jobs/%d/events/stream", started.Job.ID), "")
	firstByte := make([]byte, 1)
	if _, err := io.ReadFull(stream.Body, firstByte); err != nil {
		t.Fatal(err)
	}
	export := reader.beginExport(t, "")

	begun := time.Now()
	p.other.must(t, http.StatusOK, http.MethodPatch, fmt.Sprintf("/api/v1/users/%d", gone.ID), map[string]any{"is_active": false}, nil)
	read, cancel := context.WithTimeout(t.Context(), hanging)
	defer cancel()
	context.AfterFunc(read, func() { _ = stream.Body.Close() })
	rest, err := io.ReadAll(stream.Body)
	if err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	t.Logf("the stream ended after %v", time.Since(begun))
	if strings.Contains(string(rest), "event: end") {
		t.Errorf("the stream tells of the job's end: %s", rest)
	}
	p.endedInTheTrail(t, gone.Email, "refused unauthenticated")
	t.Logf("the export was broken off within %v", time.Since(begun))
	brokenOff(t, export)
	if a := reader.do(t, http.MethodGet, "/api/v1/auth/me", nil); a.Status != http.StatusUnauthorized {
		t.Errorf("the session still is good: %d", a.Status)
	}
	// Nobody else has lost anything.
	p.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, nil)
}

// A key is revoked on one instance while it reads an export from the other.
func revokedKeyEndsExport(t *testing.T, p *pair) {
	t.Helper()
	user := p.owner.user(t, "keyed", "admin")
	session := user.as(t, p.b)
	var key struct {
		ID  int64
		Key string
	}
	session.must(t, http.StatusCreated, http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "exports", "scopes": []string{"read"}},
		&key)
	export := newClient(p.a).beginExport(t, key.Key)
	kept := p.owner.beginExport(t, "")
	begun := time.Now()
	session.must(t, http.StatusNoContent, http.MethodDelete, fmt.Sprintf("/api/v1/api-keys/%d", key.ID), nil, nil)
	p.endedInTheTrail(t, user.Email, "refused unauthenticated")
	t.Logf("the export was broken off within %v", time.Since(begun))
	brokenOff(t, export)
	// Another reader's export goes on to its end.
	if n, err := io.Copy(io.Discard, kept.Body); err != nil || n < 32<<20 {
		t.Errorf("another export ended after %d bytes with %v", n, err)
	}
}
