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

// Info describes the source and its options.
func (Source) Info(context.Context) (catalog.Info, error) {
	return catalog.Info{
		Name: "example-folder", Version: "1.0.0", Title: "Example folder",
		Trust:   "Anyone who can write to the folder decides what runs as root on your nodes, after your consent.",
		Options: []catalog.Option{{Key: "folder", Type: catalog.Folder, Required: true, Description: "The folder."}},
	}, nil
}

// Open checks the configuration. It uses neither network nor disk.
func (Source) Open(_ context.Context, config catalog.Config) (catalog.Catalog, error) {
	for key := range config.Options {
		if key != "folder" {
			return nil, &plugin.Error{Kind: plugin.Invalid, Field: key, Message: "unknown option"}
		}
	}
	if config.Options["folder"] == "" || config.Cache == "" {
		return nil, &plugin.Error{Kind: plugin.Invalid, Field: "folder", Message: "a folder and a cache are required"}
	}
	cache := tree.NewCache(config.Cache, tree.Limits{Files: 5000, FileSize: 8 << 20, Size: 64 << 20, Trees: 20})
	return &Catalog{folder: config.Options["folder"], cache: cache}, nil
}

// Catalog is one folder.
type Catalog struct {
	folder string
	cache  tree.Cache
}

// Health reports whether a sync would work.
func (c *Catalog) Health(ctx context.Context) error {
	_, err := os.Stat(c.folder)
	return cmp.Or(ctx.Err(), err)
}

// Close has nothing to release.
func (c *Catalog) Close() error { return nil }

// newest stores the current state of the folder in the cache. Its pin is the checksum of all files.
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
	return nil, plugin.Errorf(plugin.NotFound, "the state does not exist")
}

// app returns the pin of one app. It changes only when the app's own files change.
func app(t *tree.Tree, slug string) catalog.Pin {
	return catalog.Pin{{Repository: slug, Commit: tree.Hash(t.Below(slug + "/"))}}
}

// Sync lists all apps; Listing sends only the changes since the cursor.
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
		return catalog.Entry{}, plugin.Errorf(plugin.NotFound, "the app does not exist")
	}
	var a struct{ Name, Description string }
	if err := json.Unmarshal(raw, &a); err != nil {
		return catalog.Entry{}, plugin.Errorf(plugin.Protocol, "the app.json of %s cannot be read: %w", slug, err)
	}
	e := catalog.Entry{Slug: slug, Type: catalog.ContainerEntry, Name: a.Name, Description: a.Description, App: app(t, slug)}
	if _, ok := t.Find(slug + "/install.sh"); !ok {
		e.Removed = "The app has no install.sh."
	}
	e.Digest = catalog.EntryDigest(e)
	return e, catalog.CheckEntry(e)
}

// Entry returns one app.
func (c *Catalog) Entry(ctx context.Context, slug string, pin catalog.Pin) (catalog.Entry, error) {
	t, err := c.at(ctx, pin)
	if err != nil {
		return catalog.Entry{}, err
	}
	return entry(t, slug)
}

// installable returns the state for an app that can be installed.
func (c *Catalog) installable(ctx context.Context, slug string, pin catalog.Pin, purpose catalog.Purpose) (*tree.Tree, error) {
	t, err := c.at(ctx, pin)
	if err != nil {
		return nil, err
	}
	if e, err := entry(t, slug); err != nil || e.Removed != "" || purpose != catalog.Install {
		return nil, plugin.Errorf(plugin.NotFound, "the app cannot be installed or updated")
	}
	return t, nil
}

// Bundle sends all files of an app.
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

// Launch describes how install.sh is run, its environment, and the line that means success.
func (c *Catalog) Launch(ctx context.Context, request catalog.LaunchRequest) (catalog.Launch, error) {
	if _, err := c.installable(ctx, request.Slug, request.Pin, request.Purpose); err != nil {
		return catalog.Launch{}, err
	}
	for key := range request.Overrides {
		return catalog.Launch{}, &plugin.Error{Kind: plugin.Invalid, Field: key, Message: "the app has no settings"}
	}
	return catalog.Launch{Interpreter: "sh", Program: "install.sh", Succeeded: "all done", Environment: []catalog.Variable{
		{Name: "NAME", Value: request.Name}, {Name: "TAGS", Value: strings.Join(request.Tags, ";")}, {Name: "STORAGE",
			Value: request.RootStorage},
	}}, nil
}
