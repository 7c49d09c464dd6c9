package host_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const firstNode = "192.0.2.1"

// peeredCluster is a cluster whose first node is a host with the tokens m and l; each further node is like what it is called.
func peeredCluster(t *testing.T) (*host.Store, *machines, *db.DB) {
	t.Helper()
	s, driver, d := newMachines(t)
	member := func(n int) machine {
		return machine{certificate: fmt.Sprintf("c%d", n), node: fmt.Sprintf("n%d", n), cluster: "prod", address: fmt.Sprintf("192.0.2.%d", n)}
	}
	peer := func(n int, name, address string) hypervisor.Peer {
		return hypervisor.Peer{Name: name, Address: address, Fingerprint: print(fmt.Sprintf("c%d", n)), Online: true}
	}
	first := member(1)
	first.peers = []hypervisor.Peer{
		peer(1, "n1", firstNode), peer(2, "n2", "192.0.2.2"), peer(3, "impostor", "192.0.2.3"), peer(4, "local", "127.0.0.1"),
		peer(5, "metadata", "169.254.169.254"), peer(6, "down", "192.0.2.6"), peer(7, "unvouched", "192.0.2.7"),
		peer(8, "homeless", ""), peer(9, "hangs", "192.0.2.9"), peer(10, "n10", "192.0.2.10"), peer(11, "named", "evil.example"),
	}
	first.peers[0].Self, first.peers[5].Online, first.peers[6].Fingerprint = true, false, ""
	driver.put(firstNode, first)
	driver.put("192.0.2.2", member(2))
	impostor := member(3)
	impostor.certificate, impostor.signed = "evil", true
	driver.put("192.0.2.3", impostor)
	driver.put("127.0.0.1", member(4))
	driver.put("169.254.169.254", member(5))
	driver.put("192.0.2.7", member(7))
	hanging := member(9)
	hanging.hangs = true
	driver.put("192.0.2.9", hanging)
	partial := member(10)
	partial.refuses = []string{"l"}
	driver.put("192.0.2.10", partial)
	driver.put("evil.example", member(12))

	_, _, err := s.Create(t.Context(), host.EnrolRequest{Name: "first", Address: firstNode, TokenID: "a@b!m", Secret: secret.New("m")})
	if err == nil {
		_, err = s.Rotate(t.Context(), 1, host.RotateRequest{Capability: "lifecycle", TokenID: "a@b!l", Secret: secret.New("l")})
	}
	if err == nil {
		_, err = d.Pool.Exec(t.Context(), `WITH c AS (INSERT INTO clusters (team_id, name) VALUES (2, 'prod') RETURNING id)
			UPDATE hosts SET team_id = 2, cluster_id = c.id, node_shell_enabled = true FROM c;
			INSERT INTO host_ssh_consents (host_id, version, user_email) VALUES (1, 1, 'ada@example.com');
			INSERT INTO host_ssh_keys (host_id, state, public_key, private_key) VALUES (1, 'active', 'ssh-ed25519 AAAA', '\x01')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, driver, d
}

func TestPeersAreLookedAt(t *testing.T) {
	t.Parallel()
	s, driver, d := peeredCluster(t)
	before := listed(t, d)
	rows, err := s.Peers(t.Context(), 1)
	if err != nil || len(rows) != 10 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, want := range []struct{ node, reason, seen string }{
		{"n2", "", ""}, {"impostor", "tls_fingerprint", "evil"}, {"local", "refused", ""}, {"metadata", "refused", ""},
		{"down", "unreachable", ""},
		{"unvouched", "refused", "c7"}, {"homeless", "unreachable", ""}, {"hangs", "timeout", ""}, {"n10", "", ""},
		{"named", "tls_fingerprint", "c12"},
	} {
		r := rows[slices.IndexFunc(rows, func(r host.Peer) bool { return r.Node == want.node })]
		var reason, seen string
		if r.Reason != nil {
			reason = *r.Reason
		}
		if r.SeenFingerprint != nil {
			seen = *r.SeenFingerprint
		}
		if want.seen != "" {
			want.seen = print(want.seen)
		}
		if reason != want.reason || seen != want.seen || r.CanEnrol != (reason == "") || r.Reachable != r.CanEnrol ||
			(r.Error == nil) != r.Reachable || (r.Version != nil) != r.Reachable || r.Enrolled || r.Online == (want.node == "down") {
			t.Errorf("%s is %+v, reason %q, seen %q", want.node, r, reason, seen)
		}
	}
	// Secrets go to who shows the certificate that the host vouches for, and nowhere else.
	driver.mu.Lock()
	defer driver.mu.Unlock()
	for address, secrets := range driver.sent {
		switch address {
		case firstNode + ":8006": // it has enrolled with both
		case "192.0.2.2:8006":
			if !slices.Equal(secrets, []string{"m"}) {
				t.Errorf("%s was sent %q", address, secrets)
			}
		case "192.0.2.10:8006":
		default:
			t.Errorf("%s was sent %q", address, secrets)
		}
	}
	for _, local := range []string{"127.0.0.1:8006", "169.254.169.254:8006"} {
		if driver.asked[local] > 0 {
			t.Errorf("%s was asked", local)
		}
	}
	if after := listed(t, d); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// wanted is what is to become of a node of a request.
type wanted struct{ node, name, code, detail string }

func checkEnrolled(t *testing.T, rows []host.EnrolledPeer, want []wanted) {
	t.Helper()
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, r := range rows {
		var name, code, detail string
		for text, from := range map[*string]*string{&name: r.Name, &code: r.Error, &detail: r.Detail} {
			if from != nil {
				*text = *from
			}
		}
		w := want[i]
		if r.Node != w.node || name != w.name || code != w.code || !strings.Contains(detail, w.detail) || (w.detail == "") != (detail == "") {
			t.Errorf("row %d is %s %s: %s %s, want %+v", i, r.Node, name, code, detail, w)
		}
	}
}

func TestPeersAreEnrolled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for addresses that do not respond: make check runs it")
	}
	t.Parallel()
	s, driver, d := peeredCluster(t)
	rows, err := s.EnrolPeers(t.Context(), 1,
		[]string{"n2", "n10", "n2", "n1", "nobody", "impostor", "local", "down", "unvouched", "homeless", "hangs", "named"},
		map[string]string{"unvouched": strings.ToLower(print("c7"))})
	if err != nil {
		t.Fatal(err)
	}
	checkEnrolled(t, rows, []wanted{
		{"n2", "n2", "", ""}, {"n10", "n10", "", "the token for lifecycle was not accepted"}, {"n2", "", "conflict", "listed twice"},
		{"n1", "", "already_enrolled", "the node of the host itself"}, {"nobody", "", "not_found", "does not have this node"},
		{"impostor", "", "hypervisor_error", "certificate"}, {"local", "", "hypervisor_error", "address that is not allowed"},
		{"down", "", "hypervisor_error", "nobody there"}, {"unvouched", "", "conflict", "another node answers"},
		{"homeless", "", "hypervisor_error", "does not report the node's address"}, {"hangs", "", "timeout", "no answer"},
		{"named", "", "hypervisor_error", "certificate"},
	}[:len(rows)])
	driver.mu.Lock()
	for address, secrets := range driver.sent {
		known := slices.Contains([]string{firstNode, "192.0.2.2", "192.0.2.10", "192.0.2.7"}, strings.TrimSuffix(address, ":8006"))
		if !known {
			t.Errorf("%s was sent %q", address, secrets)
		}
	}
	driver.mu.Unlock()
	// Each has tokens of its own, sealed for it, of the first one's team, and nothing that was consented to for the first.
	var got string
	err = d.Pool.QueryRow(t.Context(), `SELECT string_agg(concat_ws(' ', h.name, h.address, h.entry_node, h.team_id, h.status, h.verify_tls,
		h.node_shell_enabled, EXISTS (SELECT FROM host_ssh_consents WHERE host_id = h.id),
		EXISTS (SELECT FROM host_ssh_keys WHERE host_id = h.id), left(h.tls_fingerprint, 5),
		(SELECT string_agg(capability, '+' ORDER BY id) FROM host_credentials WHERE host_id = h.id)), '; ' ORDER BY h.name)
		FROM hosts h WHERE id > 1`).Scan(&got)
	want := fmt.Sprintf("n10 192.0.2.10:8006 n10 2 pending f f f f %s monitoring; "+
		"n2 192.0.2.2:8006 n2 2 pending f f f f %s monitoring+lifecycle",
		print("c10")[:5], print("c2")[:5])
	if err != nil || got != want {
		t.Errorf("the hosts are %q, want %q; %v", got, want, err)
	}
	if rows[0].HostID == nil || !slices.Equal(rows[0].Capabilities, []string{"monitoring", "lifecycle"}) ||
		!slices.Equal(rows[1].Capabilities, []string{"monitoring"}) {
		t.Fatalf("%+v", rows[:2])
	}
	if _, err := s.Open(t.Context(), *rows[0].HostID, endpoint.Lifecycle); err != nil {
		t.Error(err)
	}
	// Again: it is already a host, and only who sees it learns which one.
	if _, err := d.Pool.Exec(t.Context(), "UPDATE hosts SET team_id = 3 WHERE name = 'n2'"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		teams map[int64]identity.Role
		sees  bool
	}{{map[int64]identity.Role{2: identity.Owner}, false}, {map[int64]identity.Role{2: identity.Owner, 3: identity.Viewer}, true}} {
		ctx := identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Teams: c.teams})
		again, err := s.EnrolPeers(ctx, 1, []string{"n2"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkEnrolled(t, again, []wanted{{"n2", "", "already_enrolled", "is already a host"}})
		seen, err := s.Peers(ctx, 1)
		if err != nil || !seen[0].Enrolled || seen[0].CanEnrol || (seen[0].HostID != nil) != c.sees || (again[0].HostID != nil) != c.sees {
			t.Errorf("%+v, %+v, %v", seen[0], again[0], err)
		}
	}
}

func TestWrongRequestsToEnrolPeers(t *testing.T) {
	t.Parallel()
	s, _, d := peeredCluster(t)
	before := listed(t, d)
	for name, pins := range map[string]map[string]string{
		"no fingerprint": {"n2": ""}, "half a fingerprint": {"n2": "AB:CD"}, "of a node that is not named": {"n10": print("c10")},
	} {
		if _, err := s.EnrolPeers(t.Context(), 1, []string{"n2"}, pins); problem.CodeOf(err) != problem.CodeInvalid {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if _, err := s.EnrolPeers(t.Context(), 99, []string{"n2"}, nil); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("error is %v", err)
	}
	if after := listed(t, d); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// A host that does not tell its cluster's nodes is a row for each that was named.
func TestEnrolPeersOfAHostThatFails(t *testing.T) {
	t.Parallel()
	s, driver, d := peeredCluster(t)
	before := listed(t, d)
	driver.put(firstNode, machine{certificate: "evil", node: "n1", cluster: "prod", address: "192.0.2.1"})
	ctx, trail := audit.Begin(t.Context(), audit.Entry{ActorType: audit.ActorSystem, Action: "host.enrol_peers"})
	rows, err := s.EnrolPeers(ctx, 1, []string{"n2", "n10"}, nil)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, r := range rows {
		if r.Error == nil || *r.Error != "hypervisor_error" || r.Reason == nil || *r.Reason != "tls_fingerprint" || len(r.Capabilities) > 0 {
			t.Errorf("%+v", r)
		}
	}
	if refused, _ := trail.Entry().Details["refused"].(map[string]string); len(refused) != 2 {
		t.Errorf("the audit log tells %v", trail.Entry().Details)
	}
	if after := listed(t, d); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// A pin of the caller's is the certificate that counts, also where the cluster says another.
func TestPinOfAPeer(t *testing.T) {
	t.Parallel()
	s, driver, d := peeredCluster(t)
	renewed := machine{certificate: "new", node: "n2", cluster: "prod", address: "192.0.2.2"}
	driver.put("192.0.2.2", renewed)
	rows, err := s.EnrolPeers(t.Context(), 1, []string{"n2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkEnrolled(t, rows, []wanted{{"n2", "", "hypervisor_error", "certificate"}})
	rows, err = s.EnrolPeers(t.Context(), 1, []string{"n2"}, map[string]string{"n2": print("new")})
	if err != nil {
		t.Fatal(err)
	}
	checkEnrolled(t, rows, []wanted{{"n2", "n2", "", ""}})
	if got := listed(t, d); !strings.Contains(got, print("new")[:5]) {
		t.Errorf("the hosts are %s", got)
	}
}

// Of requests at the same time one enrols a node, the others learn that it is one.
func TestPeerEnrolledTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s, _, d := peeredCluster(t)
	var all sync.WaitGroup
	codes := make(chan string, 6)
	for range cap(codes) {
		all.Go(func() {
			rows, err := s.EnrolPeers(t.Context(), 1, []string{"n2"}, nil)
			switch {
			case err != nil:
				codes <- err.Error()
			case rows[0].Error != nil:
				codes <- *rows[0].Error
			default:
				codes <- "made"
			}
		})
	}
	all.Wait()
	close(codes)
	made := 0
	for code := range codes {
		switch code {
		case "made":
			made++
		case "already_enrolled", "conflict":
		default:
			t.Errorf("one ended with %s", code)
		}
	}
	if got := listed(t, d); made != 1 || strings.Count(got, " n2 ") != 1 {
		t.Errorf("%d were made: %s", made, got)
	}
}

// A node whose name another host has is named after the first host too.
func TestNameOfAPeer(t *testing.T) {
	t.Parallel()
	s, driver, d := peeredCluster(t)
	driver.put("other.example", machine{certificate: "x", node: "pve", address: "192.0.2.77"})
	for _, taken := range []string{"n2", "first-n2"} {
		if _, err := d.Pool.Exec(t.Context(), "INSERT INTO hosts (driver, name, address) VALUES ('other', $1, $1)", taken); err != nil {
			t.Fatal(err)
		}
		rows, err := s.EnrolPeers(t.Context(), 1, []string{"n2"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if taken == "n2" {
			checkEnrolled(t, rows, []wanted{{"n2", "first-n2", "", ""}})
			if _, err := d.Pool.Exec(t.Context(), "DELETE FROM hosts WHERE name = 'first-n2'"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		checkEnrolled(t, rows, []wanted{{"n2", "", "conflict", "another host already has this name"}})
	}
}
