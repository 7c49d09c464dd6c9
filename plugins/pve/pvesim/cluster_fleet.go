package pvesim

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// Fleet is several independent installations: clusters and standalone hosts.
type Fleet struct {
	Hosts []*Cluster
}

// NewFleet builds what the options describe. Scenario fleet spreads nodes and guests over alternating clusters of three nodes and
// standalone hosts, or over clusters of FleetNodes; the other scenarios give a fleet of one.
func NewFleet(opts Options) (*Fleet, error) {
	if opts.Scenario != ScenarioFleet {
		c, err := New(opts)
		if err != nil {
			return nil, err
		}
		return &Fleet{Hosts: []*Cluster{c}}, nil
	}
	if opts.Nodes == 0 {
		opts.Nodes = 6
	}
	sizes := fleetSizes(opts.Nodes, opts.FleetNodes)
	guests := opts.Guests
	if guests == 0 {
		guests = 12 * len(sizes)
	}
	if opts.FleetStorage != "" {
		opts.SharedStorages = append(opts.SharedStorages, NewSharedStorage(StorageSpec{ID: opts.FleetStorage}))
	}
	f := &Fleet{}
	left := opts.Nodes
	for i, size := range sizes {
		o := opts
		o.Scenario, o.Nodes, o.Seed = ScenarioOne, size, opts.Seed+uint64(i)*1_000_003
		if size > 1 {
			o.Scenario, o.ClusterName = ScenarioCluster, "sim"+strconv.Itoa(i+1)
		}
		if guests > 0 {
			o.Guests = guests * size / left
			guests -= o.Guests
			if o.Guests == 0 {
				o.Guests = -1
			}
		}
		left -= size
		c, err := New(o)
		if err != nil {
			return nil, fmt.Errorf("building host %d of the fleet: %w", i, err)
		}
		f.Hosts = append(f.Hosts, c)
	}
	return f, nil
}

// fleetSizes cuts a number of nodes into clusters of each, or when that is zero into clusters of three and standalone hosts, in turn.
func fleetSizes(nodes, each int) []int {
	var sizes []int
	for nodes > 0 {
		size := 1
		switch {
		case each > 0:
			size = min(each, nodes)
		case len(sizes)%2 == 0 && nodes >= 3:
			size = 3
		}
		sizes = append(sizes, size)
		nodes -= size
	}
	return sizes
}

// Start starts every host, the first on the port of listen, the others on free ports of the same address.
func (f *Fleet) Start(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("starting simulator: %w", err)
	}
	for i, c := range f.Hosts {
		addr := listen
		if i > 0 {
			addr = net.JoinHostPort(host, "0")
		}
		if _, err := c.Start(addr); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return nil
}

// Close closes every host.
func (f *Fleet) Close() error {
	var errs []error
	for _, c := range f.Hosts {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// ControlHandler serves the control interface; the query parameter host chooses the installation by index.
func (f *Fleet) ControlHandler() http.Handler {
	return controlMux(func(r *http.Request) (*Cluster, error) {
		q := r.URL.Query().Get("host")
		if q == "" {
			return f.Hosts[0], nil
		}
		i, err := strconv.Atoi(q)
		if err != nil || i < 0 || i >= len(f.Hosts) {
			return nil, fmt.Errorf("no host %q in a fleet of %d", q, len(f.Hosts))
		}
		return f.Hosts[i], nil
	})
}

// Description is what a client needs to reach one installation, and what cmd/pvesim prints.
type Description struct {
	URL         string           `json:"url"` // entry address, https
	Fingerprint string           `json:"fingerprint"`
	Tokens      map[string]Token `json:"tokens"` // by capability
	AdminToken  Token            `json:"admin_token"`
	Nodes       []NodeAddress    `json:"nodes"`
}

// Describe tells how to reach a started cluster. It contains secrets.
func (c *Cluster) Describe() Description {
	return Description{
		URL: c.URL(""), Fingerprint: c.Fingerprint(""), Tokens: c.Tokens(), AdminToken: c.AdminToken(), Nodes: c.Addresses(),
	}
}
