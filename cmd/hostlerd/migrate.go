package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// migrateCommand returns the command that migrates the database, as serve does
// at its start. The updater runs it before it switches to a new release, so
// that a failed migration leaves the old release in place. With --pin-plugins
// it also pins the plugins of this release: the updater has verified the
// release's signature, which covers them.
func migrateCommand(cfg *Config) *cobra.Command {
	var pin bool
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database to this release",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, log := cmd.Context(), newLogger(*cfg)
			d, err := joinDatabase(ctx, *cfg, log)
			if err != nil {
				return err
			}
			defer d.close()
			have, _, err := d.SchemaVersion(ctx)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "The database is at version %d.\n", have); err != nil || !pin {
				return err
			}
			m, err := newPlugins(*cfg, d.DB, log)
			if err != nil {
				return err
			}
			files, err := m.Shipped()
			if err != nil {
				return err
			}
			return pinPlugins(ctx, cmd, m, files)
		},
	}
	c.Flags().BoolVar(&pin, "pin-plugins", false,
		"pin the plugins in the plugin folder with their current content, as an update does after it verified the release")
	return c
}
