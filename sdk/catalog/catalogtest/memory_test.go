package catalogtest_test

import (
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	source := &catalogtest.Memory{}
	source.Add(catalogtest.State{Entries: []catalog.Entry{{Slug: "a", Name: "A"}, {Slug: "b", Name: "B", Description: "the second"}}})
	catalogtest.Run(t, catalogtest.Config{Source: source, CatalogType: (*catalogtest.MemoryCatalog)(nil)})
}
