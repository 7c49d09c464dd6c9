package folder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"

	"example.com/hostler-plugin-catalog-folder/folder"
)

func TestConformance(t *testing.T) {
	dir, changes := t.TempDir(), 0
	write := func(t *testing.T, name, content string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, slug := range []string{"one", "two"} {
		write(t, slug+"/app.json", `{"name":"App `+slug+`","description":"The smallest app."}`)
		write(t, slug+"/install.sh", "echo \"making $NAME on $STORAGE\"\necho all done\n")
	}
	catalogtest.Run(t, catalogtest.Config{
		Source: folder.Source{}, CatalogType: (*folder.Catalog)(nil), Catalog: catalog.Config{Options: map[string]string{"folder": dir}},
		Change: func(t *testing.T) {
			changes++
			write(t, "two/install.sh", fmt.Sprintf("echo all done # %d\n", changes))
		},
	})
}
