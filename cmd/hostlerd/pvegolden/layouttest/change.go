package layouttest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Verdict is what a change does to the way to the node.
type Verdict string

// Verdicts.
const (
	Unaffected Verdict = "untouched"
	Affected   Verdict = "touched"
	// Unclear means that the effect cannot be determined.
	Unclear Verdict = "unclear"
	// NoChange means that nothing changed.
	NoChange Verdict = "nothing"
)

// Change is something that can be staged of a part of a layout.
type Change struct {
	Name string
	// Fits reports whether the change can be made of a part; nil is always.
	Fits func(l *Layout, p *Part) bool
	// Make makes it.
	Make func(l *Layout, p *Part)
	// Is is what it does to the way, whether the part is on it or not; nil is Affected for one that is.
	Is func(l *Layout, p *Part) Verdict
}

// is returns a judgment that is always v.
func is(v Verdict) func(*Layout, *Part) Verdict { return func(*Layout, *Part) Verdict { return v } }

// kind returns a condition: the part is of one of these kinds.
func kind(kinds ...string) func(*Layout, *Part) bool {
	return func(_ *Layout, p *Part) bool { return slices.Contains(kinds, p.Kind) }
}

// static reports whether an address is set and fixed.
func static(a *Address) bool { return a != nil && a.CIDR != "" }

// dials reports whether the service reaches the node by IPv6, or by IPv4.
func (l *Layout) dials(six bool) bool {
	for _, a := range l.Dialled {
		if a.Is6() == six {
			return true
		}
	}
	return false
}

// add adds a part to the layout.
func (l *Layout) add(p Part) { l.Parts = append(l.Parts, p) }

// Changes are those of the table.
func Changes() []Change {
	free := func(_ *Layout, p *Part) bool { return p.Name == "vmbr9" } // once for each layout
	touching := func(six bool) func(l *Layout, _ *Part) Verdict {
		return func(l *Layout, _ *Part) Verdict {
			if l.dials(six) {
				return Affected
			}
			return Unaffected
		}
	}
	return []Change{
		{Name: "nothing", Fits: free, Make: func(*Layout, *Part) {}, Is: is(NoChange)},
		{Name: "a comment", Make: func(_ *Layout, p *Part) { p.Comment = "changed" }, Is: is(Unaffected)},
		{Name: "an MTU", Make: func(_ *Layout, p *Part) { p.MTU = 1400 }},
		{Name: "no start", Fits: func(_ *Layout, p *Part) bool { return p.Start }, Make: func(_ *Layout, p *Part) { p.Start = false }},
		{Name: "a start", Fits: func(_ *Layout, p *Part) bool { return !p.Start && !p.isOVSPort() },
			Make: func(_ *Layout, p *Part) { p.Start = true }, Is: func(l *Layout, p *Part) Verdict {
				if l.isSlave(p.Name) {
					return NoChange // it comes up with its bond
				}
				return Unaffected
			}},
		{Name: "another address", Fits: func(_ *Layout, p *Part) bool { return static(p.Four) },
			Make: func(_ *Layout, p *Part) { p.Four.CIDR = strings.Replace(p.Four.CIDR, "/24", "7/24", 1) }},
		{Name: "another address of IPv6", Fits: func(l *Layout, p *Part) bool { return static(p.Six) },
			Make: func(_ *Layout, p *Part) { p.Six.CIDR = strings.Replace(p.Six.CIDR, "/64", "7/64", 1) }},
		{Name: "another prefix", Fits: func(_ *Layout, p *Part) bool { return static(p.Four) },
			Make: func(_ *Layout, p *Part) { p.Four.CIDR = strings.Replace(p.Four.CIDR, "/24", "/25", 1) }},
		{Name: "no addresses", Fits: func(_ *Layout, p *Part) bool { return static(p.Four) || static(p.Six) },
			Make: func(_ *Layout, p *Part) { p.Four, p.Six = nil, nil }},
		{Name: "DHCP", Fits: func(l *Layout, p *Part) bool { return static(p.Four) },
			Make: func(_ *Layout, p *Part) { p.Four = &Address{} }, Is: func(l *Layout, p *Part) Verdict {
				if l.onPath(p.Name) {
					return Affected
				}
				return Unclear // a gateway may come with it
			}},
		{Name: "another gateway", Fits: func(_ *Layout, p *Part) bool { return p.Four != nil && p.Four.Gateway != "" },
			Make: func(_ *Layout, p *Part) { p.Four.Gateway += "1" }},
		{Name: "another gateway of IPv6", Fits: func(_ *Layout, p *Part) bool { return p.Six != nil && p.Six.Gateway != "" },
			Make: func(_ *Layout, p *Part) { p.Six.Gateway += "1" }},
		{Name: "no gateway", Fits: func(_ *Layout, p *Part) bool { return p.Four != nil && p.Four.Gateway != "" },
			Make: func(_ *Layout, p *Part) { p.Four.Gateway = "" }},
		{Name: "the gateway moves here", Fits: func(l *Layout, p *Part) bool { return p.Name == "vmbr9" && l.dials(false) },
			Make: func(l *Layout, p *Part) {
				for i := range l.Parts {
					if l.Parts[i].Four != nil {
						l.Parts[i].Four.Gateway = ""
					}
				}
				p.Four.Gateway = "10.9.0.254"
			}, Is: is(Affected)},
		{Name: "one port less", Fits: func(_ *Layout, p *Part) bool { return len(p.Ports) > 0 },
			Make: func(_ *Layout, p *Part) { p.Ports = p.Ports[1:]; p.Primary = "" }},
		{Name: "one port more", Fits: kind(Bridge, Bond), Make: func(_ *Layout, p *Part) { p.Ports = append(p.Ports, "eno8") }},
		{Name: "its removal", Make: func(l *Layout, p *Part) {
			name := p.Name
			l.Parts = slices.DeleteFunc(l.Parts, func(o Part) bool { return o.Name == name })
		}, Fits: func(l *Layout, p *Part) bool { return !l.isSlave(p.Name) }, Is: func(l *Layout, p *Part) Verdict {
			if p.Kind == NIC && p.Four == nil || !l.onPath(p.Name) {
				return Unaffected // the kernel has the NIC all the same
			}
			return Affected
		}},
		{Name: "a bridge that takes it", Fits: kind(NIC, Bond), Make: func(l *Layout, p *Part) {
			name := p.Name
			p.Four, p.Six = nil, nil
			for i := range l.Parts {
				l.Parts[i].Ports = slices.DeleteFunc(l.Parts[i].Ports, func(o string) bool { return o == name })
				if l.Parts[i].Primary == name {
					l.Parts[i].Primary = ""
				}
			}
			l.add(bridge("vmbr5", nil, nil, name))
		}},
		{Name: "a VLAN on it", Fits: kind(NIC, Bond, Bridge), Make: func(l *Layout, p *Part) {
			l.add(Part{Name: p.Name + ".77", Kind: VLAN, Start: true, Device: p.Name, Tag: 77, Four: at("10.77.0.1/24", "")})
		}, Is: is(Unaffected)},
		{Name: "an alias of it", Fits: func(_ *Layout, p *Part) bool { return static(p.Four) && p.Kind != Alias }, Make: func(l *Layout,
			p *Part) {
			l.add(Part{Name: p.Name + ":7", Kind: Alias, Start: true, Device: p.Name, Four: at("10.78.0.1/24", "")})
		}, Is: is(Unaffected)},
		{Name: "a spanning tree", Fits: kind(Bridge), Make: func(_ *Layout, p *Part) { p.STP = true }},
		{Name: "awareness of VLANs", Fits: kind(Bridge), Make: func(_ *Layout, p *Part) {
			if p.Aware = !p.Aware; !p.Aware {
				p.Tags = ""
			}
		}},
		{Name: "other tags", Fits: func(_ *Layout, p *Part) bool { return p.Aware }, Make: func(_ *Layout, p *Part) { p.Tags = "2-50" }},
		{Name: "another mode", Fits: kind(Bond), Make: func(_ *Layout, p *Part) { p.Mode, p.Primary, p.Hash = "balance-tlb", "", "" }},
		{Name: "another mode of Open vSwitch", Fits: kind(OVSBond), Make: func(_ *Layout, p *Part) { p.Mode = "active-backup" }},
		{Name: "another primary", Fits: func(_ *Layout, p *Part) bool { return p.Primary != "" },
			Make: func(_ *Layout, p *Part) { p.Primary = p.Ports[1] }},
		{Name: "another tag", Fits: func(_ *Layout, p *Part) bool {
			return p.Tag > 0 && !strings.Contains(p.Name, ".") && !strings.HasPrefix(p.Name, "vlan")
		}, Make: func(_ *Layout, p *Part) { p.Tag = 99 }},
		{Name: "another name", Fits: func(_ *Layout, p *Part) bool { return p.Kind == VLAN && strings.Contains(p.Name, ".") },
			Make: func(l *Layout, p *Part) {
				name, now := p.Name, fmt.Sprintf("%s.99", p.Device)
				p.Name, p.Tag = now, 99
				for i := range l.Parts {
					for n, port := range l.Parts[i].Ports {
						if port == name {
							l.Parts[i].Ports[n] = now
						}
					}
				}
			}},
		{Name: "another device", Fits: func(_ *Layout, p *Part) bool { return p.Kind == VLAN && !strings.Contains(p.Name, ".") },
			Make: func(_ *Layout, p *Part) { p.Device = "eno8" }},
		{Name: "a setting that nobody knows", Make: func(_ *Layout, p *Part) { p.Lines = append(p.Lines, "hwaddress 02:00:00:00:00:02") }},
		{Name: "a command", Fits: kind(NIC, Bridge, Bond, VLAN), Make: func(_ *Layout, p *Part) {
			p.Lines = append(p.Lines, "post-up ip route replace default via 10.9.0.77")
		}, Is: func(l *Layout, p *Part) Verdict {
			if l.onPath(p.Name) {
				return Affected
			}
			return Unclear // it may do anything
		}},
		{Name: "a new bridge", Fits: free, Make: func(l *Layout, _ *Part) { l.add(bridge("vmbr5", at("10.5.0.1/24", ""), nil)) },
			Is: is(Unaffected)},
		{Name: "a new bridge with a port", Fits: free, Make: func(l *Layout, _ *Part) { l.add(bridge("vmbr5", nil, nil, "eno8")) },
			Is: is(Unaffected)},
		{Name: "a new bridge of IPv6", Fits: free, Make: func(l *Layout, _ *Part) { l.add(bridge("vmbr5", nil, at("fd05::1/64", ""), "eno8")) },
			Is: is(Unaffected)},
		{Name: "a new bridge with DHCP", Fits: free, Make: func(l *Layout, _ *Part) { l.add(bridge("vmbr5", &Address{}, nil, "eno8")) },
			Is: is(Unclear)},
		{Name: "a new gateway", Fits: free, Make: func(l *Layout, _ *Part) {
			l.add(bridge("vmbr5", at("10.5.0.2/24", "10.5.0.1"), nil,
				"eno8"))
		},
			Is: touching(false)},
		{Name: "a new gateway of IPv6", Fits: free, Make: func(l *Layout, _ *Part) {
			l.add(bridge("vmbr5", nil, at("fd05::2/64", "fd05::1"), "eno8"))
		}, Is: touching(true)},
		{Name: "another one in the same network", Fits: free, Make: func(l *Layout, _ *Part) {
			l.add(bridge("vmbr5", at("10.0.0.77/24", ""), nil, "eno8"))
		}, Is: touching(false)},
		{Name: "another one in the same network of IPv6", Fits: free, Make: func(l *Layout, _ *Part) {
			l.add(bridge("vmbr5", nil, at("fd00::77/64", ""), "eno8"))
		}, Is: touching(true)},
		{Name: "no files of others", Fits: free, Make: func(l *Layout, _ *Part) { l.Loose = nil }, Is: is(Unclear)},
		{Name: "a file of others", Fits: free, Make: func(l *Layout, _ *Part) { l.Loose = append(l.Loose, "source /root/more") },
			Is: is(Unclear)},
	}
}

// Case is a node's network in force, a change of it that is staged, and what that does to the way to the node.
type Case struct {
	Name             string
	Layout           Layout
	Current, Pending string
	Want             Verdict
	// Differ says of each interface that is staged otherwise what becomes of it: added, changed or removed. Comments do not count.
	Differ map[string]string
}

// differ tells layouts apart. In a file by hand the interfaces of bonds are not started, and in one that the hypervisor writes they are.
func differ(l, changed *Layout, style Style) map[string]string {
	all := map[string]string{}
	plain := func(of *Layout, p Part, started bool) Part {
		p.Comment, p.Start = "", p.Start || started && of.isSlave(p.Name) || p.isOVSPort()
		slices.Sort(p.Ports)
		if p.Aware && p.Tags == "" {
			p.Tags = "2-4094"
		}
		return p
	}
	was, is := l.clone(), changed.clone()
	for _, p := range was.Parts {
		now := is.part(p.Name)
		switch {
		case now != nil && !reflect.DeepEqual(plain(&was, p, style != HandwrittenStyle), plain(&is, *now, true)):
			all[p.Name] = "changed"
		case now == nil && p.Kind != NIC && slices.ContainsFunc(is.Parts, func(o Part) bool {
			return (o.Kind == VLAN || o.Kind == Alias) && o.Device == p.Name
		}):
			all[p.Name] = "changed" // it is listed because another one names it
		case now == nil && (p.Kind != NIC && p.Kind != OVSPort):
			all[p.Name] = "removed"
		case now == nil && !reflect.DeepEqual(plain(&was, p, style != HandwrittenStyle), nic(p.Name)):
			all[p.Name] = "changed" // the kernel has it all the same
		}
	}
	for _, p := range is.Parts {
		if was.part(p.Name) == nil {
			all[p.Name] = "added"
		}
	}
	return all
}

// Cases are all changes of all parts of all layouts. The style in which the present file is written goes round.
func Cases() (all []Case) {
	for _, l := range Layouts() {
		for _, c := range Changes() {
			for _, p := range l.Parts {
				if c.Fits != nil && !c.Fits(&l, &p) {
					continue
				}
				style := Style(len(all) % 3)
				changed := l.clone()
				c.Make(&changed, changed.part(p.Name))
				pending := style
				if style == HandwrittenStyle {
					pending = GeneratedStyle // what is staged was written by the hypervisor
				}
				want := Unaffected
				switch {
				case c.Is != nil:
					want = c.Is(&l, &p)
				case l.onPath(p.Name):
					want = Affected
				}
				made := Case{Name: fmt.Sprintf("%s, %s: %s of %s", l.Name, style, c.Name, p.Name), Layout: l, Current: l.Text(style),
					Pending: changed.Text(pending), Want: want, Differ: differ(&l, &changed, style)}
				switch {
				case want == NoChange && style == HandwrittenStyle:
					made.Want = Unaffected // it is written anew
				case want == NoChange:
				case l.Unknown:
					made.Want = Unclear
				}
				if l.Unknown && made.Want == Unaffected {
					made.Want = Unclear
				}
				all = append(all, made)
			}
		}
	}
	return all
}
