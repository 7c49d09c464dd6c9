package main

import (
	"log/slog"
	"os"
	"runtime"

	"github.com/hostler/hostler/updater"
	"github.com/hostler/hostler/updater/installation"
)

// open reads the configuration file and returns the updater that it describes,
// for the architecture of this program. The log goes to standard error, which
// is the journal when systemd starts the program.
func open(path string) (*updater.Updater, installation.Config, error) {
	c, err := installation.ReadConfig(path)
	if err != nil {
		return nil, c, err
	}
	u, err := updater.New(updater.Config{
		Layout: updater.Layout{Prefix: c.Prefix, StateDir: c.StateDir, Keys: c.Keys, Secrets: c.Secrets},
		Source: c.Source, Channel: c.Channel, Architecture: runtime.GOOS + "/" + runtime.GOARCH,
		Database: updater.Database(c.Database), Service: updater.Systemd{Unit: c.Unit}, Ready: c.Ready,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	return u, c, err
}
