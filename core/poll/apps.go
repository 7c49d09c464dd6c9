package poll

// sameName is SQL that reports whether the container g has the name of the
// container of app x. A name that a poll made from an id is no name; for an app
// whose container never had another, the app's own name counts.
const sameName = `g.name <> 'CT ' || g.ref
	AND g.name = CASE WHEN x.guest_name IN ('', 'CT ' || x.guest_ref) THEN x.name ELSE x.guest_name END`

const (
	// findApps links an app whose container was away to it again: the container
	// with the same identity, or with the same ref if one of both has no UID. A
	// container with the same ref and another UID is another one. Without a UID
	// the id may belong to another container now; so the name must match too,
	// and the app waits until the hypervisor reports it.
	findApps = `UPDATE apps a SET guest_id = m.guest_id
FROM (SELECT DISTINCT ON (guest_id) app_id, guest_id
	FROM (SELECT DISTINCT ON (app_id) app_id, guest_id, same FROM (
			SELECT x.id AS app_id, g.id AS guest_id, true AS same FROM apps x JOIN guests g ON g.cluster_id = $1 AND g.identity = x.identity
			WHERE x.cluster_id = $1 AND x.guest_id IS NULL AND g.kind = 'container' AND (g.uid IS NOT NULL OR ` + sameName + `)
			UNION ALL
			SELECT x.id, g.id, false FROM apps x JOIN guests g ON g.cluster_id = $1 AND g.ref = x.guest_ref
			WHERE x.cluster_id = $1 AND x.guest_id IS NULL AND g.kind = 'container' AND (g.uid IS NULL) <> (x.guest_uid IS NULL)
				AND ` + sameName + `) c
		WHERE NOT EXISTS (SELECT FROM apps o WHERE o.guest_id = c.guest_id)
		ORDER BY app_id, same DESC, guest_id DESC) c
	ORDER BY guest_id, same DESC, app_id) m
WHERE a.id = m.app_id`

	// followApps moves an app to the host of its container and stores the
	// container's identity, unless another app of the cluster has that
	// identity: then the container was adopted twice, once while its UID was
	// unknown.
	followApps = `UPDATE apps a SET host_id = g.host_id, guest_ref = g.ref, guest_uid = g.uid, vmid = g.vmid, guest_name = g.name
FROM guests g
WHERE a.cluster_id = $1 AND g.id = a.guest_id AND (a.host_id IS DISTINCT FROM g.host_id OR a.guest_ref <> g.ref
	OR a.guest_uid IS DISTINCT FROM g.uid OR a.vmid IS DISTINCT FROM g.vmid
	OR a.guest_name <> g.name)
	AND NOT EXISTS (SELECT FROM apps o WHERE o.cluster_id = a.cluster_id AND o.identity = g.identity AND o.id <> a.id)`

	// countAbsence counts how long an app is missing. Time without polls proves
	// nothing, so that only the time between successive polls counts; $2 is the
	// longest such time. Nothing is written once an app is certainly missing.
	countAbsence = `UPDATE apps a SET absent_since = CASE WHEN a.guest_id IS NULL THEN COALESCE(a.absent_since, now()) END,
	absent_for = CASE WHEN a.guest_id IS NOT NULL OR a.absent_since IS NULL OR c.seen_at IS NULL OR now() - c.seen_at > $2::interval
		THEN CASE WHEN a.guest_id IS NULL THEN a.absent_for ELSE '0' END ELSE a.absent_for + (now() - c.seen_at) END
FROM clusters c WHERE c.id = $1 AND a.cluster_id = $1
	AND (a.guest_id IS NULL AND a.absent_for < interval '1 hour' OR a.guest_id IS NOT NULL AND a.absent_since IS NOT NULL)`
)
