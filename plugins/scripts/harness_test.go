package scripts_test

import (
	"io"
	"maps"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
)

// open opens a catalog with a cache of its own, unless the configuration has one.
func open(t testing.TB, config catalog.Config) catalog.Catalog {
	t.Helper()
	return openWithin(t, time.Minute, config)
}

// openWithin is open with a limit for the beginning of an answer.
func openWithin(t testing.TB, answer time.Duration, config catalog.Config) catalog.Catalog {
	t.Helper()
	if config.Cache == "" {
		config.Cache = t.TempDir()
	}
	c, err := scripts.NewQuick(answer).Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// synced is a sync with its entries.
type synced struct {
	catalog.SyncResult
	entries map[string]catalog.Entry
}

func trySync(t testing.TB, c catalog.Catalog, request catalog.SyncRequest, known map[string]string) (synced, error) {
	t.Helper()
	entries := map[string]catalog.Entry{}
	s, err := catalog.VerifySync(t.Context(), c, request, known, func(step catalog.SyncStep) error {
		if step.Entry != nil {
			entries[step.Entry.Slug] = *step.Entry
		}
		return nil
	})
	return synced{s, entries}, err
}

func sync(t testing.TB, c catalog.Catalog) synced {
	t.Helper()
	s, err := trySync(t, c, catalog.SyncRequest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bundle reads a bundle to install.
func bundle(t testing.TB, c catalog.Catalog, slug string, pin catalog.Pin) (catalog.Manifest, map[string]string, error) {
	t.Helper()
	contents := map[string]string{}
	m, err := catalog.ReadBundle(t.Context(), c, catalog.BundleRequest{Slug: slug, Pin: pin, Purpose: catalog.Install}, catalog.BundleStore{
		File: func(f catalog.File, r io.Reader) error {
			data, err := io.ReadAll(r)
			contents[f.Path] = string(data)
			return err
		}})
	return m, contents, err
}

func pinOf(commit string) catalog.Pin {
	return catalog.Pin{{Repository: scriptstest.Name, Commit: commit}}
}

// with is a configuration with one more option.
func with(config catalog.Config, key, value string) catalog.Config {
	config.Options = maps.Clone(config.Options)
	config.Options[key] = value
	return config
}
