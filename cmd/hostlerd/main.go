// Command hostlerd is the service: the HTTP API, the poll loop, the jobs, and the plugins that it starts.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
)

// version is set by the linker to the release's version.
var version = "dev"

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "hostlerd:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is 1, unless the error says more.
func exitCode(err error) int {
	var found finding
	if errors.As(err, &found) {
		return exitFinding
	}
	return 1
}

// command is the tree of commands. Every one of them takes the same configuration.
func command() *cobra.Command {
	cfg := DefaultConfig()
	root := &cobra.Command{
		Use:           "hostlerd",
		Short:         "Hostler manages Proxmox VE, LXD and Incus hosts",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == "version" || cmd.HasSubCommands() {
				return nil
			}
			return errors.Join(fromEnvironment(cmd.Flags(), os.LookupEnv), cfg.check())
		},
	}
	cfg.bind(root.PersistentFlags())
	root.AddCommand(serveCommand(&cfg), ownerCommand(&cfg), migrateCommand(&cfg), pluginCommand(&cfg), keysCommand(&cfg), auditCommand(&cfg),
		&cobra.Command{
			Use:   "version",
			Short: "Print the version",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), version)
				return err
			},
		})
	for _, child := range root.Commands() {
		if child.HasSubCommands() {
			refuseUnknown(child)
		}
	}
	return root
}

// refuseUnknown makes a command that only groups others fail on what is none of them, as cobra does for the root alone:
// below it would print the help and succeed.
func refuseUnknown(group *cobra.Command) {
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	}
}

// newLogger is the service's root logger, on standard error.
func newLogger(cfg Config) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name:       "hostlerd",
		Level:      hclog.LevelFromString(cfg.LogLevel),
		Output:     os.Stderr,
		JSONFormat: cfg.LogFormat == "json",
	})
}
