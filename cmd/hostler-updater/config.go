package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"

	"github.com/hostler/hostler/updater"
)

const defaultConfig = "/etc/hostler/updater.json"

// config is the configuration file. Whoever can write it decides what runs as root.
type config struct {
	Prefix   string   `json:"prefix"`
	StateDir string   `json:"state_dir"`
	Keys     string   `json:"keys"`
	Secrets  []string `json:"secrets"`
	Request  string   `json:"request"`
	Source   string   `json:"source"`
	Channel  string   `json:"channel"`
	Unit     string   `json:"unit"`
	Ready    string   `json:"ready"`
	Database struct {
		Host      string `json:"host"`
		Port      int    `json:"port"`
		Name      string `json:"name"`
		Owner     string `json:"owner"`
		Admin     string `json:"admin"`
		OwnerUser string `json:"owner_user"`
		AdminUser string `json:"admin_user"`
	} `json:"database"`
}

// installed is the layout of a Debian package; the file only says what differs.
func installed() config {
	c := config{
		Prefix: "/opt/hostler", StateDir: "/var/lib/hostler-updater", Keys: "/etc/hostler/release-keys",
		Secrets: []string{"/var/lib/hostler/keys/secret.key"}, Request: "/var/lib/hostler/update-request.json",
		Channel: "stable", Unit: "hostler.service", Ready: "http://127.0.0.1:8480/readyz",
	}
	c.Database.Host, c.Database.Port, c.Database.Name = "/run/postgresql", 5432, "hostler"
	c.Database.Owner, c.Database.Admin = "hostler", "postgres"
	c.Database.OwnerUser, c.Database.AdminUser = "hostler", "postgres"
	return c
}

// readConfig reads the file. It must belong to root or to the user who runs this, and nobody else may write it.
func readConfig(path string) (updater.Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return updater.Config{}, fmt.Errorf("looking for the configuration: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 || info.Mode().Type() != fs.FileMode(0) {
		return updater.Config{}, fmt.Errorf("%s may be written by others than its owner (mode %04o), or is no file", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return updater.Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	c := installed()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return updater.Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	if c.Source == "" {
		return updater.Config{}, errors.New("the configuration names no source of releases")
	}
	return updater.Config{
		Layout: updater.Layout{Prefix: c.Prefix, StateDir: c.StateDir, Keys: c.Keys, Secrets: c.Secrets, Request: c.Request},
		Source: c.Source, Channel: c.Channel, Architecture: runtime.GOOS + "/" + runtime.GOARCH,
		Database: updater.Database(c.Database), Service: updater.Systemd{Unit: c.Unit}, Ready: c.Ready,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}, nil
}
