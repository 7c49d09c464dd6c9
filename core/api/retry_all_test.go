package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// unrepeatable are kinds of jobs that no request asks for again, with what is answered instead.
var unrepeatable = map[string]string{"storage.upload": "send it again with POST"}

// jobless are operations that answer 202 and make no job of their own.
var jobless = map[string]string{
	"cancel_job":          "it cancels one",
	"accept_catalog_loss": "nothing waits to be accepted here, see its request",
	"update_app":          "no app here was installed from the catalog, see its request",
	"update_all_apps":     "no app here was installed from the catalog",
	"request_update":      "the updater does it",
	"request_meta_update": "the updater does it",
}

// refuse has every hypervisor refuse what jobs ask for, so that they fail and what they are about stays as it is.
func (e *teamsFixture) refuse() {
	for _, cluster := range e.requested.Clusters {
		for _, method := range []string{"act", "takesnapshot", "deletesnapshot", "rollback", "createvm", "destroy", "clone", "runbackup",
			"restore", "deletebackup", "migrate", "deletevolume", "download", "fetchtemplate", "upload", "applynetwork", "powernode"} {
			cluster.SetFault(method, memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not now")})
		}
	}
}

// wanted is what a job was asked for.
type wanted struct {
	Kind, Target string
	Params       map[string]any
}

// wantedOf reads it of a job, which has ended then.
func (e *teamsFixture) wantedOf(job int64, logIn func(*http.Request)) (w wanted) {
	e.t.Helper()
	var asked string
	row := e.db.Pool.QueryRow(e.t.Context(), "SELECT kind, target_kind || ':' || target_id, asked FROM jobs WHERE id = $1", job)
	if err := row.Scan(&w.Kind, &w.Target, &asked); err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(asked), &w.Params); err != nil {
		e.t.Fatal(err)
	}
	if w.Kind == "firewall.draft" { // it would wait to be confirmed
		e.send("POST", fmt.Sprintf("/api/v1/jobs/%d/cancel", job), "", logIn)
	}
	e.finished(job)
	return w
}

// jobsIn are the jobs that an answer tells of.
func jobsIn(body []byte) (ids []int64) {
	type made struct{ ID int64 }
	var answer struct {
		Job  made
		Jobs []made
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil // it is of another form
	}
	for _, j := range append(answer.Jobs, answer.Job) {
		if j.ID != 0 {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

// Every kind of job that an operation makes is asked for again by the request that it was made by: it is of the same kind, on the same
// thing and with the same parameters.
func TestRetryOfEveryKind(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every kind of job twice: make check runs it")
	}
	t.Parallel()
	e := newTeamsFixture(t)
	e.finished(e.job)
	owner := identitytest.As(t, e.users, identity.Owner)
	logIn := func(r *http.Request) { r.AddCookie(owner.Cookie) }
	operations, missing := map[string]*op.Operation{}, map[string]bool{}
	for _, o := range declared().Operations() {
		operations[o.Spec.ID] = o
		missing[o.Spec.ID] = o.Spec.Status == http.StatusAccepted && jobless[o.Spec.ID] == ""
	}
	changes, tried := e.allChanges(), map[string]bool{}
	e.refuse()
	for _, c := range changes {
		o, values := operations[c.Operation], maps.Clone(e.values)
		maps.Copy(values, c.Path)
		answer := e.send(o.Method, fill(o.Path, values), c.Body, func(r *http.Request) {
			c.SetHeaders(r)
			if !o.Spec.Public {
				r.AddCookie(cmp.Or(c.As, owner).Cookie)
			}
		})
		for _, id := range jobsIn(answer.Body) {
			delete(missing, c.Operation)
			first := e.wantedOf(id, logIn)
			if !tried[first.Kind] {
				tried[first.Kind] = true
				e.retried(t, id, first, c.Body, logIn)
			}
		}
	}
	for id, makes := range missing {
		if makes {
			t.Errorf("%s has made no job that could be asked for again: say so in jobless where it makes none", id)
		}
	}
}

// retried asks for a job again, with the confirmation that the first request had.
func (e *teamsFixture) retried(t *testing.T, job int64, first wanted, body string, logIn func(*http.Request)) {
	t.Helper()
	var given struct {
		Confirm *string `json:"confirm,omitempty"`
	}
	_ = json.Unmarshal([]byte(body), &given) // a body that is none confirms nothing
	confirmation, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	again := e.send("POST", fmt.Sprintf("/api/v1/jobs/%d/retry", job), string(confirmation), logIn)
	if text := unrepeatable[first.Kind]; text != "" {
		if again.Problem() != "invalid_state" || !strings.Contains(string(again.Body), text) {
			t.Errorf("%s: %d %s, want %q in it", first.Kind, again.Status, again.Body, text)
		}
		return
	}
	made := jobsIn(again.Body)
	if again.Status >= http.StatusMultipleChoices || len(made) != 1 {
		t.Errorf("%s with %v: %d %s", first.Kind, first.Params, again.Status, again.Body)
		return
	}
	if second := e.wantedOf(made[0], logIn); !reflect.DeepEqual(first, second) {
		t.Errorf("%s was %+v, and again %+v", first.Kind, first, second)
	}
}
