package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
)

// newPlugins returns the manager of the plugins. It starts nothing; the
// commands below only use it to read and pin files.
func newPlugins(cfg Config, d *db.DB, log hclog.Logger) (*plugin.Manager, error) {
	return plugin.New(plugin.Config{
		Dir:    cfg.PluginDir,
		OwnDir: cfg.OwnPluginDir,
		// One user builds and runs when the service is not installed by a package; the manager warns of it.
		AllowWritableDir: !cfg.RefuseWritablePlugins,
		Pins:             plugin.NewStore(d),
		Logger:           log.Named("plugin"),
		StopTimeout:      stopPlugins,
		// A plugin keeps nothing between calls, so a small heap costs only a little more collecting.
		Env: []string{"GOMEMLIMIT=48MiB"},
	})
}

// pluginCommand groups the commands for plugins. A plugin only runs if its file
// has the SHA-256 that is pinned in the database. That protects against a
// replaced file, not against an administrator of the machine.
func pluginCommand(cfg *Config) *cobra.Command {
	root := &cobra.Command{Use: "plugin", Short: "The plugins that are allowed to run, pinned by SHA-256"}
	root.AddCommand(
		&cobra.Command{
			Use:   "list",
			Short: "List the pinned plugins and the files that are not pinned",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return withPlugins(cmd, *cfg, listPlugins)
			},
		},
		&cobra.Command{
			Use:   "pin FILE…",
			Short: "Pin files of the plugin folder with their current content; the running service uses them after its next start",
			Args:  cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return withPlugins(cmd, *cfg, func(ctx context.Context, cmd *cobra.Command, _ *db.DB, m *plugin.Manager) error {
					return pinPlugins(ctx, cmd, m, args)
				})
			},
		},
		&cobra.Command{
			Use:   "verify",
			Short: "Compare every pinned file with its digest",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return withPlugins(cmd, *cfg, verifyPlugins)
			},
		},
	)
	return root
}

// withPlugins opens the database and runs a command on the pins. It starts no
// plugins, except that pinning a file runs it once to read its name and
// version.
func withPlugins(cmd *cobra.Command, cfg Config, run func(context.Context, *cobra.Command, *db.DB, *plugin.Manager) error) error {
	ctx, log := cmd.Context(), newLogger(cfg)
	d, err := joinDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer d.close()
	m, err := newPlugins(cfg, d.DB, log)
	if err != nil {
		return err
	}
	return run(ctx, cmd, d.DB, m)
}

// listPlugins prints the pins, and the files in the plugin folders that are not
// pinned. It does not compare digests; verify does.
func listPlugins(ctx context.Context, cmd *cobra.Command, d *db.DB, m *plugin.Manager) error {
	pins, err := plugin.NewStore(d).List(ctx)
	if err != nil {
		return err
	}
	files, err := m.Discover()
	if err != nil {
		return err
	}
	pinned := map[string]bool{}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tNAME\tVERSION\tFILE\tSHA-256")
	for _, pin := range pins {
		pinned[pin.File] = true
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", pin.Kind, pin.Name, pin.Version, pin.File, pin.SHA256)
	}
	for _, file := range files {
		if !pinned[file] {
			fmt.Fprintf(w, "-\t-\t-\t%s\tnot pinned\n", file)
		}
	}
	return w.Flush()
}

// pinPlugins pins files with their current content and prints the pins. It
// stops at the first file that fails; earlier ones stay pinned. A running
// service uses them after its next start.
func pinPlugins(ctx context.Context, cmd *cobra.Command, m *plugin.Manager, files []string) error {
	for _, file := range files {
		pins, err := m.Pin(ctx, file, "command line")
		if err != nil {
			return fmt.Errorf("pinning %s: %w", file, err)
		}
		for _, pin := range pins {
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s %s is pinned: %s\n", pin.Kind, pin.Name, pin.Version, pin.SHA256)
		}
	}
	return nil
}

// verifyPlugins compares every pinned file with its digest and prints the
// result. It returns an error if at least one file differs or is missing.
func verifyPlugins(ctx context.Context, cmd *cobra.Command, _ *db.DB, m *plugin.Manager) error {
	verdicts, err := m.Verify(ctx)
	if err != nil {
		return err
	}
	bad := 0
	for _, v := range verdicts {
		word := "ok"
		if v.Err != nil {
			word, bad = v.Err.Error(), bad+1
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s): %s\n", v.Pin.Kind, v.Pin.Name, v.Pin.File, word)
	}
	if bad > 0 {
		return errors.New("not all plugins match their pinned digest")
	}
	return nil
}
