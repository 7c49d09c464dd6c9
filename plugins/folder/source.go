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

// version is the version of the release. The linker sets it with -X.
var version = "dev"

// optionFolder is the name of the source's only option: the absolute path of
// the folder.
const optionFolder = "folder"

// limits are the maximum number and size of files in the folder, and the number
// of states that the cache keeps.
var limits = tree.Limits{Files: 20000, FileSize: 16 << 20, Size: 256 << 20, Trees: 30}

// Source is the source of local folders.
type Source struct{}

var _ catalog.Source = Source{}

// Services returns what the plugin hostler-plugin-folder serves.
func Services(hclog.Logger) []plugin.Service {
	return []plugin.Service{catalog.Service{Source: Source{}, CatalogType: (*Catalog)(nil)}}
}

// Info implements catalog.Source.
func (Source) Info(context.Context) (catalog.Info, error) {
	return catalog.Info{
		Name: "folder", Version: version, Title: "A folder on this machine",
		Trust: "Anyone who can write to the folder decides what runs as root on your nodes, once someone here has approved exactly " +
			"these files.",
		Options: []catalog.Option{{Key: optionFolder, Type: catalog.Folder, Required: true,
			Description: "The folder that contains one folder per app."}},
	}, nil
}

// Open implements catalog.Source. It refuses / and a folder that contains the
// cache, because each sync would copy the cache into itself. The folder need
// not exist yet; Health and Sync report that. Without a cache folder it uses a
// temporary one, which Close removes.
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

// invalid returns an Invalid error with a field.
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

// root opens the folder. Paths below the root cannot leave it through "..", or
// through symbolic links. The caller closes it.
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

// newest copies the current state of the folder into the cache and returns it.
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
	// wholeRepository is the repository of a pin of everything; appRepository
	// is the prefix of the repository of one app's pin.
	wholeRepository = "folder"
	appRepository   = "folder/"
)

// wholePin returns the pin of everything with a hash.
func wholePin(hash string) catalog.Pin {
	return catalog.Pin{{Repository: wholeRepository, Commit: hash}}
}

// at returns the state at a pin. For a pin of everything it looks in the cache
// and then at the folder. For a pin of one app it looks at the folder first and
// then for any cached state with that app. It returns NotFound if nothing
// matches, and for a malformed pin.
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

// state is the content of the folder at a pin.
type state struct {
	tree *tree.Tree
	pin  catalog.Pin
	// only is the slug of the app that the pin names, or "" for all apps.
	only string
}

// is reports whether the state has the pin of the app slug, or of everything if
// slug is empty.
func (s state) is(pin catalog.Pin, slug string) bool {
	if slug == "" {
		return s.pin.Equal(pin)
	}
	return s.app(slug).Equal(pin)
}

// app returns the pin of an app: the hash of all files of its folder, including
// app.json.
func (s state) app(slug string) catalog.Pin {
	return catalog.Pin{{Repository: appRepository + slug, Commit: tree.Hash(s.tree.Below(slug + "/"))}}
}

// slugs returns the names of all folders with files, sorted, if they are valid
// slugs. Files directly in the folder are ignored.
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

// has reports whether the state contains an app and the pin covers it.
func (s state) has(slug string) bool {
	return catalog.ValidSlug(slug) && len(s.tree.Below(slug+"/")) > 0 && (s.only == "" || s.only == slug)
}
