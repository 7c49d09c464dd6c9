// Package cluster is the HTTP resource of data about all hosts together: the
// recent activity, the list of nodes and the summary. It is read from the
// database; no hypervisor is contacted.
package cluster

import (
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Deps has what the operations of this package need.
type Deps struct{ DB *db.DB }

type handlers struct {
	db    *db.DB
	store *cluster.Store
}

const tag = "Cluster"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.DB, &cluster.Store{DB: deps.DB}}
	op.Get(a, "/api/v1/cluster/activity", h.activity, op.Spec{
		ID: "list_activity", Summary: "List recent activity", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Merges jobs, alerts and audit entries, newest first. A job is listed at the time of its request, " +
			"with its current status; the audit entry that started it is left out. An alert is listed at the time when " +
			"it was raised, and once more with the severity info when it was resolved; alerts that another alert " +
			"caused are left out. The list contains jobs and alerts on hosts that the caller can see, and audit " +
			"entries if the caller can read them.",
	})
	op.Get(a, "/api/v1/cluster/nodes", h.nodes, op.Spec{
		ID: "list_nodes", Summary: "List the nodes of all clusters", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists one row for each node of the hosts that the caller can see, as of the last polls, with the " +
			"host registered at the node or else with the first host of its cluster. `apps` and `vms` count the whole " +
			"host. A sum of `disk_bytes` over the rows counts shared storages more than once; the summary does not. " +
			"The list is not paged.",
	})
	op.Get(a, "/api/v1/cluster/summary", h.summary, op.Spec{
		ID: "get_cluster_summary", Summary: "Get a summary of all clusters", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Returns totals of all hosts that the caller can see, as of the last polls. Each storage counts " +
			"once. It also returns the open problems with remedies, the state of each cluster with the age of its " +
			"quorum, releases, certificates and subscriptions, and the state of each host with the number of requests " +
			"that the service sends to it.\n\n" +
			"Releases, certificates and subscriptions of nodes are read once a day, with three small requests per " +
			"node. The release and the certificate of a host, and the expiry of tokens if the hypervisor reports it, " +
			"are read every half hour. Problems with tokens and certificates are listed from 30 days before they " +
			"expire, and are critical during the last 7 days. A failed job is listed for a day, unless a job of the " +
			"same kind on the same target has succeeded since.",
	})
}
