// Package plugin contains what all kinds of plugins share: how a plugin process is
// started and recognised, how it describes itself, how failures travel, and how it
// notices that the service is gone.
//
// A plugin is a program that the service starts through hashicorp/go-plugin and calls
// over gRPC, on a unix socket with mutual TLS. It serves one or more kinds: a
// hypervisor driver (package hypervisor), a catalog source (package catalog) or a
// firewall backend (package firewall). The contract of each kind is in its package.
// This package knows none of them.
//
// Its main function calls Serve with one Service for each kind. Serve does not return
// while the service lives:
//
//	func main() {
//		logger := plugin.NewLogger()
//		plugin.Serve(plugin.ServeConfig{
//			Logger: logger,
//			Services: []plugin.Service{
//				hypervisor.Service{Driver: mydriver.New(logger), HostType: (*mydriver.Host)(nil)},
//			},
//		})
//	}
//
// # Main types
//
// In the plugin, Serve registers each Service with a gRPC server. In the service,
// Connect returns the Connection to a started process, and the client of each kind
// (such as hypervisor.NewClient) works on top of it.
//
// An optional interface of a kind is an Ability. The table Abilities registers the
// gRPC services of those that the plugin implements and reports their names in the
// Description. On the service's side ReportedAbilities remembers the Description, and As answers
// whether the plugin has an ability.
//
// # Errors
//
// Methods return an *Error for a failure that the service should report to its users.
// Any other error becomes Internal. The server puts the Error into the gRPC status,
// and the client gets it back with CallError. The cause of an Error stays in the
// plugin; only the plugin's log shows it. The secrets of a failed request are removed
// from every text that leaves the plugin, see HideSecrets.
//
// A process that died is not an error of the endpoint. Calls to it fail with ErrGone,
// and the call may or may not have been carried out.
//
// # Life cycle
//
// A plugin must not keep state that matters: the service may kill it at any time and
// start it again. The process gets no environment other than what the handshake needs,
// and gets secrets only in messages. It ignores SIGTERM, because the service manager
// signals the whole process group, and the service needs its plugins while it stops.
// It ends when the service closes the pipe whose file descriptor WatchEnv names.
//
// # Versions
//
// ProtocolVersion changes only if old and new programs cannot talk to each other. New
// methods and fields in the protobuf files do not change it: an old plugin answers an
// unknown method with Unsupported.
package plugin
