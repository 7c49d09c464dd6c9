package cluster

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/load"
)

// Usage has what is used and the total. The sums leave out what is not known;
// they are zero if nothing is known.
type Usage struct {
	CPUsUsed         float64 `json:"cpus_used" example:"11.5" doc:"Cores in use on all nodes"`
	CPUs             float64 `json:"cpus" example:"64"`
	MemoryBytes      int64   `json:"memory_bytes"`
	MemoryTotalBytes int64   `json:"memory_total_bytes"`
	DiskBytes        int64   `json:"disk_bytes" doc:"Used bytes on all storages. A shared storage counts once per cluster, by its name"`
	DiskTotalBytes   int64   `json:"disk_total_bytes" doc:"Size in bytes of all storages. A shared storage counts once per cluster, by its name"`
}

// Summary is the overview of all visible hosts. The sums leave out what is not
// known; they are zero if nothing is known.
type Summary struct {
	Hosts             int64 `json:"hosts" example:"3"`
	HostsOnline       int64 `json:"hosts_online" example:"2"`
	Clusters          int64 `json:"clusters" example:"2" doc:"Number of clusters; a standalone host counts as one"`
	Nodes             int64 `json:"nodes" example:"5"`
	NodesOnline       int64 `json:"nodes_online" example:"4"`
	VMs               int64 `json:"vms" example:"40" doc:"Number of VMs, without templates"`
	VMsRunning        int64 `json:"vms_running" example:"35"`
	Containers        int64 `json:"containers" example:"25" doc:"Number of containers, including apps, without templates"`
	ContainersRunning int64 `json:"containers_running" example:"20"`
	Apps              int64 `json:"apps" example:"12" doc:"Number of apps, including those whose container is missing"`
	Templates         int64 `json:"templates" example:"2" doc:"Number of VM and container templates"`
	Unknown           int64 `json:"unknown" example:"0" doc:"Number of VMs and containers with an unknown status"`
	Usage

	Problems      []Problem         `json:"problems" doc:"Problems that need attention, the most severe first; at most 20 of each kind and severity"`
	ProblemCounts []ProblemCount    `json:"problem_counts" doc:"Number of problems of each kind and severity, including those that problems omits"`
	Filling       []StorageForecast `json:"filling" doc:"Storages that will be full within 90 days if they grow as in the last two weeks, the soonest first, at most 5. A shared storage is listed once. Forecasts can be 10 minutes old"`
	Backups       Coverage          `json:"backups" doc:"Number of guests by the state of their backups"`
	Load          Rates             `json:"load" doc:"Load that the service causes on all hosts together, including those that by_host omits"`
	ByCluster     []ClusterState    `json:"by_cluster" doc:"State of each cluster, those without quorum first; at most 500"`
	ByHost        []HostState       `json:"by_host" doc:"State of each host and the load that the service causes on it, unreachable hosts first; at most 500"`
}

// eachStorage has one row per storage of the hosts h. Every node reports a
// shared storage; the largest values count, because a node that has not mounted
// the storage reports nothing.
const eachStorage = `SELECT s.cluster_id, max(s.used) AS used, max(s.total) AS total FROM storages s JOIN h ON h.id = s.host_id
	GROUP BY s.cluster_id, s.name, CASE WHEN s.shared THEN '' ELSE s.node END`

// selectSummary computes all counts and sums in one row.
const selectSummary = `
WITH h AS (SELECT id, cluster_id, status FROM hosts WHERE $1 OR team_id = ANY ($2)),
hosts AS (SELECT count(*) AS n, count(*) FILTER (WHERE status = 'online') AS online, count(DISTINCT cluster_id) AS clusters FROM h),
nodes AS (SELECT count(*) AS n, count(*) FILTER (WHERE n.status = 'online') AS online, coalesce(sum(n.cpu * n.cpus), 0) AS used,
	coalesce(sum(n.cpus), 0) AS cpus,
	coalesce(sum(n.memory), 0)::bigint AS memory, coalesce(sum(n.memory_total), 0)::bigint AS memory_total FROM nodes n
	JOIN h ON h.id = n.host_id),
guests AS (SELECT count(*) FILTER (WHERE kind = 'vm' AND NOT template) AS vms, count(*) FILTER (WHERE kind = 'vm'
	AND g.status = 'running') AS vms_running,
	count(*) FILTER (WHERE kind = 'container' AND NOT template) AS containers, count(*) FILTER (WHERE kind = 'container'
	AND g.status = 'running') AS containers_running,
	count(*) FILTER (WHERE template) AS templates, count(*) FILTER (WHERE g.status = 'unknown' AND NOT template) AS unknown FROM guests g
	JOIN h ON h.id = g.host_id),
apps AS (SELECT count(*) AS n FROM apps a LEFT JOIN h ON h.id = a.host_id WHERE h.id IS NOT NULL OR $1),
load AS (SELECT sum(requests) AS requests, sum(seconds) AS seconds, sum(hour_requests) AS hour_requests, sum(hour_seconds) AS hour_seconds
	FROM h JOIN (` + load.RatesSQL + `) r ON r.host_id = h.id),
storages AS (SELECT coalesce(sum(used), 0)::bigint AS used, coalesce(sum(total), 0)::bigint AS total FROM (` + eachStorage + `) each)
SELECT hosts.n, hosts.online, hosts.clusters, nodes.n, nodes.online, guests.vms, guests.vms_running, guests.containers,
	guests.containers_running, apps.n,
	guests.templates, guests.unknown, nodes.used, nodes.cpus, nodes.memory, nodes.memory_total, storages.used, storages.total,
	load.requests, load.seconds, load.hour_requests, load.hour_seconds
FROM hosts, nodes, guests, apps, storages, load`

// Summary returns the overview. The totals take one query and the lists a few
// more; the number of queries does not depend on the number of hosts and
// guests. The queries do not share a snapshot, so the parts may differ by what
// a poll changed in between.
func (s *Store) Summary(ctx context.Context, visible identity.VisibleTeams) (*Summary, error) {
	f := &Summary{}
	err := s.figures(ctx, visible, f)
	if err != nil {
		return nil, err
	}
	if err = s.problems(ctx, visible, f); err != nil {
		return nil, err
	}
	if f.Filling, err = s.filling(ctx, visible); err != nil {
		return nil, err
	}
	if f.ByCluster, err = s.clusterStates(ctx, visible); err != nil {
		return nil, err
	}
	if f.ByHost, err = s.hostStates(ctx, visible); err != nil {
		return nil, err
	}
	return f, nil
}

// figures reads the counts and sums.
func (s *Store) figures(ctx context.Context, visible identity.VisibleTeams, f *Summary) error {
	err := s.DB.Pool.QueryRow(ctx, selectSummary, visible.All, visible.Teams).Scan(&f.Hosts, &f.HostsOnline, &f.Clusters, &f.Nodes,
		&f.NodesOnline,
		&f.VMs, &f.VMsRunning, &f.Containers, &f.ContainersRunning, &f.Apps, &f.Templates, &f.Unknown, &f.CPUsUsed, &f.CPUs,
		&f.MemoryBytes, &f.MemoryTotalBytes, &f.DiskBytes, &f.DiskTotalBytes, &f.Load.Requests, &f.Load.Busy, &f.Load.RequestsHour,
		&f.Load.BusyHour)
	f.Load.round()
	if err != nil {
		return db.Problem(fmt.Errorf("reading the summary: %w", err))
	}
	return nil
}
