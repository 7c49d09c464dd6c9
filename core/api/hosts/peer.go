package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// registerPeers declares the operations on the other nodes of a host's cluster.
func registerPeers(a *op.API, h handlers) {
	op.Get(a, "/api/v1/hosts/:host_id/peers", h.peers, op.Spec{
		ID: "list_peers", Summary: "List the other nodes of a host's cluster", Tag: tag, Calls: true, Role: identity.Admin, On: op.Host,
		Needs: endpoint.Monitoring, Unsupported: true,
		Description: "Connects to each node before it responds, 32 at a time and for at most 5 s each. Only the " +
			"monitoring token of the host is used; other tokens are tested during the enrolment. The connection " +
			"requires the certificate that the host reports. Nothing is stored. A node that fails has a `reason` in " +
			"its row. Addresses that the cluster reports are checked like addresses that you enter. The list is not " +
			"paged.",
	})
	op.Post(a, "/api/v1/hosts/:host_id/peers", h.enrolPeers, op.Spec{
		ID: "enrol_peers", Summary: "Enrol other nodes of a host's cluster", Tag: tag, Role: identity.Owner, On: op.Host,
		Needs: endpoint.Monitoring, Status: http.StatusOK, Unsupported: true, Audit: op.Audit{Action: "host.enrol_peers"},
		Description: "Makes each named node a host of the same team, with copies of all tokens that the node accepts. " +
			"Consent, SSH keys and node shells are not copied. The response has a row for each node, in order. A node " +
			"that fails has an `error` in its row; if the host does not respond, all of them have one. A certificate " +
			"in `tls_fingerprints` is pinned instead of the one that the cluster reports.",
	})
}

func (h handlers) peers(ctx context.Context, _ *struct{}) (*op.List[host.Peer], error) {
	all, err := h.hosts.Peers(ctx, op.ResourceOf(ctx).ID)
	return &op.List[host.Peer]{Total: len(all), Body: all}, err
}

type enrolPeersInput struct {
	Body struct {
		Nodes        []string          `json:"nodes" minItems:"1" maxItems:"100" example:"[\"pve2\",\"pve3\"]"`
		Fingerprints map[string]string `json:"tls_fingerprints,omitempty" doc:"SHA-256 of certificates by node, in hexadecimal, with or without colons"`
	}
}

func (h handlers) enrolPeers(ctx context.Context, in *enrolPeersInput) (*op.Body[[]host.EnrolledPeer], error) {
	rows, err := h.hosts.EnrolPeers(ctx, op.ResourceOf(ctx).ID, in.Body.Nodes, in.Body.Fingerprints)
	if err == nil {
		h.poller.Wake()
	}
	return &op.Body[[]host.EnrolledPeer]{Body: rows}, err
}
