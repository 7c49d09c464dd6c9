package catalogtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hostler/hostler/sdk/catalog"
)

// Hostile is a source that passes on the answers of another source and
// falsifies those of one verb, as one of Faults describes. Tests of code that
// reads from a source use it to prove that nothing falsified is believed. It is
// safe for concurrent use. Unlike a real hostile source it answers in finite
// time.
type Hostile struct {
	source catalog.Source
	mu     sync.Mutex
	fault  string
}

var (
	_ catalog.Source  = (*Hostile)(nil)
	_ catalog.Catalog = (*HostileCatalog)(nil)
)

// NewHostile wraps a source, which must have at least two entries, and whose
// bundles have at least two files that are not empty. It is honest until
// SetFault.
func NewHostile(source catalog.Source) *Hostile { return &Hostile{source: source} }

// SetFault sets the fault by its name, or none for "". It panics for an unknown
// name, so that a renamed fault does not silently test nothing.
func (h *Hostile) SetFault(name string) {
	if name != "" && !slices.ContainsFunc(faults, func(f Fault) bool { return f.Name == name }) {
		panic(fmt.Sprintf("catalogtest: there is no fault %q", name))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = name
}

// now returns the current fault if it falsifies the verb, otherwise a zero
// Fault.
func (h *Hostile) now(verb string) Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range faults {
		if f.Name == h.fault && f.Verb == verb {
			return f
		}
	}
	return Fault{}
}

// Info implements catalog.Source.
func (h *Hostile) Info(ctx context.Context) (catalog.Info, error) { return h.source.Info(ctx) }

// Open implements catalog.Source.
func (h *Hostile) Open(ctx context.Context, config catalog.Config) (catalog.Catalog, error) {
	opened, err := h.source.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	return &HostileCatalog{Catalog: opened, h: h}, nil
}

// HostileCatalog is the catalog of a Hostile. Hostile.Open makes it.
type HostileCatalog struct {
	catalog.Catalog
	h *Hostile
}

// Sync collects the honest steps, falsifies them, and sends all of them even if
// the receiver returns errors, as a hostile source would.
func (c *HostileCatalog) Sync(ctx context.Context, request catalog.SyncRequest, each func(catalog.SyncStep) error) error {
	fault := c.h.now("sync")
	if fault.sync == nil {
		return c.Catalog.Sync(ctx, request, each)
	}
	var steps []catalog.SyncStep
	err := c.Catalog.Sync(ctx, request, func(step catalog.SyncStep) error {
		steps = append(steps, step)
		return nil
	})
	if err != nil {
		return err
	}
	for _, step := range fault.sync(steps) {
		_ = each(step) // it does not care about refusals either
	}
	return nil
}

// Entry implements catalog.Catalog.
func (c *HostileCatalog) Entry(ctx context.Context, slug string, pin catalog.Pin) (catalog.Entry, error) {
	e, err := c.Catalog.Entry(ctx, slug, pin)
	if fault := c.h.now("entry"); fault.entry != nil && err == nil {
		fault.entry(&e)
	}
	return e, err
}

// Bundle collects the honest bundle, falsifies it, and ignores the receiver's
// errors.
func (c *HostileCatalog) Bundle(ctx context.Context, request catalog.BundleRequest, each func(catalog.BundlePart) error) error {
	fault := c.h.now("bundle")
	if fault.bundle == nil {
		return c.Catalog.Bundle(ctx, request, each)
	}
	var b hostileBundle
	err := c.Catalog.Bundle(ctx, request, func(part catalog.BundlePart) error {
		if part.Manifest != nil {
			b.manifest = *part.Manifest
			b.manifest.Files = slices.Clone(part.Manifest.Files)
		}
		b.data = append(b.data, part.Data...)
		return nil
	})
	if err != nil {
		return err
	}
	for _, part := range fault.bundle(b) {
		_ = each(part)
	}
	return nil
}

// hostileBundle is an honest bundle before it is falsified. data contains the
// contents of all files in the order of the manifest.
type hostileBundle struct {
	manifest catalog.Manifest
	data     []byte
}

// parts is the bundle as an honest source sends it.
func (b hostileBundle) parts() []catalog.BundlePart {
	parts := []catalog.BundlePart{{Manifest: &b.manifest}}
	for data := range slices.Chunk(b.data, catalog.MaxBundleData) {
		parts = append(parts, catalog.BundlePart{Data: data})
	}
	return parts
}

// Launch implements catalog.Catalog.
func (c *HostileCatalog) Launch(ctx context.Context, request catalog.LaunchRequest) (catalog.Launch, error) {
	l, err := c.Catalog.Launch(ctx, request)
	if fault := c.h.now("launch"); fault.launch != nil && err == nil {
		fault.launch(&l)
	}
	return l, err
}
