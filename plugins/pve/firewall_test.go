package pve_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/firewalltest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

var clusterScope = firewall.Scope{Kind: firewall.ClusterScope}

func nodeScope(name string) firewall.Scope {
	return firewall.Scope{Kind: firewall.NodeScope, Node: name}
}

func groupScope(name string) firewall.Scope {
	return firewall.Scope{Kind: firewall.GroupScope, Group: name}
}

func guestScope(ref hypervisor.GuestRef) firewall.Scope {
	return firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID)}}
}

// newFirewalls is a simulated installation whose tokens may do all that the firewall takes, and whose firewalls have nothing yet.
func newFirewalls(t testing.TB, opts pvesim.Options) *fixture {
	t.Helper()
	opts.Recommended = true
	w := newFixture(t, opts)
	must(t, "emptying the firewalls", w.SetFirewalls(nil))
	// Logs take what no recommended role has.
	w.SetRole("ServiceAudit", append(pve.Privileges(endpoint.Monitoring), "Sys.Syslog", "VM.Console")...)
	return w
}

// firewall opens the firewall with the proper token of a capability.
func (w *fixture) firewall(t testing.TB, capability endpoint.Capability) *pve.Firewall {
	t.Helper()
	return w.openFirewall(t, w.target(capability, w.Tokens()[string(capability)]))
}

func (w *fixture) openFirewall(t testing.TB, target endpoint.Target) *pve.Firewall {
	t.Helper()
	fw, err := pve.NewBackend(w.driver).Open(t.Context(), target)
	must(t, "opening the firewall", err)
	return fw.(*pve.Firewall)
}

func TestFirewallConformance(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 4})
	node, other := w.NodeNames()[0], w.NodeNames()[1]
	vm, container := w.guest(t, pvesim.GuestSpec{}), w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})
	set := func(scope pvesim.FirewallScope, rules ...pvesim.FirewallRule) {
		must(t, "setting rules", w.SetFirewallRules(scope, rules...))
	}
	set(pvesim.FirewallCluster,
		pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Enable: true, Macro: "SSH", Source: "10.0.0.0/8", Comment: "für alle"},
		pvesim.FirewallRule{Type: "out", Action: "DROP", Proto: "tcp", Dport: "25", Log: "info"})
	set(pvesim.FirewallGroup("web"), pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Macro: "HTTP"})
	set(pvesim.FirewallGuest(vmid(t, vm)),
		pvesim.FirewallRule{Type: "in", Action: "REJECT", Enable: true, Proto: "icmp", ICMPType: "echo-request", Interface: "net0"},
		pvesim.FirewallRule{Type: "group", Action: "web", Enable: true})
	logs := writeLogs(t, w, vm)
	var changes atomic.Int64
	firewalltest.Run(t, firewalltest.Config{
		Backend: pve.NewBackend(w.driver), FirewallType: (*pve.Firewall)(nil), Patience: 3 * time.Minute,
		Target: w.properTarget,
		Lists: func(testing.TB) []firewalltest.List {
			return []firewalltest.List{
				{Scope: clusterScope, Rules: []firewall.Rule{
					{Direction: "in", Action: "ACCEPT", Enabled: true, Macro: "SSH", Source: "10.0.0.0/8", Comment: "für alle"},
					{Position: 1, Direction: "out", Action: "DROP", Protocol: "tcp", DestinationPort: "25", Log: "info"},
				}},
				{Scope: nodeScope(node)},
				{Scope: guestScope(vm), Rules: []firewall.Rule{
					{Direction: "in", Action: "REJECT", Enabled: true, Protocol: "icmp", ICMPType: "echo-request", Interface: "net0"},
					{Position: 1, Direction: "group", Action: "web", Enabled: true},
				}},
				{Scope: guestScope(container)},
				{Scope: groupScope("web"), Rules: []firewall.Rule{{Direction: "in", Action: "ACCEPT", Macro: "HTTP"}}},
			}
		},
		Guest: func(t testing.TB) firewall.Guest { return *guestScope(w.guest(t, pvesim.GuestSpec{})).Guest },
		Empty: w.emptyScope,
		Change: func(t testing.TB) firewall.Scope {
			comment := fmt.Sprint("change ", changes.Add(1))
			err := w.SetFirewallRules(pvesim.FirewallNode(other), pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Comment: comment})
			must(t, "changing rules", err)
			return nodeScope(other)
		},
		Evaluated: func(t testing.TB) firewalltest.EvaluationSetup {
			return firewalltest.EvaluationSetup{Target: w.properTarget, From: w.evaluated(t, "192.0.2.1"), To: w.evaluated(t, "192.0.2.2"),
				Node: node}
		},
		Options: everyOption(),
		Log:     func(testing.TB) []firewalltest.LogSetup { return logs },
		Lacking: func(testing.TB) endpoint.Target { return w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit")) },
	})
}

func (w *fixture) properTarget(_ testing.TB, c endpoint.Capability) endpoint.Target {
	return w.target(c, w.Tokens()[string(c)])
}

// emptyScope makes a guest or a group in this installation, and another installation for what each has one of.
func (w *fixture) emptyScope(t testing.TB, kind firewall.ScopeKind) firewalltest.EmptyScope {
	switch kind {
	case firewall.GuestScope:
		spec := pvesim.GuestSpec{}
		if w.next.Add(1)%2 == 0 {
			spec.Type = pvesim.LXC
		}
		return firewalltest.EmptyScope{Scope: guestScope(w.guest(t, spec)), Target: w.properTarget}
	case firewall.GroupScope:
		name := fmt.Sprint("group", w.next.Add(1))
		must(t, "making a group", w.SetFirewallRules(pvesim.FirewallGroup(name)))
		return firewalltest.EmptyScope{Scope: groupScope(name), Target: w.properTarget}
	}
	own := newFirewalls(t, pvesim.Options{})
	scope := clusterScope
	if kind == firewall.NodeScope {
		scope = nodeScope(own.NodeNames()[0])
	}
	return firewalltest.EmptyScope{Scope: scope, Target: own.properTarget}
}

// everyOption sets every option that a scope has.
func everyOption() map[firewall.ScopeKind]firewall.Options {
	yes, no := true, false
	return map[firewall.ScopeKind]firewall.Options{
		firewall.ClusterScope: {
			Enable: &no, PolicyIn: "REJECT", PolicyOut: "DROP", PolicyForward: "DROP",
			Other: map[string]string{"ebtables": "0", "log_ratelimit": "enable=1,rate=2/second,burst=10"},
		},
		firewall.NodeScope: {
			Enable: &no, NDP: &no, LogLevelIn: "info", LogLevelOut: "nolog", LogLevelForward: "err",
			Other: map[string]string{
				"log_nf_conntrack": "1", "nf_conntrack_allow_invalid": "1", "nf_conntrack_helpers": "ftp,sip", "nf_conntrack_max": "40000",
				"nf_conntrack_tcp_timeout_established": "9000", "nf_conntrack_tcp_timeout_syn_recv": "45", "nftables": "1", "nosmurfs": "0",
				"protection_synflood": "1", "protection_synflood_burst": "500", "protection_synflood_rate": "100", "smurf_log_level": "info",
				"tcp_flags_log_level": "debug", "tcpflags": "1",
			},
		},
		firewall.GuestScope: {
			Enable: &yes, DHCP: &no, NDP: &no, RADV: &yes, MACFilter: &no, IPFilter: &yes, PolicyIn: "ACCEPT", PolicyOut: "REJECT",
			LogLevelIn: "info", LogLevelOut: "warning",
		},
	}
}

// writeLogs writes what a node and a guest of it log, and gives it as it is to be read.
func writeLogs(t testing.TB, w *fixture, ref hypervisor.GuestRef) []firewalltest.LogSetup {
	t.Helper()
	at := func(second int) time.Time { return time.Date(2026, 11, 25, 10, 0, second, 0, time.UTC) }
	id := string(ref.ID)
	lines := []firewall.LogLine{
		{Text: "0 5 - 25/Nov/2026:11:00:00 +0100 starting pvefw logger"},
		{Text: "0 6 PVEFW-HOST-IN 25/Nov/2026:11:00:01 +0100 policy DROP: IN=vmbr0 PHYSIN=eno1 MAC=bc:24:11:00:00:01:bc:24:11:00:01:00:08:00 " +
			"SRC=192.0.2.7 DST=192.0.2.1 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=1 DF PROTO=TCP SPT=40000 DPT=22 SEQ=1 ACK=0 WINDOW=64240 SYN ",
			Entry: &firewall.LogEntry{Time: at(1), Scope: firewall.NodeScope, Level: "info", Chain: "PVEFW-HOST-IN",
				Direction: "in", Action: "DROP", Protocol: "tcp",
				Source: "192.0.2.7", Destination: "192.0.2.1", SourcePort: "40000", DestinationPort: "22", InterfaceIn: "vmbr0"}},
		{Text: id + " 4 tap" + id + "i0-OUT 25/Nov/2026:11:00:02 +0100 REJECT: IN=fwbr" + id + "i0 OUT=fwbr" + id + "i0 PHYSIN=tap" + id +
			"i0 PHYSOUT=fwln" + id + "i0 MAC=00 SRC=2001:0db8:0000:0000:0000:0000:0000:0001 DST=2001:0db8:0000:0000:0000:0000:0000:0002 LEN=64 " +
			"TC=0 HOPLIMIT=255 FLOWLBL=0 PROTO=ICMPv6 TYPE=128 CODE=0 ID=1 SEQ=1 ",
			Entry: &firewall.LogEntry{Time: at(2), Guest: id, Scope: firewall.GuestScope, Level: "warning", Chain: "tap" + id + "i0-OUT",
				Direction: "out", Action: "REJECT",
				Protocol: "icmpv6", Source: "2001:db8::1", Destination: "2001:db8::2", InterfaceIn: "tap" + id + "i0",
				InterfaceOut: "fwln" + id + "i0"}},
		{Text: id + " 6 something that nobody knows"},
		{Text: id + " 6 GROUP-web-IN 25/Nov/2026:11:00:03 +0100 ACCEPT: IN= OUT=vmbr0 SRC=10.0.0.1 DST=10.0.0.2 PROTO=UDP SPT=1 DPT=53 LEN=9 ",
			Entry: &firewall.LogEntry{Time: at(3), Guest: id, Scope: firewall.GroupScope, Group: "web", Level: "info", Chain: "GROUP-web-IN",
				Direction: "in", Action: "ACCEPT",
				Protocol: "udp", Source: "10.0.0.1", Destination: "10.0.0.2", SourcePort: "1", DestinationPort: "53", InterfaceOut: "vmbr0"}},
	}
	node := firewalltest.LogSetup{Scope: nodeScope(ref.Node)}
	guest := firewalltest.LogSetup{Scope: guestScope(ref)}
	for _, line := range lines {
		must(t, "writing the log", w.AppendFirewallLog(ref.Node, line.Text))
		line.N = len(node.Lines) + 1
		node.Lines = append(node.Lines, line)
		if strings.HasPrefix(line.Text, id+" ") {
			line.N = len(guest.Lines) + 1
			guest.Lines = append(guest.Lines, line)
		}
	}
	return []firewalltest.LogSetup{node, guest}
}
