package pvesim

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// measured is a configuration with packets that were sent through it.
type measured struct {
	Cluster, Host FirewallConfig
	Guests        map[string]FirewallConfig
	Corosync      any
	Inventory     map[string]struct {
		Type string
		NICs map[string]struct {
			Bridge, MAC, IP, IP6 string
			Firewall             int
		}
	}
	Packets []struct {
		ID, From, To, Proto, Source, Dest, Verdict string
		SPort, DPort                               uint16
		ICMP                                       struct{ Type, Code uint8 }
	}
}

// cluster makes a simulator of a configuration, whose only node has the address and the bridges of the measured one.
func (m *measured) cluster(t *testing.T) *Cluster {
	t.Helper()
	c, err := New(Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	n := c.nodes[0]
	n.ip = "172.16.1.2"
	n.file = "auto vmbr0\niface vmbr0 inet static\n\taddress 172.16.1.2/24\n\tbridge-ports none\n\niface vmbr0 inet6 static\n" +
		"\taddress fd00:1::2/64\n\nauto vmbr1\niface vmbr1 inet manual\n\tbridge-ports none\n"
	all := map[FirewallScope]FirewallConfig{FirewallCluster: m.Cluster, FirewallNode("pve1"): m.Host}
	for id, config := range m.Guests {
		vmid, _ := strconv.Atoi(id)
		all[FirewallGuest(vmid)] = config
		spec := GuestSpec{VMID: vmid, Type: m.Inventory[id].Type, NoNIC: true, Config: map[string]any{}}
		for name, nic := range m.Inventory[id].NICs {
			text := "virtio=" + nic.MAC
			if spec.Type == LXC {
				text = "name=eth0,hwaddr=" + nic.MAC
			}
			text += ",bridge=" + nic.Bridge + ",firewall=" + strconv.Itoa(nic.Firewall)
			if nic.IP != "" {
				text += ",ip=" + nic.IP
			}
			if nic.IP6 != "" {
				text += ",ip6=" + nic.IP6
			}
			spec.Config[name] = text
		}
		if _, err := c.AddGuest(spec); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetFirewalls(all); err != nil {
		t.Fatal(err)
	}
	return c
}

func measuredEnd(s string) pvefirewall.Endpoint {
	kind, rest, _ := strings.Cut(s, ":")
	switch kind {
	case "host":
		return pvefirewall.Endpoint{Kind: pvefirewall.Host, Node: "pve1"}
	case "guest":
		id, nic, _ := strings.Cut(rest, "/")
		vmid, _ := strconv.Atoi(id)
		return pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: vmid, NIC: nic}
	}
	return pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: "pve1", Device: rest}
}

// TestCompiledFirewallsGiveTheMeasuredVerdicts puts measured configurations into the simulator, and wants the verdicts of the real
// firewall from what the simulator makes of them. Packets that need more than an ordinary one has are left out.
func TestCompiledFirewallsGiveTheMeasuredVerdicts(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(pvetest.Reference(t), "firewall-verdicts", "c*.json"))
	judged := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m measured
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if m.Corosync != nil {
			continue // a host that stands alone has none
		}
		c := m.cluster(t)
		made, err := pvefirewall.Compile(c.firewallConfig(c.Now()))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, p := range m.Packets {
			proto := map[string]uint8{"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58, "sctp": 132}[p.Proto]
			if proto == 0 || strings.Contains(string(text), `"tcp_flags"`) || strings.Contains(string(text), `"source_mac"`) {
				continue
			}
			got, err := made.Evaluate(pvefirewall.Packet{From: measuredEnd(p.From), To: measuredEnd(p.To), Protocol: proto,
				Source: netip.MustParseAddr(p.Source), Dest: netip.MustParseAddr(p.Dest), SourcePort: p.SPort, DestPort: p.DPort,
				ICMPType: p.ICMP.Type, Code: p.ICMP.Code})
			var refused *pvefirewall.UndecidedError
			if errors.As(err, &refused) {
				continue
			}
			if err != nil || got.Verdict.String() != p.Verdict {
				t.Errorf("%s %s: %v %v, measured %s", filepath.Base(file), p.ID, got.Verdict, err, p.Verdict)
			}
			judged++
		}
	}
	if judged < 1000 {
		t.Errorf("only %d packets were judged", judged)
	}
	t.Logf("%d packets agree or are told above", judged)
}
