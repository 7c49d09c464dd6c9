// Package toy is the driver of the toy hypervisor: what the author of a plugin writes. Read it in this order:
//
//   - driver.go says who we are and opens hosts;
//   - transport.go and client.go are one request: pinned certificate, allowed address, one credential, and errors that people
//     understand;
//   - credential.go checks what people paste, and enrol.go trades a one-time code: both belong to the driver;
//   - host.go holds the two questions that prove an enrolment: release and permissions;
//   - inventory.go and guest.go translate guests, tasks.go and wait.go tasks;
//   - lifecycle.go and snapshot.go are optional interfaces. The others, such as hypervisor.TaskStopper, are left out:
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
	version = "2.0.0"
)

// Driver opens hosts. It keeps connections and nothing else: the service may kill the process at any time.
type Driver struct {
	log hclog.Logger

	mu  sync.Mutex
	way map[endpoint.Target]*http.Transport
}

// A forgotten method should be an error of the compiler. Each file of an optional interface has such a line too.
var (
	_ hypervisor.Driver = (*Driver)(nil)
	_ hypervisor.Host   = (*Host)(nil)
)

// New makes a driver. What it logs ends up in the service's log under the plugin's name.
func New(log hclog.Logger) *Driver {
	return &Driver{log: log, way: map[endpoint.Target]*http.Transport{}}
}

// actions are what guests can do, by their kind: the toy's containers freeze, which not every hypervisor's do.
var actions = []hypervisor.KindActions{
	{Kind: hypervisor.VM, Actions: hypervisor.Actions(hypervisor.VM)},
	{Kind: hypervisor.Container, Actions: append(hypervisor.Actions(hypervisor.Container), hypervisor.Pause, hypervisor.Resume)},
}

// info is all that people are asked and shown before there is a host. Abilities stay empty: plugin.Serve looks at our types. The toy
// has no consoles and no backups, so nobody is asked for credentials for them, and its rights cannot be narrowed: no Scope.
var info = hypervisor.Info{
	Name: name, Version: version, Product: "Toy Hypervisor", DefaultPort: "7443",
	Forms: []hypervisor.CredentialForm{
		{Name: endpoint.FormJoinToken, Label: "Join code", SecretLabel: "Code", OneTime: true},
		{Name: endpoint.FormClientCertificate, Label: "Client certificate", SecretLabel: "Certificate and key (PEM)", Multiline: true},
	},
	Capabilities: []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle},
	Actions:      actions,
}

// Info implements hypervisor.Driver.
func (d *Driver) Info(context.Context) (hypervisor.Info, error) { return info, nil }

// Open implements hypervisor.Driver. The service opens a host for each call, with the one credential that the call
// needs, so nothing may be asked of the network here.
func (d *Driver) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	c, err := d.client(target)
	if err != nil {
		return nil, err
	}
	return &Host{client: c}, nil
}

// Host is one toy hypervisor seen through one certificate.
type Host struct{ client client }

// Close implements hypervisor.Host. The connections are the driver's.
func (h *Host) Close() error { return nil }
