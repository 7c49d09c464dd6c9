package hypervisor

import "context"

// Peer is one node of the cluster, as its members know each other. A text that the hypervisor does not tell is empty.
type Peer struct {
	// Name is the node's, as in an inventory.
	Name string
	// Address is where the node's own API answers, without a port.
	Address string
	// Fingerprint is that of the certificate which the node's API shows, as endpoint.Fingerprint gives it. The node that is asked vouches
	// for it: secrets of the endpoint may be sent to who shows it.
	Fingerprint string
	// Online is false for a node that the others miss.
	Online bool
	// Self is true for the node that is asked.
	Self bool
}

// PeerLister is satisfied by hosts whose cluster has an API at each node that takes the same credentials. Needs the Monitoring
// capability.
type PeerLister interface {
	// Peers gives every node of the cluster once, the asked one among them; a machine alone gives itself. A token that may not see the
	// members is Denied.
	Peers(ctx context.Context) ([]Peer, error)
}
