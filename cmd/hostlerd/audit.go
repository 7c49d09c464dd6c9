package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/core/audit"
)

// exitFinding is the exit code of a check that was made and found something wrong. That it could not be made is 1, as for every
// command.
const exitFinding = 2

// finding is what a check has found.
type finding string

func (f finding) Error() string { return string(f) }

func auditCommand(cfg *Config) *cobra.Command {
	trail := &cobra.Command{Use: "audit", Short: "The audit trail"}
	trail.AddCommand(&cobra.Command{
		Use:   "verify",
		Short: "Look whether a row of the trail was altered, removed or reordered; works beside the running service",
		Long: "Verify goes along the chain of hashes over the audit trail and names the first row that does not fit. It needs the key " +
			"file.\n\n" +
			"It cannot see a change within the moment before a row got its place in the chain (about a quarter of a second), rows that " +
			"somebody adds as the\n" +
			"service itself does, the work of somebody who has the key file as well, nor a database that was put back as a whole to an earlier " +
			"state:\n" +
			"note the last row and its hash elsewhere to see that.\n\n" +
			"It ends with 0 when the trail is good, with 2 when it is not as it was written or empty, and with 1 when it could not be checked: " +
			"the database\n" +
			"cannot be reached, or the key file is not there.\n\n" +
			"A trail that was changed stays so until an owner clears all of it; what is written afterwards is good again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := verifyTrail(cmd.Context(), *cfg)
			if err != nil {
				return err
			}
			if b := report.Break; b != nil {
				return finding(fmt.Sprintf("the audit trail is not as it was written: %s; %d rows before it are good, %d were cleared", b.Text,
					report.Verified, report.Cleared))
			}
			if report.Verified+report.Cleared+report.Unsealed == 0 {
				// The first start leaves a row already, and so does clearing.
				return finding("the audit trail is empty: either somebody has removed all of it, or the service has never worked with this database")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(),
				"The audit trail is good: %d rows verified, %d cleared, %d not sealed yet; the last is row %d with hash %s.\n",
				report.Verified, report.Cleared, report.Unsealed, report.Seq, report.Hash)
			return err
		},
	})
	return trail
}

func verifyTrail(ctx context.Context, cfg Config) (audit.Report, error) {
	d, err := joinDatabase(ctx, cfg, newLogger(cfg))
	if err != nil {
		return audit.Report{}, err
	}
	defer d.close()
	box, err := loadKeys(ctx, cfg, d.DB)
	if err != nil {
		return audit.Report{}, err
	}
	return audit.NewChain(d.DB, box).Verify(ctx)
}
