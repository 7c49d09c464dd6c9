package catalogtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// memory is a source with a few entries, whose bundles have a file of a size.
func memory(large int) *catalogtest.Memory {
	source := &catalogtest.Memory{}
	files := map[string]string{"install.sh": "echo all done\n", "update.sh": "echo all done\n", "overlay/clear": "#!/bin/sh\n",
		"lib/large": strings.Repeat("0", large)}
	source.Add(catalogtest.State{
		Entries: []catalog.Entry{{Slug: "a", Name: "A"}, {Slug: "b", Name: "B", Description: "the second"}},
		Files:   map[string]map[string]string{"a": files, "b": files},
	})
	return source
}

// ask asks for everything that a fault's verb is about, as the service does.
func ask(ctx context.Context, c catalog.Catalog, pin catalog.Pin, verb string) error {
	request := catalog.BundleRequest{Slug: "a", Pin: pin, Purpose: catalog.Install}
	switch verb {
	case "sync":
		_, err := catalog.VerifySync(ctx, c, catalog.SyncRequest{Wanted: pin}, nil, func(catalog.SyncStep) error { return nil })
		return err
	case "entry":
		e, err := c.Entry(ctx, "a", pin)
		if err == nil {
			err = catalog.CheckAnswer(e, "a")
		}
		return err
	case "bundle":
		_, err := catalog.ReadBundle(ctx, c, request, catalog.BundleStore{File: func(_ catalog.File, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}})
		return err
	default:
		m, err := catalog.ReadBundle(ctx, c, request, catalog.BundleStore{})
		if err != nil {
			return err
		}
		launch, err := c.Launch(ctx, catalog.LaunchRequest{Slug: "a", Pin: pin, Purpose: catalog.Install, Place: m.Place, Name: "a"})
		if err != nil {
			return err
		}
		return catalog.CheckLaunch(launch, m)
	}
}

// Nothing that a hostile source falsifies is believed, in the same process and behind a plugin; and it is believed when it is honest.
func TestHostileSourceIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, fault := range append(catalogtest.Faults(), catalogtest.Fault{Verb: "sync"}, catalogtest.Fault{Verb: "entry"},
		catalogtest.Fault{Verb: "bundle"}, catalogtest.Fault{Verb: "launch"}) {
		t.Run(fault.Verb+" "+fault.Name, func(t *testing.T) {
			t.Parallel()
			inner := memory(3)
			hostile := catalogtest.NewHostile(inner)
			remote := catalog.NewClient(plugintest.Connect(t, catalog.Service{Source: hostile, CatalogType: (*catalogtest.HostileCatalog)(nil)}))
			pin := newest(t, inner)
			for name, source := range map[string]catalog.Source{"direct": hostile, "grpc": remote} {
				hostile.SetFault(fault.Name)
				c, err := source.Open(t.Context(), catalog.Config{})
				if err != nil {
					t.Fatal(err)
				}
				err = ask(t.Context(), c, pin, fault.Verb)
				if fault.Name == "" {
					if err != nil {
						t.Errorf("%s: the honest source is refused: %v", name, err)
					}
					continue
				}
				if plugin.KindOf(err) != plugin.Protocol {
					t.Errorf("%s: the error is %v", name, err)
				}
			}
		})
	}
}

func newest(t *testing.T, source catalog.Source) catalog.Pin {
	t.Helper()
	c, err := source.Open(t.Context(), catalog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	synced, err := catalog.VerifySync(t.Context(), c, catalog.SyncRequest{}, nil, func(catalog.SyncStep) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return synced.Begin.Pin
}

// What a store reads ends well only for the right bytes; its own error is returned, and what it does not read is checked all the same.
func TestReadBundle(t *testing.T) {
	t.Parallel()
	hostile := catalogtest.NewHostile(memory(2 << 20))
	pin := newest(t, hostile)
	c, err := hostile.Open(t.Context(), catalog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	request := catalog.BundleRequest{Slug: "a", Pin: pin, Purpose: catalog.Install}
	got := map[string]int{}
	m, err := catalog.ReadBundle(t.Context(), c, request, catalog.BundleStore{
		Begin: func(m catalog.Manifest) error { got["begin"] = len(m.Files); return nil },
		File: func(f catalog.File, r io.Reader) error {
			var b bytes.Buffer
			_, err := b.ReadFrom(r)
			got[f.Path] = b.Len()
			return err
		}})
	if err != nil || got["begin"] != 4 || got["lib/large"] != 2<<20 || got["install.sh"] != 14 || m.Size() != 2<<20+14+14+10 {
		t.Errorf("%v, %v", got, err)
	}
	full := errors.New("the disk is full")
	for name, store := range map[string]catalog.BundleStore{
		"begin": {Begin: func(catalog.Manifest) error { return full }},
		"file":  {File: func(catalog.File, io.Reader) error { return full }},
	} {
		if _, err := catalog.ReadBundle(t.Context(), c, request, store); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
	hostile.SetFault("bundle: the last byte is changed")
	if _, err := catalog.ReadBundle(t.Context(), c, request, catalog.BundleStore{}); plugin.KindOf(err) != plugin.Protocol {
		t.Errorf("nobody reads: %v", err)
	}
	_, err = catalog.ReadBundle(t.Context(), c, request, catalog.BundleStore{File: func(f catalog.File, r io.Reader) error {
		if _, err := io.ReadAll(r); f.Path == "update.sh" && err == nil {
			t.Error("the reader of a changed file ends well")
		}
		return nil
	}})
	if plugin.KindOf(err) != plugin.Protocol {
		t.Errorf("someone swallows the error: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := catalog.ReadBundle(canceled, c, request, catalog.BundleStore{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
