package hypervisor

import (
	"context"
	"time"
)

// Member is what a node of a cluster tells of itself that seldom changes. What it does not tell is empty.
type Member struct {
	// Version is the release that runs there, in the form of Version.Version.
	Version string
	// Fingerprint and NotAfter are of the certificate that the node's own API shows.
	Fingerprint string
	NotAfter    time.Time
	// Subscription is nil where the hypervisor has no such thing.
	Subscription *Subscription
}

// MemberReader is satisfied by hosts that tell such things of every node of their cluster. Needs the Monitoring capability.
type MemberReader interface {
	// Member asks for one node, by at most three small requests. The service does so once a day for each node, in the course of polls.
	// Names of nodes and nodes that are off are as for NodeReader. A part that cannot be read is empty; where nothing can, there is an
	// error.
	Member(ctx context.Context, node string) (Member, error)
}
