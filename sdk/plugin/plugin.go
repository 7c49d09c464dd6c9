// Package plugin is what all kinds of plugins share: how a plugin process is started and recognised, how it says what it
// serves, how failures travel, and how it notices that its host is gone.
//
// A plugin is a program that the service starts over hashicorp/go-plugin and calls over gRPC on a unix socket with
// mutual TLS. Its main function calls Serve with one Service for each kind that it serves (a hypervisor driver, a
// catalog source, a firewall backend) and never returns while the service lives:
//
//	func main() {
//		logger := plugin.NewLogger()
//		plugin.Serve(plugin.ServeConfig{
//			Logger:   logger,
//			Services: []plugin.Service{hypervisor.Service{Driver: pve.New(logger), HostType: (*pve.Host)(nil)}},
//		})
//	}
//
// Methods return an *Error for whatever the service should tell its users; any other error is Internal. The server that Serve
// makes puts it into the gRPC status, and the client side of each kind gets it back with CallError. A plugin keeps nothing
// that matters: the service may kill it at any time. It gets no environment but what the handshake needs, and no secret but in
// messages.
package plugin

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// ProtocolVersion is the version of what plugin and service say to each other. It changes only when old and new cannot
// talk; additions to the protobuf files do not change it.
const ProtocolVersion = 1

// FilePrefix begins the file name of every plugin program.
const FilePrefix = "hostler-plugin-"

// The kinds of plugins.
const (
	KindHypervisor = "hypervisor"
	KindCatalog    = "catalog"
	KindFirewall   = "firewall"
)

// Kinds lists them.
func Kinds() []string { return []string{KindHypervisor, KindCatalog, KindFirewall} }

// WatchEnv names the environment variable that holds the number of a file descriptor from which the plugin reads: its
// end means that the service is gone. Serve does so by itself.
const WatchEnv = "HOSTLER_PLUGIN_WATCH_FD"

// LevelEnv names the environment variable that holds the level of the service's log, such as "info". NewLogger takes it,
// so that a plugin does not write what the service throws away.
const LevelEnv = "HOSTLER_PLUGIN_LOG_LEVEL"

// Handshake is the magic cookie by which a plugin knows that it was started by the service and not by a person. It is
// no secret and no protection.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		MagicCookieKey:   "HOSTLER_PLUGIN",
		MagicCookieValue: "6f1a0f5e-3f0c-4f43-9a6c-9f6b4a1f1d1e",
	}
}

// Service is one kind that a plugin process serves.
type Service interface {
	// Describe says what is served. It is called once at start and must not use the network.
	Describe(ctx context.Context) (Description, error)
	// Register adds the kind's gRPC services. It is called once, after Describe and before the first call.
	Register(registrar grpc.ServiceRegistrar) error
}

// Description is what a plugin says of one kind that it serves.
type Description struct {
	// Kind is one of the kinds, Name the short name of what is served, such as "pve", Version its own release.
	Kind    string
	Name    string
	Version string
	// Abilities are the optional interfaces that it satisfies, in the words of its kind.
	Abilities []string
	// Scopes tell which abilities each kind of scope has, where the plugin's kind has scopes; nil for the kind's own default.
	Scopes []ScopeAbilities
}

// ScopeAbilities are the abilities that a kind of scope has.
type ScopeAbilities struct {
	// Kind is in the words of the plugin's kind, such as "cluster".
	Kind      string
	Abilities []string
}
