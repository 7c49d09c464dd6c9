package plugin

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// ProtocolVersion is the version of the protocol between plugin and service. It
// changes only if old and new programs cannot talk to each other. Additions to the
// protobuf files do not change it.
const ProtocolVersion = 1

// FilePrefix is the beginning of the file name of every plugin program.
const FilePrefix = "hostler-plugin-"

// The kinds of plugins.
const (
	KindHypervisor = "hypervisor"
	KindCatalog    = "catalog"
	KindFirewall   = "firewall"
)

// Kinds returns all kinds of plugins.
func Kinds() []string { return []string{KindHypervisor, KindCatalog, KindFirewall} }

// WatchEnv is the environment variable with the number of a file descriptor that
// the plugin reads from. End of file means that the service is gone. Serve reads
// it; plugin authors need not.
const WatchEnv = "HOSTLER_PLUGIN_WATCH_FD"

// LevelEnv is the environment variable with the level of the service's log, such as
// "info". NewLogger uses it, so that a plugin does not write lines that the service
// drops.
const LevelEnv = "HOSTLER_PLUGIN_LOG_LEVEL"

// Handshake returns the magic cookie by which a plugin recognises that the service
// started it, and not a person. It is not a secret and protects nothing.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		MagicCookieKey:   "HOSTLER_PLUGIN",
		MagicCookieValue: "6f1a0f5e-3f0c-4f43-9a6c-9f6b4a1f1d1e",
	}
}

// Service is one kind that a plugin process serves. The packages of the kinds
// implement it.
type Service interface {
	// Describe returns what is served. It is called once at start and must not use
	// the network.
	Describe(ctx context.Context) (Description, error)
	// Register registers the gRPC services of the kind. It is called once, after
	// Describe and before the first call.
	Register(registrar grpc.ServiceRegistrar) error
}

// Description describes one kind that a plugin serves.
type Description struct {
	// Kind is one of the kinds. Name is the short name of what is served, such as
	// "pve", and Version is its release.
	Kind    string
	Name    string
	Version string
	// Abilities are the names of the optional interfaces that it implements, as the
	// package of the kind defines them.
	Abilities []string
	// Scopes list the abilities of each kind of scope, for kinds of plugins that
	// have scopes. Nil means that every scope has all Abilities.
	Scopes []ScopeAbilities
}

// ScopeAbilities are the abilities of one kind of scope.
type ScopeAbilities struct {
	// Kind is the kind of scope, such as "cluster". The package of the plugin's
	// kind defines them.
	Kind      string
	Abilities []string
}
