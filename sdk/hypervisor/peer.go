package hypervisor

import "context"

// Peer is one node of the cluster, as the other members know it. A text that the
// hypervisor does not report is empty.
type Peer struct {
	// Name is the name of the node, as in an inventory.
	Name string
	// Address is the address of the node's own API, without a port.
	Address string
	// Fingerprint is the fingerprint of the certificate of the node's API, in the
	// form of endpoint.Fingerprint. The node that is asked vouches for it: the
	// service sends the endpoint's secrets to a server with this certificate.
	Fingerprint string
	// Online is false for a node that the others cannot reach.
	Online bool
	// Self is true for the node that is asked.
	Self bool
}

// PeerLister is implemented by hosts whose cluster has an API on each node that
// accepts the same credentials. The service uses another node when its own one
// fails. It needs the Monitoring capability.
type PeerLister interface {
	// Peers returns every node of the cluster once, including the asked one. A
	// single machine returns itself. A credential that may not see the members gets
	// Denied.
	Peers(ctx context.Context) ([]Peer, error)
}
