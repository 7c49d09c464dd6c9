package lxd

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Name is the driver's name.
const Name = "lxd"

// Driver opens hosts of LXD and Incus. It is safe for concurrent use. Close
// releases its connections.
type Driver struct {
	log      hclog.Logger
	pool     *lxdapi.Pool
	pace     Timing
	streams  *streams
	projects *operationProjects
}

var (
	_ hypervisor.Driver            = (*Driver)(nil)
	_ hypervisor.RoleScriptWriter  = (*Driver)(nil)
	_ hypervisor.RoleOutputReader  = (*Driver)(nil)
	_ hypervisor.CertificateReader = (*Driver)(nil)
	_ hypervisor.CredentialReader  = (*Driver)(nil)
	_ hypervisor.Enroller          = (*Driver)(nil)
)

// Timing is how long the driver waits. Zero values mean the defaults.
type Timing struct {
	// Timeouts are those of one request.
	Timeouts lxdapi.Timeouts
	// Shutdown is how long a guest may take to shut down or to restart (1 min).
	Shutdown time.Duration
	// Step is how long WaitTask waits at the server before it follows events (3
	// s).
	Step time.Duration
	// Stream is how long an event stream may take to open (3 s). It must be
	// shorter than the 5 s after which the server forgets an operation that
	// ended meanwhile.
	Stream time.Duration
	// Silence is how long an operation is followed without any answer before
	// the host counts as unreachable (2 min). An operation that is followed by
	// events is also read once in this time.
	Silence time.Duration
	// Retry is the time between two attempts to reach the host (1 s).
	Retry time.Duration
}

// orDefault returns the timing with defaults in place of zero values.
func (p Timing) orDefault() Timing {
	if p.Shutdown == 0 {
		p.Shutdown = time.Minute
	}
	if p.Step == 0 {
		p.Step = 3 * time.Second
	}
	if p.Stream == 0 {
		p.Stream = 3 * time.Second
	}
	if p.Silence == 0 {
		p.Silence = 2 * time.Minute
	}
	if p.Retry == 0 {
		p.Retry = time.Second
	}
	return p
}

// New returns a driver with the default timing. A nil logger drops all
// messages.
func New(log hclog.Logger) *Driver { return NewWithTiming(log, Timing{}) }

// NewWithTiming returns a driver with another timing, for tests.
func NewWithTiming(log hclog.Logger, pace Timing) *Driver {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Driver{log: log, pool: lxdapi.NewPool(pace.Timeouts), pace: pace.orDefault(), streams: newStreams(log),
		projects: newOperationProjects()}
}

// Services returns what the plugin hostler-plugin-lxd serves.
func Services(log hclog.Logger) []plugin.Service {
	return []plugin.Service{hypervisor.Service{Driver: New(log), HostType: (*Host)(nil)}}
}

// Open implements hypervisor.Driver. It sends nothing. Hosts with the same
// address, pin and certificate share their connections.
func (d *Driver) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	api, err := d.pool.NewClient(target)
	if err != nil {
		return nil, err // and no typed nil
	}
	return &Host{
		api: api, pool: d.pool, target: target, pace: d.pace, streams: d.streams, projects: d.projects,
		log: d.log.With("address", target.Address, "capability", string(target.Credential.Capability)),
	}, nil
}

// Close ends the event streams and waits for them, and closes idle connections.
// Calls in progress continue.
func (d *Driver) Close() {
	d.streams.end()
	d.pool.Close()
}
