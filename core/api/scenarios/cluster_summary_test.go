package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

// clusterProblem is what the tests read of a problem.
type clusterProblem struct {
	Kind, Severity, Text, Remedy string
	Target                       struct {
		Kind, Name string
		ID         *int64
	}
	Since  *string `json:"since"`
	EndsAt *string `json:"ends_at"`
}

// clusterSummary is what the tests read of it.
type clusterSummary struct {
	Problems []clusterProblem
	Counts   []struct {
		Kind, Severity string
		Count          int
	} `json:"problem_counts"`
	ByCluster []struct {
		Name         string
		Quorate      *bool
		QuorumAsOf   *string `json:"quorum_as_of"`
		QuorateSince *string `json:"quorate_since"`
		Nodes        int
		Differ       bool `json:"versions_differ"`
		Versions     []string
		Members      []struct {
			Node                  string
			HostID                *int64 `json:"host_id"`
			Version, Subscription *string
			CertificateAt         *string `json:"certificate_ends_at"`
		}
		Requests *float64 `json:"requests_per_minute"`
	} `json:"by_cluster"`
	Load struct {
		Requests     *float64 `json:"requests_per_minute"`
		RequestsHour *float64 `json:"requests_per_minute_1h"`
	}
	ByHost []struct {
		Name         string
		Requests     *float64 `json:"requests_per_minute"`
		Busy         *float64 `json:"busy_s_per_minute"`
		RequestsHour *float64 `json:"requests_per_minute_1h"`
		BusyHour     *float64 `json:"busy_s_per_minute_1h"`
	} `json:"by_host"`
}

func summaryOf(t *testing.T, r *servicetest.Resource, as *apitest.Caller) (s clusterSummary) {
	t.Helper()
	r.Expect(t, "GET", "cluster/summary", "", as, 200, "").Decode(t, &s)
	return s
}

// problems are "severity kind target: text", sorted.
func (s clusterSummary) problems() []string {
	lines := []string{}
	for _, p := range s.Problems {
		lines = append(lines, fmt.Sprintf("%s %s %s %s: %s", p.Severity, p.Kind, p.Target.Kind, p.Target.Name, p.Text))
	}
	slices.Sort(lines)
	return lines
}

// clusters is a cluster of team 1 and one of team 2, of which nothing is wrong.
func clusters() []inventorytest.Cluster {
	return []inventorytest.Cluster{
		{
			Name: "prod",
			Hosts: []inventorytest.Host{{Name: "rack1", Node: "n1", Status: "online", Capabilities: []string{"monitoring", "lifecycle"}},
				{Name: "rack2", Node: "n2", Status: "online"}},
			Nodes: []inventorytest.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "n1", Name: "web"}, {Container: true, VMID: 101, Node: "n2", Name: "wiki",
				App: "Wiki"}},
		},
		{
			Team: 2, Hosts: []inventorytest.Host{{Name: "alone", Node: "m1", Status: "online", Capabilities: []string{"monitoring"}}},
			Nodes: []inventorytest.Node{{Name: "m1"}}, Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "theirs"}},
		},
	}
}

func newClusters(t *testing.T) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResource(t, registerCluster)
	inventorytest.Write(t, r.DB, clusters()...)
	return r
}

// Every kind of problem is told with its severity, its target and how to mend it, and is over when what caused it is.
func TestProblemsOfClusters(t *testing.T) {
	t.Parallel()
	const (
		host = "UPDATE hosts SET status = 'unreachable', error_reason = 'tls_fingerprint', error = 'another certificate', ok_at = now() " +
			"WHERE id = 2"
		jobOf   = "INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, finished_at, error) VALUES "
		nightly = `INSERT INTO schedules (name, cron, job_kind, params) VALUES ('nightly', '0 3 * * *',
			'vm.snapshot_create', '{"select":{"tag":"%s"}}')`
		failedJob = jobOf + "('vm.start', 'failed', 1, 1, 'vm', 1, 'web', now() - interval '1 hour', 'no such disk.')"
		// listed makes what is known of backups whole.
		listed = "INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) VALUES (1, 1, '', 'nas', now())"
		backup = "INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at) SELECT 1, 1, ref, 'n1', kind, " +
			"ref, " +
			"id, now() - interval '%d days' FROM guests WHERE cluster_id = 1"
	)
	for _, test := range []struct {
		name string
		sql  []string
		want []string
		// remedy is in how to mend the first one.
		remedy string
	}{
		{"nothing", nil, nil, ""},
		{"a host is away", []string{host}, []string{"critical host_away host rack2: The host does not answer: another certificate."},
			"accept it with PATCH /api/v1/hosts/2 "},
		{"a host is away whose token has ended", []string{host, "UPDATE hosts SET error_reason = 'auth' WHERE id = 2"},
			[]string{"critical host_away host rack2: The host does not answer: another certificate."}, "POST /api/v1/hosts/2/credentials"},
		{"quorum is lost", []string{"UPDATE clusters SET quorate = false WHERE id = 1"},
			[]string{"critical quorum_lost cluster prod: The cluster has no quorum: nothing in it can be started or changed."}, "votes"},
		{"nobody knows of quorum", []string{"UPDATE clusters SET quorate = NULL"}, nil, ""},
		{"a node is off", []string{"UPDATE nodes SET status = 'offline' WHERE name = 'n3'"},
			[]string{"critical node_away node n3: The node is off or has lost contact with the other nodes."}, "console"},
		{"nodes are not known", []string{"UPDATE nodes SET status = 'unknown'"}, nil, ""},
		{"a token ends", []string{"UPDATE host_credentials SET ends_at = now() + interval '29 days 1 hour', ends_told_at = now() WHERE " +
			"host_id = 1 " +
			"AND capability = 'lifecycle'"},
			[]string{"warning token_ending host rack1: The token for lifecycle, x, expires on DATE, in 29 days."},
			"POST /api/v1/hosts/1/credentials"},
		{"a token ends in a week", []string{"UPDATE host_credentials SET ends_at = now() + interval '25 hours' WHERE capability = 'lifecycle'"},
			[]string{"critical token_ending host rack1: The token for lifecycle, x, expires on DATE, in 1 day."}, ""},
		{"a token has ended", []string{"UPDATE host_credentials SET ends_at = now() - interval '1 day' WHERE capability = 'lifecycle'"},
			[]string{"critical token_ending host rack1: The token for lifecycle, x, expired on DATE."}, ""},
		{"a token ends later", []string{"UPDATE host_credentials SET ends_at = now() + interval '31 days'"}, nil, ""},
		{"certificates end", []string{"UPDATE hosts SET certificate_ends_at = now() + interval '10 days 1 hour', version_at = now() WHERE id " +
			"= 1",
			"UPDATE nodes SET certificate_ends_at = now() + interval '3 hours', facts_at = now() - interval '1 day' WHERE cluster_id = 1 AND " +
				"name <> 'n2'",
			"UPDATE nodes SET certificate_ends_at = now() + interval '90 days' WHERE name = 'n2'"},
			[]string{"critical certificate_ending node n3: The certificate expires on DATE, within a day.",
				"warning certificate_ending host rack1: The certificate expires on DATE, in 10 days."}, ""},
		{"a token lacks privileges", []string{"UPDATE host_credentials SET missing = '{VM.Audit,Sys.Audit}' WHERE host_id = 1 AND capability " +
			"= 'lifecycle'"},
			[]string{"warning token_privileges host rack1: The token for lifecycle lacked VM.Audit, Sys.Audit when it was last verified."},
			"POST /api/v1/hosts/1/test"},
		{"a token lacks many privileges", []string{"UPDATE host_credentials SET missing = array_fill('P'::text, '{30}') WHERE capability = " +
			"'lifecycle'"},
			[]string{"warning token_privileges host rack1: The token for lifecycle lacked " + strings.Repeat("P, ", 19) +
				"P and 10 more when it was last verified."}, ""},
		{"versions differ", []string{"UPDATE nodes SET version = '9.2.11' WHERE name = 'n1'", "UPDATE nodes SET version = '9.2.12' WHERE " +
			"name = 'n3'"},
			[]string{"warning versions_differ cluster prod: The nodes of the cluster run 2 different releases: 9.2.11, 9.2.12."},
			"the same release"},
		{"a host has told later than its node", []string{"UPDATE nodes SET version = '9.2.11', facts_at = now() - interval '1 hour' WHERE " +
			"cluster_id = 1",
			"UPDATE hosts SET version = '9.2.12', version_at = now() WHERE id = 2"},
			[]string{"warning versions_differ cluster prod: The nodes of the cluster run 2 different releases: 9.2.11, 9.2.12."}, ""},
		{"a node has told later than its host", []string{"UPDATE nodes SET version = '9.2.12', facts_at = now() WHERE cluster_id = 1",
			"UPDATE hosts SET version = '9.2.11', version_at = now() - interval '1 hour' WHERE id = 2"}, nil, ""},
		{"a subscription has ended", []string{"UPDATE nodes SET subscription = 'Expired', subscription_due = '2026-01-31' WHERE name = 'n1'",
			"UPDATE nodes SET subscription = 'notfound' WHERE name = 'n2'"},
			[]string{"warning subscription_ended node n1: The node's subscription is expired, due on 2026-01-31."}, "Renew"},
		{"a job failed", []string{failedJob}, []string{"warning job_failed vm web: The job vm.start failed: no such disk."},
			"/api/v1/jobs/1/retry"},
		{"a job failed twice", []string{failedJob, failedJob}, []string{"warning job_failed vm web: The job vm.start failed: no such " +
			"disk."}, ""},
		{"a job failed yesterday", []string{failedJob, "UPDATE jobs SET finished_at = now() - interval '25 hours'"}, nil, ""},
		{"a job failed and succeeded since", []string{failedJob, jobOf + "('vm.start', 'succeeded', 1, 1, 'vm', 1, 'web', now(), '')"}, nil, ""},
		{"a job failed after it had succeeded", []string{failedJob,
			jobOf + "('vm.start', 'succeeded', 1, 1, 'vm', 1, 'web', now() - interval '2 hours', '')"},
			[]string{"warning job_failed vm web: The job vm.start failed: no such disk."}, ""},
		{"a job was canceled", []string{failedJob, "UPDATE jobs SET status = 'canceled'"}, nil, ""},
		{"nobody knows how a job of the service itself ended", []string{"INSERT INTO jobs (kind, status, target_kind, target_id, target_name, " +
			"finished_at) VALUES ('jobs.prune', 'unknown', 'jobs', 0, '', now())"}, []string{"warning job_failed jobs : The job jobs.prune " +
			"failed."}, ""},
		{"no backup", []string{listed},
			[]string{"warning backup_never app Wiki: The guest has no backup, but requires one from the last 7 days.",
				"warning backup_never vm web: The guest has no backup, but requires one from the last 7 days."}, "backup-none"},
		{"old backups", []string{listed, fmt.Sprintf(backup, 8), "UPDATE guests SET tags = '{backup-30d}' WHERE vmid = 101"},
			[]string{"warning backup_old vm web: The guest's newest backup is from DATE, but must be at most 7 days old."},
			"POST /api/v1/backups/run"},
		{"backups that cannot be listed", []string{listed, fmt.Sprintf(backup, 1),
			"UPDATE backup_storages SET error_code = 'hypervisor_error', error = 'no such storage', node = 'n1'"},
			[]string{"warning backup_unlisted storage nas: The backups on n1 could not be listed: no such storage."}, "POST /api/v1/hosts/1/test"},
		{"an app is missing", []string{"UPDATE apps SET guest_id = NULL, absent_for = '16 minutes', absent_since = now()"},
			[]string{"warning app_missing app Wiki: The app's container no longer exists."}, "DELETE /api/v1/apps/1 "},
		{"a schedule selects nothing", []string{fmt.Sprintf(nightly, "Prod"), "UPDATE schedules SET name = 'off', enabled = false",
			fmt.Sprintf(nightly, "Prod")},
			[]string{"warning schedule_empty schedule nightly: The schedule selects no guest: none has the tag Prod."}, "PATCH /api/v1/schedules/"},
		{"a schedule selects a tag in other letters", []string{fmt.Sprintf(nightly, "Prod"),
			"UPDATE guests SET tags = '{prod}' WHERE vmid = 101"}, nil, ""},
		{"configurations are not read", []string{"UPDATE guests SET first_seen_at = now() - interval '2 hours' WHERE cluster_id = 1",
			"INSERT INTO guest_details (guest_id, as_of) SELECT id, now() FROM guests WHERE vmid = 101"},
			[]string{"info detail_unknown cluster prod: The configuration of 1 guest has not been read: the networks and storages " +
				"that the guests use are unknown."},
			"poll.details_per_minute"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newClusters(t)
			for _, sql := range test.sql {
				r.Exec(sql)
			}
			s := summaryOf(t, r, apitest.Viewer)
			for i := range s.Problems {
				p := &s.Problems[i]
				for _, at := range []*string{p.EndsAt, p.Since} {
					if at != nil {
						p.Text = strings.Replace(p.Text, (*at)[:len("2026-01-31")], "DATE", 1)
					}
				}
				if p.Remedy == "" || strings.Contains(p.Remedy, "{host_id}") || strings.Contains(p.Remedy, "%!") {
					t.Errorf("%s: how to mend it: %q", p.Kind, p.Remedy)
				}
			}
			if got := s.problems(); !slices.Equal(got, slices.Concat([]string{}, test.want)) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			} else if len(got) > 0 && !strings.Contains(s.Problems[0].Remedy, test.remedy) {
				t.Errorf("how to mend it: %s", s.Problems[0].Remedy)
			}
			total := 0
			for _, c := range s.Counts {
				total += c.Count
			}
			if total != len(test.want) {
				t.Errorf("the counts are %v", s.Counts)
			}
			// It is all of team 1, and nothing of it is told to others.
			if theirs := summaryOf(t, r, apitest.In(2, identity.Viewer)); len(theirs.Problems)+len(theirs.Counts) > 0 {
				t.Errorf("team 2 is told %q", theirs.problems())
			}
			if nobody := summaryOf(t, r, apitest.In(3, identity.Owner)); len(nobody.Problems)+len(nobody.ByCluster)+len(nobody.ByHost) > 0 {
				t.Errorf("team 3 is told %+v", nobody)
			}
		})
	}
}

// The summary shows both teams that they enrolled the same cluster if each side lists the certificate of the other's host. What a cluster
// reports about itself is not proof.
func TestProblemOfAClusterOfTwoTeams(t *testing.T) {
	t.Parallel()
	const (
		hosts = `UPDATE hosts SET tls_fingerprint = CASE team_id WHEN 1 THEN 'aa' ELSE 'bb' END, entry_node = CASE team_id WHEN 1 THEN 'n1'
			ELSE 'n2' END WHERE id = 1 OR team_id = 2`
		names  = "UPDATE clusters SET name = 'prod', ident = 'same'"
		theirs = `INSERT INTO nodes (cluster_id, host_id, name, status, fingerprint, seen_at)
			SELECT cluster_id, id, 'n1', 'online', 'aa', now() FROM hosts WHERE team_id = 2`
		ours = "UPDATE nodes SET fingerprint = 'bb' WHERE cluster_id = 1 AND name = 'n2'"
	)
	for name, test := range map[string]struct {
		sql  []string
		told bool
	}{
		"what a cluster says of itself":       {[]string{hosts, names, theirs}, false},
		"what the other cluster says of it":   {[]string{hosts, names, ours}, false},
		"each knows the other's certificate":  {[]string{hosts, ours, theirs}, true},
		"the same certificate and identity":   {[]string{hosts, names, "UPDATE hosts SET tls_fingerprint = 'aa'"}, true},
		"the same certificate for two others": {[]string{hosts, "UPDATE hosts SET tls_fingerprint = 'aa'"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newClusters(t)
			for _, sql := range test.sql {
				r.Exec(sql)
			}
			var told []string
			for _, as := range []*apitest.Caller{apitest.Viewer, apitest.In(2, identity.Viewer)} { // who sees both, and one of the two
				for _, p := range summaryOf(t, r, as).Problems {
					if text, found := strings.CutPrefix(p.Text, "The cluster is also enrolled by "); found && p.Kind == "cluster_twice" {
						who, _, _ := strings.Cut(text, ".")
						told = append(told, who)
					}
				}
			}
			slices.Sort(told)
			want := []string{"1 other team", "the team Default", "the team team2"}
			if test.told && !slices.Equal(told, want) || !test.told && told != nil {
				t.Errorf("the summaries name these teams: %q", told)
			}
		})
	}
}

// What concerns one team is told to it and to who sees all.
func TestProblemsOfClustersOfATeam(t *testing.T) {
	t.Parallel()
	r := newClusters(t)
	for _, sql := range []string{
		"UPDATE hosts SET status = 'unreachable'", "UPDATE clusters SET quorate = false", "UPDATE nodes SET status = 'offline', version = name",
		"UPDATE host_credentials SET missing = '{A}', ends_at = now()",
		`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, finished_at) SELECT 'vm.start', 'failed',
			h.team_id,
			h.id, 'vm', g.id, g.name, now() FROM guests g JOIN hosts h ON h.id = g.host_id`,
		"INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) SELECT id, (SELECT min(h.id) FROM hosts h WHERE h.cluster_id = " +
			"c.id), " +
			"'', 'nas', now() FROM clusters c",
		"UPDATE guests SET first_seen_at = now() - interval '1 day'",
	} {
		r.Exec(sql)
	}
	want := "critical host_away host alone, critical node_away node m1, critical quorum_lost cluster , critical token_ending host alone, " +
		"info detail_unknown cluster , warning backup_never vm theirs, warning job_failed vm theirs, warning token_privileges host alone"
	theirs := []string{}
	for _, line := range summaryOf(t, r, apitest.In(2, identity.Viewer)).problems() {
		theirs = append(theirs, strings.SplitN(line, ":", 2)[0])
	}
	if got := strings.Join(theirs, ", "); got != want {
		t.Errorf("team 2 is told\n%s\nwant\n%s", got, want)
	}
	all := summaryOf(t, r, apitest.Viewer)
	if len(all.Problems) != 8+16 {
		t.Errorf("who sees all is told %d: %q", len(all.Problems), all.problems())
	}
	rank := map[string]int{"critical": 1, "warning": 2, "info": 3}
	if !slices.IsSortedFunc(all.Problems, func(a, b clusterProblem) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) }) {
		t.Errorf("the worst are not first: %q", all.problems())
	}
}

// Many problems of one kind leave room for the others, and all are counted.
func TestManyProblemsOfClusters(t *testing.T) {
	t.Parallel()
	r := newClusters(t)
	r.Exec(`INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status) SELECT 1, 1, 'vm', 200 + i, 200 + i, 'n1', 'g' || i,
		'running' FROM generate_series(1, 300) i`)
	r.Exec("INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) VALUES (1, 1, '', 'nas', now())")
	r.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2")
	s := summaryOf(t, r, apitest.Viewer)
	if len(s.Problems) != 21 || s.Problems[0].Kind != "host_away" {
		t.Errorf("%d problems: %q", len(s.Problems), s.problems())
	}
	if got := fmt.Sprint(s.Counts); got != "[{host_away critical 1} {backup_never warning 302}]" {
		t.Errorf("the counts are %s", got)
	}
}

// How clusters and hosts stand, and which load the service is to them.
func TestStatesOfClusters(t *testing.T) {
	t.Parallel()
	r := newClusters(t)
	for _, sql := range []string{
		"UPDATE clusters SET quorate = false, membership_at = '2026-01-31 12:00:00Z', quorate_since = '2026-01-31 11:00:00Z' WHERE id = 1",
		"UPDATE nodes SET version = '9.2.11', certificate_ends_at = '2027-01-31 12:00:00Z', subscription = 'active', facts_at = now() WHERE " +
			"name = 'n3'",
		"UPDATE hosts SET version = '9.2.12' WHERE id = 1",
		`INSERT INTO host_requests (host_id, minute, requests, seconds) SELECT h, date_trunc('minute', now()) - m * interval '1 minute', 2 * h,
			0.25 FROM generate_series(1, 2) h, generate_series(0, 11) m`, // the next minute may begin before they are read
	} {
		r.Exec(sql)
	}
	number := func(f *float64) string {
		if f == nil {
			return "?"
		}
		return fmt.Sprint(*f)
	}
	hosts := func(s clusterSummary) (text string) {
		for _, h := range s.ByHost {
			text += fmt.Sprintf("%s %s %s %s %s; ", h.Name, number(h.Requests), number(h.Busy), number(h.RequestsHour), number(h.BusyHour))
		}
		return text
	}
	s := summaryOf(t, r, apitest.Viewer)
	if got := hosts(s); got != "alone ? ? ? ?; rack1 2 0.25 2 0.25; rack2 4 0.25 4 0.25; " {
		t.Errorf("the hosts are %s", got)
	}
	if number(s.Load.Requests) != "6" || number(s.Load.RequestsHour) != "6" {
		t.Errorf("all hosts together are %+v", s.Load)
	}
	prod := s.ByCluster[0] // without quorum
	if prod.Name != "prod" || prod.Quorate == nil || *prod.Quorate || *prod.QuorumAsOf != "2026-01-31T12:00:00Z" ||
		*prod.QuorateSince != "2026-01-31T11:00:00Z" || number(prod.Requests) != "6" || prod.Nodes != 3 || !prod.Differ ||
		fmt.Sprint(prod.Versions) != "[9.2.11 9.2.12]" || len(prod.Members) != 3 {
		t.Fatalf("the cluster is %+v", prod)
	}
	n1, n3 := prod.Members[0], prod.Members[2]
	if n1.HostID == nil || *n1.HostID != 1 || *n1.Version != "9.2.12" || n1.Subscription != nil {
		t.Errorf("the node of a host is %+v", n1)
	}
	if n3.HostID != nil || *n3.Version != "9.2.11" || *n3.CertificateAt != "2027-01-31T12:00:00Z" || *n3.Subscription != "active" {
		t.Errorf("a node without a host is %+v", n3)
	}
	theirs := summaryOf(t, r, apitest.In(2, identity.Viewer))
	if got := hosts(theirs); got != "alone ? ? ? ?; " || len(theirs.ByCluster) != 1 || len(theirs.ByCluster[0].Members) != 1 {
		t.Errorf("team 2 is shown %s and %+v", got, theirs.ByCluster)
	}
}
