package memdriver

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Release is the release of the driver.
const Release = "1.0.0"

// Driver is a driver whose clusters are in memory, by address. It is safe for
// concurrent use.
type Driver struct {
	mu       sync.Mutex
	clusters map[string]*Cluster
	byName   bool
	// certified is true for the driver of a CertificateDriver; its clusters are of that shape.
	certified bool
	dumps     sync.Map
}

var (
	_ hypervisor.Driver            = (*Driver)(nil)
	_ hypervisor.RoleScriptWriter  = (*Driver)(nil)
	_ hypervisor.RoleOutputReader  = (*Driver)(nil)
	_ hypervisor.CertificateReader = (*Driver)(nil)
)

// New returns a driver without clusters. An address without a cluster is
// Unreachable.
func New() *Driver { return &Driver{clusters: map[string]*Cluster{}} }

// NewByName returns a driver that also makes clusters by their address, for a
// plugin process, in which a test cannot call Add.
func NewByName() *Driver {
	d := New()
	d.byName = true
	return d
}

// Add makes a cluster at an address, "host:port", in place of an earlier one.
func (d *Driver) Add(address string, spec Spec) *Cluster {
	c := newCluster(address, spec, d.certified)
	c.dumps = &d.dumps
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clusters[address] = c
	return c
}

// AddEntry makes a node of a cluster answer at another address.
func (d *Driver) AddEntry(c *Cluster, address, node string) {
	c.mu.Lock()
	c.entries[address] = node
	c.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clusters[address] = c
}

// Info implements hypervisor.Driver.
func (d *Driver) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{Name: "mem", Version: Release, Product: "Memory", Scope: pools, Usual: usual}, nil
}

// usual are the names that all clusters have.
var usual = hypervisor.DefaultNames{Storage: "local", Bridge: "br0"}

// Open implements hypervisor.Driver. A driver made by NewByName reads an
// address such as "2-nodes.300-vms.20-apps.block-version.mem:8006": labels with
// a number give the size, and labels of a fault and a method turn that fault.
// The faults are fail, block, slow, panic, leakpanic, exit, leak, lateexit and
// lateblock, the methods those of Methods and "any". Such a cluster takes any
// token but the secret "wrong".
func (d *Driver) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	return &Host{driver: d, target: target}, nil
}

// cluster returns the cluster that the target names. It stands for the network:
// it refuses the addresses that a dialler would refuse.
func (d *Driver) cluster(target endpoint.Target) (*Cluster, error) {
	name, _, err := net.SplitHostPort(target.Address)
	if err != nil {
		return nil, plugin.Errorf(plugin.Invalid, "reading the address: %w", err)
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		if err := endpoint.CheckAddress(addr, target.AllowLocal); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.clusters[target.Address]; ok {
		return c, nil
	}
	if d.byName && strings.HasSuffix(name, ".mem") {
		spec, faults, err := parseName(strings.TrimSuffix(name, ".mem"))
		if err != nil {
			return nil, err
		}
		c := newCluster(target.Address, spec, d.certified)
		c.dumps = &d.dumps
		c.anyToken = true
		for method, fault := range faults {
			c.faults[method] = fault
		}
		d.clusters[target.Address] = c
		return c, nil
	}
	return nil, plugin.Errorf(plugin.Unreachable, "nothing answers at %s", target.Address)
}
