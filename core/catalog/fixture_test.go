package catalog_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// sources are those of an instance, by name.
type sources map[string]sdk.Source

func (s sources) CatalogNames() (names []string) {
	for name := range s {
		names = append(names, name)
	}
	return names
}

func (s sources) Catalog(name string) sdk.Source {
	if s[name] == nil {
		return gone{}
	}
	return s[name]
}

// gone is a source whose plugin does not run.
type gone struct{}

func (gone) Info(context.Context) (sdk.Info, error)                { return sdk.Info{}, plugin.ErrGone }
func (gone) Open(context.Context, sdk.Config) (sdk.Catalog, error) { return nil, plugin.ErrGone }

// fixture is an instance with a source in memory, which is on and called "scripts", and whose jobs run.
type fixture struct {
	*catalog.Store
	dbtest.SQL
	t       testing.TB
	db      *db.DB
	queue   *job.Queue
	sources sources
	mem     *catalogtest.Memory
}

func newKeys(t testing.TB, path string) *secret.Box {
	t.Helper()
	keys, err := secret.Load(context.Background(), path, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func newFixture(t testing.TB, edits ...func(*catalog.Config)) *fixture {
	t.Helper()
	f := newFixtureOn(t, dbtest.URL(t), filepath.Join(t.TempDir(), "keys", "secret.key"), &catalogtest.Memory{Name: "scripts"}, edits...)
	f.on("scripts")
	return f
}

// newFixtureOn is one instance of several on a database.
func newFixtureOn(t testing.TB, url, keyFile string, mem *catalogtest.Memory, edits ...func(*catalog.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, db: dbtest.Open(t, url), mem: mem, sources: sources{"scripts": mem}}
	f.SQL = dbtest.On(t, f.db)
	var err error
	if f.queue, err = job.New(job.Config{DB: f.db, ResumeEvery: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	c := catalog.Config{DB: f.db, Keys: newKeys(t, keyFile), Queue: f.queue, Sources: f.sources, Bundles: &bundle.Store{DB: f.db},
		Folder: t.TempDir()}
	for _, edit := range edits {
		edit(&c)
	}
	f.Store = catalog.New(c)
	f.Register()
	if err := f.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = f.queue.Stop(ctx) // the database is dropped next
	})
	return f
}

// on switches a source on, by somebody who has read what it says of trust.
func (f *fixture) on(name string) {
	f.t.Helper()
	s, err := f.Source(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.Update(f.t.Context(), name, catalog.SourceChange{Enabled: new(true), TrustDigest: s.TrustDigest}); err != nil {
		f.t.Fatal(err)
	}
}

// refresh has a refresh made, and gives how its job ended and its transcript.
func (f *fixture) refresh() (status, transcript string) {
	f.t.Helper()
	made, err := f.Refresh(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return f.ended(made.Job.ID)
}

func (f *fixture) ended(id int64) (status, transcript string) {
	f.t.Helper()
	waittest.Until(f.t, "the job's end", func() bool {
		status = f.Value("SELECT status FROM jobs WHERE id = $1", id)
		return status != "queued" && status != "running"
	})
	return status, f.Value("SELECT coalesce(string_agg(text, E'\n' ORDER BY seq), '') FROM job_events WHERE job_id = $1", id)
}

// refreshed has a refresh made that must succeed.
func (f *fixture) refreshed() string {
	f.t.Helper()
	status, transcript := f.refresh()
	if status != "succeeded" {
		f.t.Fatalf("the refresh ended as %s: %s", status, transcript)
	}
	return transcript
}

// slugs are those of a list, with blanks between them.
func (f *fixture) slugs(filter catalog.Filter) string {
	f.t.Helper()
	items, err := f.List(f.t.Context(), filter)
	if err != nil {
		f.t.Fatal(err)
	}
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = item.Slug
	}
	return strings.Join(all, " ")
}

func (f *fixture) source(name string) *catalog.Source {
	f.t.Helper()
	s, err := f.Source(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// entries are some by their slugs.
func entries(slugs ...string) []sdk.Entry {
	all := make([]sdk.Entry, len(slugs))
	for i, slug := range slugs {
		all[i] = sdk.Entry{Slug: slug, Name: strings.ToUpper(slug[:1]) + slug[1:]}
	}
	return all
}

// isProblem holds an error against a code.
func isProblem(t testing.TB, err error, code problem.Code) *problem.Error {
	t.Helper()
	if err == nil || problem.CodeOf(err) != code {
		t.Fatalf("%v, want the problem %s", err, code)
	}
	return problem.From(err)
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
