package search

import "strconv"

// newestJobs are looked at: there may be a million of them, and their names are those of guests.
const newestJobs = 1000

// source is a table of things that are found, in SQL.
type source struct {
	// is has a condition for each word that is: takes here.
	is map[string]string
	// from is the tables, of which those that may be seen hold the condition visible; $all and $teams stand for what the caller may see,
	// and $numbers for words that may be ids. rows are further tables that columns need, and a few conditions; shown is what only columns
	// and a status need.
	from, visible, rows, shown string
	// key tells rows apart. name, in lower case, is what ranks most, and texts, in lower case, are those in which a word may stand: the
	// first has the name and others, with blanks between them.
	key, name string
	texts     []string
	// whole is the condition that a word, as ?, is all of one of the texts beside the name, such as a number or a tag; without one the
	// first text is looked through.
	whole string
	// fields are conditions in which ? is the pattern of the value, in lower case, and what piece yields one on a guest's words. A term
	// of a field that is not among them holds for nothing here.
	fields map[string]string
	// weight is what a match counts, and order sorts what counts the same, before the name: smaller comes first.
	weight int
	order  string
	// columns of a Hit.
	columns string
}

// piece is a condition on a piece of a guest's words, by its number there.
func piece(number int) string { return "{" + strconv.Itoa(number) + "}" }

// in is a condition on a text: ? is lower case already.
func in(column string) string { return "lower(" + column + ") LIKE ?" }

// address is a condition on an address with a port, perhaps in brackets.
func address(column string) string {
	return "(lower(" + column + ") LIKE ? OR lower(" + column + ") LIKE ? || ':%' OR lower(" + column + ") LIKE '[' || ? || ']:%')"
}

const (
	// ofTeam is a condition on the team t, and ofHost on the host h.
	ofTeam = "(lower(t.slug) LIKE ? OR lower(t.name) LIKE ? OR t.id::text = ?)"
	ofHost = "(lower(h.name) LIKE ? OR h.id::text = ?)"
	// hosts are the few of the inventory, with their words: folded once, and not again for each guest.
	hosts = `(SELECT h.*, lower(h.name || ' ' || coalesce(c.name, '')) AS words, c.name AS cluster FROM hosts h
		LEFT JOIN clusters c ON c.id = h.cluster_id WHERE $all OR h.team_id = ANY($teams) OFFSET 0) h`
)

var sources = []source{
	{ // guests, and the apps that containers are: by their words in the table guest_words, see its migration
		is: map[string]string{"guest": "true", "vm": "g.kind = 'vm'", "container": "g.kind = 'container'", "app": "a.id IS NOT NULL",
			"template": "g.template"},
		from: `guest_words w JOIN ` + hosts + ` ON h.id = w.host_id JOIN teams t ON t.id = h.team_id
			LEFT JOIN (SELECT *, lower(name) AS folded FROM apps OFFSET 0) a ON a.guest_id = w.guest_id`,
		visible: "true",
		rows:    "JOIN guests g ON g.id = w.guest_id",
		shown:   "LEFT JOIN (SELECT * FROM jobs WHERE status IN ('queued', 'running') OFFSET 0) j ON j.exclusive = 'guest:' || w.guest_id",
		key:     "w.guest_id", name: "coalesce(a.folded, w.name)",
		texts: []string{"w.words", "h.words", "a.folded"},
		whole: `strpos(translate(w.words, E'\x02\x03\x04\x05\x06\x07', E'\x01\x01\x01\x01\x01\x01'), E'\x01' || ? || E'\x1f') > 0`,
		fields: map[string]string{
			fieldName:   "(" + piece(1) + " OR a.folded LIKE ?)",
			fieldStatus: "CASE WHEN j.id IS NULL THEN g.status ELSE 'pending' END LIKE ?",
			fieldHost:   ofHost, fieldNode: piece(4), fieldCluster: in("h.cluster"), fieldTeam: ofTeam, fieldPool: piece(5),
			fieldTag: piece(6), fieldIP: piece(7), fieldVMID: "(" + piece(3) + " OR " + piece(2) + ")",
		},
		weight: 4, order: "0",
		columns: `CASE WHEN a.id IS NOT NULL THEN 'app' ELSE g.kind END, coalesce(a.id, g.id), coalesce(a.name, g.name),
			CASE WHEN j.id IS NULL THEN g.status ELSE 'pending' END, g.vmid, h.id, h.name, g.node, h.cluster, h.team_id, g.tags,
			coalesce(g.addresses, '{}'), nullif(g.ref, g.vmid::text), NULL::timestamptz`,
	},
	{ // apps whose container is away
		is:      map[string]string{"app": "true"},
		from:    "apps a LEFT JOIN " + hosts + " ON h.id = a.host_id LEFT JOIN teams t ON t.id = h.team_id",
		visible: "a.guest_id IS NULL AND ($all OR h.id IS NOT NULL)",
		key:     "a.id", name: "lower(a.name)", texts: []string{"lower(a.name || ' ' || a.guest_ref)", "h.words"},
		fields: map[string]string{fieldName: in("a.name"), fieldStatus: "'unknown' LIKE ?", fieldHost: ofHost, fieldCluster: in("h.cluster"),
			fieldTeam: ofTeam, fieldVMID: "(a.vmid::text LIKE ? OR lower(a.guest_ref) LIKE ?)"},
		weight: 4, order: "0",
		columns: `'app', a.id, a.name, 'unknown', a.vmid, h.id, h.name, NULL, h.cluster, h.team_id, '{}'::text[], '{}'::text[], NULL,
			NULL::timestamptz`,
	},
	{
		is:      map[string]string{"host": "true"},
		from:    hosts + " JOIN teams t ON t.id = h.team_id",
		visible: "true",
		key:     "h.id", name: "lower(h.name)", texts: []string{"h.words", "lower(h.address || ' ' || h.entry_node)"},
		fields: map[string]string{fieldName: in("h.name"), fieldStatus: "h.status LIKE ?", fieldHost: ofHost, fieldNode: in("h.entry_node"),
			fieldCluster: in("h.cluster"), fieldTeam: ofTeam, fieldIP: address("h.address")},
		weight: 4, order: "0",
		columns: `'host', h.id, h.name, h.status, NULL::bigint, h.id, h.name, nullif(h.entry_node, ''), h.cluster, h.team_id, '{}'::text[],
			'{}'::text[], h.address, NULL::timestamptz`,
	},
	{
		is:      map[string]string{"node": "true"},
		from:    "nodes n JOIN " + hosts + " ON h.id = n.host_id JOIN teams t ON t.id = h.team_id",
		visible: "true",
		key:     "n.id", name: "lower(n.name)", texts: []string{"lower(n.name || ' ' || n.address)", "h.words"},
		fields: map[string]string{fieldName: in("n.name"), fieldStatus: "n.status LIKE ?", fieldHost: ofHost, fieldNode: in("n.name"),
			fieldCluster: in("h.cluster"), fieldTeam: ofTeam, fieldIP: address("n.address")},
		weight: 4, order: "0",
		columns: `'node', NULL::bigint, n.name, n.status, NULL::bigint, h.id, h.name, n.name, h.cluster, h.team_id, '{}'::text[],
			CASE WHEN n.address = '' THEN '{}' ELSE ARRAY[n.address] END, NULL, NULL::timestamptz`,
	},
	{ // a storage is one thing of its cluster, reached by the first host that may be seen
		is: map[string]string{"storage": "true"},
		from: `(SELECT min(s.id) AS id, s.name, min(s.host_id) AS host_id, min(s.type) AS type, array_agg(DISTINCT s.node) AS nodes,
			CASE WHEN bool_or(s.status = 'available') THEN 'available' ELSE 'unknown' END AS status
			FROM storages s JOIN hosts h ON h.id = s.host_id WHERE $all OR h.team_id = ANY($teams) GROUP BY s.cluster_id, s.name) s
			JOIN ` + hosts + ` ON h.id = s.host_id JOIN teams t ON t.id = h.team_id`,
		visible: "true",
		key:     "s.id", name: "lower(s.name)", texts: []string{"lower(s.name || ' ' || s.type)", "h.words",
			"lower(array_to_string(s.nodes, ' '))"},
		fields: map[string]string{fieldName: in("s.name"), fieldStatus: "s.status LIKE ?", fieldHost: ofHost, fieldCluster: in("h.cluster"),
			fieldNode: "EXISTS (SELECT FROM unnest(s.nodes) node WHERE lower(node) LIKE ?)", fieldTeam: ofTeam, fieldType: in("s.type")},
		weight: 4, order: "0",
		columns: `'storage', NULL::bigint, s.name, s.status, NULL::bigint, h.id, h.name, CASE WHEN cardinality(s.nodes) = 1 THEN s.nodes[1] END,
			h.cluster, h.team_id, '{}'::text[], '{}'::text[], s.type, NULL::timestamptz`,
	},
	{ // schedules are the instance's
		is:      map[string]string{"schedule": "true"},
		from:    "schedules s",
		visible: "$all",
		key:     "s.id", name: "lower(s.name)", texts: []string{"lower(s.name || ' ' || s.job_kind)"},
		fields: map[string]string{fieldName: in("s.name"), fieldStatus: "CASE WHEN s.enabled THEN 'enabled' ELSE 'disabled' END LIKE ?",
			fieldKind: in("s.job_kind")},
		weight: 4, order: "0",
		columns: `'schedule', s.id, s.name, CASE WHEN s.enabled THEN 'enabled' ELSE 'disabled' END, NULL::bigint, NULL::bigint, NULL, NULL,
			NULL, NULL::bigint, '{}'::text[], '{}'::text[], s.job_kind, s.next_run_at`,
	},
	{ // entries of the catalog are everybody's, while there is a catalog
		is: map[string]string{"catalog": "true"},
		from: `(SELECT e.*, CASE WHEN e.installable THEN 'installable' ELSE 'unavailable' END AS status FROM catalog_entries e
			JOIN catalog_sources s ON s.name = e.source WHERE s.enabled AND NOT EXISTS (SELECT FROM settings
			WHERE key = 'entitlements.disabled' AND value @> '["store.catalog"]')) e`,
		visible: "true",
		key:     "e.id", name: "lower(e.name)", texts: []string{"split_part(e.words, E'\\n', 1)", "lower(array_to_string(e.tags, ' '))"},
		fields: map[string]string{fieldName: in("e.name"), fieldStatus: "e.status LIKE ?", fieldType: "e.entry_type LIKE ?",
			fieldTag: "EXISTS (SELECT FROM unnest(e.tags) tag WHERE lower(tag) LIKE ?)"},
		weight: 2, order: "0",
		columns: `'catalog', NULL::bigint, e.name, e.status, NULL::bigint, NULL::bigint, NULL, NULL, NULL, NULL::bigint, e.tags, '{}'::text[],
			e.path, NULL::timestamptz`,
	},
	{ // jobs are named after what they are on, which comes before them; the newest first
		is: map[string]string{"job": "true"},
		from: `(SELECT * FROM (SELECT id, kind, status, team_id, host_id, target_name, requested_by_email, created_at FROM jobs
			WHERE $all OR team_id = ANY($teams) ORDER BY created_at DESC, id DESC LIMIT ` + strconv.Itoa(newestJobs) + `) newest
			UNION SELECT id, kind, status, team_id, host_id, target_name, requested_by_email, created_at FROM jobs
			WHERE id = ANY($numbers) AND ($all OR team_id = ANY($teams))) j
			LEFT JOIN hosts h ON h.id = j.host_id LEFT JOIN teams t ON t.id = j.team_id`,
		visible: "true",
		key:     "j.id", name: "lower(j.target_name)",
		texts: []string{"lower(concat_ws(' ', j.target_name, j.id, j.kind, j.requested_by_email, h.name))"},
		fields: map[string]string{fieldName: in("j.target_name"), fieldStatus: "j.status LIKE ?", fieldHost: ofHost, fieldTeam: ofTeam,
			fieldKind: in("j.kind")},
		weight: 1, order: "-j.id",
		columns: `'job', j.id, j.target_name, j.status, NULL::bigint, h.id, h.name, NULL, NULL, j.team_id, '{}'::text[], '{}'::text[],
			j.kind, j.created_at`,
	},
}
