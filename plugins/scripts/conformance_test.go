package scripts_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	server.Push(scriptstest.Small())
	changes := 0
	catalogtest.Run(t, catalogtest.Config{
		Source: scripts.New(hclog.NewNullLogger()), CatalogType: (*scripts.Catalog)(nil), Catalog: server.Config(),
		Change: func(*testing.T) {
			changes++
			files := scriptstest.Small()
			server.Push(files.With("install/second-install.sh", fmt.Sprintf("apt install -y second # %d\n", changes)))
		},
	})
}
