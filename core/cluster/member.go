package cluster

// visible are, in SQL, the hosts that may be seen, as $1 and $2 say: the first of the common tables of a query.
const visible = `h AS (SELECT * FROM hosts WHERE $1 OR team_id = ANY ($2))`

// members are, in SQL, after visible, the nodes of clusters with a host that may be seen. What the host at a node told later than the node
// itself counts. entry is that host.
const members = `m AS (SELECT n.cluster_id, n.host_id, n.name, n.status, n.status_since, e.id AS entry, e.name AS entry_name,
	CASE WHEN e.version <> '' AND (n.version = '' OR e.version_at > n.facts_at) THEN e.version ELSE n.version END AS version,
	CASE WHEN n.certificate_ends_at IS NULL OR e.version_at > n.facts_at AND e.certificate_ends_at IS NOT NULL THEN e.certificate_ends_at
		ELSE n.certificate_ends_at END AS certificate_ends_at,
	n.subscription, n.subscription_due, n.level, n.facts_at, GREATEST(n.facts_at, e.version_at) AS told_at
	FROM nodes n LEFT JOIN (SELECT DISTINCT ON (cluster_id, entry_node) * FROM h WHERE entry_node <> ''
		ORDER BY cluster_id, entry_node, id) e ON e.cluster_id = n.cluster_id AND e.entry_node = n.name
	WHERE n.cluster_id IN (SELECT cluster_id FROM h))`
