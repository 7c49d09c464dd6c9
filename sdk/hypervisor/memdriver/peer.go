package memdriver

import (
	"context"
	"net"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Peers implements hypervisor.PeerLister. Only nodes of AddEntry have an
// address.
func (h *Host) Peers(ctx context.Context) ([]hypervisor.Peer, error) {
	c, privileges, err := h.begin(ctx, "peers")
	if err != nil {
		return nil, err
	}
	if err := require(privileges, NodeAudit, "/"); err != nil {
		return nil, err
	}
	entry := c.entry(h.target.Address)
	c.mu.Lock()
	defer c.mu.Unlock()
	peers := make([]hypervisor.Peer, len(c.nodes))
	for i, name := range c.nodes {
		peers[i] = hypervisor.Peer{Name: name, Fingerprint: c.Fingerprint(), Online: true, Self: name == entry}
		for address, node := range c.entries {
			if host, _, err := net.SplitHostPort(address); err == nil && node == name {
				peers[i].Address = host
			}
		}
	}
	return peers, nil
}
