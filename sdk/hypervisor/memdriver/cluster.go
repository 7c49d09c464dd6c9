package memdriver

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Spec describes a new cluster.
type Spec struct {
	// Nodes is at least one.
	Nodes int
	// VMs and Containers are spread over the nodes; they are numbered from 100
	// on. Every third one is stopped.
	VMs        int
	Containers int
	// Prefix begins the name of every node and guest, so that two clusters can be told apart.
	Prefix string
	// TaskTime is how long an action takes; zero is 10 ms.
	TaskTime time.Duration
	// TaskMemory is how long a CertificateDriver can still be asked how a task ended; zero is 5 s.
	TaskMemory time.Duration
}

// Cluster is one hypervisor endpoint with everything behind it. It is safe for
// concurrent use. Its exported methods are for tests and work without the API;
// the driver's hosts are the API.
type Cluster struct {
	address     string
	fingerprint atomic.Value // the certificate's, a string
	taskTime    time.Duration
	prefix      string
	anyToken    bool
	// certified is true for clusters of a CertificateDriver, and taskMemory is theirs.
	certified  bool
	taskMemory time.Duration

	// dumps are what files of backups were made of, by their SHA-256, for all
	// clusters of the driver.
	dumps *sync.Map

	mu sync.Mutex
	// entries are the nodes that answer at the addresses of AddEntry.
	entries map[string]string
	nodes   []string
	// offline are nodes that nothing can be moved to.
	offline []string
	// members are nodes that tell something else than the others, and ends when
	// credentials end, by id.
	members map[string]hypervisor.Member
	ends    map[string]time.Time
	// power is what nodes do that are told to reboot or to switch themselves off.
	power  map[string]*power
	guests map[hypervisor.GuestID]*guest
	// storages are in the order in which they were added, bridges sorted, and
	// images what VMs can be installed from.
	storages []*storage
	bridges  []string
	images   []string
	// networks are those of nodes that were asked about.
	networks map[string]*network
	files    []File // that were uploaded, the oldest first
	made     int64  // the number of the newest guest
	tokens   map[string]token
	// proper are the credentials of Target, by capability.
	proper map[endpoint.Capability]endpoint.Credential
	// codes are the one-time codes by their secret.
	codes    map[string]*code
	tasks    []*task // oldest first
	sequence int
	faults   map[string]Fault
	// consoles are those that are open, and limits what cannot be opened.
	consoles map[*console]bool
	limits   []hypervisor.ConsoleLimit
	// machine is what can be logged in to; nil until something was asked of it.
	machine *machine
	// calls are how often each method was called.
	calls map[string]int
}

// newCluster makes a cluster with the nodes and guests of the Spec.
func newCluster(address string, spec Spec, certified bool) *Cluster {
	c := &Cluster{
		address: address, taskTime: cmp.Or(spec.TaskTime, 10*time.Millisecond), taskMemory: cmp.Or(spec.TaskMemory, 5*time.Second),
		prefix: spec.Prefix, entries: map[string]string{},
		guests: map[hypervisor.GuestID]*guest{}, made: 99, tokens: map[string]token{}, faults: map[string]Fault{}, calls: map[string]int{},
		power: map[string]*power{}, members: map[string]hypervisor.Member{}, ends: map[string]time.Time{},
		certified: certified, proper: map[endpoint.Capability]endpoint.Credential{}, codes: map[string]*code{},
		consoles: map[*console]bool{},
	}
	c.certify(address)
	c.storages = []*storage{{
		StorageSpec: StorageSpec{Name: "local", Type: "dir", VMs: true, Containers: true, FreeGB: 1000},
		config:      map[string]string{"path": "/srv/local", "content": "images,iso"},
	}}
	c.bridges, c.images = []string{"br0", "br1"}, []string{"local:iso/installer.iso"}
	for i := range max(spec.Nodes, 1) {
		c.nodes = append(c.nodes, fmt.Sprintf("%snode%d", spec.Prefix, i+1))
	}
	for i := range spec.VMs + spec.Containers {
		kind, status := hypervisor.VM, hypervisor.GuestRunning
		if i >= spec.VMs {
			kind = hypervisor.Container
		}
		if i%3 == 0 {
			status = hypervisor.GuestStopped
		}
		c.newGuest(kind, status, "")
	}
	for _, capability := range endpoint.Capabilities() {
		c.proper[capability] = c.give(capability, "", plugin.Secret("secret-of-"+capability), proper(capability))
	}
	return c
}

// Fingerprint returns the fingerprint that the endpoint shows.
func (c *Cluster) Fingerprint() string { return c.fingerprint.Load().(string) }

// Renew gives the endpoint another certificate. A cluster of a CertificateDriver gets
// another ID with it.
func (c *Cluster) Renew() { c.certify(c.Fingerprint()) }

// certify derives the certificate from a text.
func (c *Cluster) certify(of string) {
	sum := sha256.Sum256([]byte(of))
	c.fingerprint.Store(endpoint.Fingerprint(&x509.Certificate{Raw: sum[:]}))
}

// Target returns a pinned target with the proper credential of the capability.
func (c *Cluster) Target(capability endpoint.Capability) endpoint.Target {
	return c.target(c.proper[capability])
}

// target returns a pinned target with a credential.
func (c *Cluster) target(credential endpoint.Credential) endpoint.Target {
	return endpoint.Target{Address: c.address, Fingerprint: c.Fingerprint(), AllowLocal: true, Credential: credential}
}

// SetFault makes a method misbehave; "any" stands for all methods. The zero
// Fault ends it.
func (c *Cluster) SetFault(method string, fault Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[method] = fault
}

// Calls returns how often a method was called, by the names of SetFault.
func (c *Cluster) Calls(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

// fault counts a call and returns the fault of the method.
func (c *Cluster) fault(method string) Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.faults[method]; ok {
		return k
	}
	return c.faults["any"]
}

// entry returns the node that answers at an address.
func (c *Cluster) entry(address string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.entries[address], c.nodes[0])
}

// Nodes returns the names of all nodes.
func (c *Cluster) Nodes() []string { return slices.Clone(c.nodes) }

func ptr[T any](v T) *T { return &v }
