// Command hostler-updater replaces one release of the service by a newer one, and puts the old one back when anything
// fails. It runs as root, started by systemd or by hand.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater"
)

// version is set by the linker to the release's version.
var version = "dev"

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "hostler-updater:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	path := defaultConfig
	root := &cobra.Command{Use: "hostler-updater", Short: "Update Hostler, or put back what was before", Version: version, SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&path, "config", path, "configuration in JSON")
	root.AddCommand(runCommand(&path), resumeCommand(&path), rollbackCommand(&path), statusCommand(&path))
	return root
}

func runCommand(path *string) *cobra.Command {
	var options updater.Options
	var requested bool
	c := &cobra.Command{
		Use:   "run",
		Short: "Install the newest release of the channel",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := readConfig(*path)
			if err != nil {
				return err
			}
			if requested {
				request, err := cfg.Layout.TakeRequest()
				if err != nil || request == nil {
					return err
				}
				options.Request, options.Version = request.ID, request.Version
			}
			u, err := updater.New(cfg)
			if err != nil {
				return err
			}
			return tell(cmd)(u.Run(cmd.Context(), options))
		},
	}
	c.Flags().BoolVar(&options.DryRun, "dry-run", false, "stop before anything changes: after the migrations were tried on a copy")
	c.Flags().StringVar(&options.Version, "version", "", "install only this version")
	c.Flags().BoolVar(&requested, "requested", false, "do what the service's request file asks for, and nothing when there is none")
	return c
}

func resumeCommand(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "Bring an update that was cut off to its end: forward where only the health check is left, and else back",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, err := open(*path)
			if err != nil {
				return err
			}
			return tell(cmd)(u.Resume(cmd.Context()))
		},
	}
}

func rollbackCommand(path *string) *cobra.Command {
	var restore bool
	c := &cobra.Command{
		Use:   "rollback",
		Short: "Take the last update back though it went well",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, err := open(*path)
			if err != nil {
				return err
			}
			return tell(cmd)(u.Revert(cmd.Context(), restore))
		},
	}
	c.Flags().BoolVar(&restore, "restore-database", false, "put the backup from before the update in the database's place; what was written since is lost")
	return c
}

func statusCommand(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Tell how the last run stands",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := readConfig(*path)
			if err != nil {
				return err
			}
			s, err := cfg.Layout.StatusOf()
			if err != nil {
				return err
			}
			if s == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "There was no update yet.")
				return err
			}
			return printStatus(cmd, s)
		},
	}
}

func open(path string) (*updater.Updater, error) {
	cfg, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return updater.New(cfg)
}

// tell prints the end of a run. A run that did not do what it was for is an error, so that systemd sees it.
func tell(cmd *cobra.Command) func(*updater.Result, error) error {
	return func(r *updater.Result, err error) error {
		if err != nil {
			return err
		}
		if r == nil {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "There is nothing to do.")
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: from %s to %s\n", r.Step, r.From, r.To)
		if r.Step != updater.StepDone && r.Reason != nil && !errors.Is(r.Reason, updater.ErrAskedFor) {
			return errors.Join(err, r.Reason)
		}
		return err
	}
}

func printStatus(cmd *cobra.Command, s *updater.Status) error {
	out := cmd.OutOrStdout()
	_, err := fmt.Fprintf(out, "%s: from %s to %s, step %s\n", s.State, s.From, s.To, s.Step)
	if err == nil && s.Reason != "" {
		_, err = fmt.Fprintln(out, s.Reason)
	}
	for _, step := range s.Steps {
		if err == nil && step.EndedAt != nil {
			_, err = fmt.Fprintf(out, "  %-12s %6.1f s\n", step.Step, step.EndedAt.Sub(step.StartedAt).Seconds())
		}
	}
	return err
}
