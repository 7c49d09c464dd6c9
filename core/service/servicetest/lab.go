package servicetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Lab is a resource beside those of hosts, VMs and apps, with a hypervisor in memory as host 1: the VMs "stopped", "running" and
// "template", and the apps 1, "files", which is stopped, and 2, "wiki", which runs. Its host has tokens for monitoring and lifecycle,
// and there is a team 2. Jobs are enqueued and never begin.
type Lab struct {
	*Resource
	memdriver.Shape
	Cluster *memdriver.Cluster
	// Refs are the guests by the names above. At a hypervisor whose guests are known by name theirs are other ones.
	Refs map[string]hypervisor.GuestRef
	// reads changes what is opened with the monitoring token, and changes what is with that for lifecycle; nil changes nothing.
	reads, changes atomic.Pointer[func(*memdriver.Host) hypervisor.Host]
}

// tokens and certificates are the drivers of a Lab, each with the optional interfaces that those of its shape have.
type (
	tokens struct {
		*memdriver.Driver
		lab *Lab
	}
	certificates struct {
		memdriver.CertificateDriver
		lab *Lab
	}
)

// Open implements hypervisor.Driver.
func (d tokens) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	return d.lab.open(ctx, d.Driver, target)
}

// Open implements hypervisor.Driver.
func (d certificates) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	return d.lab.open(ctx, d.CertificateDriver, target)
}

func (b *Lab) open(ctx context.Context, driver hypervisor.Driver, target endpoint.Target) (hypervisor.Host, error) {
	at, err := driver.Open(ctx, target)
	mem, ok := at.(*memdriver.Host)
	wrap := b.changes.Load()
	if target.Credential.Capability == endpoint.Monitoring {
		wrap = b.reads.Load()
	}
	if err == nil && ok && wrap != nil {
		return (*wrap)(mem), nil
	}
	return at, err
}

// WrapReads changes what is opened with the monitoring token.
func (b *Lab) WrapReads(wrap func(*memdriver.Host) hypervisor.Host) { b.reads.Store(&wrap) }

// WrapChanges changes what is opened with the lifecycle token.
func (b *Lab) WrapChanges(wrap func(*memdriver.Host) hypervisor.Host) { b.changes.Store(&wrap) }

// NewLab makes a Lab of a shape with the resource that register declares.
func NewLab(t *testing.T, shape memdriver.Shape, register func(*op.API, api.Deps), edits ...func(*service.Config)) *Lab {
	t.Helper()
	made, driver := shape.New()
	b := &Lab{Shape: shape, Cluster: driver.Add("pool.mem:9443", memdriver.Spec{Nodes: 2}), Refs: map[string]hypervisor.GuestRef{}}
	var served hypervisor.Driver = tokens{driver, b}
	if certified, is := made.(memdriver.CertificateDriver); is {
		served = certificates{certified, b}
	}
	info, err := served.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Resource = NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		vms.Register(a, d.VMs)
		apps.Register(a, d.Apps)
		register(a, d)
	}, append([]func(*service.Config){func(c *service.Config) {
		c.Drivers = hosttest.DriverTable{info.Name: served}
	}}, edits...)...)
	inventorytest.Team(t, b.DB, 2)
	for _, g := range []struct {
		name, status string
		kind         hypervisor.GuestKind
	}{
		{"stopped", hypervisor.GuestStopped, hypervisor.VM}, {"running", hypervisor.GuestRunning, hypervisor.VM},
		{"template", hypervisor.GuestStopped, hypervisor.VM}, {"files", hypervisor.GuestStopped, hypervisor.Container},
		{"wiki", hypervisor.GuestRunning, hypervisor.Container},
	} {
		ref := b.Cluster.NewGuest(g.kind, g.status)
		b.Cluster.Change(ref.ID, func(found *hypervisor.Guest) {
			found.Template = g.name == "template"
			if !shape.UIDs {
				found.Name = g.name
			}
		})
		b.Refs[g.name] = ref
	}
	b.Enrol(t, "lab", b.Cluster, endpoint.Lifecycle)
	for _, name := range []string{"files", "wiki"} {
		b.Expect(t, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q,"name":%q}]}`, b.Refs[name].ID, name),
			apitest.Admin,
			200, "")
	}
	return b
}

// VM is the path of a VM.
func (b *Lab) VM(name string) string {
	return "vms/" + b.Value(fmt.Sprintf("SELECT id FROM guests WHERE ref = '%s'", b.Refs[name].ID))
}

// InBothShapes runs a test for a hypervisor of each shape, or with -short for one of them.
func InBothShapes(t *testing.T, test func(t *testing.T, shape memdriver.Shape)) {
	t.Helper()
	for _, shape := range sampletest.OneOf(t.Name(), memdriver.Shapes()) {
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			test(t, shape)
		})
	}
}
