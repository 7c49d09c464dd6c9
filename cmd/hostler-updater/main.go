// Command hostler-updater replaces a release of the service by a newer one and
// restores the old one if anything fails. It runs as root, started by systemd
// or by hand; the service itself never runs as root, and only asks for an
// update through a request file.
//
// The commands are run (update), install (from a package), resume (after a
// crash), rollback and status. Package updater implements the steps and their
// order.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater"
	"github.com/hostler/hostler/updater/installation"
)

// version is the version of the release. The linker sets it with -X.
var version = "dev"

func main() {
	// Whoever starts it: the service's user must be able to read what is installed.
	syscall.Umask(0o022)
	// A signal ends a run that has changed nothing yet; later it is not heard, and a run comes to its end.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostler-updater:", err)
		os.Exit(1)
	}
}

// command returns the tree of commands. All of them read the same configuration
// file.
func command() *cobra.Command {
	path := installation.DefaultConfig
	root := &cobra.Command{Use: "hostler-updater", Short: "Update Hostler, or restore the previous version", Version: version,
		SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&path, "config", path, "configuration in JSON")
	root.AddCommand(runCommand(&path), installCommand(&path), resumeCommand(&path), rollbackCommand(&path), statusCommand(&path))
	return root
}

// runCommand returns the command that installs the newest release of the
// channel. With --requested it takes the request file of the service instead;
// systemd starts it that way when the file appears.
func runCommand(path *string) *cobra.Command {
	var options updater.Options
	var requested bool
	c := &cobra.Command{
		Use:   "run",
		Short: "Install the newest release of the channel",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, cfg, err := open(*path)
			if err != nil {
				return err
			}
			if requested {
				return runRequested(cmd, u, cfg)
			}
			return tell(cmd)(u.Run(cmd.Context(), options))
		},
	}
	c.Flags().BoolVar(&options.DryRun, "dry-run", false, "stop before anything changes: after the migrations were tried on a copy")
	c.Flags().StringVar(&options.Version, "version", "", "install only this version")
	c.Flags().BoolVar(&requested, "requested", false, "run the update that the service's request file names; do nothing if the file "+
		"does not exist")
	c.MarkFlagsMutuallyExclusive("requested", "version")
	c.MarkFlagsMutuallyExclusive("requested", "dry-run")
	return c
}

// runRequested performs the request of the service. TakeRequest removes the
// file, so a request that fails is not repeated forever. If the run does not
// start, the reason is stored as a refusal in the state folder, because the
// person who requested the update waits for a result in the user interface.
func runRequested(cmd *cobra.Command, u *updater.Updater, cfg installation.Config) error {
	request, err := installation.TakeRequest(cfg.Request)
	if err != nil || request == nil {
		return err
	}
	result, err := u.Run(cmd.Context(), updater.Options{Request: request.ID, Version: request.Version})
	if err != nil {
		refusal := installation.Refusal{At: time.Now().UTC(), Request: request.ID, Version: request.Version, Reason: err.Error()}
		return errors.Join(err, installation.Refuse(cfg.StateDir, refusal))
	}
	return tell(cmd)(result, nil)
}

// installCommand returns the command that package scripts call. A downgrade and
// an offline system (for example an image build, without a running systemd) are
// not errors: the package manager must be able to finish, and the message says
// how to install the release later.
func installCommand(path *string) *cobra.Command {
	var tree string
	var offline bool
	c := &cobra.Command{
		Use:   "install --tree FOLDER",
		Short: "Install the release of a package; if an older release is installed, run all steps of an update",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, _, err := open(*path)
			if err != nil {
				return err
			}
			result, err := u.Install(cmd.Context(), tree, offline)
			if errors.Is(err, updater.ErrDowngrade) || errors.Is(err, updater.ErrOffline) {
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "Hostler was not changed: %v. To install the release later: hostler-updater "+
					"install --tree %s\n", err,
					tree)
				return err
			}
			return settled(cmd, result, err)
		},
	}
	c.Flags().StringVar(&tree, "tree", "", "folder of the release, with the file VERSION")
	c.Flags().BoolVar(&offline, "offline", false, "the service cannot be stopped or started now: keep an older release that is installed")
	_ = c.MarkFlagRequired("tree") // the flag is there
	return c
}

// resumeCommand returns the command that finishes an interrupted update.
// systemd starts it after a run that failed or was interrupted, and repeats it
// until a version of the service runs.
func resumeCommand(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "Finish an interrupted update: complete it if only the health check is left, otherwise roll it back",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, _, err := open(*path)
			if err != nil {
				return err
			}
			result, err := u.Resume(cmd.Context())
			return settled(cmd, result, err)
		},
	}
}

// settled prints the result of a run for callers that only need to know whether
// a healthy version is installed. It returns an error only while there is
// something to resume; a rollback that completed counts as success, with its
// reason on standard error.
func settled(cmd *cobra.Command, result *updater.Result, err error) error {
	told := tell(cmd)(result, err)
	if err == nil && told != nil && result.Step.Final() {
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), told)
		return err
	}
	return told
}

// rollbackCommand returns the command that restores the previous release. With
// --restore-database it also restores the backup from before the update, and
// data written since then is lost.
func rollbackCommand(path *string) *cobra.Command {
	var restore bool
	c := &cobra.Command{
		Use:   "rollback",
		Short: "Roll back the last successful update",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, _, err := open(*path)
			if err != nil {
				return err
			}
			return tell(cmd)(u.Revert(cmd.Context(), restore))
		},
	}
	c.Flags().BoolVar(&restore, "restore-database", false,
		"replace the database with the backup from before the update; data written since then is lost")
	return c
}

// statusCommand returns the command that prints the state of the last run. It
// only reads files and does not need the service.
func statusCommand(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the state of the last run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := installation.ReadConfig(*path)
			if err != nil {
				return err
			}
			s, err := installation.LastStatus(cfg.StateDir)
			if err != nil {
				return err
			}
			if s == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "No updates yet.")
				return err
			}
			return printStatus(cmd, s)
		},
	}
}

// tell prints the result of a run. A run that did not install the release is an
// error, so that systemd marks the unit as failed. A rollback that a person
// requested (ErrRequested) is not.
func tell(cmd *cobra.Command) func(*updater.Result, error) error {
	return func(r *updater.Result, err error) error {
		if err != nil {
			return err
		}
		if r == nil {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "Nothing to do.")
			return err
		}
		if r.From == "" {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s is installed\n", r.Step, r.To)
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: from %s to %s\n", r.Step, r.From, r.To)
		if r.Step != installation.StepDone && r.Reason != nil && !errors.Is(r.Reason, updater.ErrRequested) {
			return errors.Join(err, r.Reason)
		}
		return err
	}
}

// printStatus prints the state, the reason if there is one, and the duration of
// each step that ended.
func printStatus(cmd *cobra.Command, s *installation.Status) error {
	out := cmd.OutOrStdout()
	_, err := fmt.Fprintf(out, "%s: from %s to %s, step %s\n", s.State, s.From, s.To, s.Step)
	if err == nil && s.Reason != "" {
		_, err = fmt.Fprintln(out, s.Reason)
	}
	for _, step := range s.Steps {
		if err == nil && !step.EndedAt.IsZero() {
			_, err = fmt.Fprintf(out, "  %-12s %6.1f s\n", step.Step, step.EndedAt.Sub(step.StartedAt).Seconds())
		}
	}
	return err
}
