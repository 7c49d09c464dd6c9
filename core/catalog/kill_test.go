package catalog_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func TestMain(m *testing.M) { jobtest.Main(m, child) }

// child is an instance in a process of its own, whose source has other entries. At the named point of a sync it says so and stands still.
func child(args []string) error {
	url, keyFile, point := args[0], args[1], args[2]
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	keys, err := secret.Load(context.Background(), keyFile, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		return err
	}
	queue, err := job.New(job.Config{DB: d})
	if err != nil {
		return err
	}
	mem := &catalogtest.Memory{Name: "scripts"}
	mem.Add(next())
	s := catalog.New(catalog.Config{DB: d, Keys: keys, Queue: queue, Sources: sources{"scripts": mem}, Bundles: &bundle.Store{DB: d}})
	s.Hook(func(at string) {
		if at == point {
			fmt.Println("at", point)
			select {}
		}
	})
	s.Register()
	if err := queue.Start(context.Background()); err != nil {
		return err
	}
	_, err = s.Refresh(context.Background())
	return err
}

func next() catalogtest.State {
	return catalogtest.State{Entries: entries("a", "b", "c", "d", "e", "new")}
}

// A sync that is cut off by a kill has left nothing; another instance takes the job up, and takes all of it or nothing.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"verified", "applied"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			url, keyFile := dbtest.URL(t), filepath.Join(t.TempDir(), "keys", "secret.key")
			f := newFixtureOn(t, url, keyFile, &catalogtest.Memory{Name: "scripts"})
			f.on("scripts")
			f.mem.Add(catalogtest.State{Entries: entries("a", "b", "c", "d", "e", "f")})
			f.refreshed()
			if err := f.queue.Stop(t.Context()); err != nil { // the other one is to do it
				t.Fatal(err)
			}
			process := jobtest.Start(t, url, keyFile, point)
			process.Says(t, "at "+point)
			if got := f.slugs(catalog.Filter{}); got != "a b c d e f" {
				t.Error("half of a sync is seen:", got)
			}
			process.Kill()
			third := newFixtureOn(t, url, keyFile, &catalogtest.Memory{Name: "scripts"})
			third.mem.Add(catalogtest.State{Entries: entries("a", "b", "c", "d", "e", "f")})
			third.mem.Add(next())
			waittest.Until(t, "the job's end", func() bool {
				return third.Value("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')") == "0"
			})
			if got := third.slugs(catalog.Filter{}); got != "a b c d e new" {
				t.Errorf("%s: %s", got, third.Value("SELECT string_agg(status || ' ' || error, ', ') FROM jobs"))
			}
		})
	}
}

// Of two syncs at the same time, as of an instance that lost its job and goes on, one is taken and the other is not mixed into it.
func TestTwoInstancesAtOnce(t *testing.T) {
	t.Parallel()
	url, keyFile := dbtest.URL(t), filepath.Join(t.TempDir(), "keys", "secret.key")
	f := newFixtureOn(t, url, keyFile, &catalogtest.Memory{Name: "scripts"})
	f.on("scripts")
	f.mem.Add(catalogtest.State{Entries: entries("a", "b")})
	f.refreshed()
	f.Hook(func(point string) {
		if point == "verified" { // somebody else's is taken meanwhile
			f.Exec("DELETE FROM catalog_entries WHERE slug = 'a'")
		}
	})
	f.mem.Add(catalogtest.State{Entries: entries("a", "b", "c")})
	if status, _ := f.refresh(); status != "failed" || f.source("scripts").Failure.Reason != "changed" || f.slugs(catalog.Filter{}) != "b" {
		t.Errorf("%s: %+v", status, f.source("scripts").Failure)
	}
	f.Hook(func(string) {})
	if f.refreshed(); f.slugs(catalog.Filter{}) != "a b c" {
		t.Error(f.slugs(catalog.Filter{}))
	}
}
