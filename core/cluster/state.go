package cluster

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/load"
)

const (
	// maxRows is how many hosts, and how many clusters, the summary lists.
	maxRows = 500
	// maxMembers is how many nodes of one cluster the summary lists.
	maxMembers = 100
)

// Rates is the load that the service causes on a host or on all hosts of a
// cluster. Package load records it.
type Rates struct {
	Requests     *float64 `json:"requests_per_minute" example:"2.4" doc:"Requests that the service sends to the hypervisor, average per minute over the last five minutes; null if the driver does not count them"`
	Busy         *float64 `json:"busy_s_per_minute" example:"0.07" doc:"Seconds per minute for which the service's requests keep the hypervisor busy, from connecting to the end of the response. File uploads count; requests that only wait for a task do not"`
	RequestsHour *float64 `json:"requests_per_minute_1h" example:"2.3" doc:"Same as requests_per_minute, averaged over the last hour"`
	BusyHour     *float64 `json:"busy_s_per_minute_1h" example:"0.06" doc:"Same as busy_s_per_minute, averaged over the last hour"`
}

// round rounds the rates to three decimals.
func (r *Rates) round() {
	for _, f := range []*float64{r.Requests, r.Busy, r.RequestsHour, r.BusyHour} {
		if f != nil {
			*f = math.Round(*f*1000) / 1000
		}
	}
}

// HostState is the state of one host.
type HostState struct {
	ID            int64      `json:"id" example:"1"`
	Name          string     `json:"name" example:"lab"`
	TeamID        int64      `json:"team_id" example:"1"`
	ClusterID     *int64     `json:"cluster_id" example:"1" doc:"ID of the cluster; null until the first poll"`
	Status        string     `json:"status" enum:"pending,online,unreachable" example:"online"`
	OKAt          *time.Time `json:"ok_at" example:"2026-01-31T12:00:00Z" doc:"Time of the last successful poll"`
	Version       *string    `json:"version" example:"9.2.11" doc:"Version of the hypervisor"`
	VersionAt     *time.Time `json:"version_at" example:"2026-01-31T12:00:00Z" doc:"When its version and certificate were last read; they are read every half hour"`
	CertificateAt *time.Time `json:"certificate_ends_at" example:"2028-01-31T12:00:00Z" doc:"When its certificate expires; null if not known"`
	TokensAt      *time.Time `json:"tokens_end_at" example:"2027-01-31T12:00:00Z" doc:"When the first of its tokens expires; null if none expires or the hypervisor does not report it"`
	Rates
}

// ClusterState is the state of one cluster. A standalone host is a cluster with
// an empty name.
type ClusterState struct {
	ID           int64      `json:"id" example:"1"`
	Name         string     `json:"name" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	TeamID       int64      `json:"team_id" example:"1"`
	Quorate      *bool      `json:"quorate" example:"true" doc:"true if it has quorum, as a standalone host always does; null if not known"`
	QuorateSince *time.Time `json:"quorate_since" example:"2026-01-31T12:00:00Z" doc:"When the quorum last changed, as far as polls observed it"`
	QuorumAsOf   *time.Time `json:"quorum_as_of" example:"2026-01-31T12:00:00Z" doc:"When the hypervisor last reported quorum and members; read every five minutes, and at the next poll after nodes join, leave or change state"`
	SeenAt       *time.Time `json:"seen_at" example:"2026-01-31T12:00:00Z" doc:"When its inventory was last read"`
	NodeCount    int64      `json:"nodes" example:"3"`
	Differ       bool       `json:"versions_differ" example:"false" doc:"true if its nodes run different releases, as far as they are known"`
	Versions     []string   `json:"versions" example:"[\"9.2.11\"]" doc:"Releases that its nodes run"`
	Members      []Member   `json:"members" doc:"Nodes by name, the first 100"`
	Usage
	Rates
}

// Member is a node of a cluster.
type Member struct {
	Node            string     `json:"node" example:"pve1"`
	HostID          *int64     `json:"host_id" example:"1" doc:"The host registered at the node; null if none is"`
	Status          string     `json:"status" enum:"online,offline,unknown" example:"online"`
	StatusSince     *time.Time `json:"status_since" example:"2026-01-31T12:00:00Z"`
	Version         *string    `json:"version" example:"9.2.11" doc:"Release that the node runs; null if not reported"`
	CertificateAt   *time.Time `json:"certificate_ends_at" example:"2028-01-31T12:00:00Z" doc:"When the certificate of the node expires; null if not reported"`
	Subscription    *string    `json:"subscription" example:"active" doc:"Status of the subscription, as the hypervisor names it; null if not read"`
	SubscriptionDue *string    `json:"subscription_due" example:"2027-01-31"`
	Level           *string    `json:"level" example:"c" doc:"Level of the subscription as of quorum_as_of, as the hypervisor names it"`
	ReadAt          *time.Time `json:"read_at" example:"2026-01-31T12:00:00Z" doc:"When the subscription, the release and the certificate were read from the node, once a day; a host on the node may have reported the last two since"`
}

// selectHostStates lists unreachable hosts first, so that the limit never hides
// them behind healthy ones.
const selectHostStates = `WITH ` + visible + `
SELECT h.id, h.name, h.team_id, h.cluster_id, h.status, h.ok_at, NULLIF(h.version, ''), h.version_at, h.certificate_ends_at,
	(SELECT min(ends_at) FROM host_credentials k WHERE k.host_id = h.id), r.requests, r.seconds, r.hour_requests, r.hour_seconds
FROM h LEFT JOIN (` + load.RatesSQL + `) r ON r.host_id = h.id
ORDER BY h.status <> 'unreachable', lower(h.name), h.id LIMIT $3`

// hostStates returns the visible hosts, unreachable ones first.
func (s *Store) hostStates(ctx context.Context, visible identity.VisibleTeams) ([]HostState, error) {
	rows, err := s.DB.Pool.Query(ctx, selectHostStates, visible.All, visible.Teams, maxRows)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the state of hosts: %w", err))
	}
	states, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h HostState, err error) {
		err = row.Scan(&h.ID, &h.Name, &h.TeamID, &h.ClusterID, &h.Status, &h.OKAt, &h.Version, &h.VersionAt, &h.CertificateAt, &h.TokensAt,
			&h.Requests, &h.Busy, &h.RequestsHour, &h.BusyHour)
		h.OKAt, h.VersionAt, h.CertificateAt, h.TokensAt = utc(h.OKAt), utc(h.VersionAt), utc(h.CertificateAt), utc(h.TokensAt)
		h.round()
		return h, err
	})
	return states, db.Problem(err)
}

// selectClusterStates sums the usage of nodes and storages per cluster.
const selectClusterStates = `WITH ` + visible + `, r AS (SELECT h.cluster_id, sum(requests) AS requests, sum(seconds) AS seconds,
	sum(hour_requests) AS hour_requests, sum(hour_seconds) AS hour_seconds FROM h JOIN (` + load.RatesSQL + `) r ON r.host_id = h.id
	GROUP BY h.cluster_id),
n AS (SELECT n.cluster_id, sum(n.cpu * n.cpus) AS used, sum(n.cpus) AS cpus, sum(n.memory)::bigint AS memory,
	sum(n.memory_total)::bigint AS memory_total FROM nodes n JOIN h ON h.id = n.host_id GROUP BY n.cluster_id),
s AS (SELECT cluster_id, sum(used)::bigint AS used, sum(total)::bigint AS total FROM (` + eachStorage + `) each GROUP BY cluster_id)
SELECT c.id, c.name, c.team_id, c.quorate, c.quorate_since, c.membership_at, c.seen_at,
	coalesce(n.used, 0), coalesce(n.cpus, 0), coalesce(n.memory, 0), coalesce(n.memory_total, 0), coalesce(s.used, 0), coalesce(s.total, 0),
	r.requests, r.seconds, r.hour_requests, r.hour_seconds
FROM clusters c LEFT JOIN r ON r.cluster_id = c.id LEFT JOIN n ON n.cluster_id = c.id
	LEFT JOIN s ON s.cluster_id = c.id WHERE c.id IN (SELECT cluster_id FROM h)
ORDER BY c.quorate IS NOT FALSE, lower(c.name), c.id LIMIT $3`

// selectMembers lists the first $4 nodes of each cluster in $3. The number of
// nodes and the list of releases cover all nodes of the cluster.
const selectMembers = `WITH ` + visible + `, ` + members + `
SELECT cluster_id, n, versions, name, entry, status, status_since, NULLIF(version, ''), certificate_ends_at, NULLIF(subscription, ''),
	NULLIF(subscription_due, ''), NULLIF(level, ''), facts_at
FROM (SELECT *, count(*) OVER same AS n, row_number() OVER (same ORDER BY name) AS place FROM m WHERE cluster_id = ANY ($3)
	WINDOW same AS (PARTITION BY cluster_id)) m
JOIN (SELECT cluster_id AS of, coalesce(array_agg(DISTINCT version ORDER BY version) FILTER (WHERE version <> ''), '{}') AS versions
	FROM m GROUP BY cluster_id) v ON v.of = m.cluster_id
WHERE place <= $4 ORDER BY cluster_id, place`

// clusterStates returns the visible clusters with their nodes, those without
// quorum first. It takes two queries whatever the number of clusters.
func (s *Store) clusterStates(ctx context.Context, visible identity.VisibleTeams) ([]ClusterState, error) {
	rows, err := s.DB.Pool.Query(ctx, selectClusterStates, visible.All, visible.Teams, maxRows)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the state of clusters: %w", err))
	}
	states, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c ClusterState, err error) {
		err = row.Scan(&c.ID, &c.Name, &c.TeamID, &c.Quorate, &c.QuorateSince, &c.QuorumAsOf, &c.SeenAt, &c.CPUsUsed, &c.CPUs,
			&c.MemoryBytes, &c.MemoryTotalBytes, &c.DiskBytes, &c.DiskTotalBytes, &c.Requests, &c.Busy, &c.RequestsHour, &c.BusyHour)
		c.QuorateSince, c.QuorumAsOf, c.SeenAt = utc(c.QuorateSince), utc(c.QuorumAsOf), utc(c.SeenAt)
		c.Versions, c.Members = []string{}, []Member{}
		c.round()
		return c, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the state of clusters: %w", err))
	}
	ids := make([]int64, len(states))
	at := map[int64]*ClusterState{}
	for i := range states {
		ids[i], at[states[i].ID] = states[i].ID, &states[i]
	}
	rows, err = s.DB.Pool.Query(ctx, selectMembers, visible.All, visible.Teams, ids, maxMembers)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading members: %w", err))
	}
	var id, count int64
	var versions []string
	var m Member
	_, err = pgx.ForEachRow(rows, []any{&id, &count, &versions, &m.Node, &m.HostID, &m.Status, &m.StatusSince, &m.Version, &m.CertificateAt,
		&m.Subscription, &m.SubscriptionDue, &m.Level, &m.ReadAt}, func() error {
		c := at[id]
		c.NodeCount, c.Versions, c.Differ = count, versions, len(versions) > 1
		m.StatusSince, m.CertificateAt, m.ReadAt = utc(m.StatusSince), utc(m.CertificateAt), utc(m.ReadAt)
		c.Members = append(c.Members, m)
		m, versions = Member{}, nil
		return nil
	})
	return states, db.Problem(err)
}
