package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// migrateCommand does by itself what serve does at its start. With pin it also trusts the plugins of this release, for an
// update: whoever verified the release has verified them with it.
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
