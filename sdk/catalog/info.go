package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/sdk/plugin"
)

// Describe asks a source for its Info and completes it for catalogs of a type, which may be a typed nil. An Info that makes no sense is an
// error.
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

func (info Info) check() error {
	if !isLine(info.Title) || !isText(info.Trust) {
		return errors.New("its title or what it says of trust is too long, or not text")
	}
	if len(info.Options) > maxList {
		return fmt.Errorf("it has %d options", len(info.Options))
	}
	return checkOptions(info.Options)
}

func (info Info) description() plugin.Description {
	return plugin.Description{Kind: plugin.KindCatalog, Name: info.Name, Version: info.Version, Abilities: info.Abilities}
}
