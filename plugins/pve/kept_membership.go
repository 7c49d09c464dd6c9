package pve

import (
	"errors"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// errMembership means that the list of resources contradicts the membership that was taken as known.
var errMembership = errors.New("the membership of the cluster has changed")

// kept is what the list of resources must say for a known membership to hold. A node's row says online or offline by the same source as
// the cluster's status; it says unknown while the node tells no figures, which is nothing about its membership.
type kept struct {
	// unseen are the known nodes that no row has named yet, and changed says that a row contradicted.
	unseen  map[string]string
	changed bool
}

// keptMembership is a known membership; nil for one that cannot stand for an answer.
func keptMembership(known *hypervisor.Membership) *membership {
	if known == nil || known.Cluster.Partial || known.Cluster.Entry == "" || len(known.Nodes) == 0 {
		return nil
	}
	m := newMembership()
	m.cluster, m.kept = known.Cluster, &kept{unseen: map[string]string{}}
	m.cluster.Kept, m.cluster.ClockAhead = true, nil
	for _, n := range known.Nodes {
		*m.node(n.Name) = hypervisor.Node{Name: n.Name, Status: n.Status, Address: n.Address, Level: n.Level}
		m.kept.unseen[n.Name] = n.Status
	}
	return m
}

// compare holds a node's row against what is known of the node.
func (m *membership) compare(name, state string) {
	if m.kept == nil {
		return
	}
	known, expected := m.kept.unseen[name]
	delete(m.kept.unseen, name)
	if !expected || state != hypervisor.NodeUnknown && state != known {
		m.kept.changed = true
	}
}

// contradicted reports whether the list that was read to its end says something else than what is known.
func (m *membership) contradicted() bool {
	return m.kept != nil && (m.kept.changed || len(m.kept.unseen) > 0)
}
