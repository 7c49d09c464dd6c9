package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// migrateCommand does by itself what serve does at its start: for an update, before the old service is stopped.
func migrateCommand(cfg *Config) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to this release",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			d, err := joinDatabase(ctx, *cfg, newLogger(*cfg))
			if err != nil {
				return err
			}
			defer d.close()
			have, _, err := d.Migrated(ctx)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The database is at version %d.\n", have)
			return err
		},
	}
}
