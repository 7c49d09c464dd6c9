// Package folder is a source that lists the folders of a folder: each has an app.json and an install.sh.
package folder

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// Source opens folders.
type Source struct{}

// Info says what the source is, and what the owner is asked for.
func (Source) Info(context.Context) (catalog.Info, error) {
	return catalog.Info{
		Name: "example-folder", Version: "1.0.0", Title: "Example folder",
		Trust:   "Whoever may write to the folder decides what runs as root on your nodes, after your consent.",
		Options: []catalog.Option{{Key: "folder", Type: catalog.Folder, Required: true, Description: "The folder."}},
	}, nil
}

// Open uses no network and no disk: it only looks at the configuration.
func (Source) Open(_ context.Context, config catalog.Config) (catalog.Catalog, error) {
	for key := range config.Options {
		if key != "folder" {
			return nil, &plugin.Error{Kind: plugin.Invalid, Field: key, Message: "there is no such option"}
		}
	}
	if config.Options["folder"] == "" || config.Cache == "" {
		return nil, &plugin.Error{Kind: plugin.Invalid, Field: "folder", Message: "a folder and a cache are needed"}
	}
	cache := tree.NewCache(config.Cache, tree.Limits{Files: 5000, FileSize: 8 << 20, Size: 64 << 20, Trees: 20})
	return &Catalog{folder: config.Options["folder"], cache: cache}, nil
}

// Catalog is one folder.
type Catalog struct {
	folder string
	cache  tree.Cache
}

// Health says whether a sync would work.
func (c *Catalog) Health(ctx context.Context) error {
	_, err := os.Stat(c.folder)
	return cmp.Or(ctx.Err(), err)
}

// Close has nothing to release.
func (c *Catalog) Close() error { return nil }

// newest keeps the present state of the folder in the cache. Its pin is the checksum of everything.
func (c *Catalog) newest() (*tree.Tree, catalog.Pin, error) {
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()
	t, hash, err := c.cache.PutFolder(root)
	return t, catalog.Pin{{Repository: "folder", Commit: hash}}, err
}

// at gives the state of a pin: of everything, or of one app, whose pin is the checksum of its own folder.
func (c *Catalog) at(ctx context.Context, pin catalog.Pin) (*tree.Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, _, err := c.newest(); err != nil { // it is among the kept ones then
		return nil, err
	}
	for _, key := range c.cache.Keys() {
		t, err := c.cache.Get(key)
		whole := catalog.Pin{{Repository: "folder", Commit: key}}
		if err == nil && len(pin) == 1 && (pin.Equal(whole) || pin.Equal(app(t, pin[0].Repository))) {
			return t, nil
		}
	}
	return nil, plugin.Errorf(plugin.NotFound, "there is no such state")
}

// app is the pin of one app. It moves only when the app's own files change.
func app(t *tree.Tree, slug string) catalog.Pin {
	return catalog.Pin{{Repository: slug, Commit: tree.Hash(t.Below(slug + "/"))}}
}

// Sync lists all apps; Listing sends only what has changed since the cursor.
func (c *Catalog) Sync(ctx context.Context, request catalog.SyncRequest, each func(catalog.SyncStep) error) error {
	t, pin, err := c.newest()
	if len(request.Wanted) > 0 {
		pin = request.Wanted
		t, err = c.at(ctx, pin)
	}
	if err != nil {
		return err
	}
	listing := catalog.Listing{Pin: pin}
	for _, f := range t.Files() {
		slug, name, _ := strings.Cut(f.Path, "/")
		if name != "app.json" || !catalog.ValidSlug(slug) {
			continue
		}
		e, err := entry(t, slug)
		if err != nil {
			return err
		}
		listing.Entries = append(listing.Entries, e)
	}
	return listing.Send(ctx, request.Cursor, each)
}

// entry reads an app.json.
func entry(t *tree.Tree, slug string) (catalog.Entry, error) {
	raw, err := t.Read(slug + "/app.json")
	if err != nil || !catalog.ValidSlug(slug) {
		return catalog.Entry{}, plugin.Errorf(plugin.NotFound, "there is no such app")
	}
	var a struct{ Name, Description string }
	if err := json.Unmarshal(raw, &a); err != nil {
		return catalog.Entry{}, plugin.Errorf(plugin.Protocol, "the app.json of %s cannot be read: %w", slug, err)
	}
	e := catalog.Entry{Slug: slug, Type: catalog.ContainerEntry, Name: a.Name, Description: a.Description, App: app(t, slug)}
	if _, ok := t.Find(slug + "/install.sh"); !ok {
		e.Removed = "There is no install.sh."
	}
	e.Digest = catalog.EntryDigest(e)
	return e, catalog.CheckEntry(e)
}

// Entry gives one app.
func (c *Catalog) Entry(ctx context.Context, slug string, pin catalog.Pin) (catalog.Entry, error) {
	t, err := c.at(ctx, pin)
	if err != nil {
		return catalog.Entry{}, err
	}
	return entry(t, slug)
}

// installable gives the state for an app that can be installed.
func (c *Catalog) installable(ctx context.Context, slug string, pin catalog.Pin, purpose catalog.Purpose) (*tree.Tree, error) {
	t, err := c.at(ctx, pin)
	if err != nil {
		return nil, err
	}
	if e, err := entry(t, slug); err != nil || e.Removed != "" || purpose != catalog.Install {
		return nil, plugin.Errorf(plugin.NotFound, "there is nothing that installs or updates this")
	}
	return t, nil
}

// Bundle hands over all files of an app.
func (c *Catalog) Bundle(ctx context.Context, request catalog.BundleRequest, each func(catalog.BundlePart) error) error {
	t, err := c.installable(ctx, request.Slug, request.Pin, request.Purpose)
	if err != nil {
		return err
	}
	b := catalog.NewBundle(request, "example-1")
	for _, f := range t.Below(request.Slug + "/") {
		content, err := t.Read(f.Path)
		if err != nil {
			return err
		}
		b.Add(catalog.BundleFile{Path: strings.TrimPrefix(f.Path, request.Slug+"/"), Content: content, Executable: f.Executable})
	}
	return b.Send(each)
}

// Launch says how install.sh is run, what it sees, and how it tells that it is done.
func (c *Catalog) Launch(ctx context.Context, request catalog.LaunchRequest) (catalog.Launch, error) {
	if _, err := c.installable(ctx, request.Slug, request.Pin, request.Purpose); err != nil {
		return catalog.Launch{}, err
	}
	for key := range request.Overrides {
		return catalog.Launch{}, &plugin.Error{Kind: plugin.Invalid, Field: key, Message: "nothing can be set"}
	}
	return catalog.Launch{Interpreter: "sh", Program: "install.sh", Succeeded: "all done", Environment: []catalog.Variable{
		{Name: "NAME", Value: request.Name}, {Name: "TAGS", Value: strings.Join(request.Tags, ";")}, {Name: "STORAGE",
			Value: request.RootStorage},
	}}, nil
}
