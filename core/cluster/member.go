package cluster

// visible is the first common table of a query: h has the hosts that may be
// seen. $1 is true for a user who sees all teams, otherwise $2 lists the teams.
const visible = `h AS (SELECT * FROM hosts WHERE $1 OR team_id = ANY ($2))`

// members is a common table after visible: m has the nodes of all clusters with
// a visible host. Release and certificate come from two sources, the node's own
// facts and the host that is registered at the node; the later one counts.
// entry is the ID of that host, NULL if no host is registered at the node.
const members = `m AS (SELECT n.cluster_id, n.host_id, n.name, n.status, n.status_since, e.id AS entry, e.name AS entry_name,
	CASE WHEN e.version <> '' AND (n.version = '' OR e.version_at > n.facts_at) THEN e.version ELSE n.version END AS version,
	CASE WHEN n.certificate_ends_at IS NULL OR e.version_at > n.facts_at AND e.certificate_ends_at IS NOT NULL THEN e.certificate_ends_at
		ELSE n.certificate_ends_at END AS certificate_ends_at,
	n.subscription, n.subscription_due, n.level, n.facts_at, GREATEST(n.facts_at, e.version_at) AS told_at
	FROM nodes n LEFT JOIN (SELECT DISTINCT ON (cluster_id, entry_node) * FROM h WHERE entry_node <> ''
		ORDER BY cluster_id, entry_node, id) e ON e.cluster_id = n.cluster_id AND e.entry_node = n.name
	WHERE n.cluster_id IN (SELECT cluster_id FROM h))`
