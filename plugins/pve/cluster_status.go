package pve

import (
	"context"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// membership is the content of /cluster/status.
type membership struct {
	cluster hypervisor.Cluster
	// nodes are the members by name. Without the right to see them there are
	// none, and the list tells the names.
	nodes map[string]*hypervisor.Node
	order []*hypervisor.Node
	// kept is set while the membership is one that was known before.
	kept *kept
}

// node returns the member of that name and adds it if it is new.
func (m *membership) node(name string) *hypervisor.Node {
	n, ok := m.nodes[name]
	if !ok {
		n = &hypervisor.Node{Name: name}
		m.nodes[name] = n
		m.order = append(m.order, n)
	}
	return n
}

// away reports whether a node is known not to answer.
func (m *membership) away(name string) bool {
	n, ok := m.nodes[name]
	return ok && n.Status == hypervisor.NodeOffline
}

// membership reads the members of the cluster. That needs Sys.Audit on /, which
// the token of a pool does not have; then the result is partial, and the
// inventory continues with the nodes that its list names.
func (h *Host) membership(ctx context.Context) (*membership, error) {
	m, err := h.members(ctx)
	switch plugin.KindOf(err) {
	case plugin.Denied, plugin.Unsupported, plugin.Refused, plugin.Busy:
		if err != nil {
			h.log.Debug("cluster status not readable", "error", err)
			m = newMembership()
			m.cluster.Partial = true
			return m, nil
		}
	}
	return m, err
}

// newMembership returns the membership of a machine alone until rows say
// otherwise.
func newMembership() *membership {
	m := &membership{nodes: map[string]*hypervisor.Node{}}
	m.cluster.Quorate = true // a machine alone has no quorum to lose
	return m
}

// members returns the membership of the cluster for callers that cannot work
// without it. A standalone node lists only itself and has no cluster name. The
// row with the flag "local" is the node that answered. An empty list is an
// error of kind Protocol: every node knows at least itself.
func (h *Host) members(ctx context.Context) (*membership, error) {
	m := newMembership()
	var rows []struct {
		Type    pveapi.Text `json:"type"`
		Name    pveapi.Text `json:"name"`
		IP      pveapi.Text `json:"ip"`
		Level   pveapi.Text `json:"level"`
		Online  pveapi.Flag `json:"online"`
		Local   pveapi.Flag `json:"local"`
		Quorate pveapi.Flag `json:"quorate"`
	}
	if _, err := h.api.Get(ctx, "/cluster/status", nil, &rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		switch row.Type {
		case "cluster":
			m.cluster.Name, m.cluster.Quorate = string(row.Name), bool(row.Quorate)
		case "node":
			if row.Name == "" {
				continue
			}
			n := m.node(string(row.Name))
			n.Address, n.Level, n.Status = string(row.IP), string(row.Level), hypervisor.NodeOffline
			if row.Online {
				n.Status = hypervisor.NodeOnline
			}
			if row.Local {
				m.cluster.Entry = n.Name
			}
		}
	}
	if len(m.order) == 0 {
		return nil, plugin.Errorf(plugin.Protocol, "the cluster's status lists no nodes")
	}
	return m, nil
}
