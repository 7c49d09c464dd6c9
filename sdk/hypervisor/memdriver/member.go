package memdriver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Member implements hypervisor.MemberReader. All nodes are equal, except for
// SetMember.
func (h *Host) Member(ctx context.Context, node string) (hypervisor.Member, error) {
	c, privileges, err := h.begin(ctx, "member")
	if err != nil {
		return hypervisor.Member{}, err
	}
	if !slices.Contains(c.nodes, node) {
		return hypervisor.Member{}, plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	}
	if err := require(privileges, NodeAudit, "/nodes/"+node); err != nil {
		return hypervisor.Member{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.members[node]; ok {
		return m, nil
	}
	return hypervisor.Member{Version: "1.2.3", Fingerprint: c.Fingerprint(), NotAfter: certificateEnd,
		Subscription: &hypervisor.Subscription{Status: "active", Product: "Memory", Due: "2030-01-31"}}, nil
}

// SetMember sets the answer of a node.
func (c *Cluster) SetMember(node string, m hypervisor.Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members[node] = m
}

// SetEnd sets when the credential with an id ends. It continues to work after
// that. Credentials without an end are not reported.
func (c *Cluster) SetEnd(id string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends[id] = at
}

// credentialEnds returns the ends of credentials, by id.
func (c *Cluster) credentialEnds() (ends []hypervisor.CredentialEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.ends)) {
		ends = append(ends, hypervisor.CredentialEnd{ID: id, At: c.ends[id]})
	}
	return ends
}
