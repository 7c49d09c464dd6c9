package poll

import (
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// membershipEvery is the time between two questions for the members of a
// cluster and its quorum. The question is also asked at once when something
// hints at a change, because some hypervisors need a separate request for it.
// In between the last answer stays, with its time. What happens, and when it is
// shown:
//
// a node goes away, comes back, joins or leaves: with the next poll, because
// its row in the list says so;
//
// quorum is lost or found together with nodes: with the next poll;
//
// guests, storages or nodes are missing: with the next poll;
//
// a host failed, or its answer was an error: with the next good poll;
//
// a user asks for a sync: at once;
//
// quorum without a change of nodes (by votes), a node's address, the cluster's
// name, another node at a host's address: within five minutes.
//
// TestWhatIsShownOfClusterEvents of the golden requests checks this table on a
// simulated cluster, and TestRequestsOfAnHour counts the requests of an hour:
// 1.1 for list and membership in each poll.
const membershipEvery = 5 * time.Minute

// lastMembership is the last answer of a host about its cluster.
type lastMembership struct {
	// at is when it was told by this instance's clock, and stamp what the
	// cluster's row has as the time of the last such answer: with another one
	// there, another instance knows better.
	at, stamp time.Time
	cluster   hypervisor.Cluster
	nodes     []hypervisor.Node
}

// recall returns what a poll of the host need not ask for; nil if it must ask.
func (p *Poller) recall(m member, now time.Time, interval time.Duration) *hypervisor.Membership {
	if m.fresh || m.cluster == nil || m.failures > 0 || m.partial || m.leftOut || m.entry == "" || m.membershipAt == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k, found := p.memberships[*m.cluster]
	if !found || !k.stamp.Equal(*m.membershipAt) || now.Sub(k.at) >= membershipEvery-interval/2 {
		return nil
	}
	cluster := k.cluster
	cluster.Entry = m.entry
	return &hypervisor.Membership{Cluster: cluster, Nodes: k.nodes}
}

// remember stores the membership of a cluster. If the address of a node is
// unknown, or the answer was partial, the next poll asks again.
func (p *Poller) remember(cluster int64, stamp time.Time, v *inventory) {
	k := lastMembership{at: p.now(), stamp: stamp, cluster: v.cluster}
	k.cluster.ClockAhead = nil // it is of that answer alone
	whole := !v.cluster.Partial
	for _, n := range v.nodes {
		k.nodes = append(k.nodes, hypervisor.Node{Name: n.Name, Status: n.Status, Address: n.Address, Fingerprint: n.Fingerprint,
			Level: n.Level})
		whole = whole && n.Address != ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if whole {
		p.memberships[cluster] = k
	} else {
		delete(p.memberships, cluster)
	}
}

// forget makes the next poll of the cluster ask for everything.
func (p *Poller) forget(m member) {
	if m.cluster == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.memberships, *m.cluster)
}
