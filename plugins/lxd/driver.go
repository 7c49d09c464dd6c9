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

// Driver makes hosts of LXD and Incus.
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

// Timing is how long the driver waits for what. Zero values mean the default ones.
type Timing struct {
	// Timeouts are those of one request.
	Timeouts lxdapi.Timeouts
	// Shutdown is how long a guest has to follow a request to shut down or to restart (1 min).
	Shutdown time.Duration
	// Step is how long an operation is waited for before it is followed by events (3 s).
	Step time.Duration
	// Stream is how long a stream of events may take to begin (3 s). The server forgets 5 s after its end what ends meanwhile.
	Stream time.Duration
	// Silence is how long an operation is followed without any answer before the host counts as unreachable (2 min),
	// and how often one that is followed by events is looked at nevertheless.
	Silence time.Duration
	// Retry is the wait between two tries to follow an operation (1 s).
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

// New makes a driver with the waits that fit real hosts.
func New(log hclog.Logger) *Driver { return NewWithTiming(log, Timing{}) }

// NewWithTiming makes a driver with other waits, for tests.
func NewWithTiming(log hclog.Logger, pace Timing) *Driver {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Driver{log: log, pool: lxdapi.NewPool(pace.Timeouts), pace: pace.orDefault(), streams: newStreams(log),
		projects: newOperationProjects()}
}

// Services are what the plugin serves.
func Services(log hclog.Logger) []plugin.Service {
	return []plugin.Service{hypervisor.Service{Driver: New(log), HostType: (*Host)(nil)}}
}

// Open gives a host. The target's connections are shared with all other hosts of the same address and certificate.
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

// Close ends the streams of events, and the connections that no call uses.
func (d *Driver) Close() {
	d.streams.end()
	d.pool.Close()
}
