package poll_test

import (
	"testing"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// second enrols the second node of the cluster as the host 2.
func (f *certified) second() {
	f.t.Helper()
	f.driver.AddEntry(f.cluster, "two.mem:8443", "node2")
	f.host(f.cluster, "two.mem:8443")
}

// known is the idents of the clusters that have hosts, and how many guests there are.
func (f *certified) known(want string, idents ...string) {
	f.t.Helper()
	got := f.Value(`SELECT (SELECT count(*) FROM clusters c WHERE EXISTS (SELECT FROM hosts WHERE cluster_id = c.id)) || ' clusters, ' ||
		(SELECT count(*) FROM guests) || ' guests, hosts at ' || (SELECT string_agg(entry_node, ' ' ORDER BY id) FROM hosts)`)
	if got != want {
		f.t.Errorf("%s, want %s", got, want)
	}
	for _, ident := range idents {
		if f.Value("SELECT count(*) FROM clusters WHERE ident = $1 AND name = ''", ident) == "0" {
			f.t.Errorf("no cluster has the ident %s", ident)
		}
	}
}

// A cluster without a name is known by its ID, and by its nodes when that changes.
func TestANamelessClusterIsOne(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	ref := f.running()
	f.second()
	f.sync(1, 2)
	f.known("1 clusters, 1 guests, hosts at node1 node2", f.cluster.Fingerprint())
	before := f.of(ref, "id, cluster_id")
	f.cluster.Renew()
	f.sync(2, 1, 2)
	f.known("1 clusters, 1 guests, hosts at node1 node2", f.cluster.Fingerprint())
	if got := f.of(ref, "id, cluster_id"); got != before {
		t.Errorf("the guest was %s and is %s after the certificate was renewed", before, got)
	}
	other := f.driver.Add("other.mem:8443", memdriver.Spec{Nodes: 2, VMs: 3})
	f.sync(f.host(other, "other.mem:8443"), 1, 2)
	f.known("2 clusters, 4 guests, hosts at node1 node2 node1", f.cluster.Fingerprint(), other.Fingerprint())
}

// A member that was enrolled after the ID had changed, and polled first, is of the same cluster when the others have been polled.
func TestAMemberThatIsPolledBeforeTheOthers(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	f.running()
	f.sync(1)
	f.cluster.Renew()
	f.second()
	f.sync(2)
	f.known("2 clusters, 2 guests, hosts at node1 node2")
	f.sync(1, 2)
	f.known("1 clusters, 1 guests, hosts at node1 node2", f.cluster.Fingerprint())
}

// Two teams never share a cluster; it is one when one team falls to the other.
func TestANamelessClusterOfTwoTeams(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	f.running()
	f.second()
	f.Exec("INSERT INTO teams (id, name, slug) VALUES (2, 'T', 't')")
	f.Exec("UPDATE hosts SET team_id = 2 WHERE id = 2")
	f.sync(1, 2, 1, 2)
	f.known("2 clusters, 2 guests, hosts at node1 node2")
	users := identity.New(f.db, identity.Config{Assets: host.New(host.Config{DB: f.db})})
	if _, err := users.DeleteTeam(t.Context(), nil, 2); err != nil {
		t.Fatal(err)
	}
	f.sync(2)
	f.known("1 clusters, 1 guests, hosts at node1 node2", f.cluster.Fingerprint())
}

// Figures that come into another cluster with their guest keep their age, until they are measured there.
func TestFiguresMoveWithTheirAge(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	ref := f.running()
	f.second()
	f.Exec("INSERT INTO teams (id, name, slug) VALUES (2, 'T', 't')")
	f.Exec("UPDATE hosts SET team_id = 2 WHERE id = 2")
	f.sync(1, 2)
	f.Exec("UPDATE clusters SET detail_at = NULL")
	f.sync(2)
	f.passes(200)
	// The first cluster was measured later, and does not know the guest.
	f.Exec("DELETE FROM guests WHERE cluster_id = 1")
	f.Exec("UPDATE clusters SET figures_at = now() WHERE id = 1")
	f.Exec("UPDATE hosts SET team_id = 1")
	f.Exec("UPDATE clusters SET team_id = 1, detail_at = now()")
	f.sync(2)
	f.known("1 clusters, 1 guests, hosts at node1 node2", f.cluster.Fingerprint())
	if got := f.ages(ref); got != "guest 200, node -1, seen 0" {
		t.Errorf("ages in the other cluster: %s", got)
	}
	f.polls(true, 0)
	if got := f.ages(ref); got != "guest 0, node 0, seen 0" {
		t.Errorf("ages after a measurement: %s", got)
	}
}

func withID(id string, p hypervisor.Page) hypervisor.Page {
	c := *p.Cluster
	c.ID = id
	p.Cluster = &c
	return p
}

// A second host is of the first one's cluster by the same ID, unless certificates contradict, or else as by name alone.
func TestClustersByIDAndName(t *testing.T) {
	t.Parallel()
	nodes := func(pair string, names ...string) (list []hypervisor.Node) {
		for _, name := range names {
			n := node(name)
			if pair != "" {
				n.Fingerprint = fingerprint(pair)
			}
			list = append(list, n)
		}
		return list
	}
	for name, c := range map[string]struct {
		first, second hypervisor.Page
		pins          bool
		want          string
	}{
		"one ID": {withID("x", report("", "n1", nodes("", "n1", "n2"))), withID("x", report("", "n2", nodes("", "n1", "n2"))), false, "1"},
		"one ID and no common node": {withID("x", report("", "n1", nodes("", "n1"))), withID("x", report("", "n2", nodes("", "n2"))), false,
			"1"},
		"one ID and other names": {withID("x", report("a", "n1", nodes("", "n1"))), withID("x", report("b", "n1", nodes("", "n1"))), false, "1"},
		"one ID, and a contradicting leaf": {withID("x", report("", "n1", nodes("a", "n1"))), withID("x", report("", "n1", nodes("b", "n1"))),
			false, "2"},
		"one ID, and two pins at one node": {withID("x", report("", "n1", nodes("", "n1"))), withID("x", report("", "n1", nodes("", "n1"))),
			true, "2"},
		"two IDs and one name, the nodes agree": {withID("x", report("a", "n1", nodes("", "n1"))),
			withID("y", report("a", "n1", nodes("", "n1"))), false, "1"},
		"two IDs and one name, other nodes": {withID("x", report("a", "n1", nodes("", "n1"))), withID("y", report("a", "n2", nodes("", "n2"))),
			false, "2"},
		"two IDs and no name": {withID("x", report("", "n1", nodes("", "n1"))), withID("y", report("", "n1", nodes("", "n1"))), false, "2"},
		"an ID once and no name": {withID("x", report("", "n1", nodes("", "n1"))), report("", "n1", nodes("", "n1")), false,
			"2"},
		"an ID once and one name": {withID("x", report("a", "n1", nodes("", "n1"))), report("a", "n1", nodes("", "n1")), false, "1"},
		"what cannot be an ID": {withID("x\x00", report("", "n1", nodes("", "n1"))), withID("x\x00", report("", "n1", nodes("", "n1"))), false,
			"2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			a, b := f.host(func() hypervisor.Page { return c.first }), f.host(func() hypervisor.Page { return c.second })
			if c.pins {
				f.Exec("UPDATE hosts SET tls_fingerprint = 'pin of ' || id")
			}
			p := f.poller(f.db)
			for range 2 {
				f.sync(p, a)
				f.sync(p, b)
			}
			if got := f.Value("SELECT count(DISTINCT cluster_id) FROM hosts"); got != c.want {
				t.Errorf("%s clusters, want %s", got, c.want)
			}
		})
	}
}

// A member of a nameless cluster stays in it for as long as its ID or, where that changed, its nodes say so.
func TestAMemberStaysOrLeavesByID(t *testing.T) {
	t.Parallel()
	both := []hypervisor.Node{node("n1"), node("n2")}
	moved := []hypervisor.Node{node("n1"), node("n2")}
	moved[0].Address, moved[1].Address = "198.51.100.1", "198.51.100.2"
	marked := []hypervisor.Node{node("n1"), node("n2")}
	marked[1].Fingerprint = fingerprint("b")
	partial := func(p hypervisor.Page) hypervisor.Page {
		p.Cluster.Partial = true
		return p
	}
	for name, c := range map[string]struct {
		later hypervisor.Page
		// want is the number of clusters and the ident of the later host's.
		want string
	}{
		"the same":                    {withID("x", report("", "n2", both)), "1 x"},
		"another ID, the same nodes":  {withID("y", report("", "n2", both)), "1 y"},
		"another ID, other addresses": {withID("y", report("", "n2", moved)), "2 y"},
		"no ID":                       {report("", "n2", both[1:]), "2 "},
		"no ID, in part":              {partial(report("", "n2", both)), "1 x"},
		"the same ID, in part":        {withID("x", partial(report("", "n2", both))), "1 x"},
		"another ID, in part":         {withID("y", partial(report("", "n2", both))), "1 y"},
		"the same ID, another leaf":   {withID("x", report("", "n2", marked)), "2 x"},
		"an ID that is none":          {withID("y\n", report("", "n2", both)), "2 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			known := []hypervisor.Node{node("n1"), node("n2")}
			known[1].Fingerprint = fingerprint("a")
			one, two := withID("x", report("", "n1", known)), withID("x", report("", "n2", known))
			a, b := f.host(func() hypervisor.Page { return one }), f.host(func() hypervisor.Page { return two })
			p := f.poller(f.db)
			f.sync(p, a)
			f.sync(p, b)
			if got := f.Value("SELECT count(*) FROM clusters WHERE ident = 'x'"); got != "1" {
				t.Fatalf("%s clusters before", got)
			}
			two = c.later
			f.sync(p, b)
			if got := f.Value("SELECT (SELECT count(DISTINCT cluster_id) FROM hosts) || ' ' || ident FROM clusters c JOIN hosts h "+
				"ON h.cluster_id = c.id WHERE h.id = $1", b); got != c.want {
				t.Errorf("clusters and ident: %s, want %s", got, c.want)
			}
			if got := f.Value("SELECT name FROM clusters LIMIT 1"); got != "" {
				t.Errorf("a cluster is called %q", got)
			}
		})
	}
}
