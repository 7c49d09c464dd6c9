package lxd

import (
	"context"
	"net"
	"net/url"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// memberStatuses maps the states of cluster members. An evacuated member is
// online without guests.
var memberStatuses = map[string]string{
	"Online": hypervisor.NodeOnline, "Evacuated": hypervisor.NodeOnline, "Offline": hypervisor.NodeOffline,
}

// nodes returns the members of the cluster, or the server itself if it is not
// in a cluster. All members present the same certificate.
func (h *Host) nodes(ctx context.Context, server *lxdapi.Server, meta lxdapi.Meta) ([]hypervisor.Node, error) {
	if !server.Environment.Clustered {
		return []hypervisor.Node{{Name: server.Environment.Name, Status: hypervisor.NodeOnline, Fingerprint: meta.Fingerprint}}, nil
	}
	members, err := h.api.ClusterMembers(ctx)
	if err != nil {
		return nil, h.judge(ctx, err, "")
	}
	nodes := make([]hypervisor.Node, 0, len(members))
	entry := false
	for _, m := range members {
		status, known := memberStatuses[m.Status]
		if !known {
			status = hypervisor.NodeUnknown
		}
		entry = entry || m.Name == server.Environment.Name
		nodes = append(nodes, hypervisor.Node{Name: m.Name, Status: status, Address: addressOf(m.URL), Fingerprint: meta.Fingerprint})
	}
	if !entry {
		return nil, plugin.Errorf(plugin.Protocol, "the list of cluster members does not contain the member that answered")
	}
	return nodes, nil
}

// addressOf returns the host in a member's URL, without its port.
func addressOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	host, _, err := net.SplitHostPort(u.Host)
	if err != nil {
		return u.Host
	}
	return host
}
