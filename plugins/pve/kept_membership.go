package pve

import (
	"errors"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// errMembership reports that the list of resources contradicts the membership
// that was assumed.
var errMembership = errors.New("the membership of the cluster has changed")

// kept is what the list of resources must contain for a known membership to be
// valid. The row of a node says online or offline from the same source as the
// cluster's status; "unknown" only means that the node reports no figures.
type kept struct {
	// unseen are the known nodes that no row has named yet, and changed says
	// that a row contradicted.
	unseen  map[string]string
	changed bool
}

// keptMembership returns a known membership; nil if it cannot replace an
// answer.
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

// compare compares the row of a node with what is known.
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

// contradicted reports whether the complete list contradicts the known
// membership.
func (m *membership) contradicted() bool {
	return m.kept != nil && (m.kept.changed || len(m.kept.unseen) > 0)
}
