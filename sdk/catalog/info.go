package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/sdk/plugin"
)

// Describe reads the Info of a source, adds the abilities of the catalog type
// (which may be a typed nil) and validates the result.
func Describe(ctx context.Context, source Source, catalogType Catalog) (Info, error) {
	if source == nil || catalogType == nil {
		return Info{}, errors.New("a catalog service needs a source and its catalog's type")
	}
	info, err := source.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("asking the source for its info: %w", err)
	}
	info.Abilities = abilities.Names(&server{service: Service{CatalogType: catalogType}})
	if err := info.check(); err != nil {
		return Info{}, fmt.Errorf("what the source %.40q says of itself: %w", info.Name, err)
	}
	return info, nil
}

// check validates the texts and options of an Info.
func (info Info) check() error {
	if !isLine(info.Title) || !isText(info.Trust) {
		return errors.New("its title or what it says of trust is too long, or not text")
	}
	if len(info.Options) > maxList {
		return fmt.Errorf("it has %d options", len(info.Options))
	}
	return checkOptions(info.Options)
}

// description returns the part of the Info that all kinds of plugins have.
func (info Info) description() plugin.Description {
	return plugin.Description{Kind: plugin.KindCatalog, Name: info.Name, Version: info.Version, Abilities: info.Abilities}
}
