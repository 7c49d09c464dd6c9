// Command hostlerd is the service of Hostler. hostlerd serve runs the HTTP API,
// the polls of the hosts, the job queue and the plugins. The other commands
// work on the same configuration and database, and most can run beside the
// service: migrate, owner, keys, plugin and audit.
//
// The start of the service is in serve.go, which calls open (server.go) to put
// the parts together; package core/service contains the parts themselves. This
// package only knows the process: flags, files, signals, the listener, the
// private PostgreSQL and systemd.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
)

// version is the version of the release. The linker sets it with -X.
var version = "dev"

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "hostlerd:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode returns the exit status of an error: exitFinding for the result of a
// check, and 1 for everything else.
func exitCode(err error) int {
	var found finding
	if errors.As(err, &found) {
		return exitFinding
	}
	return 1
}

// command returns the tree of commands. All of them share the flags of Config,
// read the environment and validate the configuration before they run, except
// version and commands that only print help.
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

// refuseUnknown makes a command that only groups others fail for an unknown
// word. cobra does that only for the root command; below it prints the help and
// succeeds, which a script would take for success.
func refuseUnknown(group *cobra.Command) {
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	}
}

// newLogger returns the root logger of the service. It writes to standard
// error, which systemd and containers collect.
func newLogger(cfg Config) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name:       "hostlerd",
		Level:      hclog.LevelFromString(cfg.LogLevel),
		Output:     os.Stderr,
		JSONFormat: cfg.LogFormat == "json",
	})
}
