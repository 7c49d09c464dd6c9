package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
)

// sealed are all columns with encrypted values. A column that is missing here would lose its key by a rotation.
var sealed = []secret.Table{host.Sealed, identity.Sealed, audit.Sealed}

// loadKeys opens the key file, or refuses a database whose key is not there.
func loadKeys(ctx context.Context, cfg Config, d *db.DB) (*secret.Box, error) {
	return secret.Load(ctx, filepath.Join(cfg.StateDir, "keys", "secret.key"), func(ctx context.Context) ([]secret.KeyID, error) {
		return secret.Used(ctx, d.Pool, sealed)
	})
}

func keysCommand(cfg *Config) *cobra.Command {
	keys := &cobra.Command{Use: "keys", Short: "The key of the secrets in the database"}
	keys.AddCommand(&cobra.Command{
		Use:   "rotate",
		Short: "Make a new key and seal every secret anew; works beside the running service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := newLogger(*cfg)
			report, err := rotateKeys(cmd.Context(), *cfg, log)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "New key %s. Back up %s.\n", report.Primary, filepath.Join(cfg.StateDir, "keys"))
			return err
		},
	})
	return keys
}

func rotateKeys(ctx context.Context, cfg Config, log hclog.Logger) (secret.Report, error) {
	d, err := joinDatabase(ctx, cfg, log)
	if err != nil {
		return secret.Report{}, err
	}
	defer d.close()
	box, err := loadKeys(ctx, cfg, d.DB)
	if err != nil {
		return secret.Report{}, err
	}
	report, err := box.Rotate(ctx, secret.Rotation{DB: d.DB, Tables: sealed, Logger: log.Named("keys")})
	return report, errors.Join(err, recordRotation(ctx, d.DB, report, err))
}

// recordRotation puts a rotation into the trail, one that was broken off too: it has changed the key file.
func recordRotation(ctx context.Context, d *db.DB, report secret.Report, rotated error) error {
	if errors.Is(rotated, secret.ErrRotating) {
		return nil
	}
	entry := audit.Entry{
		ActorType: audit.ActorSystem, ActorEmail: "command line", Action: "keys.rotate", TargetKind: "keys", Result: audit.ResultOK,
		Details: map[string]any{"primary": report.Primary.String(), "rewritten": report.Rewritten, "resumed": report.Resumed, "dropped": len(report.Dropped)},
	}
	if rotated != nil {
		entry.Result = audit.ResultFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return audit.Recorder{DB: d}.Record(ctx, entry)
}
