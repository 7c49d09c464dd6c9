package pve

import (
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// stanzaLine is a line of a diff of the file of interfaces that says something of an interface.
type stanzaLine struct {
	sign   byte // ' ', '-' or '+'
	six    bool // of the part for IPv6
	key    string
	value  string
	header bool // the line that begins a part of the interface
}

// stanzas are what a diff says of each interface.
type stanzas struct {
	of map[string][]stanzaLine
	// unclear says that a changed line could not be told whose it is.
	unclear bool
}

// inForce tells the interfaces that are in force from those that will be once what a diff says is applied. unclear says that not all was
// to be told: a diff has three lines around those that differ, and not always the name of whose they are.
func inForce(pending []hypervisor.Interface, diff string) (current []hypervisor.Interface, unclear bool) {
	if diff == "" {
		return pending, false
	}
	said := readDiff(pending, diff)
	for _, i := range pending {
		lines := said.of[i.Name]
		delete(said.of, i.Name)
		if isNew(lines) && !i.Active {
			continue
		}
		current = append(current, undone(i, lines, false))
	}
	for _, name := range slices.Sorted(maps.Keys(said.of)) {
		lines := said.of[name]
		if slices.ContainsFunc(lines, func(l stanzaLine) bool { return l.header && l.sign != '+' }) {
			i := undone(hypervisor.Interface{Name: name, Type: typeBy(name, lines), Active: true}, lines, true)
			byName(&i)
			current = append(current, i)
		}
	}
	slices.SortFunc(current, func(a, b hypervisor.Interface) int { return strings.Compare(a.Name, b.Name) })
	return current, said.unclear
}

// isNew reports whether lines begin an interface that nothing old begins.
func isNew(lines []stanzaLine) bool {
	begun := false
	for _, l := range lines {
		if l.header && l.sign != '+' {
			return false
		}
		begun = begun || l.header && !l.six
	}
	return begun
}

// readDiff gives each line of a diff to its interface.
func readDiff(pending []hypervisor.Interface, diff string) *stanzas {
	said := &stanzas{of: map[string][]stanzaLine{}}
	var hunk []string
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "\\"):
		case strings.HasPrefix(line, "@@"):
			said.hunk(pending, hunk)
			hunk = hunk[:0]
		default:
			hunk = append(hunk, line)
		}
	}
	said.hunk(pending, hunk)
	return said
}

// owner is whose lines follow on one side of a hunk.
type owner struct {
	name string
	six  bool
}

// hunk reads one hunk.
func (s *stanzas) hunk(pending []hypervisor.Interface, lines []string) {
	var old, changed owner
	var before []stanzaLine // whose they are is not said in the hunk
	for _, line := range lines {
		if line == "" {
			line = " "
		}
		sign, text := line[0], line[1:]
		words := strings.Fields(text)
		switch {
		case len(words) == 0, strings.HasPrefix(text, "#"):
			continue
		case words[0] == "iface" && len(words) > 2:
			now := owner{words[1], words[2] == "inet6"}
			if sign != '+' {
				old = now
			}
			if sign != '-' {
				changed = now
			}
			s.add(now.name, stanzaLine{sign: sign, six: now.six, header: true})
			continue
		case words[0] == "auto", words[0] == "allow-auto", words[0] == "allow-hotplug":
			for _, name := range words[1:] {
				s.add(name, stanzaLine{sign: sign, key: "auto"})
			}
			continue
		case text[0] != ' ' && text[0] != '\t':
			// What is neither of an interface nor a comment: source, mapping.
			s.unclear = s.unclear || sign != ' ' && !strings.HasPrefix(words[0], "allow-")
			continue
		}
		whose := changed
		if sign == '-' {
			whose = old
		}
		l := stanzaLine{sign: sign, six: whose.six, key: strings.ReplaceAll(words[0], "_", "-"), value: strings.Join(words[1:], " ")}
		if whose.name == "" {
			before = append(before, l)
			continue
		}
		s.add(whose.name, l)
	}
	s.place(pending, before)
}

func (s *stanzas) add(name string, l stanzaLine) {
	if name != "lo" {
		s.of[name] = append(s.of[name], l)
	}
}

// place finds the interface that lines at the begin of a hunk are of: the only one that has all that they say.
func (s *stanzas) place(pending []hypervisor.Interface, lines []stanzaLine) {
	if !slices.ContainsFunc(lines, func(l stanzaLine) bool { return l.sign != ' ' }) {
		return
	}
	var found []string
	six := false
	for _, i := range pending {
		told := 0
		fits := true
		for _, l := range lines {
			if l.sign == '-' || l.key == "bridge-stp" || l.key == "bridge-fd" {
				continue
			}
			four, also := saysOf(i, l)
			fits = fits && (four || also)
			six = six || also && !four
			told++
		}
		if fits && told > 0 {
			found = append(found, i.Name)
		}
	}
	if len(found) != 1 {
		s.unclear = true
		return
	}
	for _, l := range lines {
		l.six = six
		s.add(found[0], l)
	}
}

// saysOf reports whether a line is true of an interface: of its part for IPv4, or of that for IPv6.
func saysOf(i hypervisor.Interface, l stanzaLine) (four, six bool) {
	switch l.key {
	case "address":
		return i.CIDR == l.value, i.CIDR6 == l.value
	case "gateway":
		return i.Gateway == l.value, i.Gateway6 == l.value
	}
	// The line set on the interface changes nothing.
	same := i
	same.Ports, same.Options = slices.Clone(i.Ports), maps.Clone(i.Options)
	put(&same, l, l.value)
	return equalInterfaces(same, i), false
}

func equalInterfaces(a, b hypervisor.Interface) bool {
	value := func(n *int64) int64 {
		if n == nil {
			return -1
		}
		return *n
	}
	return a.CIDR == b.CIDR && a.CIDR6 == b.CIDR6 && a.Gateway == b.Gateway && a.Gateway6 == b.Gateway6 && slices.Equal(a.Ports, b.Ports) &&
		a.Device == b.Device && value(a.VLAN) == value(b.VLAN) && value(a.MTU) == value(b.MTU) && a.VLANAware == b.VLANAware &&
		a.VLANs == b.VLANs && a.BondMode == b.BondMode && a.BondPrimary == b.BondPrimary && a.BondHash == b.BondHash &&
		maps.Equal(a.Options, b.Options)
}

// undone is an interface without what lines add, and with what they take away. Of one that is gone they say all there is.
func undone(i hypervisor.Interface, lines []stanzaLine, gone bool) hypervisor.Interface {
	i.Ports, i.Options = slices.Clone(i.Ports), maps.Clone(i.Options)
	for _, l := range lines {
		if l.sign == '+' && !l.header {
			put(&i, l, "")
		}
	}
	address, mask := map[bool]string{}, map[bool]string{}
	for _, l := range lines {
		if l.header || l.sign == '+' || l.sign == ' ' && !gone {
			continue
		}
		switch l.key {
		case "address":
			address[l.six || strings.Contains(l.value, ":")] = l.value
		case "netmask":
			mask[l.six] = l.value
		default:
			put(&i, l, l.value)
		}
	}
	for six, value := range address {
		l := stanzaLine{key: "address", six: six}
		if !strings.Contains(value, "/") {
			value = withPrefix("", value, mask[six])
		}
		put(&i, l, value)
	}
	return i
}

// put sets what a line says; an empty value takes it away.
func put(i *hypervisor.Interface, l stanzaLine, value string) {
	six := l.six || strings.Contains(l.value, ":")
	switch l.key {
	case "auto":
		i.Autostart = l.sign != '+'
	case "address":
		if six {
			i.CIDR6 = value
		} else {
			i.CIDR = value
		}
	case "netmask":
	case "gateway":
		if six {
			i.Gateway6 = value
		} else {
			i.Gateway = value
		}
	case "bridge-ports", "bond-slaves", "slaves", "ovs-ports", "ovs-bonds":
		i.Ports = nil
		if value != "none" {
			i.Ports = strings.Fields(value)
		}
	case "vlan-raw-device", "ovs-bridge":
		i.Device = value
	case "vlan-id":
		i.VLAN = number(value)
	case "bridge-vlan-aware":
		i.VLANAware = value == "yes"
	case "bridge-vids":
		i.VLANs = value
	case "bond-mode":
		i.BondMode = value
	case "bond-primary":
		i.BondPrimary = value
	case "bond-xmit-hash-policy":
		i.BondHash = value
	case "mtu":
		i.MTU = number(value)
	case "bridge-stp", "bridge-fd", "bond-miimon", "ovs-type":
		// They follow from the type.
	default: // an empty value differs from none, so that what is added counts as a change
		if i.Options == nil {
			i.Options = map[string]string{}
		}
		i.Options[l.key] = value
	}
}

// typeBy is the type of an interface that only the diff still has.
func typeBy(name string, lines []stanzaLine) string {
	for _, l := range lines {
		switch l.key {
		case "bridge-ports":
			return hypervisor.InterfaceBridge
		case "slaves", "bond-slaves":
			return hypervisor.InterfaceBond
		case "vlan-raw-device":
			return hypervisor.InterfaceVLAN
		case "ovs-type":
			if t := interfaceTypes[l.value]; t != "" {
				return t
			}
		}
	}
	if strings.Contains(name, ".") {
		return hypervisor.InterfaceVLAN
	}
	return hypervisor.InterfaceNIC
}
