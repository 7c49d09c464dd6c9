// Package toy is the driver of the toy hypervisor: what the author of a plugin writes. Read it in this order:
//
//   - driver.go says who we are and opens hosts;
//   - client.go is one request: pinned certificate, allowed address, one token, and errors that people understand;
//   - host.go holds the two questions that prove an enrolment: release and permissions;
//   - inventory.go and guest.go translate guests, tasks.go and wait.go tasks;
//   - lifecycle.go is an optional interface. The others, such as hypervisor.TaskStopper, are left out:
//     the service learns it from Info and answers "unsupported" without asking us.
//
// The toy's own words (up, down, frozen; kill, freeze, thaw) end in this package.
package toy

import (
	"context"
	"net/http"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// name is how the service knows the driver: lower-case letters, digits, "-" and "_".
	name = "toy"
	// version is the driver's own release. It is pinned with the program, so a new program may bring a new one.
	version = "1.0.0"
)

// Driver opens hosts. It keeps connections and nothing else: the service may kill the process at any time.
type Driver struct {
	log hclog.Logger

	mu  sync.Mutex
	way map[endpoint.Target]*http.Transport // the credential is left out of the key
}

var _ hypervisor.Driver = (*Driver)(nil)

// New makes a driver. What it logs ends up in the service's log under the plugin's name.
func New(log hclog.Logger) *Driver {
	return &Driver{log: log, way: map[endpoint.Target]*http.Transport{}}
}

// Info implements hypervisor.Driver. Abilities stay empty: plugin.Serve looks at our types. What else is left out is usual: an
// API token with an id, and what guests can do. The toy has no consoles and no backups, so nobody is asked for tokens for them.
func (d *Driver) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{
		Name: name, Version: version, Product: "Toy Hypervisor",
		Capabilities: []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle},
	}, nil
}

// Open implements hypervisor.Driver. The service opens a host for each call, with the one credential that the call
// needs, so nothing may be asked of the network here.
func (d *Driver) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	transport, err := d.transport(target)
	if err != nil {
		return nil, err
	}
	// Never log target.Credential.Secret. It would print as "[secret]", but why try.
	log := d.log.With("address", target.Address, "capability", string(target.Credential.Capability))
	return &Host{client: client{target: target, transport: transport, log: log}}, nil
}

// Host is one toy hypervisor seen through one token.
type Host struct{ client client }

// A forgotten method should be an error of the compiler.
var (
	_ hypervisor.Host       = (*Host)(nil)
	_ hypervisor.Lifecycler = (*Host)(nil)
)

// Close implements hypervisor.Host. The connections are the driver's.
func (h *Host) Close() error { return nil }
