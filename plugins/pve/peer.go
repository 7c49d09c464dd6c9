package pve

import (
	"context"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Peers sends two requests. The cluster's status contains the members and their
// addresses, which needs Sys.Audit on /; the list of nodes contains their
// certificates. These are read from the cluster's file system, so that the
// certificate of a node that is down is known too.
func (h *Host) Peers(ctx context.Context) ([]hypervisor.Peer, error) {
	members, err := h.members(ctx)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Node        pveapi.Text `json:"node"`
		Fingerprint pveapi.Text `json:"ssl_fingerprint"`
	}
	if _, err := h.api.Get(ctx, "/nodes", nil, &rows); err != nil {
		return nil, err
	}
	certificates := map[string]string{}
	for _, row := range rows {
		if parsed, err := endpoint.ParseFingerprint(string(row.Fingerprint)); err == nil {
			certificates[string(row.Node)] = parsed
		}
	}
	var peers []hypervisor.Peer
	for _, n := range members.order {
		peers = append(peers, hypervisor.Peer{
			Name: n.Name, Address: n.Address, Fingerprint: certificates[n.Name], Online: n.Status == hypervisor.NodeOnline,
			Self: n.Name == members.cluster.Entry,
		})
	}
	return peers, nil
}
