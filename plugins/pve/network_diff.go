package pve

import (
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// configured is an interface as Proxmox VE lists it, with the facts that are
// needed to read a diff.
type configured struct {
	hypervisor.Interface
	// place is the order of the file; 0 for one that is not in it.
	place int
	// families are inet and inet6 in the order of the file; empty for a part that names none.
	families []string
}

// stanzaLine is a line in the file of interfaces that sets something.
type stanzaLine struct {
	family string // of the part that it stands in
	key    string // in the newer words of the file
	value  string
	header bool // the line that begins a part; value is its method
}

// stanza is the part of a diff that concerns one interface, on both sides.
type stanza struct{ old, changed []stanzaLine }

// side is the position of the reader on one side of a diff.
type side struct {
	name, family string
	known        bool // whose lines follow is known
}

// diffReader assigns each line of a diff to an interface.
type diffReader struct {
	pending []configured
	of      map[string]*stanza
	// loose counts lines that are of no interface: more of them on the changed
	// side, or on the old one.
	loose map[string]int
	// last is the interface that the changed side has named last.
	last string
	// unclear says that a changed line could not be told whose it is.
	unclear bool
}

// inForce computes the interfaces in force from those that will be after the
// staged configuration is applied. unclear reports that the diff does not tell
// everything: it shows three lines around each change, not always with the name
// of the interface, and a command can do anything.
func inForce(pending []configured, diff string) (current []hypervisor.Interface, unclear bool) {
	r := &diffReader{pending: slices.Clone(pending), of: map[string]*stanza{}, loose: map[string]int{}}
	slices.SortStableFunc(r.pending, func(a, b configured) int { return a.place - b.place })
	r.read(diff)
	for _, i := range pending {
		s := r.of[i.Name]
		delete(r.of, i.Name)
		switch {
		case s == nil:
			current = append(current, i.Interface)
		case s.begins(i.families) && !i.Active:
		default:
			removed, added := s.net()
			r.unclear = r.unclear || hasCommand(removed) || hasCommand(added)
			current = append(current, undone(i.Interface, removed, added))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.of)) {
		s := r.of[name]
		if name == "lo" || !slices.ContainsFunc(s.old, func(l stanzaLine) bool { return l.header }) {
			continue
		}
		removed, _ := s.net()
		r.unclear = r.unclear || hasCommand(removed)
		i := undone(hypervisor.Interface{Name: name, Type: typeBy(name, s.old), Active: true}, s.old, nil)
		byName(&i)
		current = append(current, i)
	}
	for _, n := range r.loose {
		r.unclear = r.unclear || n != 0
	}
	slices.SortFunc(current, func(a, b hypervisor.Interface) int { return strings.Compare(a.Name, b.Name) })
	return current, r.unclear
}

// begins reports whether the stanza begins with a staged part, with nothing old
// before it.
func (s *stanza) begins(families []string) bool {
	if slices.ContainsFunc(s.old, func(l stanzaLine) bool { return l.header }) {
		return false
	}
	return slices.ContainsFunc(s.changed, func(l stanzaLine) bool {
		return l.header && (len(families) == 0 || l.family == families[0])
	})
}

// net returns the lines that only one side has.
func (s *stanza) net() (removed, added []stanzaLine) {
	added = slices.Clone(s.changed)
	for _, l := range s.old {
		if at := slices.Index(added, l); at >= 0 {
			added = slices.Delete(added, at, at+1)
		} else {
			removed = append(removed, l)
		}
	}
	return removed, added
}

// hasCommand reports whether there is a line that the system executes, such as
// post-up.
func hasCommand(lines []stanzaLine) bool {
	return slices.ContainsFunc(lines, func(l stanzaLine) bool {
		return slices.Contains([]string{"up", "down", "pre-up", "post-up", "pre-down", "post-down"}, l.key)
	})
}

// read splits a unified diff into hunks and reads them.
func (r *diffReader) read(diff string) {
	var hunks [][]string
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "\\"):
		case strings.HasPrefix(line, "@@"):
			hunks = append(hunks, nil)
		case len(hunks) > 0:
			if line == "" {
				line = " "
			}
			hunks[len(hunks)-1] = append(hunks[len(hunks)-1], line)
		}
	}
	for n, hunk := range hunks {
		r.hunk(hunk, hunks[n+1:])
	}
}

// headerOf reads the line that begins a part of an interface.
func headerOf(text string) (name, family, method string, is bool) {
	words := strings.Fields(text)
	switch {
	case len(words) == 2 && words[0] == "iface":
		return words[1], "", "", true
	case len(words) == 4 && words[0] == "iface":
		return words[1], words[2], words[3], true
	}
	return "", "", "", false
}

// hunk reads one hunk of the diff that Proxmox VE shows for pending changes;
// later are the hunks after it. A hunk has three lines of context, so the
// header of the stanza that a line belongs to ("iface NAME ...") may be outside
// of it. Lines before the first header are collected for both sides and
// assigned at the end, with what the neighboring hunks name.
func (r *diffReader) hunk(lines []string, later [][]string) {
	var old, changed side
	var before [2][]stanzaLine // whose they are is not said in the hunk: of the old side and of the changed one
	last := r.last             // the interface that the changed side of the hunks before has named last
	next := ""                 // the one that it names first here, and whether that is for its second family
	second := false
	for _, line := range lines {
		sign, text := line[0], line[1:]
		words := strings.Fields(text)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if name, family, method, is := headerOf(text); is {
			l := stanzaLine{family: family, key: "iface", value: method, header: true}
			if sign != '+' {
				old = side{name, family, true}
				r.stanza(name).old = append(r.stanza(name).old, l)
			}
			if sign != '-' {
				changed = side{name, family, true}
				r.last = name
				if next == "" {
					at := slices.IndexFunc(r.pending, func(i configured) bool { return i.Name == name })
					next, second = name, at >= 0 && len(r.pending[at].families) > 1 && r.pending[at].families[0] != family
				}
				r.stanza(name).changed = append(r.stanza(name).changed, l)
			}
			continue
		}
		if words[0] == "auto" || strings.HasPrefix(words[0], "allow-") {
			for _, name := range words[1:] {
				r.add(name, sign, stanzaLine{key: "auto"})
			}
			continue
		}
		if text[0] != ' ' && text[0] != '\t' && !isSetting(words[0]) {
			// A line that belongs to no interface and is no comment: source,
			// mapping.
			key := strings.Join(words, " ")
			if sign == '+' {
				r.loose[key]++
			} else if sign == '-' {
				r.loose[key]--
			}
			continue
		}
		if sign != '+' {
			r.give(&old, text, 0, &before)
		}
		if sign != '-' {
			r.give(&changed, text, 1, &before)
		}
	}
	if removed, added := (&stanza{before[0], before[1]}).net(); len(removed)+len(added) > 0 {
		r.place(before, r.between(last, next, second, later))
	}
}

// between returns the interfaces to which the beginning of a hunk may belong:
// the one before the next named interface, or, if the hunk names none, all from
// the one that was named last.
func (r *diffReader) between(last, next string, second bool, later [][]string) []configured {
	place := func(name string) int {
		return slices.IndexFunc(r.pending, func(i configured) bool { return i.Name == name })
	}
	if at := place(next); at >= 0 {
		if second {
			return r.pending[at : at+1]
		}
		return r.pending[max(0, at-1):at]
	}
	from, to := max(0, place(last)), len(r.pending)
	for _, hunk := range later {
		for _, line := range hunk {
			if name, _, _, is := headerOf(line[1:]); is && line[0] != '-' && place(name) >= 0 {
				return r.pending[from : place(name)+1]
			}
		}
	}
	return r.pending[from:to]
}

// isSetting reports whether a word at the beginning of a line is a setting
// nevertheless. Leading blanks are only a convention (interfaces(5)).
func isSetting(word string) bool {
	return !slices.Contains([]string{"source", "source-directory", "mapping", "rename", "template"}, word)
}

// give assigns a line to the interface to which it belongs on one side.
func (r *diffReader) give(at *side, text string, which int, before *[2][]stanzaLine) {
	l, says := lineOf(text, at.family)
	switch {
	case !says:
	case !at.known:
		before[which] = append(before[which], l)
	case which == 0:
		r.stanza(at.name).old = append(r.stanza(at.name).old, l)
	default:
		r.stanza(at.name).changed = append(r.stanza(at.name).changed, l)
	}
}

// stanza returns the stanza of an interface and adds it if it is new.
func (r *diffReader) stanza(name string) *stanza {
	if r.of[name] == nil {
		r.of[name] = &stanza{}
	}
	return r.of[name]
}

// add adds a line to the old side, to the new side, or to both, depending on
// its sign.
func (r *diffReader) add(name string, sign byte, l stanzaLine) {
	s := r.stanza(name)
	if sign != '+' {
		s.old = append(s.old, l)
	}
	if sign != '-' {
		s.changed = append(s.changed, l)
	}
}

// place assigns the lines at the beginning of a hunk. If several interfaces are
// possible, it is the only one whose settings match all lines.
func (r *diffReader) place(before [2][]stanzaLine, candidates []configured) {
	var found []configured
	six := false
	for _, i := range candidates {
		fits, onlySix := i.place > 0, false
		for _, l := range before[1] {
			four, also := saysOf(i.Interface, l)
			fits = fits && (four || also)
			onlySix = onlySix || also && !four
		}
		if fits {
			found, six = append(found, i), onlySix
		}
	}
	if len(found) != 1 {
		r.unclear = true
		return
	}
	for _, list := range before {
		for n := range list {
			if six && slices.Contains([]string{"address", "netmask", "gateway"}, list[n].key) {
				list[n].family = "inet6"
			}
		}
	}
	into := r.stanza(found[0].Name)
	into.old, into.changed = append(into.old, before[0]...), append(into.changed, before[1]...)
}
