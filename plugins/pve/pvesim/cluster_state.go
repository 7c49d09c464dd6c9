package pvesim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
)

// Cluster is one simulated installation: a standalone host or a cluster of
// nodes. All methods may be called from several goroutines at once. Close it
// when it was started.
type Cluster struct {
	opts  Options
	stats statistics
	// release is the parsed version of the options.
	release release
	fault   faults

	mu         sync.Mutex
	clock      clock
	rand       *rand.Rand
	building   bool // while the scenario is built all randomness comes from the seed
	nodes      []*node
	guests     map[int]*guest
	vmids      []int // the guests' ids in order, nil when they have to be sorted again
	storages   []*storage
	firewalls  map[FirewallScope]*firewall
	force      enforcement
	pools      map[string]string   // name to comment
	mappings   map[string][]string // name to the nodes that map a device to it
	users      map[string]*user
	groups     map[string]string // name to comment
	roles      map[string]*role
	acl        *aclTree
	tasks      taskTable
	broadcast  broadcast
	generation uint64          // counts every change of the state
	unresolved map[string]bool // names of nodes that the others cannot find
	extraVotes int             // of those that a majority is counted of, cast by no node
	ticketKey  []byte

	permissionCache map[permissionKey]grants
	serviceTokens   map[string]Token
	adminToken      Token

	// consoles are those that listen or have a client, and consoleRel is the
	// release that they are of, nil for the cluster's.
	consoles   map[consoleKey]*console
	consoleRel *release
	keepAlives atomic.Int64

	server serverState
}

// New builds the state that the options describe. It opens no listener.
func New(opts Options) (*Cluster, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("building simulator: %w", err)
	}
	rel, err := parseRelease(opts.Version)
	if err != nil {
		return nil, fmt.Errorf("building simulator: %w", err)
	}
	c := &Cluster{
		release:         rel,
		opts:            opts,
		rand:            rand.New(rand.NewPCG(opts.Seed, 0x9e3779b97f4a7c15)),
		building:        true,
		consoles:        map[consoleKey]*console{},
		guests:          map[int]*guest{},
		firewalls:       map[FirewallScope]*firewall{},
		pools:           map[string]string{},
		users:           map[string]*user{},
		groups:          map[string]string{},
		roles:           builtinRoles(rel),
		acl:             newACLTree(),
		permissionCache: map[permissionKey]grants{},
		serviceTokens:   map[string]Token{},
	}
	c.stats.reset()
	c.server.quit = make(chan struct{})
	if err := c.build(); err != nil {
		return nil, fmt.Errorf("building simulator: %w", err)
	}
	c.building = false
	return c, nil
}

// Node returns the handler of one node's API: what a request to that node's
// address gets. It is nil for an unknown name.
func (c *Cluster) Node(name string) http.Handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodeByName(name); n != nil {
		return n
	}
	return nil
}

// NodeNames lists the nodes, the entry node first.
func (c *Cluster) NodeNames() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		names[i] = n.name
	}
	return names
}

// Tokens returns the service's token of each capability, with the roles and
// privileges of the product's token script. It is empty with [Options.Bare].
func (c *Cluster) Tokens() map[string]Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]Token, len(c.serviceTokens))
	for k, t := range c.serviceTokens {
		out[k] = t
	}
	return out
}

// AdminToken returns a token of root@pam without privilege separation.
func (c *Cluster) AdminToken() Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.adminToken
}

// settle brings tasks up to the present.
func (c *Cluster) settle() { c.tasks.settle(c, c.clock.now()) }

// nodeByName returns the node with that name, or nil.
func (c *Cluster) nodeByName(name string) *node {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}
