package pvesim

import "slices"

// firewallRuleEndpoints serves the rules of all scopes.
func firewallRuleEndpoints() []*endpoint {
	lists := []string{"/cluster/firewall/groups/{group}"}
	for _, at := range firewallPaths {
		lists = append(lists, at+"/rules")
	}
	all := []*endpoint{}
	for _, at := range lists {
		all = append(all,
			serve("GET", at, listFirewallRules),
			serve("POST", at, createFirewallRule),
			serve("GET", at+"/{pos}", readFirewallRule),
			serve("PUT", at+"/{pos}", updateFirewallRule),
			serve("DELETE", at+"/{pos}", deleteFirewallRule),
		)
	}
	return all
}

// firewallRows are the rules that the path names, each with the digest of all, and that digest.
func (r *request) firewallRows() ([]map[string]any, string, *apiError) {
	scope, environment := r.firewallScope()
	rules := r.c.rulesOf(scope)
	if rules == nil {
		return nil, "", noGroup(r.values.text("group"))
	}
	rows := make([]map[string]any, len(*rules))
	faults := make([]ruleFaults, len(rows))
	for i := range *rules {
		rule := (*rules)[i]
		faults[i] = r.c.verifyRule(scope, environment, &rule) // what it refers to may be gone
		rows[i] = rule.row()
	}
	digest := withDigest(rows)
	for i, row := range rows {
		if len(faults[i].fields) > 0 {
			row["errors"] = faults[i].texts
		}
	}
	return rows, digest, nil
}

// listFirewallRules lists the rules of a scope; each row repeats the digest.
func listFirewallRules(r *request) (result, *apiError) {
	rows, _, err := r.firewallRows()
	if err != nil {
		return fail(err)
	}
	for i, row := range rows {
		row["pos"] = i
	}
	return ok(rows)
}

// readFirewallRule answers the position as it was asked for: as text.
func readFirewallRule(r *request) (result, *apiError) {
	rows, _, err := r.firewallRows()
	if err != nil {
		return fail(err)
	}
	pos := r.values.integer("pos", 0)
	if pos >= int64(len(rows)) {
		return fail(noRule(r))
	}
	rows[pos]["pos"] = r.values.text("pos")
	return ok(rows[pos])
}

// noRule returns the error of a position without rule.
func noRule(r *request) *apiError { return failure("no rule at position %s", r.values.text("pos")) }

// The lines of the real server's source at which a change and a deletion fail
// where there is no list of rules at all.
const (
	lineOfUpdate = 373
	lineOfDelete = 462
)

// firewallRuleOfPath finds the list and the position in it after the request's
// digest was compared. The list is a copy. A configuration without a file has
// no list, which the real server does not expect: it names the line of its
// source that failed.
func (r *request) firewallRuleOfPath(line int) (rules []FirewallRule, pos int, err *apiError) {
	_, digest, err := r.firewallRows()
	if err != nil {
		return nil, 0, err
	}
	if err := r.unmodified(digest); err != nil {
		return nil, 0, err
	}
	scope, environment := r.firewallScope()
	if environment != "group" && !r.c.firewallOf(scope).stored() {
		return nil, 0, failure("Can't use an undefined value as an ARRAY reference at "+
			"/usr/share/perl5/PVE/API2/Firewall/Rules.pm line %d.", line)
	}
	rules = slices.Clone(*r.c.rulesOf(scope))
	at := r.values.integer("pos", 0)
	if at >= int64(len(rules)) {
		return nil, 0, noRule(r)
	}
	return rules, int(at), nil
}

// apply takes over what the request sets. Nothing, or a dash, removes a field.
func (rule *FirewallRule) apply(v values) {
	for name, field := range ruleFields {
		if !v.has(name) {
			continue
		}
		*field(rule) = v.text(name)
		if v.text(name) == "-" {
			*field(rule) = ""
		}
	}
	rule.Comment = fileComment(rule.Comment)
	rule.Enable = v.integer("enable", int64(oneOrZero(rule.Enable))) != 0
}

// createFirewallRule puts the rule first, whatever position and digest the request has.
func createFirewallRule(r *request) (result, *apiError) {
	scope, environment := r.firewallScope()
	rules := r.c.rulesOf(scope)
	if rules == nil {
		return fail(noGroup(r.values.text("group")))
	}
	var rule FirewallRule
	rule.apply(r.values)
	if faults := r.c.verifyRule(scope, environment, &rule); len(faults.fields) > 0 {
		return fail(faults.first())
	}
	r.c.changeRules(scope, slices.Insert(slices.Clone(*rules), 0, rule))
	return ok(nil)
}

// updateFirewallRule moves a rule or changes it. A request with moveto only
// moves: Proxmox VE ignores all other parameters then.
func updateFirewallRule(r *request) (result, *apiError) {
	rules, pos, err := r.firewallRuleOfPath(lineOfUpdate)
	if err != nil {
		return fail(err)
	}
	scope, environment := r.firewallScope()
	if to := r.values.integer("moveto", int64(pos)); to != int64(pos) {
		r.c.changeRules(scope, moved(rules, pos, int(min(to, int64(len(rules))))))
		return ok(nil)
	}
	rule := &rules[pos]
	rule.apply(r.values)
	for _, name := range r.values.listOf("delete") {
		field := ruleFields[name]
		switch {
		case name == "type" || name == "action":
			return fail(badParameter("delete", "unable to delete required property '"+name+"'"))
		case name == "enable":
			rule.Enable = false
		case field == nil:
			return fail(badParameter("delete", "no such property ('"+name+"')"))
		default:
			*field(rule) = ""
		}
	}
	if faults := r.c.verifyRule(scope, environment, rule); len(faults.fields) > 0 {
		return fail(faults.first())
	}
	r.c.changeRules(scope, rules)
	return ok(nil)
}

// moved puts a rule before the one that is now at a position; the length of the list is its end.
func moved(rules []FirewallRule, from, to int) []FirewallRule {
	rule := rules[from]
	if to > from {
		to-- // the rule itself is gone from before that position
	}
	return slices.Insert(slices.Delete(rules, from, from+1), to, rule)
}

// deleteFirewallRule removes a rule; the following ones move up.
func deleteFirewallRule(r *request) (result, *apiError) {
	rules, pos, err := r.firewallRuleOfPath(lineOfDelete)
	if err != nil {
		return fail(err)
	}
	scope, _ := r.firewallScope()
	r.c.changeRules(scope, slices.Delete(rules, pos, pos+1))
	return ok(nil)
}
