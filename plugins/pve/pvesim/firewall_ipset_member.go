package pvesim

import (
	"cmp"
	"slices"
	"strings"
)

// FirewallMember is an entry of an IP set: an address, a network, or an alias.
type FirewallMember struct {
	CIDR string
	// NoMatch takes it out of a larger network of the same set.
	NoMatch bool
	Comment string
}

// row is a member as answers show it, without digest.
func (m FirewallMember) row() map[string]any {
	row := map[string]any{"cidr": m.CIDR}
	if m.NoMatch {
		row["nomatch"] = 1
	}
	if m.Comment != "" {
		row["comment"] = m.Comment
	}
	return row
}

// sortMembers brings the members into the order in which they are written.
func sortMembers(list []FirewallMember) {
	slices.SortStableFunc(list, func(a, b FirewallMember) int { return cmp.Compare(a.CIDR, b.CIDR) })
}

// memberRows returns the rows of members with their digest.
func memberRows(list []FirewallMember) (rows []map[string]any, digest string) {
	rows = make([]map[string]any, len(list))
	for i, m := range list {
		rows[i] = m.row()
	}
	return rows, withDigest(rows)
}

// listMembers lists the members of a set.
func listMembers(r *request) (result, *apiError) {
	set, err := r.ipsetOfPath()
	if err != nil {
		return fail(err)
	}
	rows, _ := memberRows(set.list)
	return ok(rows)
}

// createMember takes bits of the host and masks them off. An alias must exist,
// where the set may look.
func createMember(r *request) (result, *apiError) {
	set, err := r.ipsetOfPath()
	if err != nil {
		return fail(err)
	}
	cidr := r.values.text("cidr")
	if m := aliasPattern.FindStringSubmatch(cidr); m != nil {
		scope, _ := r.firewallScope()
		if !slices.ContainsFunc(r.c.firewallsFor(scope, m[1]), func(f *firewall) bool {
			_, exists := f.aliases[strings.ToLower(m[2])]
			return exists
		}) {
			return fail(failure("no such alias '%s'", m[2]))
		}
	} else {
		cidr = maskedNetwork(cidr)
	}
	switch {
	case memberIndex(set, cidr) >= 0:
		return fail(badParameter("cidr", "address '"+cidr+"' already exists"))
	case zeroLengthPattern.MatchString(cidr):
		return fail(badParameter("cidr", "a zero prefix is not allowed in ipset entries"))
	}
	r.changeFirewall()
	set.list = append(set.list, FirewallMember{CIDR: cidr, NoMatch: r.values.boolean("nomatch", false),
		Comment: fileComment(r.values.text("comment"))})
	sortMembers(set.list)
	return ok(nil)
}

// memberIndex returns the index of a member, or -1.
func memberIndex(set *section[FirewallMember], cidr string) int {
	return slices.IndexFunc(set.list, func(m FirewallMember) bool { return m.CIDR == cidr })
}

// errNoMember is the error of an unknown member.
var errNoMember = badParameter("cidr", "no such IP/Network")

// readMember returns one member.
func readMember(r *request) (result, *apiError) {
	set, err := r.ipsetOfPath()
	if err != nil {
		return fail(err)
	}
	rows, _ := memberRows(set.list)
	i := memberIndex(set, r.values.text("cidr"))
	if i < 0 {
		return fail(errNoMember)
	}
	return ok(rows[i])
}

// memberOfPath finds a member by the text that the set has of it, after the
// request's digest was compared. It is -1 for none.
func (r *request) memberOfPath() (set *section[FirewallMember], i int, err *apiError) {
	if set, err = r.ipsetOfPath(); err != nil {
		return nil, 0, err
	}
	_, digest := memberRows(set.list)
	if err := r.unmodified(digest); err != nil {
		return nil, 0, err
	}
	return set, memberIndex(set, r.values.text("cidr")), nil
}

// updateMember replaces all of a member: what is not sent again is gone.
func updateMember(r *request) (result, *apiError) {
	set, i, err := r.memberOfPath()
	switch {
	case err != nil:
		return fail(err)
	case i < 0:
		return fail(errNoMember)
	}
	r.changeFirewall()
	set.list[i].NoMatch = r.values.boolean("nomatch", false)
	set.list[i].Comment = fileComment(r.values.text("comment"))
	return ok(nil)
}

// deleteMember does not mind a member that is not there.
func deleteMember(r *request) (result, *apiError) {
	set, i, err := r.memberOfPath()
	if err != nil {
		return fail(err)
	}
	if i >= 0 {
		r.changeFirewall()
		set.list = slices.Delete(set.list, i, i+1)
	}
	return ok(nil)
}
