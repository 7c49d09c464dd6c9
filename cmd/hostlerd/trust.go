package main

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
)

// trustInstalled pins the plugins in the folder of the release when a database
// is used for the first time: whoever installed the service put them there.
// Afterwards a changed file does not run until somebody pins it, or the updater
// does. A file that cannot be pinned is logged and skipped, so that one bad
// file does not prevent the start. The folder for own plugins is never pinned
// automatically.
func trustInstalled(ctx context.Context, d *db.DB, plugins *plugin.Manager, log hclog.Logger) error {
	pins, err := plugin.NewStore(d).List(ctx)
	if err != nil || len(pins) > 0 {
		return err
	}
	files, err := plugins.Shipped()
	if err != nil {
		return err
	}
	for _, file := range files {
		added, err := plugins.Pin(ctx, file, "first start")
		if err != nil {
			// One bad file must not keep the others and the service from starting.
			log.Error("a plugin was not pinned", "file", file, "error", err)
			continue
		}
		for _, pin := range added {
			log.Warn("pinned a plugin at first start", "kind", pin.Kind, "name", pin.Name, "version", pin.Version, "sha256", pin.SHA256)
		}
	}
	return nil
}
