// Package firewall is what the author of a firewall backend sees of Hostler.
//
// A Backend runs in a process of its own. The service opens a Firewall for each call: an endpoint, how its certificate is
// checked, and the one credential that the call's capability needs. A backend keeps nothing that matters between calls. What
// a firewall can do is an optional interface each, listed in ability.go.
//
// Errors: every method returns a *plugin.Error for whatever the service should tell its users; any other error is Internal.
package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// Backend opens firewalls. Its methods may be called at the same time.
type Backend interface {
	// Info describes the backend. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open gives the firewall at the target. It must be cheap and must not use the network. The caller closes it.
	Open(ctx context.Context, target endpoint.Target) (Firewall, error)
}

// Info is what a backend says of itself: its short name, such as "pve", and its own release.
type Info struct {
	Name    string
	Version string
}

// Firewall is one endpoint's firewall seen through one credential. Its methods may be called at the same time.
type Firewall interface {
	// Close releases what the firewall holds. It is called once, after the last call has returned.
	Close() error
}
