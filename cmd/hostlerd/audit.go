package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/core/audit"
)

// exitFinding is the exit status of a check that was performed and found
// something wrong. A check that could not be performed exits with 1, like any
// failed command, so monitoring can tell the two apart.
const exitFinding = 2

// finding is what a check found, as an error. main turns it into exitFinding.
type finding string

// Error returns the text of the finding.
func (f finding) Error() string { return string(f) }

// auditCommand groups the commands for the audit log. Its only command verifies
// the hash chain of the log and can run beside the service. An empty log is a
// finding too: the first start writes an entry, and so does clearing the log,
// so only somebody with access to the database can have removed all of them.
func auditCommand(cfg *Config) *cobra.Command {
	trail := &cobra.Command{Use: "audit", Short: "The audit log"}
	trail.AddCommand(&cobra.Command{
		Use:   "verify",
		Short: "Check whether entries of the audit log were altered, removed or reordered; works while the service runs",
		Long: "Verify checks the hash chain of the audit log and reports the first row that does not match. It needs the key file.\n\n" +
			"It cannot detect changes before a row enters the chain (about a quarter of a second after it is written), rows that\n" +
			"someone adds in the same way as the service, changes by someone who also has the key file, or a whole database that\nwas " +
			"restored to an earlier state. To detect the latter, record the last row and its hash elsewhere.\n\nThe exit status is 0 if " +
			"the log is intact, 2 if it was changed or is empty, and 1 if it could not be checked: the\ndatabase cannot be reached, or " +
			"the key file does not exist.\n\nA log that was changed keeps failing the check until an owner clears all of it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := verifyTrail(cmd.Context(), *cfg)
			if err != nil {
				return err
			}
			if b := report.Break; b != nil {
				return finding(fmt.Sprintf("the audit log was tampered with: %s; %d rows before it are intact, %d were cleared", b.Text,
					report.Verified, report.Cleared))
			}
			if report.Verified+report.Cleared+report.Unsealed == 0 {
				// The first start leaves a row already, and so does clearing.
				return finding("the audit log is empty: either someone removed all entries, or the service has never used this database")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(),
				"The audit log is intact: %d rows verified, %d cleared, %d not sealed yet; the last is row %d with hash %s.\n",
				report.Verified, report.Cleared, report.Unsealed, report.Seq, report.Hash)
			return err
		},
	})
	return trail
}

// verifyTrail verifies the hash chain of the audit log. It needs the key file,
// because the chain is keyed: somebody who can only write to the database
// cannot forge it.
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
