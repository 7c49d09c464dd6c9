package pvefirewall_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// The verdicts were measured: rules that Proxmox compiled, in a real kernel, and a real packet for each.

type measuredRule struct {
	Position int    `json:"pos"`
	Type     string `json:"type"`
	Action   string `json:"action"`
	Enable   int    `json:"enable"`
	Macro    string `json:"macro"`
	Iface    string `json:"iface"`
	Proto    string `json:"proto"`
	Source   string `json:"source"`
	Dest     string `json:"dest"`
	SPort    string `json:"sport"`
	DPort    string `json:"dport"`
	ICMPType string `json:"icmp-type"`
}

type measuredScope struct {
	Options map[string]any      `json:"options"`
	Aliases []pvefirewall.Alias `json:"aliases"`
	IPSets  []struct {
		Name    string `json:"name"`
		Entries []struct {
			CIDR    string `json:"cidr"`
			NoMatch int    `json:"nomatch"`
		} `json:"entries"`
	} `json:"ipsets"`
	Groups []struct {
		Group string         `json:"group"`
		Rules []measuredRule `json:"rules"`
	} `json:"groups"`
	Rules []measuredRule `json:"rules"`
}

type measuredGuest struct {
	Type string `json:"type"`
	NICs map[string]struct {
		Bridge   string `json:"bridge"`
		MAC      string `json:"mac"`
		Firewall int    `json:"firewall"`
		IP       string `json:"ip"`
		IP6      string `json:"ip6"`
	} `json:"nics"`
}

type measuredInvalid struct {
	Scope    string            `json:"scope"`
	Position int               `json:"pos"`
	Errors   map[string]string `json:"errors"`
}

// measuredParts are what an ablation replaces.
type measuredParts struct {
	Inventory map[string]measuredGuest `json:"inventory"`
	Cluster   *measuredScope           `json:"cluster"`
	Host      *measuredScope           `json:"host"`
	Guests    map[string]measuredScope `json:"guests"`
	Corosync  *struct {
		Transport string              `json:"transport"`
		Nodes     []map[string]string `json:"nodes"`
	} `json:"corosync"`
}

type measuredBy struct {
	Scope    string      `json:"scope"`
	Position int         `json:"pos"`
	Implicit string      `json:"implicit"`
	Noise    string      `json:"noise"`
	Via      *measuredBy `json:"via"`
}

func (b *measuredBy) String() string {
	if b == nil {
		return ""
	}
	s := fmt.Sprintf("%s %d", b.Scope, b.Position)
	if b.Implicit != "" {
		s = b.Implicit
	}
	if b.Noise != "" {
		s += "/" + b.Noise
	}
	if b.Via != nil {
		s += " via " + b.Via.String()
	}
	return s
}

type measuredPacket struct {
	ID     string `json:"id"`
	Family int    `json:"family"`
	From   string `json:"from"`
	To     string `json:"to"`
	Proto  string `json:"proto"`
	Source string `json:"source"`
	Dest   string `json:"dest"`
	SPort  uint16 `json:"sport"`
	DPort  uint16 `json:"dport"`
	ICMP   struct {
		Type uint8 `json:"type"`
		Code uint8 `json:"code"`
	} `json:"icmp"`
	SourceMAC string  `json:"source_mac"`
	Flags     *string `json:"tcp_flags"`
	Verdict   string  `json:"verdict"`
	Path      []struct {
		Stage   string      `json:"stage"`
		Verdict string      `json:"verdict"`
		By      *measuredBy `json:"by"`
	} `json:"path"`
}

type measuredFile struct {
	measuredParts
	FW      map[string]string `json:"fw"`
	Invalid []measuredInvalid `json:"invalid_rules"`
	Packets []measuredPacket  `json:"packets"`
	Ablated []struct {
		Feature  string             `json:"feature"`
		Replace  json.RawMessage    `json:"replace"`
		Invalid  *[]measuredInvalid `json:"invalid_rules"`
		Verdicts map[string]string  `json:"verdicts"`
	} `json:"ablations"`
}

func rules(from []measuredRule) []pvefirewall.Rule {
	var list []pvefirewall.Rule
	for _, r := range from {
		list = append(list, pvefirewall.Rule{Type: r.Type, Action: r.Action, Disabled: r.Enable == 0, Macro: r.Macro, Iface: r.Iface,
			Proto: r.Proto, Source: r.Source, Dest: r.Dest, SPort: r.SPort, DPort: r.DPort, ICMPType: r.ICMPType})
	}
	return list
}

func (s measuredScope) sets() []pvefirewall.IPSet {
	var list []pvefirewall.IPSet
	for _, set := range s.IPSets {
		one := pvefirewall.IPSet{Name: set.Name}
		for _, e := range set.Entries {
			one.Members = append(one.Members, pvefirewall.Member{CIDR: e.CIDR, NoMatch: e.NoMatch != 0})
		}
		list = append(list, one)
	}
	return list
}

func (s measuredScope) options(t *testing.T, set func(key, value string) error) {
	t.Helper()
	for k, v := range s.Options {
		if err := set(k, fmt.Sprint(v)); err != nil {
			t.Error(err)
		}
	}
}

func addresses(prefixes ...string) (list []netip.Prefix) {
	for _, p := range prefixes {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

// measuredNode is the node on which all was measured.
func measuredNode() pvefirewall.Node {
	return pvefirewall.Node{Name: "pve1", Addresses: addresses("172.16.1.2/24", "fd00:1::2/64"),
		LocalNetwork: netip.MustParsePrefix("172.16.1.0/24")}
}

func (p *measuredParts) config(t *testing.T) *pvefirewall.Config {
	t.Helper()
	c := &pvefirewall.Config{Nodes: []pvefirewall.Node{measuredNode()}}
	node := &c.Nodes[0]
	p.Cluster.options(t, c.Cluster.Options.Set)
	c.Cluster.Aliases, c.Cluster.IPSets, c.Cluster.Rules = p.Cluster.Aliases, p.Cluster.sets(), rules(p.Cluster.Rules)
	for _, g := range p.Cluster.Groups {
		c.Cluster.Groups = append(c.Cluster.Groups, pvefirewall.Group{Name: g.Group, Rules: rules(g.Rules)})
	}
	p.Host.options(t, node.Options.Set)
	node.Rules = rules(p.Host.Rules)
	for _, id := range slices.Sorted(maps.Keys(p.Inventory)) {
		g := pvefirewall.Guest{}
		if s, ok := p.Guests[id]; ok {
			s.options(t, g.Options.Set)
			g.Aliases, g.IPSets, g.Rules = s.Aliases, s.sets(), rules(s.Rules)
		}
		node.Guests = append(node.Guests, p.Inventory[id].on(t, id, g))
	}
	c.Corosync = p.corosync()
	return c
}

// on gives a guest the NICs of the inventory.
func (m measuredGuest) on(t *testing.T, id string, g pvefirewall.Guest) pvefirewall.Guest {
	t.Helper()
	if _, err := fmt.Sscan(id, &g.ID); err != nil {
		t.Fatal(err)
	}
	g.Container = m.Type == "lxc"
	for _, name := range slices.Sorted(maps.Keys(m.NICs)) {
		n := m.NICs[name]
		mac, err := pvefirewall.ParseMAC(n.MAC)
		if err != nil {
			t.Fatal(err)
		}
		one := pvefirewall.NIC{Name: name, Bridge: n.Bridge, MAC: mac, Firewall: n.Firewall == 1}
		for _, ip := range []string{n.IP, n.IP6} {
			if ip != "" {
				one.Addresses = append(one.Addresses, netip.MustParsePrefix(ip).Addr())
			}
		}
		g.NICs = append(g.NICs, one)
	}
	return g
}

func (p *measuredParts) corosync() *pvefirewall.Corosync {
	if p.Corosync == nil {
		return nil
	}
	c := &pvefirewall.Corosync{Transport: p.Corosync.Transport}
	for _, n := range p.Corosync.Nodes {
		one := pvefirewall.CorosyncNode{Name: n["name"]}
		for _, ring := range []string{"ring0", "ring1"} {
			a, _ := netip.ParseAddr(n[ring])
			one.Rings = append(one.Rings, a)
		}
		c.Nodes = append(c.Nodes, one)
	}
	return c
}

// texts is the configuration as it is read from .fw files.
func (f *measuredFile) texts(t *testing.T) *pvefirewall.Config {
	t.Helper()
	read := func(problems []pvefirewall.Problem, err error) {
		if err != nil || len(problems) > 0 {
			t.Errorf("reading a .fw file: %v, %v", problems, err)
		}
	}
	cluster, problems, err := pvefirewall.ParseCluster(f.FW["cluster.fw"])
	read(problems, err)
	parsed, problems, err := pvefirewall.ParseNode("pve1", f.FW["host.fw"])
	read(problems, err)
	node := measuredNode()
	node.Options, node.Rules = parsed.Options, parsed.Rules
	for _, id := range slices.Sorted(maps.Keys(f.Inventory)) {
		g, problems, err := pvefirewall.ParseGuest(0, f.FW[id+".fw"])
		read(problems, err)
		node.Guests = append(node.Guests, f.Inventory[id].on(t, id, g))
	}
	return &pvefirewall.Config{Cluster: cluster, Nodes: []pvefirewall.Node{node}, Corosync: f.corosync()}
}

func (p *measuredPacket) packet(t *testing.T) pvefirewall.Packet {
	t.Helper()
	protocol, err := pvefirewall.ParseProtocol(p.Proto)
	if err != nil {
		t.Fatal(err)
	}
	packet := pvefirewall.Packet{From: endpoint(t, p.From), To: endpoint(t, p.To), Source: netip.MustParseAddr(p.Source),
		Dest: netip.MustParseAddr(p.Dest), Protocol: protocol, SourcePort: p.SPort, DestPort: p.DPort, ICMPType: p.ICMP.Type, Code: p.ICMP.Code}
	if p.SourceMAC != "" {
		if packet.SourceMAC, err = pvefirewall.ParseMAC(p.SourceMAC); err != nil {
			t.Fatal(err)
		}
	}
	if p.Flags != nil {
		packet.Flags = pvefirewall.NoFlags
		for _, c := range *p.Flags {
			packet.Flags |= map[rune]pvefirewall.Flags{'F': pvefirewall.FlagFIN, 'S': pvefirewall.FlagSYN, 'R': pvefirewall.FlagRST,
				'P': pvefirewall.FlagPSH, 'A': pvefirewall.FlagACK, 'U': pvefirewall.FlagURG}[c]
		}
	}
	return packet
}

func endpoint(t *testing.T, s string) pvefirewall.Endpoint {
	t.Helper()
	kind, rest, _ := strings.Cut(s, ":")
	switch kind {
	case "host":
		return pvefirewall.Endpoint{Kind: pvefirewall.Host}
	case "outside", "unfirewalled":
		return pvefirewall.Endpoint{Kind: pvefirewall.Outside, Device: rest}
	case "guest":
		e := pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC}
		id, nic, _ := strings.Cut(rest, "/")
		if _, err := fmt.Sscan(id, &e.Guest); err != nil {
			t.Fatal(err)
		}
		e.NIC = nic
		return e
	}
	t.Fatalf("what is %q", s)
	return pvefirewall.Endpoint{}
}

// scopeName is a scope in the words of the measurement, which has one node.
func scopeName(s pvefirewall.Scope) string {
	if s.Kind == pvefirewall.ScopeNode {
		return "host"
	}
	return s.String()
}

// decision is a decision in the words of the measurement.
func decision(d pvefirewall.Decision) string {
	by := &measuredBy{Scope: scopeName(d.Rule.Scope), Position: d.Rule.Position}
	if d.Builtin != 0 {
		by = &measuredBy{Implicit: d.Builtin.String()}
	}
	if d.Exception != pvefirewall.NoException {
		by.Noise = d.Exception.String()
	}
	if d.Via != (pvefirewall.RuleRef{}) {
		by.Via = &measuredBy{Scope: scopeName(d.Via.Scope), Position: d.Via.Position}
	}
	return by.String()
}

func stageName(s pvefirewall.Stage) string {
	if s.Guest != 0 {
		return fmt.Sprintf("%s:%d", s.Check, s.Guest)
	}
	return s.Check.String()
}

// path is the path of a result in the words of the measurement.
func path(r pvefirewall.Result) string {
	var parts []string
	for _, s := range r.Stages {
		parts = append(parts, fmt.Sprintf("%s %s by %s", stageName(s), s.Verdict, decision(s.By)))
	}
	return strings.Join(parts, ", ")
}

func (p *measuredPacket) path() string {
	var parts []string
	for _, s := range p.Path {
		parts = append(parts, fmt.Sprintf("%s %s by %s", s.Stage, s.Verdict, s.By))
	}
	return strings.Join(parts, ", ")
}

// disagreements are packets for which another rule decided when it was measured, with the reason. The verdicts agree without exception.
var disagreements = map[string]string{
	"c010/p28": counted, "c040/p14": counted, "c070/p2": counted, "c117/p11": counted,
}

const counted = "a UDP packet cannot match the NDP rule: its kernel first asked for the neighbour, and the rule of that packet was read"

func TestMeasuredVerdicts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(pvetest.Reference(t), "firewall-verdicts", "c*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("no measured verdicts: %v", err)
	}
	var packets, verdicts, paths, ablated, ablatedRight, fromText, invalid int
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f measuredFile
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		id := strings.TrimSuffix(filepath.Base(name), ".json")
		firewall := compile(t, f.config(t))
		invalid += checkInvalid(t, id, firewall, f.Invalid)
		texts := compile(t, f.texts(t))
		aimed := map[string]*measuredPacket{}
		for i := range f.Packets {
			p := &f.Packets[i]
			aimed[p.ID] = p
			packets++
			got := judge(t, firewall, p)
			if got.Verdict.String() == p.Verdict {
				verdicts++
			}
			switch where := id + "/" + p.ID; {
			case path(got) == p.path() && got.Verdict.String() == p.Verdict:
				paths++
				if disagreements[where] != "" {
					t.Errorf("%s agrees now: it is listed as a disagreement", where)
				}
			case disagreements[where] == "" || got.Verdict.String() != p.Verdict:
				t.Errorf("%s: %s by %q\nmeasured %s by %q", where, got.Verdict, path(got), p.Verdict, p.path())
			}
			if path(judge(t, texts, p)) == path(got) {
				fromText++
			} else {
				t.Errorf("%s/%s: another answer from the text of the .fw files", id, p.ID)
			}
		}
		for _, a := range f.Ablated {
			parts := f.measuredParts
			replace(t, &parts, a.Replace)
			without := compile(t, parts.config(t))
			if a.Invalid != nil {
				invalid += checkInvalid(t, id+" without "+a.Feature, without, *a.Invalid)
			}
			for _, of := range slices.Sorted(maps.Keys(a.Verdicts)) {
				ablated++
				where := fmt.Sprintf("%s/%s without %s", id, of, a.Feature)
				got := judge(t, without, aimed[of])
				if got.Verdict.String() == a.Verdicts[of] {
					ablatedRight++
				} else {
					t.Errorf("%s: %s by %q\nmeasured %s", where, got.Verdict, path(got), a.Verdicts[of])
				}
			}
		}
	}
	t.Logf("%d configurations: %d of %d verdicts and %d of %d paths with the deciding rules agree, %d of them from .fw files; "+
		"%d of %d verdicts with a feature taken away; %d lists of invalid rules", len(files), verdicts, packets, paths, packets,
		fromText, ablatedRight, ablated, invalid)
	if packets < 3000 || ablated < 3000 {
		t.Errorf("only %d packets and %d ablated ones were read", packets, ablated)
	}
}

// replace takes whole objects of an ablation; a guest stands for itself.
func replace(t *testing.T, parts *measuredParts, raw json.RawMessage) {
	t.Helper()
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		t.Fatal(err)
	}
	var with measuredParts
	if err := json.Unmarshal(raw, &with); err != nil {
		t.Fatal(err)
	}
	for key := range keys {
		switch key {
		case "inventory":
			parts.Inventory = with.Inventory
		case "cluster":
			parts.Cluster = with.Cluster
		case "host":
			parts.Host = with.Host
		case "corosync":
			parts.Corosync = with.Corosync
		case "guests":
			parts.Guests = maps.Clone(parts.Guests)
			maps.Copy(parts.Guests, with.Guests)
		default:
			t.Fatalf("an ablation replaces %q", key)
		}
	}
}

func compile(t testing.TB, c *pvefirewall.Config) *pvefirewall.Firewall {
	t.Helper()
	f, err := pvefirewall.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range f.Failures() {
		t.Errorf("not judged: %v", failure)
	}
	return f
}

// judge asks for the verdict with and without the path, which must be the same.
func judge(t *testing.T, f *pvefirewall.Firewall, p *measuredPacket) pvefirewall.Result {
	t.Helper()
	packet := p.packet(t)
	quick, err := f.Evaluate(packet)
	if err != nil {
		t.Fatalf("%s: %v", p.ID, err)
	}
	traced, err := f.Trace(packet)
	if err != nil {
		t.Fatalf("%s: %v", p.ID, err)
	}
	sameAnswer(t, quick, traced)
	return quick
}

func sameAnswer(t *testing.T, quick, traced pvefirewall.Result) {
	t.Helper()
	if path(quick) != path(traced) || quick.Verdict != traced.Verdict || quick.By != traced.By {
		t.Errorf("%s by %q, but traced %s by %q", quick.Verdict, path(quick), traced.Verdict, path(traced))
	}
	for _, s := range traced.Stages {
		if len(s.Steps) == 0 || s.By.Builtin != pvefirewall.MarkLeft && s.Steps[len(s.Steps)-1].Reason != pvefirewall.Matched {
			t.Errorf("the steps of %s do not end with what decided: %+v", s.Check, s.Steps)
		}
	}
}

// checkInvalid holds the problems of rules against what Proxmox says of them.
func checkInvalid(t *testing.T, where string, f *pvefirewall.Firewall, want []measuredInvalid) int {
	t.Helper()
	var expect, got []string
	for _, w := range want {
		for field, text := range w.Errors {
			expect = append(expect, fmt.Sprintf("%s %d %s: %s", w.Scope, w.Position, field, text))
		}
	}
	for _, p := range f.Problems() {
		got = append(got, fmt.Sprintf("%s %d %s: %s", scopeName(p.Place.Scope), p.Place.Position, p.Field, p.Text))
	}
	slices.Sort(expect)
	slices.Sort(got)
	if !slices.Equal(got, expect) {
		t.Errorf("%s: problems %q, want %q", where, got, expect)
	}
	return 1
}
