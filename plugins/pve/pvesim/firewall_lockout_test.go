package pvesim_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// outsider is a client that is in no network of the nodes.
const outsider = "203.0.113.7"

// firewalled starts a cluster whose firewall is on, and which sees its clients as others.
func firewalled(t testing.TB, nodes int, as string) (*pvesim.Cluster, caller) {
	t.Helper()
	c := pvesimtest.Start(t, pvesim.Options{Nodes: nodes, Bare: true})
	c.SetFirewallOptions(pvesim.FirewallCluster, map[string]any{"enable": int64(1)})
	seenAs(t, c, as)
	return c, caller{t, c.URL(""), c.AdminToken()}
}

func seenAs(t testing.TB, c *pvesim.Cluster, as string) {
	t.Helper()
	prefix, err := netip.ParsePrefix(as)
	if err != nil {
		prefix = netip.PrefixFrom(netip.MustParseAddr(as), netip.MustParseAddr(as).BitLen())
	}
	noError(t, c.SetFirewallClients(pvesim.FirewallClient{Network: netip.MustParsePrefix("127.0.0.0/8"), As: prefix}))
}

// knock opens a connection to a node and says what became of it: answered, reset, or silence. Silence is believed after a while only.
func knock(t testing.TB, c *pvesim.Cluster, node string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.URL(node), "https://"))
	if errors.Is(err, syscall.ECONNRESET) {
		return "reset"
	}
	noError(t, err)
	defer conn.Close()
	patience := time.Minute
	if verdictOf(c, node).Verdict == "DROP" {
		patience = 100 * time.Millisecond
	}
	noError(t, conn.SetDeadline(time.Now().Add(patience)))
	switch err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake(); {
	case err == nil:
		return "answered"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silence"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	default:
		t.Fatalf("node %s: %v", node, err)
		return ""
	}
}

func verdictOf(c *pvesim.Cluster, node string) pvesim.FirewallClientStatus {
	for _, n := range c.FirewallStatus().Nodes {
		if n.Node == node {
			return n.Clients[0]
		}
	}
	return pvesim.FirewallClientStatus{}
}

func TestFirewallLocksOut(t *testing.T) {
	t.Parallel()
	c, _ := firewalled(t, 1, outsider)
	want := func(what, verdict, by string, position int) {
		t.Helper()
		if got := verdictOf(c, "pve1"); got != (pvesim.FirewallClientStatus{As: got.As, Verdict: verdict, By: by, Position: position}) {
			t.Errorf("%+v, want %s by %s %d", got, verdict, by, position)
		}
		if got := knock(t, c, "pve1"); got != what {
			t.Errorf("%s by %s: %s, want %s", verdict, by, got, what)
		}
	}
	rules := func(scope pvesim.FirewallScope, list ...pvesim.FirewallRule) {
		t.Helper()
		noError(t, c.SetFirewallRules(scope, list...))
	}
	in := func(action, source string) pvesim.FirewallRule {
		return pvesim.FirewallRule{Type: "in", Action: action, Enable: true, Proto: "tcp", Dport: "8006", Source: source}
	}
	want("silence", "DROP", "policy", -1)
	c.SetFirewallOptions(pvesim.FirewallCluster, map[string]any{"enable": int64(1), "policy_in": "REJECT"})
	want("reset", "REJECT", "policy", -1)
	noError(t, c.SetFirewallIPSet(pvesim.FirewallCluster, "management", "203.0.113.0/24"))
	want("answered", "ACCEPT", "management", -1)
	rules(pvesim.FirewallCluster, in("ACCEPT", ""), in("DROP", outsider))
	want("answered", "ACCEPT", "cluster", 0)
	rules(pvesim.FirewallNode("pve1"), pvesim.FirewallRule{Type: "group", Action: "shut", Enable: true})
	want("answered", "ACCEPT", "cluster", 0) // there is no such group
	rules(pvesim.FirewallGroup("shut"), in("DROP", "198.51.100.0/24"), in("DROP", "203.0.113.1-203.0.113.9"))
	want("silence", "DROP", "group:shut", 1)
	c.SetFirewallOptions(pvesim.FirewallNode("pve1"), map[string]any{"enable": 0})
	want("answered", "ACCEPT", "host-firewall-off", -1)
	c.SetFirewallOptions(pvesim.FirewallNode("pve1"), nil)
	want("silence", "DROP", "group:shut", 1)
	c.SetFirewallOptions(pvesim.FirewallCluster, nil)
	want("answered", "ACCEPT", "cluster-firewall-off", -1)
}

// TestFirewallSeesClients: the network of the nodes is let in by itself, and a client is seen with its own last bits.
func TestFirewallSeesClients(t *testing.T) {
	t.Parallel()
	c, _ := firewalled(t, 1, "10.99.0.200")
	if got := knock(t, c, "pve1"); got != "answered" {
		t.Errorf("a neighbour gets %s", got)
	}
	seenAs(t, c, "203.0.0.0/8")
	if got := verdictOf(c, "pve1"); got.As != "203.0.0.0" || got.Verdict != "DROP" {
		t.Errorf("%+v", got)
	}
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster,
		pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Enable: true, Source: "203.0.0.1"}))
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.URL(""), "https://")) // from 127.0.0.1
	noError(t, err)
	defer conn.Close()
	noError(t, tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake())
	noError(t, c.SetFirewallClients()) // nobody is judged
	if len(c.FirewallStatus().Clients) != 0 || c.SetFirewallClients(pvesim.FirewallClient{}) == nil {
		t.Error("a client that is nobody was taken")
	}
}

// TestFirewallLeavesConnectionsAlone: what was let in before goes on, until it ends.
func TestFirewallLeavesConnectionsAlone(t *testing.T) {
	t.Parallel()
	c, root := firewalled(t, 1, "10.99.0.200")
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.URL(""), "https://"), &tls.Config{InsecureSkipVerify: true})
	noError(t, err)
	defer conn.Close()
	reader := bufio.NewReader(conn)
	ask := func() error {
		_, err := fmt.Fprintf(conn, "GET /api2/json/version HTTP/1.1\r\nHost: x\r\nAuthorization: PVEAPIToken=%s=%s\r\n\r\n",
			root.token.ID, root.token.Secret)
		if err != nil {
			return err
		}
		head, err := reader.ReadString('\n')
		if err != nil || !strings.Contains(head, "200") {
			return fmt.Errorf("%q: %w", head, err)
		}
		for line := ""; line != "\r\n"; {
			if line, err = reader.ReadString('\n'); err != nil {
				return err
			}
		}
		_, err = reader.ReadString('}')
		_, _ = reader.ReadString('}')
		return err
	}
	noError(t, ask())
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster, pvesim.FirewallRule{Type: "in", Action: "DROP", Enable: true}))
	if got := knock(t, c, "pve1"); got != "silence" {
		t.Errorf("a new connection gets %s", got)
	}
	noError(t, ask())
	c.DropConnections()
	if ask() == nil {
		t.Error("the connection is still there")
	}
}

// TestFirewallsOfNodes: each node has its own, also for what another node passes on.
func TestFirewallsOfNodes(t *testing.T) {
	t.Parallel()
	c, root := firewalled(t, 2, "10.99.0.200")
	rule := func(node, action, direction, of string) {
		t.Helper()
		r := pvesim.FirewallRule{Type: direction, Action: action, Enable: true, Source: of}
		noError(t, c.SetFirewallRules(pvesim.FirewallNode(node), r))
	}
	const through = "/nodes/pve2/status"
	rule("pve2", "DROP", "in", "10.99.0.200")
	if one, two := knock(t, c, "pve1"), knock(t, c, "pve2"); one != "answered" || two != "silence" {
		t.Errorf("pve1 %s, pve2 %s", one, two)
	}
	root.get(through, nil) // the other node may
	rule("pve2", "DROP", "in", "10.99.0.0/24")
	root.refused("GET", through, "", 595, "Connection timed out")
	rule("pve2", "REJECT", "in", "10.99.0.10")
	root.refused("GET", through, "", 595, "Connection refused")
	rule("pve2", "ACCEPT", "in", "")
	root.get(through, nil)
	rule("pve1", "DROP", "out", "")
	root.refused("GET", through, "", 595, "Connection timed out")
	root.get("/nodes/pve1/status", nil)
	noError(t, c.SetFirewallClients())
	root.get(through, nil)
}

// TestFirewallDelay: changes are in force when the node's daemon has looked, and those of one round together.
func TestFirewallDelay(t *testing.T) {
	t.Parallel()
	c, root := firewalled(t, 1, outsider)
	noError(t, c.SetFirewallIPSet(pvesim.FirewallCluster, "management", outsider))
	const round = time.Hour // longer than the test
	c.SetFirewallDelay(round)
	if c.FirewallStatus().Nodes[0].Pending {
		t.Error("what was configured before is not in force")
	}
	root.decode("POST", "/cluster/firewall/rules", "type=in&action=DROP&enable=1", nil)
	if status := c.FirewallStatus(); !status.Nodes[0].Pending || status.Nodes[0].Clients[0].Verdict != "ACCEPT" {
		t.Errorf("%+v", status)
	}
	c.Advance(round)
	if status := c.FirewallStatus(); status.Nodes[0].Pending || status.Nodes[0].Clients[0].Verdict != "DROP" {
		t.Errorf("%+v", status)
	}
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster))
	c.Advance(round)
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster, pvesim.FirewallRule{Type: "in", Action: "REJECT", Enable: true}))
	if status := c.FirewallStatus(); !status.Nodes[0].Pending || status.Nodes[0].Clients[0].Verdict != "ACCEPT" {
		t.Errorf("the round before does not count: %+v", status)
	}
	root.decode("PUT", "/cluster/firewall/options", "enable=2", nil) // is in force at once
	if got := verdictOf(c, "pve1"); got.Verdict != "REJECT" {
		t.Errorf("%+v", got)
	}
}

// TestFirewallThatDoesNotLoad: the node goes on with what it had, and says why.
func TestFirewallThatDoesNotLoad(t *testing.T) {
	t.Parallel()
	c, _ := firewalled(t, 1, outsider)
	allow := pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Enable: true}
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster, allow))
	if got := verdictOf(c, "pve1"); got.Verdict != "ACCEPT" {
		t.Fatalf("%+v", got)
	}
	noError(t, c.SetFirewallIPSet(pvesim.FirewallCluster, "twice", "10.0.0.5/24", "10.0.0.6/24"))
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster))
	status := c.FirewallStatus().Nodes[0]
	if len(status.Failures) != 2 || !strings.Contains(status.Failures[0], "10.0.0.0/24") || status.Clients[0].Verdict != "ACCEPT" {
		t.Errorf("%+v", status)
	}
	c.RemoveFirewallIPSet(pvesim.FirewallCluster, "twice")
	if status := c.FirewallStatus().Nodes[0]; len(status.Failures) != 0 || status.Clients[0].Verdict != "DROP" {
		t.Errorf("%+v", status)
	}
}

func TestFirewallLogsConnections(t *testing.T) {
	t.Parallel()
	c, root := firewalled(t, 1, outsider)
	knock(t, c, "pve1") // neither rule nor policy has a level
	c.SetFirewallOptions(pvesim.FirewallNode("pve1"), map[string]any{"log_level_in": "info"})
	knock(t, c, "pve1")
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster, pvesim.FirewallRule{Type: "in", Action: "REJECT", Enable: true, Log: "warning"}))
	knock(t, c, "pve1")
	noError(t, c.SetFirewallClients())
	lines, total := root.logOf("/nodes/pve1/firewall/log")
	if total != 2 {
		t.Fatalf("%d lines: %q", total, lines)
	}
	for i, words := range [][]string{
		{"0 6 PVEFW-HOST-IN ", " policy DROP: IN=vmbr0 PHYSIN=eno1 MAC=", " SRC=203.0.113.7 DST=10.99.0.10 LEN=60 ",
			" PROTO=TCP ", " DPT=8006 ", " SYN "},
		{"0 4 PVEFW-HOST-IN ", " REJECT: IN=vmbr0 "},
	} {
		for _, w := range words {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%q is not in %q", w, lines[i])
			}
		}
	}
}
