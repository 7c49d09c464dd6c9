package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// A job is asked for again by the request that it was made by, with all that this request is held against.
func TestRetry(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	e.finished(e.job)
	name := dbtest.Value[string](t, e.db, "SELECT name FROM guests WHERE id = $1", e.vm)
	past := func(kind, asked string) string {
		return "/api/v1/jobs/" + e.requested.ID(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, asked,
			started_at, finished_at) VALUES ($1, 'failed', 1, $2, 'vm', $3, $4, $5, now(), now()) RETURNING id`, kind, e.host, e.vm, name,
			asked) + "/retry"
	}
	operator, admin := identitytest.As(t, e.users, identity.Operator), identitytest.As(t, e.users, identity.Admin)
	key := identitytest.Key(t, e.users, operator, identitytest.KeySpec{Scopes: []string{"read", "jobs:write"}})
	as := func(a *identitytest.Account) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(a.Cookie) }
	}
	const rows = "SELECT coalesce(string_agg(action || ' ' || result || ' ' || error || ' ' || actor_email, ', ' ORDER BY id), '') " +
		"FROM audit WHERE id > $1"
	for _, c := range []struct {
		what, url, body string
		who             func(*http.Request)
		status          int
		code, trail     string
	}{
		{"a key that may not write VMs", past("vm.start", "{}"), "", func(r *http.Request) { r.Header.Set("Authorization", key.Header) },
			403, "forbidden", "vm.start refused forbidden"},
		{"a roll-back by an operator", past("vm.snapshot_rollback", `{"name":"old"}`), "", as(operator), 403, "forbidden",
			"vm.snapshot_rollback refused forbidden"},
		{"a roll-back to what is gone", past("vm.snapshot_rollback", `{"name":"o/l d"}`), `{"confirm":"x"}`, as(admin), 404, "not_found",
			"vm.snapshot_rollback refused not_found"},
		{"what is not known any more", past("vm.snapshot_delete", "{}"), "", as(operator), 409, "invalid_state", ""},
		{"what is not known any more either", past("vm.snapshot_create", "{}"), "", as(operator), 422, "invalid",
			"vm.snapshot_create refused invalid"},
		{"what the service does", past("jobs.prune", "{}"), "", as(admin), 409, "invalid_state", ""},
		{"a file that was sent", past("storage.upload", `{"name":"a.iso","content":"iso"}`), "", as(admin), 409, "invalid_state", ""},
		{"a word that is no action", past("vm.explode", "{}"), "", as(admin), 409, "invalid_state", ""},
		{"a body that is none", past("vm.start", "{}"), `{"confirm":`, as(operator), 422, "invalid", ""},
		{"an unknown key", past("vm.start", "{}"), `{"force":true}`, as(operator), 422, "invalid", ""},
	} {
		before := dbtest.Value[int64](t, e.db, "SELECT coalesce(max(id), 0) FROM audit")
		answer := e.send("POST", c.url, c.body, c.who)
		if answer.Status != c.status || answer.Problem() != c.code {
			t.Errorf("%s: %d, want %d %s\n%s", c.what, answer.Status, c.status, c.code, answer.Body)
		}
		if got := dbtest.Value[string](t, e.db, rows, before); c.trail == "" && got != "" || !strings.HasPrefix(got, c.trail) {
			t.Errorf("%s: the audit log has %q, want %q", c.what, got, c.trail)
		}
	}

	// What succeeds is a job like any other, with the confirmation where one is asked for.
	before := dbtest.Value[int64](t, e.db, "SELECT max(id) FROM audit")
	var made struct {
		Job struct {
			ID     int64
			Kind   string
			Params map[string]any
			By     struct{ Email string } `json:"requested_by"`
		}
		Self *bool `json:"is_self"`
	}
	answer := e.send("POST", past("vm.snapshot_create", `{"name":"zqcanary-more"}`), "", as(operator))
	if err := json.Unmarshal(answer.Body, &made); err != nil || answer.Status != http.StatusAccepted || made.Self == nil ||
		made.Job.Kind != "vm.snapshot_create" || fmt.Sprint(made.Job.Params) != "map[name:zqcanary-more]" ||
		made.Job.By.Email != operator.Email {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	e.finished(made.Job.ID)
	back := past("vm.snapshot_rollback", `{"name":"zqcanary-more"}`)
	if answer = e.send("POST", back, "", as(admin)); answer.Status != http.StatusConflict || answer.Problem() != "confirm_required" {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer = e.send("POST", back, fmt.Sprintf(`{"confirm":%q}`, name), as(admin)); answer.Status != http.StatusAccepted {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	want := fmt.Sprintf("vm.snapshot_create ok  %s, vm.snapshot_rollback refused confirm_required %s, vm.snapshot_rollback ok  %[2]s",
		operator.Email, admin.Email)
	if got := dbtest.Value[string](t, e.db, rows, before); got != want {
		t.Errorf("the audit log has\n%s, want\n%s", got, want)
	}
}
