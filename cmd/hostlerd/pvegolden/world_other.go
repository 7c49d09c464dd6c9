package pvegolden

import (
	"slices"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// far is another cluster that has the archive too, enrolled as the host "far". What is counted is that of both from then on, and
// privileges are taken from the roles of both.
func (w *World) far() *pvesim.Cluster {
	w.t.Helper()
	if w.other == nil {
		w.other = w.AddCluster("far")
	}
	return w.other
}

// bare enrols another cluster, which has no storage of backups in common with the world's.
func (w *World) bare() {
	w.t.Helper()
	if w.vars["bare"] == "" {
		w.AddCluster("bare").DropStorage("archive")
	}
}

// Stats are the requests and the privileges that were looked for, of all clusters together.
func (w *World) Stats() pvesim.Stats {
	all := w.Cluster.Stats()
	if w.other == nil {
		return all
	}
	other := w.other.Stats()
	for request, n := range other.Requests {
		all.Requests[request] += n
	}
	for who, privileges := range other.Privileges {
		both := append(all.Privileges[who], privileges...)
		slices.Sort(both)
		all.Privileges[who] = slices.Compact(both)
	}
	return all
}

// ResetStats sets what Stats tells to zero.
func (w *World) ResetStats() {
	w.Cluster.ResetStats()
	if w.other != nil {
		w.other.ResetStats()
	}
}

// SetRole gives a role exactly these privileges, at all clusters.
func (w *World) SetRole(id string, privileges ...string) {
	w.Cluster.SetRole(id, privileges...)
	if w.other != nil {
		w.other.SetRole(id, privileges...)
	}
}
