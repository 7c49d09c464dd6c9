package catalogtest_test

import (
	"strconv"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	source := &catalogtest.Memory{}
	source.SetIcon("icon-of-b", []byte("a picture"))
	states := 0
	change := func(*testing.T) {
		states++
		scripts := map[string]string{"install.sh": "echo all done\n", "update.sh": "echo all done\n", "overlay/clear": "#!/bin/sh\n"}
		changed := map[string]string{"install.sh": "echo all done " + strconv.Itoa(states) + "\n", "overlay/clear": "#!/bin/sh\n"}
		source.Add(catalogtest.State{
			Categories: []catalog.Category{{Key: "tools", Name: "Tools"}},
			Entries: []catalog.Entry{
				{Slug: "a", Name: "A", Updatable: true, Categories: []string{"tools"}},
				{Slug: "b", Name: "B", Icon: "icon-of-b", Overrides: []catalog.Option{{Key: "title", Type: catalog.Line}}},
				{Slug: "gone", Name: "Gone", Removed: "It has a new name.", Successor: "a"},
			},
			Files: map[string]map[string]string{"a": scripts, "b": changed},
		})
	}
	change(t)
	catalogtest.Run(t, catalogtest.Config{Source: source, CatalogType: (*catalogtest.MemoryCatalog)(nil), Change: change})
}
