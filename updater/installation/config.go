package installation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// DefaultConfig is where the package puts the configuration file.
const DefaultConfig = "/etc/hostler/updater.json"

// Config is the configuration file. Whoever can write it decides what runs as root.
type Config struct {
	// Prefix holds the releases, StateDir the updater's journal and backups, Keys the trusted public keys.
	Prefix   string `json:"prefix"`
	StateDir string `json:"state_dir"`
	Keys     string `json:"keys"`
	// Secrets are files of the service that a backup copies beside the database.
	Secrets []string `json:"secrets"`
	// Request is the file by which the service asks for an update.
	Request string `json:"request"`
	// Source is where releases are published and Channel the stream that is followed. Without both nobody looks for any.
	Source  string `json:"source"`
	Channel string `json:"channel"`
	// Unit is the service's unit of systemd and Ready the address of its /readyz.
	Unit     string   `json:"unit"`
	Ready    string   `json:"ready"`
	Database Database `json:"database"`
}

// Database is how the updater reaches the service's database.
type Database struct {
	// Host is the folder of the unix socket, or an address.
	Host string `json:"host"`
	Port int    `json:"port"`
	// Name is the database, Owner the role that owns it and all in it, Admin a role that may create and rename databases.
	Name  string `json:"name"`
	Owner string `json:"owner"`
	Admin string `json:"admin"`
	// OwnerUser and AdminUser are the system users to be for peer authentication; "" for the one that runs the updater.
	OwnerUser string `json:"owner_user"`
	AdminUser string `json:"admin_user"`
}

// PackageConfig is the layout of the Debian package; the file only says what differs.
func PackageConfig() Config {
	return Config{
		Prefix: "/opt/hostler", StateDir: "/var/lib/hostler-updater", Keys: "/etc/hostler/release-keys",
		Secrets: []string{"/etc/hostler/keys/secret.key"}, Request: "/var/lib/hostler/update-request.json",
		Unit: "hostler.service", Ready: "http://127.0.0.1:8480/readyz",
		Database: Database{Host: "/run/postgresql", Port: 5432, Name: "hostler", Owner: "hostler", Admin: "postgres",
			OwnerUser: "hostler", AdminUser: "postgres"},
	}
}

// HasSource reports whether releases are looked for.
func (c *Config) HasSource() bool { return c.Source != "" && c.Channel != "" }

// maxConfig bounds the file, in bytes.
const maxConfig = 64 << 10

// ReadConfig reads the file. It must belong to root or to the user who runs this, and nobody else may write it. One that
// is not there is fs.ErrNotExist.
func ReadConfig(path string) (Config, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Config{}, fmt.Errorf("opening the configuration: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Config{}, fmt.Errorf("checking the configuration: %w", err)
	}
	if err := checkConfig(path, info); err != nil {
		return Config{}, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	c := PackageConfig()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return Config{}, fmt.Errorf("reading the configuration %s: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("reading the configuration %s: it is more than one JSON value", path)
	}
	return c, nil
}

func checkConfig(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s is writable by users other than its owner (mode %04o)", path, mode)
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to user id %d and not to root", path, uid)
	}
	return nil
}
