package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/service"
)

// loadKeys opens the key file. If it does not exist, loadKeys creates it only
// for a database without encrypted secrets; otherwise it returns an error,
// because a new key could not decrypt them.
func loadKeys(ctx context.Context, cfg Config, d *db.DB) (*secret.Box, error) {
	box, err := secret.Load(ctx, cfg.KeyFile, func(ctx context.Context) ([]secret.KeyID, error) {
		return secret.NeededKeys(ctx, d.Pool, service.SealedTables)
	})
	if errors.Is(err, secret.ErrKeyMissing) {
		return nil, fmt.Errorf("%w, or set its path with --key-file", err)
	}
	return box, err
}

// keysCommand groups the commands for the key that encrypts secrets in the
// database: create and rotate. Neither prints a key; they print its ID.
func keysCommand(cfg *Config) *cobra.Command {
	keys := &cobra.Command{Use: "keys", Short: "The key that encrypts the secrets in the database"}
	keys.AddCommand(
		&cobra.Command{
			Use:   "create",
			Short: "Create the key file if it does not exist; needs no database",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				primary, made, err := secret.Create(cfg.KeyFile)
				if err != nil {
					return err
				}
				if !made {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s already exists, with key %s.\n", cfg.KeyFile, primary)
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "Created key %s. Back up %s, separately from the database.\n", primary, cfg.KeyFile)
				return err
			},
		},
		&cobra.Command{
			Use:   "rotate",
			Short: "Create a new key and encrypt all secrets with it; works while the service runs, unless its key is a systemd credential",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if cfg.keyIsCredential() {
					return errCredential(cfg.KeyFile)
				}
				log := newLogger(*cfg)
				report, err := rotateKeys(cmd.Context(), *cfg, log)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(),
					"The new key is %s. Back up %s, and copy it to every other machine with an instance on "+
						"this database.\n", report.Primary, cfg.KeyFile)
				return err
			},
		})
	return keys
}

// errCredential returns the error for rotating a key that is a systemd
// credential. The service only sees a copy, so the original must be rotated
// while the service is stopped.
func errCredential(path string) error {
	return fmt.Errorf("%s is a systemd credential, a read-only copy of the key file from the start of the unit: stop the service, "+
		"rotate the file that LoadCredential= of its unit names (hostlerd keys rotate --key-file FILE), and start the service again", path)
}

// rotateKeys creates a new primary key and encrypts all secrets with it. The
// result is recorded in the audit log even if the rotation failed half-way; a
// repeated call resumes it.
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
	report, err := box.Rotate(ctx, secret.Rotation{DB: d.DB, Tables: service.SealedTables, Logger: log.Named("keys")})
	return report, errors.Join(err, recordRotation(ctx, d.DB, report, err))
}

// recordRotation records a rotation in the audit log. An interrupted rotation
// is recorded too, because it has changed the key file already. A rotation that
// never began is not. It uses a context without the caller's cancelation, so
// that Ctrl-C does not suppress the entry.
func recordRotation(ctx context.Context, d *db.DB, report secret.Report, rotated error) error {
	if errors.Is(rotated, secret.ErrRotating) || errors.Is(rotated, secret.ErrCopyInUse) { // it did not begin
		return nil
	}
	entry := audit.Entry{
		ActorType: audit.ActorSystem, ActorEmail: "command line", Action: "keys.rotate", TargetKind: "keys", Result: audit.ResultOK,
		Details: map[string]any{"primary": report.Primary.String(), "rewritten": report.Rewritten, "resumed": report.Resumed,
			"dropped": len(report.Dropped)},
	}
	if rotated != nil {
		entry.Result = audit.ResultFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return audit.Recorder{DB: d}.Record(ctx, entry)
}
