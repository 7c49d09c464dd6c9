package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hostler/hostler/core/acme"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/selfupdate"
)

// Config is everything that the service is told from outside. Each field is a flag, and an environment variable of the
// same name in capitals with HOSTLER_ before it; a flag wins.
type Config struct {
	// Listen is the address of the HTTP API. A loopback address speaks plain HTTP, any other TLS.
	Listen string
	// DatabaseURL is a PostgreSQL connection string; empty runs a private cluster below StateDir. Give one that holds a
	// password in the environment or a password file, not as a flag: flags are seen by every user of the machine.
	DatabaseURL string
	// StateDir holds the private cluster, the certificate, the setup token and, unless KeyFile says otherwise, the key file.
	StateDir string
	// KeyFile is the file with the key of the secrets. check fills in what holds when it is empty: the credential secret.key
	// where systemd gave one (LoadCredential=), else keys/secret.key in StateDir.
	KeyFile string
	// UploadDir is where files wait that are uploaded; empty is uploads in StateDir.
	UploadDir string
	// PluginDir is where the plugins' programs are.
	PluginDir string
	// OwnPluginDir is where an administrator puts further ones, which stay there when an update replaces PluginDir.
	OwnPluginDir string
	// RefuseWritablePlugins runs no plugin that the service's own user could replace: neither program nor folder, nor any
	// folder above, may be writable by it. Without it that is only warned of.
	RefuseWritablePlugins bool
	// AllowLoopbackHosts lets hypervisors be enrolled at loopback and link-local addresses.
	AllowLoopbackHosts bool
	// TrustedProxies are the networks of the reverse proxies that are believed when they tell of their clients, as
	// proxy.ParseNetworks reads them.
	TrustedProxies string
	// BaseURL is where clients find the service, as proxy.ParseBaseURL reads it; empty where it is found without a proxy.
	BaseURL string
	// LogLevel is trace, debug, info, warn or error; LogFormat text or json.
	LogLevel  string
	LogFormat string
	// TLSCert and TLSKey are PEM files for the listener; both empty makes a self-signed certificate.
	TLSCert string
	TLSKey  string
	// ACME is of whom the listener's certificates are asked for.
	ACME ACME
	// UpdateConfig is the updater's configuration; one that is not there means no updates. Shape is how the service was
	// installed: package, container or source; empty for what the machine says.
	UpdateConfig string
	Shape        string

	// proxy is what TrustedProxies and BaseURL say.
	proxy proxy.Config
}

// ACME asks an authority for the listener's certificates where Domains is not empty.
type ACME struct {
	// Domains are names between commas, as acme.ParseDomains reads them.
	Domains string
	// Directory is the authority's URL, Let's Encrypt's when empty, and CA a PEM file with who signs that server's certificate.
	Directory, CA string
	Email         string
	// Terms is "agreed" when the authority's terms of service are.
	Terms string
	// BindingID and BindingKeyFile tie the account to one that the authority has: its id, and a file with the key in base64url.
	BindingID, BindingKeyFile string
	// Listen is an address without TLS for the challenge http-01 and for those who come there; empty for none.
	Listen string

	domains []string
}

// DefaultConfig is what holds when nothing is said.
func DefaultConfig() Config {
	return Config{
		Listen:       "127.0.0.1:8480",
		StateDir:     defaultStateDir(),
		PluginDir:    defaultPluginDir(),
		OwnPluginDir: "/opt/hostler/plugins",
		LogLevel:     "info",
		LogFormat:    "text",

		UpdateConfig: selfupdate.DefaultConfigFile,
	}
}

// defaultStateDir is systemd's folder where it gave one, the system's for root and the user's own otherwise.
func defaultStateDir() string {
	if dir := os.Getenv("STATE_DIRECTORY"); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/var/lib/hostler"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "hostler")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "hostler")
	}
	return ""
}

// defaultPluginDir is the folder plugins beside the running program.
func defaultPluginDir() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(program), "plugins")
}

// credentials is the folder of what systemd gives to the unit by LoadCredential=; empty when it gave nothing.
func credentials() string { return os.Getenv("CREDENTIALS_DIRECTORY") }

// defaultKeyFile is systemd's credential where it gave one, else a file in the state folder. A credential that cannot be
// looked at is taken all the same: another key must not come into use because of a fault.
func defaultKeyFile(state string) string {
	if dir := credentials(); dir != "" {
		path := filepath.Join(dir, "secret.key")
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return filepath.Join(state, "keys", "secret.key")
}

// keyIsCredential reports whether the key file is a credential: a read-only copy from the start of the unit.
func (c *Config) keyIsCredential() bool {
	dir := credentials()
	return dir != "" && filepath.Dir(c.KeyFile) == filepath.Clean(dir)
}

// bind makes the flags that fill in c.
func (c *Config) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.Listen, "listen", c.Listen, "address to listen on; uses TLS unless it is a loopback address")
	flags.StringVar(&c.DatabaseURL, "database-url", c.DatabaseURL,
		"PostgreSQL connection string (default: a private PostgreSQL in the state folder)")
	flags.StringVar(&c.StateDir, "state-dir", c.StateDir,
		"folder for the setup token, the certificate, the private PostgreSQL and, by default, the key")
	flags.StringVar(&c.KeyFile, "key-file", c.KeyFile,
		"file with the key that encrypts secrets (default: systemd's credential secret.key, else keys/secret.key in the state folder)")
	flags.StringVar(&c.UploadDir, "upload-dir", c.UploadDir,
		"folder for uploaded files until they are on their storage (default: uploads in the state folder)")
	flags.StringVar(&c.PluginDir, "plugin-dir", c.PluginDir, "folder with the plugins of the release")
	flags.StringVar(&c.OwnPluginDir, "own-plugin-dir", c.OwnPluginDir, "folder with plugins of your own, which updates do not "+
		"replace; it may be missing")
	flags.BoolVar(&c.RefuseWritablePlugins, "refuse-writable-plugins", c.RefuseWritablePlugins,
		"do not run plugins that the service's own user could replace; without it, only warn")
	flags.BoolVar(&c.AllowLoopbackHosts, "allow-loopback-hosts", c.AllowLoopbackHosts,
		"allow hosts at loopback and link-local addresses")
	flags.StringVar(&c.TrustedProxies, "trusted-proxies", c.TrustedProxies,
		"comma-separated addresses and networks of reverse proxies whose X-Forwarded headers are trusted")
	flags.StringVar(&c.BaseURL, "base-url", c.BaseURL, "URL of the service for its users, such as https://hostler.example.com")
	flags.StringVar(&c.LogLevel, "log-level", c.LogLevel, "log level: trace, debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", c.LogFormat, "log format: text or json")
	flags.StringVar(&c.TLSCert, "tls-cert", c.TLSCert, "PEM file with the TLS certificate (default: self-signed)")
	flags.StringVar(&c.TLSKey, "tls-key", c.TLSKey, "PEM file with the key of the TLS certificate")
	flags.StringVar(&c.ACME.Domains, "acme-domains", c.ACME.Domains,
		"comma-separated names to request certificates for through ACME")
	flags.StringVar(&c.ACME.Directory, "acme-directory", c.ACME.Directory, "URL of the ACME directory (default: Let's Encrypt)")
	flags.StringVar(&c.ACME.CA, "acme-ca", c.ACME.CA,
		"PEM file with the authority that signed the ACME server's own certificate (default: the system's authorities)")
	flags.StringVar(&c.ACME.Email, "acme-email", c.ACME.Email, "email address that the ACME authority contacts about problems")
	flags.StringVar(&c.ACME.Terms, "acme-terms", c.ACME.Terms,
		"set to agreed if you agree to the terms of service of the ACME authority")
	flags.StringVar(&c.ACME.BindingID, "acme-binding-id", c.ACME.BindingID,
		"ID of an existing account at the ACME authority (external account binding)")
	flags.StringVar(&c.ACME.BindingKeyFile, "acme-binding-key-file", c.ACME.BindingKeyFile,
		"file with the key of that account in base64url")
	flags.StringVar(&c.ACME.Listen, "acme-listen", c.ACME.Listen,
		"address without TLS, such as :80, that answers http-01 challenges and redirects all else to the service (default: none)")
	flags.StringVar(&c.UpdateConfig, "update-config", c.UpdateConfig,
		"configuration file of the updater; without this file there are no updates")
	flags.StringVar(&c.Shape, "shape", c.Shape,
		"how the service was installed: package, container or source (default: detected)")
}

// variable returns the name of the environment variable of a flag.
func variable(flag string) string {
	return "HOSTLER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment fills in every flag that was not given from HOSTLER_<NAME>.
func fromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var faults []error
	flags.VisitAll(func(flag *pflag.Flag) {
		name := variable(flag.Name)
		value, there := lookup(name)
		if flag.Changed || !there || value == "" {
			return
		}
		if err := flag.Value.Set(value); err != nil {
			faults = append(faults, fmt.Errorf("%s is not a valid %s", name, flag.Value.Type()))
		}
	})
	return errors.Join(faults...)
}

// check reports every fault of the configuration at once.
func (c *Config) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, port, err := net.SplitHostPort(c.Listen); err != nil {
		fault("listen: %q is not an address like 127.0.0.1:8480", c.Listen)
	} else if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		fault("listen: %q is not a port", port)
	}
	if c.StateDir == "" {
		fault("state-dir: no default is available here; set a folder")
	} else if abs, err := filepath.Abs(c.StateDir); err != nil {
		fault("state-dir: %w", err)
	} else {
		c.StateDir = abs
	}
	if c.KeyFile == "" {
		c.KeyFile = defaultKeyFile(c.StateDir)
	} else if abs, err := filepath.Abs(c.KeyFile); err != nil {
		fault("key-file: %w", err)
	} else {
		c.KeyFile = abs
	}
	if c.UploadDir == "" {
		c.UploadDir = filepath.Join(c.StateDir, "uploads")
	} else if abs, err := filepath.Abs(c.UploadDir); err != nil {
		fault("upload-dir: %w", err)
	} else {
		c.UploadDir = abs
	}
	if c.PluginDir == "" {
		fault("plugin-dir: no default is available here; set a folder")
	} else if abs, err := filepath.Abs(c.PluginDir); err != nil {
		fault("plugin-dir: %w", err)
	} else {
		c.PluginDir = abs
	}
	if c.OwnPluginDir != "" {
		if abs, err := filepath.Abs(c.OwnPluginDir); err != nil {
			fault("own-plugin-dir: %w", err)
		} else {
			c.OwnPluginDir = abs
		}
	}
	var err error
	if c.proxy.Trusted, err = proxy.ParseNetworks(c.TrustedProxies); err != nil {
		fault("trusted-proxies: %w", err)
	}
	if c.proxy.BaseURL, err = proxy.ParseBaseURL(c.BaseURL); err != nil {
		fault("base-url: %w", err)
	}
	switch c.LogLevel {
	case "trace", "debug", "info", "warn", "error":
	default:
		fault("log-level: %q is not one of trace, debug, info, warn, error", c.LogLevel)
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		fault("log-format: %q is neither text nor json", c.LogFormat)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		fault("tls-cert and tls-key must be set together")
	}
	c.ACME.check(c.TLSCert != "", fault)
	if abs, err := filepath.Abs(c.UpdateConfig); err != nil {
		fault("update-config: %w", err)
	} else {
		c.UpdateConfig = abs
	}
	if _, err := selfupdate.ParseShape(c.Shape); err != nil {
		fault("shape: %w", err)
	}
	return errors.Join(faults...)
}

// check reports what is wrong with it.
func (a *ACME) check(given bool, fault func(format string, args ...any)) {
	var err error
	if a.domains, err = acme.ParseDomains(a.Domains); err != nil {
		fault("acme-domains: %w", err)
		return
	}
	if len(a.domains) == 0 {
		if a.Listen != "" {
			fault("acme-listen requires acme-domains")
		}
		return
	}
	if given {
		fault("tls-cert and acme-domains exclude each other: set only one of them")
	}
	if a.Terms != "agreed" {
		fault("acme-terms: read the terms of service of the authority, and set \"agreed\"")
	}
	if a.Directory != "" {
		if u, err := url.Parse(a.Directory); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			fault("acme-directory: set an address such as %s", acme.DefaultDirectory) // it may have a password
		}
	}
	if a.Email != "" {
		if _, err := mail.ParseAddress(a.Email); err != nil {
			fault("acme-email: %q is not an address", a.Email)
		}
	}
	if (a.BindingID == "") != (a.BindingKeyFile == "") {
		fault("acme-binding-id and acme-binding-key-file must be set together")
	}
	if a.Listen != "" {
		if _, _, err := net.SplitHostPort(a.Listen); err != nil {
			fault("acme-listen: %q is not an address like :80", a.Listen)
		}
	}
}
