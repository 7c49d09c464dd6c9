// Package plugin keeps the installed plugins running: it knows which programs
// the owner pinned, starts each as a process of its own, checks that it is what
// was pinned, watches it, starts it again when it dies, and gives the rest of
// the core drivers that outlive all of that.
//
// A program is started only when it is pinned: registered by kind, name,
// version, file and SHA-256. One process may serve several kinds, and then has
// several pins. The Manager has one supervisor for each file, and the
// supervisor one process at a time. Everything goes over gRPC on a unix socket
// with mutual TLS made for that one process; the process gets none of the
// service's environment, and secrets only in messages.
//
// A plugin that is away makes calls fail fast with sdk/plugin.ErrGone, which
// Problem turns into plugin_unavailable. A plugin process never outlives the
// service, however that ends: the kernel kills it with the thread that started
// it (on Linux), and its own watch on a pipe ends it everywhere.
//
// What the digest does not cover: go-plugin reads the file, compares, and then
// starts it by its path, so that whoever can write to the file or its folder
// between the two gets their program started. This is why folder and file must
// not be writable by anybody but root or the owner who installs plugins (see
// Config.AllowWritableDir).
package plugin

import (
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config is what a Manager needs. Zero values stand for the defaults.
type Config struct {
	// Dir is the folder of the plugins' programs. Only files directly in it
	// whose name begins with "hostler-plugin-" are plugins.
	Dir string
	// OwnDir is a second such folder, for plugins that do not belong to a release of the service: an update replaces Dir. It may be missing.
	// A file in Dir hides one of the same name in OwnDir. Empty is none.
	OwnDir string
	// AllowWritableDir permits a folder and programs that the service's own user, its group or an owner who is not root may
	// write to, and logs a warning: for development, where one user builds and runs. Then the folders above are warned of and
	// not refused either. A folder or program that everybody may write to is never permitted.
	AllowWritableDir bool
	// RunDir is where the sockets' folders are made; empty is the system's
	// temporary folder. Its path must be short: a socket's path has about 100
	// bytes.
	RunDir string
	// Pins is where the registered plugins are.
	Pins PinStore
	// Logger gets the manager's own log and, under each plugin's name, the plugins' logs.
	Logger hclog.Logger
	// Env is the plugins' whole environment besides what the handshake needs,
	// such as "GOMEMLIMIT=64MiB". Never a secret.
	Env []string
	// StartTimeout is how long a plugin may take from its start to its first answer; zero is 10 s.
	StartTimeout time.Duration
	// StopTimeout is how long a plugin may take to end before it is killed; zero is 3 s.
	StopTimeout time.Duration
	// PingInterval is how often a plugin is asked for a sign of life, and
	// PingTimeout how long it may take to give one before it is killed and
	// started again; zeros are 10 s and 5 s.
	PingInterval time.Duration
	PingTimeout  time.Duration
	// CallWait is how long a call waits for a start that is under way
	// before it fails; zero is 900 ms.
	CallWait time.Duration
	// MinBackoff and MaxBackoff bound the wait before a restart. The first
	// restart comes at once, the second after MinBackoff, and the wait doubles
	// until a process has lived for StableTime. Zeros are 1 s, 1 min and 10 s.
	MinBackoff time.Duration
	MaxBackoff time.Duration
	StableTime time.Duration
}

// Errors of starting and pinning. They are in the text of Status.Error too.
var (
	// ErrPath is in the error of a file that breaks a rule of the plugin folder.
	ErrPath = errors.New("not a permitted plugin file")
	// ErrDigest is in the error of a file that is not the one that was pinned.
	ErrDigest = errors.New("the file is not the one that was pinned")
	// ErrMismatch is in the error of a plugin that says something else of
	// itself than what is registered.
	ErrMismatch = errors.New("the plugin is not the registered one")
)

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&c.StartTimeout, 10*time.Second)
	set(&c.StopTimeout, 3*time.Second)
	set(&c.PingInterval, 10*time.Second)
	set(&c.PingTimeout, 5*time.Second)
	set(&c.CallWait, 900*time.Millisecond)
	set(&c.MinBackoff, time.Second)
	set(&c.MaxBackoff, time.Minute)
	set(&c.StableTime, 10*time.Second)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c
}
