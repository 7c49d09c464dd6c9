package folder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// version is the release, set by the linker.
var version = "dev"

const optionFolder = "folder"

// limits bound the folder, and how many states of it are kept.
var limits = tree.Limits{Files: 20000, FileSize: 16 << 20, Size: 256 << 20, Trees: 30}

// Source is the source of local folders.
type Source struct{}

var _ catalog.Source = Source{}

// Services is what the program serves.
func Services(hclog.Logger) []plugin.Service {
	return []plugin.Service{catalog.Service{Source: Source{}, CatalogType: (*Catalog)(nil)}}
}

// Info implements catalog.Source.
func (Source) Info(context.Context) (catalog.Info, error) {
	return catalog.Info{
		Name: "folder", Version: version, Title: "A folder on this machine",
		Trust: "Anyone who can write to the folder decides what runs as root on your nodes, once somebody here has approved exactly " +
			"these files.",
		Options: []catalog.Option{{Key: optionFolder, Type: catalog.Folder, Required: true,
			Description: "The folder that contains one folder per app."}},
	}, nil
}

// Open implements catalog.Source.
func (Source) Open(_ context.Context, config catalog.Config) (catalog.Catalog, error) {
	for key := range config.Options {
		if key != optionFolder {
			return nil, invalid(key, "unknown option")
		}
	}
	folder := config.Options[optionFolder]
	if !filepath.IsAbs(folder) || filepath.Clean(folder) != folder || folder == "/" {
		return nil, invalid(optionFolder, "it must be the absolute path of a folder other than /")
	}
	c := &Catalog{folder: folder}
	cache := config.Cache
	if cache == "" {
		temporary, err := os.MkdirTemp("", "hostler-folder-")
		if err != nil {
			return nil, plugin.Errorf(plugin.Internal, "no cache folder is configured, and creating a temporary folder failed").WithCause(err)
		}
		cache, c.temporary = temporary, temporary
	}
	if rel, err := filepath.Rel(folder, cache); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		_ = c.Close()
		return nil, invalid(optionFolder, "the folder contains the service's own files")
	}
	c.cache = tree.NewCache(cache, limits)
	return c, nil
}

func invalid(field, message string) *plugin.Error {
	e := plugin.Errorf(plugin.Invalid, "%s", message)
	e.Field = field
	return e
}

// Catalog is the catalog of one folder. Source.Open makes it.
type Catalog struct {
	folder    string
	temporary string
	cache     tree.Cache
}

var (
	_ catalog.Catalog     = (*Catalog)(nil)
	_ catalog.IconFetcher = (*Catalog)(nil)
)

// Close implements catalog.Catalog.
func (c *Catalog) Close() error {
	if c.temporary != "" {
		return os.RemoveAll(c.temporary)
	}
	return nil
}

func (c *Catalog) root() (*os.Root, error) {
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return nil, plugin.Errorf(plugin.Refused, "the folder of apps cannot be read").WithCause(err)
	}
	return root, nil
}

// Health implements catalog.Catalog.
func (c *Catalog) Health(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := c.root()
	if err != nil {
		return err
	}
	return root.Close()
}

// newest keeps the present state of the folder.
func (c *Catalog) newest() (state, error) {
	root, err := c.root()
	if err != nil {
		return state{}, err
	}
	defer func() { _ = root.Close() }()
	t, key, err := c.cache.PutFolder(root)
	if err != nil {
		return state{}, err
	}
	return state{tree: t, pin: wholePin(key)}, nil
}

// The repositories of pins: that of everything, and the beginning of that of one app.
const (
	wholeRepository = "folder"
	appRepository   = "folder/"
)

func wholePin(hash string) catalog.Pin {
	return catalog.Pin{{Repository: wholeRepository, Commit: hash}}
}

// at gives the state that a pin names: of everything, or the newest one in which an app was as its own pin says.
func (c *Catalog) at(ctx context.Context, pin catalog.Pin) (state, error) {
	if err := ctx.Err(); err != nil {
		return state{}, err
	}
	unknown := plugin.Errorf(plugin.NotFound, "the folder's state at this pin is not available")
	if !pin.Valid() || len(pin) != 1 || len(pin[0].Commit) != 64 {
		return state{}, unknown
	}
	slug, one := strings.CutPrefix(pin[0].Repository, appRepository)
	if !one && pin[0].Repository != wholeRepository || one && !catalog.ValidSlug(slug) {
		return state{}, unknown
	}
	if !one {
		slug = ""
		if t, err := c.cache.Get(pin[0].Commit); err == nil {
			return state{tree: t, pin: pin}, nil
		}
	}
	s, err := c.newest()
	var known *plugin.Error
	switch {
	case err == nil && s.is(pin, slug):
		s.pin, s.only = pin, slug
		return s, nil
	case err != nil && (!errors.As(err, &known) || known.Kind != plugin.Refused && known.Kind != plugin.Protocol):
		return state{}, err
	}
	if one {
		for _, key := range c.cache.Keys() {
			t, err := c.cache.Get(key)
			if old := (state{tree: t, pin: pin, only: slug}); err == nil && old.is(pin, slug) {
				return old, nil
			}
		}
	}
	return state{}, unknown
}

// state is the folder at one pin.
type state struct {
	tree *tree.Tree
	pin  catalog.Pin
	// only is the app that the pin names; empty for all.
	only string
}

// is reports whether the state is the one of a pin.
func (s state) is(pin catalog.Pin, slug string) bool {
	if slug == "" {
		return s.pin.Equal(pin)
	}
	return s.app(slug).Equal(pin)
}

// app is the pin of an app: the checksum of its own folder.
func (s state) app(slug string) catalog.Pin {
	return catalog.Pin{{Repository: appRepository + slug, Commit: tree.Hash(s.tree.Below(slug + "/"))}}
}

// slugs are the folders that are apps, or mean to be.
func (s state) slugs() []string {
	var list []string
	for _, f := range s.tree.Files() {
		slug, _, nested := strings.Cut(f.Path, "/")
		if nested && catalog.ValidSlug(slug) && (len(list) == 0 || list[len(list)-1] != slug) {
			list = append(list, slug)
		}
	}
	return list
}

// has reports whether an app is there.
func (s state) has(slug string) bool {
	return catalog.ValidSlug(slug) && len(s.tree.Below(slug+"/")) > 0 && (s.only == "" || s.only == slug)
}
