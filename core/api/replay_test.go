package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// under sends a request with an Idempotency-Key.
func (h *fixture) under(t *testing.T, key, method, target, body string, logIn func(*http.Request)) *apitest.Response {
	t.Helper()
	r, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Idempotency-Key", key)
	logIn(r)
	answer, err := h.Do(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// forget takes the kept answer away from a key, as if the service had died between the commit and the answer.
func (h *fixture) forget(t *testing.T, key idempotency.Key) {
	t.Helper()
	found, err := h.replays.Find(t.Context(), key)
	if err != nil || found == nil || found.Response == nil {
		t.Fatalf("the answer of %v is not kept: %+v %v", key, found, err)
	}
	found.Response = nil
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := h.replays.Keys.Seal(secret.New(string(text)),
		secret.Binding{Table: "idempotency_keys", Column: "sealed", Row: secret.Row(key.Caller, key.Name)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Pool.Exec(t.Context(), "UPDATE idempotency_keys SET sealed = $3 WHERE caller = $1 AND key = $2", key.Caller, key.Name,
		sealed); err != nil {
		t.Fatal(err)
	}
}

// moving are members that change by themselves after an answer.
var moving = []string{"status", "started_at", "finished_at", "runs", "duration_s", "task_id", "error", "progress", "last_line",
	"seen_at", "last_poll", "state", "reason", "available", "last_check",
	"request", "run", "hint", "next_poll_at", "checked_at", "version", "nodes", "guests"}

// settled is an answer without what changes by itself: those members stay as names only.
func settled(t *testing.T, body []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if slices.Contains(moving, name) {
					v[name] = "moving"
				}
				walk(v[name])
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(v)
	return v
}

// Every operation that makes something makes it once, however often the request comes, and answers the same: from what was kept,
// and anew when the answer was lost.
func TestIdempotencyKeyOfEveryOperation(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	operations := map[string]*op.Operation{}
	for _, o := range declared().Operations() {
		if o.Spec.Replay != nil {
			operations[o.Spec.ID] = o
		}
	}
	e.finished(e.job)
	owner := identitytest.As(t, e.users, identity.Owner)
	logIn := func(r *http.Request) { r.AddCookie(owner.Cookie) }
	caller := fmt.Sprintf("user:%d", owner.ID)
	tried := 0
	for _, c := range e.allChanges() {
		o := operations[c.Operation]
		if o == nil || c.Status != 0 || !sampletest.Selected(c.Operation, 2) {
			continue
		}
		tried++
		values := maps.Clone(e.values)
		maps.Copy(values, c.Path)
		target, key := fill(o.Path, values), "key-"+c.Operation
		rows := func() int64 { return e.id("SELECT count(*) FROM audit WHERE result = 'ok'") }
		first := e.under(t, key, o.Method, target, c.Body, logIn)
		if first.Status >= 300 || first.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: %d %s", c.Operation, first.Status, first.Body)
			continue
		}
		made := rows()
		again := e.under(t, key, o.Method, target, c.Body, logIn)
		if again.Status != first.Status || string(again.Body) != string(first.Body) || again.Header.Get("Idempotent-Replayed") != "true" ||
			again.Header.Get("Content-Type") != first.Header.Get("Content-Type") ||
			again.Header.Get("X-Total-Count") != first.Header.Get("X-Total-Count") {
			t.Errorf("%s again: %d %v %s\nfirst: %s", c.Operation, again.Status, again.Header, again.Body, first.Body)
		}
		e.forget(t, idempotency.Key{Caller: caller, Name: key})
		anew := e.under(t, key, o.Method, target, c.Body, logIn)
		if anew.Status != first.Status || anew.Header.Get("Idempotent-Replayed") != "true" ||
			anew.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s anew: %d %s", c.Operation, anew.Status, anew.Body)
		} else if was, is := settled(t, first.Body), settled(t, anew.Body); !reflect.DeepEqual(was, is) {
			t.Errorf("%s anew: %s\nfirst: %s", c.Operation, anew.Body, first.Body)
		}
		if now := rows(); now != made {
			t.Errorf("%s: %d changes after %d", c.Operation, now, made)
		}
		if other := e.under(t, key, o.Method, target+"?x=1", c.Body, logIn); other.Status != 422 ||
			!strings.Contains(string(other.Body), "idempotency_key_reused") {
			t.Errorf("%s with another query: %d %s", c.Operation, other.Status, other.Body)
		}
	}
	if tried < 14 && !testing.Short() {
		t.Errorf("only %d operations were tried", tried)
	}
	var clear bool
	if err := e.db.Pool.QueryRow(t.Context(),
		"SELECT EXISTS (SELECT FROM idempotency_keys WHERE position('svc_'::bytea IN sealed) > 0)").Scan(&clear); err != nil || clear {
		t.Errorf("a key stands in the table in clear: %v %v", clear, err)
	}
}

const team = `{"name":"once"}`

// A key belongs to its caller, to one request, and to rights that still hold.
func TestIdempotencyKeyRules(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	owner, other := identitytest.As(t, h.users, identity.Owner), identitytest.As(t, h.users, identity.Owner)
	as := func(a *identitytest.Account) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(a.Cookie) }
	}
	send := func(key, body string, who *identitytest.Account, status int, pieces ...string) *apitest.Response {
		t.Helper()
		answer := h.under(t, key, "POST", "/api/v1/teams", body, as(who))
		if answer.Status != status {
			t.Errorf("%d, want %d: %s", answer.Status, status, answer.Body)
		}
		for _, piece := range pieces {
			if !strings.Contains(string(answer.Body), piece) {
				t.Errorf("no %q in %s", piece, answer.Body)
			}
		}
		return answer
	}
	first := send("a", team, owner, 201)
	if again := send("a", team, owner, 201); string(again.Body) != string(first.Body) {
		t.Errorf("%s and %s", first.Body, again.Body)
	}
	if theirs := send("a", team, other, 201); string(theirs.Body) == string(first.Body) {
		t.Error("another caller got the answer")
	}
	send("a", `{"name":"another"}`, owner, 422, "idempotency_key_reused", `"header","Idempotency-Key"`)
	for name, key := range map[string]string{"long": strings.Repeat("k", 256), "blank": "a b", "none": "", "umlaut": "\xc3\xa4"} {
		if answer := send(key, team, owner, 422, "Idempotency-Key"); answer.Header.Get("Idempotent-Replayed") != "" {
			t.Error(name)
		}
	}
	send(strings.Repeat("k", 255), team, owner, 201)
	// A plan does nothing that could be done twice, and a faulty key is one all the same.
	h.furnish()
	for key, status := range map[string]int{"a b": 422, "good": 200} {
		r := h.under(t, key, "POST", fmt.Sprintf("/api/v1/vms/%d/start?plan=true", h.vm), "", as(owner))
		if r.Status != status {
			t.Errorf("planned under %q: %d %s", key, r.Status, r.Body)
		}
	}
	// What was refused is not remembered.
	send("refused", `{"name":"x","slug":"default"}`, owner, 409, "conflict")
	send("refused", `{"name":"x","slug":"free"}`, owner, 201)
	// An API key of the same user is another caller.
	key := identitytest.Key(t, h.users, owner, identitytest.KeySpec{})
	answer := h.under(t, "a", "POST", "/api/v1/teams", team, key.Set)
	if answer.Status != 201 || string(answer.Body) == string(first.Body) {
		t.Errorf("by an API key: %d %s", answer.Status, answer.Body)
	}
	// The right is gone.
	if _, err := h.db.Pool.Exec(t.Context(), "UPDATE team_members SET role = 'viewer' WHERE user_id = $1", owner.ID); err != nil {
		t.Fatal(err)
	}
	send("a", team, owner, 403, "forbidden")
	if n := h.id("SELECT count(*) FROM teams WHERE name = 'once'"); n != 4 {
		t.Errorf("%d teams", n)
	}
	// A day later the key is free.
	if _, err := h.db.Pool.Exec(t.Context(), "UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE caller = $1",
		fmt.Sprintf("user:%d", other.ID)); err != nil {
		t.Fatal(err)
	}
	if late := send("a", team, other, 201); late.Header.Get("Idempotent-Replayed") != "" {
		t.Error("replayed after a day")
	}
	if n, err := h.replays.Prune(t.Context()); err != nil || n != 0 {
		t.Errorf("pruned %d, %v", n, err)
	}
	if _, err := h.db.Pool.Exec(t.Context(), "UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE caller = $1",
		fmt.Sprintf("user:%d", other.ID)); err != nil {
		t.Fatal(err)
	}
	if n, err := h.replays.Prune(t.Context()); err != nil || n != 1 {
		t.Errorf("pruned %d, %v", n, err)
	}
}

// Of many requests with one key, on two instances at once, one makes the thing.
func TestIdempotencyKeyOnTwoInstances(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	url := dbtest.URL(t)
	spec := memdriver.Spec{}
	fixtures := []*fixture{newFixtureOn(t, url, spec), newFixtureOn(t, url, spec)}
	fixtures[1].replays.Keys = fixtures[0].replays.Keys // one key file for all instances
	owner := identitytest.As(t, fixtures[0].users, identity.Owner)
	const each = 8
	answers := make(chan *apitest.Response, 2*each)
	for i := range 2 * each {
		h := fixtures[i%2]
		go func() {
			r, _ := http.NewRequest("POST", "/api/v1/teams", strings.NewReader(team))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", "one")
			r.AddCookie(owner.Cookie)
			answer, err := h.Do(t.Context(), r, nil)
			if err != nil {
				t.Error(err)
				answer = &apitest.Response{}
			}
			answers <- answer
		}()
	}
	bodies := map[string]bool{}
	for range 2 * each {
		switch answer := <-answers; {
		case answer.Status == 201:
			bodies[string(answer.Body)] = true
		case answer.Problem() != "request_in_progress" || answer.Header.Get("Retry-After") == "":
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	}
	if n := fixtures[0].id("SELECT count(*) FROM teams WHERE name = 'once'"); n != 1 || len(bodies) != 1 {
		t.Errorf("%d teams, answers %v", n, bodies)
	}
	// While the transaction of the first is not at its end on another instance, nothing is made and nobody waits.
	k := idempotency.Key{Caller: fmt.Sprintf("user:%d", owner.ID), Name: "held"}
	err := fixtures[0].db.Tx(t.Context(), func(tx *db.Tx) error {
		ctx, use := fixtures[0].replays.Begin(t.Context(), k, "another", nil)
		if err := use.WriteRecord(ctx, tx, nil, ""); err != nil {
			return err
		}
		answer := fixtures[1].under(t, "held", "POST", "/api/v1/teams", team, func(r *http.Request) { r.AddCookie(owner.Cookie) })
		if answer.Problem() != "request_in_progress" {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
		return nil
	})
	if n := fixtures[0].id("SELECT count(*) FROM teams WHERE name = 'once'"); err != nil || n != 1 {
		t.Errorf("%v, %d teams", err, n)
	}
}

// The answer about a thing is given again to those only who may still do to it what they did.
func TestIdempotencyKeyOnAThing(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	operator := identitytest.As(t, e.users, identity.Operator)
	target := fmt.Sprintf("/api/v1/vms/%d/start", e.id("SELECT max(id) FROM guests WHERE kind = 'vm' AND host_id = $1", e.host))
	send := func(status int) *apitest.Response {
		t.Helper()
		answer := e.under(t, "thing", "POST", target, "", func(r *http.Request) { r.AddCookie(operator.Cookie) })
		if answer.Status != status {
			t.Errorf("%d, want %d: %s", answer.Status, status, answer.Body)
		}
		return answer
	}
	first := send(202)
	if again := send(202); string(again.Body) != string(first.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s and %s", first.Body, again.Body)
	}
	if _, err := e.db.Pool.Exec(t.Context(), "UPDATE team_members SET role = 'viewer' WHERE user_id = $1", operator.ID); err != nil {
		t.Fatal(err)
	}
	if refused := send(403); refused.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%v %s", refused.Header, refused.Body)
	}
}

// The answer about a thing that has gone to another team is not given again: to the caller it is not there.
func TestIdempotencyKeyOnAThingOfAnotherTeam(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	operator := identitytest.User(t, e.users, identitytest.In{e.blue: identity.Operator})
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := e.db.Pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("UPDATE hosts SET team_id = $2 WHERE id = $1", e.host, e.blue)
	target := fmt.Sprintf("/api/v1/vms/%d/start", e.id("SELECT max(id) FROM guests WHERE kind = 'vm' AND host_id = $1", e.host))
	for _, step := range []struct {
		status   int
		replayed string
	}{{202, ""}, {202, "true"}, {404, ""}} {
		if step.status == 404 {
			exec("UPDATE hosts SET team_id = $2 WHERE id = $1", e.host, identity.DefaultTeam)
		}
		answer := e.under(t, "moved", "POST", target, "", func(r *http.Request) { r.AddCookie(operator.Cookie) })
		if answer.Status != step.status || answer.Header.Get("Idempotent-Replayed") != step.replayed {
			t.Errorf("%d %q, want %d %q: %s", answer.Status, answer.Header.Get("Idempotent-Replayed"), step.status, step.replayed, answer.Body)
		}
	}
}

// Where the body may name any team, a role lost in one of them is enough to be refused.
func TestIdempotencyKeyAfterALostRole(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	owner := identitytest.As(t, h.users, identity.Owner)
	other := identitytest.Team(t, h.db, "other")
	if _, err := h.db.Pool.Exec(t.Context(), "INSERT INTO team_members (team_id, user_id, role) VALUES ($1, $2, 'owner')", other,
		owner.ID); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{201, 201, 403} {
		answer := h.under(t, "lost", "POST", "/api/v1/api-keys", `{"name":"backup"}`, func(r *http.Request) { r.AddCookie(owner.Cookie) })
		if answer.Status != status {
			t.Errorf("%d, want %d: %s", answer.Status, status, answer.Body)
		}
		if answer.Header.Get("Idempotent-Replayed") == "" {
			continue
		}
		if _, err := h.db.Pool.Exec(t.Context(), "UPDATE team_members SET role = 'viewer' WHERE user_id = $1 AND team_id <> $2", owner.ID,
			other); err != nil {
			t.Fatal(err)
		}
	}
}
