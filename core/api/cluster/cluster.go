// Package cluster is the HTTP resource of what concerns all hosts together.
package cluster

import (
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Deps is what the operations work with.
type Deps struct{ DB *db.DB }

type handlers struct {
	db    *db.DB
	store *cluster.Store
}

const tag = "Cluster"

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.DB, &cluster.Store{DB: deps.DB}}
	op.Get(a, "/api/v1/cluster/activity", h.activity, op.Spec{
		ID: "list_activity", Summary: "List what happened lately", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Jobs, alerts and entries of the audit trail merged, the newest first. A job stands where it was asked for, with its " +
			"status at present, and for the entry of the trail that started it; that entry is left out. An alert stands where it was raised, and " +
			"once more, as info, where it was resolved; what follows from another alert is left out. Jobs and alerts are those on hosts that " +
			"the caller may see; entries of the trail are shown to those who may read it.",
	})
	op.Get(a, "/api/v1/cluster/nodes", h.nodes, op.Spec{
		ID: "list_nodes", Summary: "List the nodes of all clusters", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "One row for each node of the hosts that the caller may see, as the last polls found them: with the host registered at " +
			"it, or else with the first one of its cluster. `apps` and `vms` are those of the whole host. A sum of `disk_bytes` over rows counts " +
			"shared storage more than once; the summary does not. The list is not paged.",
	})
	op.Get(a, "/api/v1/cluster/summary", h.summary, op.Spec{
		ID: "get_cluster_summary", Summary: "Sum up all clusters", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Figures over all hosts that the caller may see, as the last polls found them. Each storage counts once. With them come " +
			"the open problems, each with how to mend it; how each cluster stands, with the age of what is known of its quorum, its members' " +
			"releases, certificates and subscriptions; and how each host stands, with the requests to it that the service causes.\n\n" +
			"Releases, certificates and subscriptions of nodes are read once a day, by three small requests to each node; a host's own release " +
			"and certificate, and the ends of tokens where the hypervisor tells them, every half hour. Problems of tokens and certificates " +
			"begin 30 days before their end, and are critical from the last 7 days on. A failed job is one for a day, unless the same has " +
			"succeeded since.",
	})
}
