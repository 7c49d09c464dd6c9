package scripts

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// Catalog is the catalog of one configuration. Source.Open returns it. Its
// methods may be called concurrently; downloads wait for each other.
type Catalog struct {
	logger hclog.Logger
	// repository has the scripts; engine is a second one with what they share, or empty.
	repository, engine string
	ref                string
	origin             origin
	cache              tree.Cache
	// folder is the cache's, and temporary the same when it is to be removed in the end.
	folder, temporary string
	slot              chan struct{}
}

var _ catalog.Catalog = (*Catalog)(nil)

// Close implements catalog.Catalog.
func (c *Catalog) Close() error {
	c.origin.close()
	if c.temporary != "" {
		return os.RemoveAll(c.temporary)
	}
	return nil
}

// Health implements catalog.Catalog. It resolves the branch, which checks the
// address, the network, the certificate and the name of the repository in one
// small request for each repository.
func (c *Catalog) Health(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := c.newest(ctx)
	return err
}

// state is everything that belongs to one pin: the files of the repositories
// and the rules for rewriting their addresses.
type state struct {
	pin        catalog.Pin
	main       *tree.Tree
	engine     *tree.Tree // nil without a second repository, whose name is engineName
	engineName string
	rules      rewriting
}

// repositories returns the repositories of the configuration, sorted by name as
// in a pin.
func (c *Catalog) repositories() []string {
	list := []string{c.repository}
	if c.engine != "" {
		list = append(list, c.engine)
	}
	slices.Sort(list)
	return list
}

// newest resolves the configured branches to a pin. The configuration may name
// two refs, separated by a space: the first one for the scripts and the second
// one for the repository with the shared functions. A single ref applies to
// both.
func (c *Catalog) newest(ctx context.Context) (catalog.Pin, error) {
	refs := strings.Fields(c.ref)
	var pin catalog.Pin
	for _, repository := range c.repositories() {
		ref := refs[0]
		if repository == c.engine && len(refs) > 1 {
			ref = refs[1]
		}
		commit, err := c.resolve(ctx, repository, ref)
		if err != nil {
			return nil, err
		}
		pin = append(pin, catalog.PinPart{Repository: repository, Commit: commit})
	}
	return pin, nil
}

// at returns the state at a pin and downloads what is not in the cache. A pin
// of other repositories is NotFound: it comes from the time before the
// configuration was changed.
func (c *Catalog) at(ctx context.Context, pin catalog.Pin) (state, error) {
	if err := ctx.Err(); err != nil {
		return state{}, err
	}
	if !pin.Valid() || !slices.EqualFunc(pin, c.repositories(), func(p catalog.PinPart, r string) bool { return p.Repository == r }) {
		return state{}, plugin.Errorf(plugin.NotFound, "the pin does not belong to the repositories of this source")
	}
	s := state{pin: pin}
	for _, part := range pin {
		t, err := c.commit(ctx, part)
		if err != nil {
			return state{}, err
		}
		if part.Repository == c.repository {
			s.main = t
		} else {
			s.engine, s.engineName = t, part.Repository
		}
	}
	s.rules = s.rewriting()
	return s, nil
}

// Sync implements catalog.Catalog. Without a wanted pin it first asks for the
// newest commit, which costs one small request if nothing changed; the archive
// is only downloaded for a commit that is not in the cache. Listing.Send then
// compares the entries with the cursor.
func (c *Catalog) Sync(ctx context.Context, request catalog.SyncRequest, each func(catalog.SyncStep) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pin := request.Wanted
	if len(pin) == 0 {
		var err error
		if pin, err = c.newest(ctx); err != nil {
			return err
		}
	}
	var listing catalog.Listing
	err := c.sound(ctx, pin, func(s state) error {
		apps, err := c.apps(ctx, s, request.Cursor, len(request.Wanted) == 0)
		if err != nil {
			return err
		}
		entries, err := s.entries(apps)
		listing = catalog.Listing{Pin: pin, Categories: categories(), Entries: entries}
		return err
	})
	if err != nil {
		return err
	}
	return listing.Send(ctx, request.Cursor, each)
}

// sound calls run with the state at a pin. If run fails with an internal error,
// the cache may be damaged. The commits are then dropped and downloaded again,
// and run is called a second time.
func (c *Catalog) sound(ctx context.Context, pin catalog.Pin, run func(state) error) error {
	for try := 0; ; try++ {
		s, err := c.at(ctx, pin)
		if err != nil {
			return err
		}
		err = run(s)
		if err == nil || plugin.KindOf(err) != plugin.Internal || ctx.Err() != nil || try > 0 {
			return err
		}
		c.logger.Warn("the cache is damaged; downloading again", "pin", pin.String(), "because", err.Error())
		for _, part := range pin {
			c.cache.Drop(part.Commit)
		}
	}
}

// Entry implements catalog.Catalog. It describes the entry as it was at the pin
// and stores no pins of apps; only Sync does.
func (c *Catalog) Entry(ctx context.Context, slug string, pin catalog.Pin) (catalog.Entry, error) {
	var entry catalog.Entry
	err := c.sound(ctx, pin, func(s state) error {
		found, ok := s.find(slug)
		if !ok {
			return plugin.Errorf(plugin.NotFound, "the entry does not exist at this pin")
		}
		apps, err := c.apps(ctx, s, "", false)
		if err != nil {
			return err
		}
		entry, err = s.entry(found, apps)
		return err
	})
	return entry, err
}
