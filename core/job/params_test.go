package job_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

const canary = "canary-of-the-jobs-9c1f"

type account struct {
	User     string        `json:"user"`
	Password secret.String `json:"password"`
}

type base struct {
	Token *secret.String `json:"token,omitempty"`
}

// guarded has a secret in every place that a struct can have one.
type guarded struct {
	base
	Root     secret.String `json:"root"`
	Empty    secret.String `json:"empty"`
	Accounts []account     `json:"accounts"`
	First    *account      `json:"first"`
	None     *account      `json:"none"`
	Left     secret.String `json:"-"`
}

func guardedParams() guarded {
	token := secret.New(canary + "-token")
	return guarded{
		base: base{Token: &token}, Root: secret.New(canary + "-root"), First: &account{"ann", secret.New(canary + "-ann")},
		Accounts: []account{{"bob", secret.New(canary + "-bob")}, {"cyd", secret.String{}}, {"dan", secret.New(canary + "-dan \x00é")}},
		Left:     secret.New(canary + "-left"),
	}
}

// texts reveals what a worker was given.
func (g guarded) texts() string {
	all := []string{g.Token.Reveal(), g.Root.Reveal(), g.Empty.Reveal(), g.First.Password.Reveal(), g.Left.Reveal()}
	for _, a := range g.Accounts {
		all = append(all, a.User+"="+a.Password.Reveal())
	}
	return strings.Join(all, "|")
}

func keys(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// everywhere is all text of a database, of the job's tables and all others.
func everywhere(t *testing.T, d *db.DB) string {
	t.Helper()
	var all string
	err := d.Pool.QueryRow(t.Context(), `SELECT string_agg(query_to_xml(format('SELECT * FROM %I.%I', table_schema, table_name), true,
		false, '')::text, '')
		FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(all, `"user": "bob"`) {
		t.Fatal("the search does not see the parameters")
	}
	return all
}

// A secret among the parameters reaches the worker, stands nowhere in the database and is forgotten when the job has ended.
func TestSecretParams(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{Nodes: 1})
	w.keys = keys(t)
	seen := make(chan string, 1)
	i := w.add(t, map[string]job.Worker{"guarded": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
		var g guarded
		if err := run.Params(&g); err != nil {
			return err
		}
		run.Note("params %v, %+v, of the job %+v", g, g.First, run.Job())
		seen <- g.texts()
		return nil
	})})
	id := i.enqueue(t, job.Spec{Kind: "guarded", Target: job.Target{Kind: "vm", ID: 1}, TeamID: 1, Params: guardedParams()})
	if strings.Contains(everywhere(t, i.db), canary) {
		t.Error("a secret stands in the database")
	}
	var sealed []byte
	if err := i.db.Pool.QueryRow(t.Context(), "SELECT sealed FROM jobs WHERE id = $1", id).Scan(&sealed); err != nil || len(sealed) == 0 {
		t.Errorf("nothing is sealed (%v)", err)
	}
	report, err := w.keys.Rotate(t.Context(), secret.Rotation{DB: i.db, Tables: []secret.Table{job.SealedTable}})
	if err != nil {
		t.Errorf("rotating the key: %+v, %v", report, err)
	}
	i.run(t)
	i.ended(t, id, job.Succeeded)
	want := guardedParams()
	want.Left = secret.String{}
	if got := <-seen; got != want.texts() {
		t.Errorf("the worker was given %q", got)
	}
	if all := everywhere(t, i.db); strings.Contains(all, canary) {
		t.Error("a secret stands in the database after the end")
	}
	var kept int
	if err := i.db.Pool.QueryRow(t.Context(), "SELECT count(*) FROM jobs WHERE sealed IS NOT NULL").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d jobs keep their secrets (%v)", kept, err)
	}
}

// A secret of another job's row, a key that is not there and a place that could not be read back are errors, and none tells
// the secret.
func TestSecretParamsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{Nodes: 1})
	spec := job.Spec{Kind: "guarded", Target: job.Target{Kind: "vm", ID: 1}, TeamID: 1, Params: guardedParams()}
	kinds := map[string]job.Worker{"guarded": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
		var g guarded
		return run.Params(&g)
	})}
	if _, err := w.add(t, kinds).tryEnqueue(t.Context(), spec); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("without keys: %v", err)
	}
	w.keys = keys(t)
	i := w.add(t, kinds)
	for name, params := range map[string]any{
		"a map":        map[string]secret.String{"a": secret.New(canary)},
		"an interface": struct{ Any any }{account{"ann", secret.New(canary)}},
	} {
		bad := spec
		bad.Params = params
		if _, err := i.tryEnqueue(t.Context(), bad); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one, two := i.enqueue(t, spec), i.enqueue(t, spec)
	i.exec(t, "UPDATE jobs SET sealed = (SELECT sealed FROM jobs WHERE id = $1) WHERE id = $2", one, two)
	i.run(t)
	i.ended(t, one, job.Succeeded)
	if j := i.ended(t, two, job.Failed); strings.Contains(j.Error, canary) {
		t.Errorf("the job's error: %s", j.Error)
	}
}
