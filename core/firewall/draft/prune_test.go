package draft_test

import "testing"

// What was applied or undone goes when its job would go, in batches. What somebody may still work on, or must look at, stays.
func TestPruneDeletesEndedDrafts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Exec(`INSERT INTO firewall_drafts (host_id, cluster_id, name, changes, scopes, role, status, updated_at)
		SELECT h.id, h.cluster_id, s.status || ' ' || days, '[]', '[]', 'admin', s.status, now() - days * interval '24 hours'
		FROM (SELECT * FROM hosts ORDER BY id LIMIT 1) h, (VALUES (91), (89)) a (days),
			(SELECT unnest(ARRAY['open', 'committing', 'waiting', 'undoing', 'applied', 'undone', 'unknown'])
			UNION ALL SELECT 'applied' FROM generate_series(1, 150)) s (status)`)
	var batches []int64
	for {
		n, err := f.Prune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if batches = append(batches, n); n == 0 {
			break
		}
	}
	if len(batches) != 3 || batches[0] != 100 || batches[1] != 52 {
		t.Errorf("the batches are %v", batches)
	}
	left := f.Value(`SELECT string_agg(DISTINCT name, ', ' ORDER BY name) FROM firewall_drafts WHERE name LIKE '% 91'`)
	if want := "committing 91, open 91, undoing 91, unknown 91, waiting 91"; left != want {
		t.Errorf("of the old ones %s are left, want %s", left, want)
	}
	if n := f.Value("SELECT count(*) FROM firewall_drafts WHERE name LIKE '% 89'"); n != "157" {
		t.Errorf("%s of the newer ones are left", n)
	}
}
