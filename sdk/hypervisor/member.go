package hypervisor

import (
	"context"
	"time"
)

// Member is information of a cluster node that rarely changes. A field that the
// node does not report is empty.
type Member struct {
	// Version is the release of the node, in the form of Version.Version.
	Version string
	// Fingerprint and NotAfter are the fingerprint and the expiry time of the
	// certificate that the node's own API presents.
	Fingerprint string
	NotAfter    time.Time
	// Subscription is nil if the hypervisor has no subscriptions.
	Subscription *Subscription
}

// MemberReader is implemented by hosts that report this for every node of their
// cluster. It needs the Monitoring capability.
type MemberReader interface {
	// Member reads the information of one node with at most three small requests.
	// The service calls it once a day per node, between polls. Node names and
	// offline nodes follow the rules of NodeReader. A part that cannot be read is
	// empty; if no part can be read, Member returns an error.
	Member(ctx context.Context, node string) (Member, error)
}
