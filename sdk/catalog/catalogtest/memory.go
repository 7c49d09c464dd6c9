package catalogtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// Memory is a source in memory whose states a test adds one after the other.
// Its zero value has no state. It is safe for concurrent use. Unlike a real
// source it keeps every state forever, has no cache and never needs the
// network, so a bundle at any old pin is available.
type Memory struct {
	// Name is the name of the source; empty means "mem". Set it before the
	// first call.
	Name string

	mu     sync.Mutex
	states []state
	icons  map[string][]byte
	fault  func(verb string) error
}

// State is everything that a source has at one pin.
type State struct {
	Entries    []catalog.Entry
	Categories []catalog.Category
	// Files are the contents of the bundles by slug and path. A path that
	// begins with "engine/" belongs to the engine, one with "overlay/" to the
	// source itself, and all others to the app.
	Files map[string]map[string]string
}

// state is a State with its pin.
type state struct {
	State
	pin catalog.Pin
}

var (
	_ catalog.Source      = (*Memory)(nil)
	_ catalog.Catalog     = (*MemoryCatalog)(nil)
	_ catalog.IconFetcher = (*MemoryCatalog)(nil)
)

// Add adds a state, which becomes the newest, and returns its pin. It computes
// the digests of the entries. The App pin of an entry is the pin of the first
// state since which its own files are unchanged, so that updates of other
// entries do not look like an update of this one.
func (m *Memory) Add(s State) catalog.Pin {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %v", len(m.states), s))
	pin := catalog.Pin{{Repository: "memory", Commit: hex.EncodeToString(sum[:20])}}
	s.Entries = slices.Clone(s.Entries)
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.Type == "" {
			e.Type = catalog.ContainerEntry
		}
		e.App = pin
		if n := len(m.states); n > 0 {
			before := m.states[n-1]
			j := slices.IndexFunc(before.Entries, func(old catalog.Entry) bool { return old.Slug == e.Slug })
			if j >= 0 && maps.Equal(own(before.Files[e.Slug]), own(s.Files[e.Slug])) {
				e.App = before.Entries[j].App
			}
		}
		e.Digest = catalog.EntryDigest(*e)
	}
	slices.SortFunc(s.Entries, func(a, b catalog.Entry) int { return strings.Compare(a.Slug, b.Slug) })
	m.states = append(m.states, state{State: s, pin: pin})
	return pin
}

// own returns the files that do not belong to the engine.
func own(files map[string]string) map[string]string {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(path, _ string) bool { return classOf(path) == catalog.EngineFile })
	return files
}

// classOf returns the class of a file of the engine. For all other files it
// returns "", and the builder of bundles decides by the path.
func classOf(path string) catalog.FileClass {
	if strings.HasPrefix(path, "engine/") {
		return catalog.EngineFile
	}
	return ""
}

// SetIcon sets the picture of an icon reference.
func (m *Memory) SetIcon(reference string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.icons == nil {
		m.icons = map[string][]byte{}
	}
	m.icons[reference] = data
}

// SetFault sets a function that runs before each call, with the name of the
// call in lower case. Its error becomes the error of the call. Nil removes it.
func (m *Memory) SetFault(fault func(verb string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = fault
}

// Info implements catalog.Source.
func (m *Memory) Info(context.Context) (catalog.Info, error) {
	name := m.Name
	if name == "" {
		name = "mem"
	}
	return catalog.Info{Name: name, Version: "1.0.0", Title: "In memory", Trust: "Whoever has started it.", Options: []catalog.Option{
		{Key: "note", Type: catalog.Line, Description: "It is looked at by nobody."},
	}}, nil
}

// Open implements catalog.Source.
func (m *Memory) Open(_ context.Context, config catalog.Config) (catalog.Catalog, error) {
	for key := range config.Options {
		if key != "note" {
			e := plugin.Errorf(plugin.Invalid, "unknown option %.40q", key)
			e.Field = key
			return nil, e
		}
	}
	return &MemoryCatalog{m}, nil
}

// MemoryCatalog is the catalog of a Memory. Memory.Open makes it.
type MemoryCatalog struct{ m *Memory }

// begin gives the states there are, or what the fault says.
func (c *MemoryCatalog) begin(ctx context.Context, verb string) ([]state, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.m.mu.Lock()
	states, fault := c.m.states, c.m.fault
	c.m.mu.Unlock()
	if fault != nil {
		if err := fault(verb); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// at finds a state by its pin; nil is the newest.
func at(states []state, pin catalog.Pin) (state, error) {
	for _, s := range slices.Backward(states) {
		if pin == nil || s.pin.Equal(pin) {
			return s, nil
		}
	}
	return state{}, plugin.Errorf(plugin.NotFound, "no state exists at this pin")
}

// Health implements catalog.Catalog.
func (c *MemoryCatalog) Health(ctx context.Context) error {
	_, err := c.begin(ctx, "health")
	return err
}

// Sync implements catalog.Catalog. The cursor is the pin.
func (c *MemoryCatalog) Sync(ctx context.Context, request catalog.SyncRequest, each func(catalog.SyncStep) error) error {
	states, err := c.begin(ctx, "sync")
	if err != nil {
		return err
	}
	now, err := at(states, request.Wanted)
	if err != nil {
		return err
	}
	known := map[string]string{}
	begin := catalog.Begin{Pin: now.pin, Whole: true, Categories: now.Categories}
	if cursor, ok := catalog.ParsePin(request.Cursor); ok {
		if old, err := at(states, cursor); err == nil {
			begin.Whole, begin.Unchanged, known = false, old.pin.Equal(now.pin), old.digests()
		}
	}
	steps := []catalog.SyncStep{{Begin: &begin}}
	digests := now.digests()
	for i := range now.Entries {
		if e := now.Entries[i]; known[e.Slug] != e.Digest {
			steps = append(steps, catalog.SyncStep{Entry: &e})
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(known)) {
		if _, ok := digests[slug]; !ok {
			steps = append(steps, catalog.SyncStep{Removed: slug})
		}
	}
	end := catalog.End{Cursor: now.pin.String(), Entries: len(digests), Digest: catalog.CatalogDigest(digests)}
	for _, step := range append(steps, catalog.SyncStep{End: &end}) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(step); err != nil {
			return err
		}
	}
	return nil
}

func (s state) digests() map[string]string {
	digests := make(map[string]string, len(s.Entries))
	for _, e := range s.Entries {
		digests[e.Slug] = e.Digest
	}
	return digests
}

// Entry implements catalog.Catalog.
func (c *MemoryCatalog) Entry(ctx context.Context, slug string, pin catalog.Pin) (catalog.Entry, error) {
	states, err := c.begin(ctx, "entry")
	if err != nil {
		return catalog.Entry{}, err
	}
	s, err := at(states, pin)
	if err != nil {
		return catalog.Entry{}, err
	}
	i := slices.IndexFunc(s.Entries, func(e catalog.Entry) bool { return e.Slug == slug })
	if i < 0 {
		return catalog.Entry{}, plugin.Errorf(plugin.NotFound, "entry not found")
	}
	return s.Entries[i], nil
}

// Bundle implements catalog.Catalog.
func (c *MemoryCatalog) Bundle(ctx context.Context, request catalog.BundleRequest, each func(catalog.BundlePart) error) error {
	states, err := c.begin(ctx, "bundle")
	if err != nil {
		return err
	}
	s, err := at(states, request.Pin)
	if err != nil {
		return err
	}
	files := s.Files[request.Slug]
	if request.Pin == nil || request.Purpose != catalog.Install && request.Purpose != catalog.Update {
		return plugin.Errorf(plugin.Invalid, "a bundle needs a pin and a purpose")
	}
	if len(files) == 0 {
		return plugin.Errorf(plugin.NotFound, "the entry has no files")
	}
	builder := catalog.NewBundle(request, "memory-1")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		builder.Add(catalog.BundleFile{Path: path, Content: []byte(files[path]), Class: classOf(path),
			Executable: strings.HasPrefix(path, "overlay/")})
	}
	return builder.Send(each)
}

// Launch implements catalog.Catalog: it runs the file of the purpose's name,
// with a line of input for each answer.
func (c *MemoryCatalog) Launch(ctx context.Context, request catalog.LaunchRequest) (catalog.Launch, error) {
	states, err := c.begin(ctx, "launch")
	if err != nil {
		return catalog.Launch{}, err
	}
	s, err := at(states, request.Pin)
	if err != nil {
		return catalog.Launch{}, err
	}
	i := slices.IndexFunc(s.Entries, func(e catalog.Entry) bool { return e.Slug == request.Slug })
	if i < 0 {
		return catalog.Launch{}, plugin.Errorf(plugin.NotFound, "entry not found")
	}
	for key := range request.Overrides {
		if !slices.ContainsFunc(s.Entries[i].Overrides, func(o catalog.Option) bool { return o.Key == key }) {
			return catalog.Launch{}, plugin.Errorf(plugin.Invalid, "unknown override %.40q", key)
		}
	}
	launch := catalog.Launch{
		Interpreter: "sh", Program: string(request.Purpose) + ".sh", Sentinel: "asked", Succeeded: "all done",
		PathFolders: []string{"overlay"}, VersionFile: "/root/.version",
		Environment: []catalog.Variable{{Name: "NAME", Value: request.Name}, {Name: "CONTAINER", Value: request.Container},
			{Name: "TAGS", Value: strings.Join(request.Tags, ";")}},
		Exits: []catalog.Exit{{Status: 3, Reason: "told_so", Text: "The script says that it failed."},
			{Status: 75, Reason: "needs_human", Text: "Someone has to do a part of it."}},
	}
	for _, key := range slices.Sorted(maps.Keys(request.Overrides)) {
		launch.Environment = append(launch.Environment, catalog.Variable{Name: "SET_" + key, Value: request.Overrides[key]})
	}
	for _, answer := range request.Answers {
		launch.Input += answer + "\n"
	}
	return launch, nil
}

// Icon implements catalog.IconFetcher.
func (c *MemoryCatalog) Icon(ctx context.Context, reference, etag string) (catalog.Icon, error) {
	if _, err := c.begin(ctx, "icon"); err != nil {
		return catalog.Icon{}, err
	}
	c.m.mu.Lock()
	data, ok := c.m.icons[reference]
	c.m.mu.Unlock()
	if !ok {
		return catalog.Icon{}, plugin.Errorf(plugin.NotFound, "icon not found")
	}
	sum := sha256.Sum256(data)
	tag := hex.EncodeToString(sum[:8])
	if tag == etag {
		return catalog.Icon{ETag: tag, Unchanged: true}, nil
	}
	return catalog.Icon{Data: data, ETag: tag}, nil
}

// Close implements catalog.Catalog.
func (*MemoryCatalog) Close() error { return nil }
