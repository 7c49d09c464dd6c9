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

// Config is the configuration of the service. Each field is a flag, and an
// environment variable with the same name in capitals and the prefix HOSTLER_;
// the flag wins. The service reads no configuration file. A systemd unit or a
// container sets the variables. Settings that can change at run time are in the database
// instead.
//
// check completes the fields after parsing: it fills in defaults that depend on
// other fields and makes all paths absolute.
type Config struct {
	// Listen is the address of the HTTP API, as host:port. A loopback address
	// serves plain HTTP, any other one TLS.
	Listen string
	// DatabaseURL is a PostgreSQL connection string. If empty, the service runs
	// a private PostgreSQL below StateDir. A URL with a password belongs into
	// the environment or a password file, not into a flag: every user of the
	// machine can see flags.
	DatabaseURL string
	// StateDir is the folder for the private PostgreSQL, the self-signed
	// certificate, the setup token and, unless KeyFile names another place, the
	// key file.
	StateDir string
	// KeyFile is the file with the key that encrypts secrets in the database.
	// If empty, check sets it to the systemd credential secret.key
	// (LoadCredential=) if there is one, and otherwise to keys/secret.key in
	// StateDir.
	KeyFile string
	// UploadDir is the folder for uploaded files until they are on their
	// storage. If empty, it is uploads in StateDir. It needs room for the
	// largest upload.
	UploadDir string
	// PluginDir is the folder with the plugins of the release. An update
	// replaces it.
	PluginDir string
	// OwnPluginDir is the folder for plugins that an administrator adds.
	// Updates do not touch it, and it may be missing.
	OwnPluginDir string
	// RefuseWritablePlugins makes the service refuse plugins that its own user
	// could replace: the program, its folder and all folders above must not be
	// writable for it. Without it the service only logs a warning.
	RefuseWritablePlugins bool
	// AllowLoopbackHosts allows hosts at loopback and link-local addresses. It
	// is off by default, because a user could otherwise make the service
	// connect to other programs on its machine or to a cloud's metadata
	// service.
	AllowLoopbackHosts bool
	// TrustedProxies are the networks of the reverse proxies whose X-Forwarded
	// headers are trusted, in the notation of proxy.ParseNetworks. Headers from
	// other addresses are ignored.
	TrustedProxies string
	// BaseURL is the URL of the service for its users, in the notation of
	// proxy.ParseBaseURL. It is empty if the service is reached without a
	// proxy.
	BaseURL string
	// LogLevel is trace, debug, info, warn or error. LogFormat is text or json.
	LogLevel  string
	LogFormat string
	// TLSCert and TLSKey are PEM files for the listener. They are set together;
	// if both are empty, the certificate is self-signed.
	TLSCert string
	TLSKey  string
	// ACME configures the authority that issues the listener's certificates.
	ACME ACME
	// UpdateConfig is the configuration file of the updater; if it does not
	// exist, the service offers no updates. Shape is how the service was
	// installed: package, container or source, or empty to detect it.
	UpdateConfig string
	Shape        string

	// proxy is parsed from TrustedProxies and BaseURL by check.
	proxy proxy.Config
}

// ACME configures certificates from an authority (RFC 8555). It is off if
// Domains is empty.
type ACME struct {
	// Domains are the names in the certificate, separated by commas, in the
	// notation of acme.ParseDomains.
	Domains string
	// Directory is the URL of the authority's directory; empty means Let's
	// Encrypt. CA is a PEM file with the authority that signed the certificate
	// of that server, for a private ACME server.
	Directory, CA string
	Email         string
	// Terms must be "agreed": the administrator confirms the terms of service
	// of the authority with it.
	Terms string
	// BindingID and BindingKeyFile tie the account to an existing one (external
	// account binding): the ID, and a file with the key in base64url.
	BindingID, BindingKeyFile string
	// Listen is an address without TLS, such as :80, for the challenge http-01.
	// It also redirects browsers to the service. If empty, only challenges on
	// the listener with TLS work.
	Listen string

	// domains is parsed from Domains by check.
	domains []string
}

// DefaultConfig returns the configuration without flags and environment
// variables.
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

// defaultStateDir returns the default of StateDir: the folder that systemd
// created (StateDirectory=), /var/lib/hostler for root, and otherwise a folder
// of the user by the XDG base directory specification. It is empty if nothing
// applies; then check asks for a folder.
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

// defaultPluginDir returns the folder plugins beside the running program, so
// that every release uses its own plugins.
func defaultPluginDir() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(program), "plugins")
}

// credentials returns the folder with the credentials of the unit
// (LoadCredential=), or "" without systemd or without credentials.
func credentials() string { return os.Getenv("CREDENTIALS_DIRECTORY") }

// defaultKeyFile returns the systemd credential secret.key if it exists, and
// otherwise a file in the state folder. A credential that cannot be inspected
// is used all the same: because of a temporary fault the service must not
// create a second key and encrypt secrets with it.
func defaultKeyFile(state string) string {
	if dir := credentials(); dir != "" {
		path := filepath.Join(dir, "secret.key")
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return filepath.Join(state, "keys", "secret.key")
}

// keyIsCredential reports whether the key file is a systemd credential. That is
// a read-only copy from the start of the unit, so the key cannot be rotated
// while the service runs.
func (c *Config) keyIsCredential() bool {
	dir := credentials()
	return dir != "" && filepath.Dir(c.KeyFile) == filepath.Clean(dir)
}

// bind adds the flags that fill in the configuration. Their help texts are part
// of the documentation.
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

// variable returns the name of the environment variable of a flag, such as
// HOSTLER_STATE_DIR for state-dir.
func variable(flag string) string {
	return "HOSTLER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets every flag that is not on the command line from its
// environment variable. An empty variable counts as not set, because container
// tools cannot easily remove a variable. All invalid variables are reported at
// once; the errors do not show values, which can be secret.
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

// check validates and completes the configuration. It reports all faults at
// once, so that an administrator does not have to start the service once per
// mistake. It does not look at files or the network.
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

// check validates the ACME settings. given reports whether certificate files
// are configured, which exclude ACME. The error about the directory does not
// show the URL, because it can contain a password.
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
