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
		return Info{}, errors.New("a catalog service needs a source and the type of its catalog")
	}
	info, err := source.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("cannot get the info of the source: %w", err)
	}
	info.Abilities = abilities.Names(&server{service: Service{CatalogType: catalogType}})
	if err := info.check(); err != nil {
		return Info{}, fmt.Errorf("the info of the source %.40q is invalid: %w", info.Name, err)
	}
	return info, nil
}

// check validates the texts and options of an Info.
func (info Info) check() error {
	if !isLine(info.Title) || !isText(info.Trust) {
		return errors.New("the title or the trust text is too long or not valid text")
	}
	if len(info.Options) > maxList {
		return fmt.Errorf("too many options: %d", len(info.Options))
	}
	return checkOptions(info.Options)
}

// description returns the part of the Info that all kinds of plugins have.
func (info Info) description() plugin.Description {
	return plugin.Description{Kind: plugin.KindCatalog, Name: info.Name, Version: info.Version, Abilities: info.Abilities}
}
