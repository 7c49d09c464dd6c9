package pvesim

import "slices"

func firewallRuleEndpoints() []*endpoint {
	all := []*endpoint{}
	for _, at := range []string{"/cluster", "/nodes/{node}", "/nodes/{node}/qemu/{vmid}", "/nodes/{node}/lxc/{vmid}"} {
		all = append(all,
			serve("GET", at+"/firewall/rules", listFirewallRules),
			serve("POST", at+"/firewall/rules", createFirewallRule),
			serve("GET", at+"/firewall/rules/{pos}", readFirewallRule),
			serve("PUT", at+"/firewall/rules/{pos}", updateFirewallRule),
			serve("DELETE", at+"/firewall/rules/{pos}", deleteFirewallRule),
		)
	}
	return all
}

// firewallScope is the scope that the path names and the kind of it in error texts. Nobody looks whether the guest exists.
func (r *request) firewallScope() (scope FirewallScope, environment string) {
	switch {
	case r.kind == QEMU:
		return FirewallGuest(r.vmid()), "vm"
	case r.kind == LXC:
		return FirewallGuest(r.vmid()), "ct"
	case r.values.has("node"):
		return FirewallNode(r.node.name), "host"
	}
	return FirewallCluster, "cluster"
}

// firewallRows are the rules of the path's scope, each with the digest of all, and that digest.
func (r *request) firewallRows() ([]map[string]any, string) {
	scope, environment := r.firewallScope()
	f := r.c.firewallOf(scope)
	rows := make([]map[string]any, len(f.rules))
	faults := make([]map[string]string, len(f.rules))
	for i := range f.rules {
		faults[i] = r.c.verifyRule(scope, environment, &f.rules[i]) // what it refers to may be gone
		rows[i] = f.rules[i].row()
	}
	digest := rulesDigest(rows)
	for i, row := range rows {
		row["digest"] = digest
		if len(faults[i]) > 0 {
			row["errors"] = faults[i]
		}
	}
	return rows, digest
}

func listFirewallRules(r *request) (result, *apiError) {
	rows, _ := r.firewallRows()
	for i, row := range rows {
		row["pos"] = i
	}
	return ok(rows)
}

// readFirewallRule answers the position as it was asked for: as text.
func readFirewallRule(r *request) (result, *apiError) {
	rows, _ := r.firewallRows()
	pos := r.values.integer("pos", 0)
	if pos >= int64(len(rows)) {
		return fail(noRule(r))
	}
	rows[pos]["pos"] = r.values.text("pos")
	return ok(rows[pos])
}

func noRule(r *request) *apiError { return failure("no rule at position %s", r.values.text("pos")) }

// textModified is the answer to a digest that is not the present one.
const textModified = "detected modified configuration - file changed by other user? Try again."

// firewallRuleOfPath finds the list and the position in it after the request's digest was compared.
func (r *request) firewallRuleOfPath() (f *firewall, pos int, err *apiError) {
	_, digest := r.firewallRows()
	if sent := r.values.text("digest"); sent != "" && sent != digest {
		return nil, 0, failure(textModified)
	}
	scope, _ := r.firewallScope()
	f = r.c.firewallOf(scope)
	at := r.values.integer("pos", 0)
	if at >= int64(len(f.rules)) {
		return nil, 0, noRule(r)
	}
	return f, int(at), nil
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
	rule.Enable = v.integer("enable", int64(oneOrZero(rule.Enable))) != 0
}

// createFirewallRule puts the rule first, whatever position and digest the request has.
func createFirewallRule(r *request) (result, *apiError) {
	scope, environment := r.firewallScope()
	var rule FirewallRule
	rule.apply(r.values)
	if errs := r.c.verifyRule(scope, environment, &rule); len(errs) > 0 {
		return fail(badParameters(errs))
	}
	f := r.c.changeFirewall(scope)
	f.rules = slices.Insert(f.rules, 0, rule)
	return ok(nil)
}

// updateFirewallRule moves a rule, or changes it: a request that moves does nothing else.
func updateFirewallRule(r *request) (result, *apiError) {
	f, pos, err := r.firewallRuleOfPath()
	if err != nil {
		return fail(err)
	}
	if to := r.values.integer("moveto", int64(pos)); to != int64(pos) {
		f.move(pos, int(min(to, int64(len(f.rules)))))
		return ok(nil)
	}
	rule := f.rules[pos]
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
			*field(&rule) = ""
		}
	}
	scope, environment := r.firewallScope()
	if errs := r.c.verifyRule(scope, environment, &rule); len(errs) > 0 {
		return fail(badParameters(errs))
	}
	f.rules[pos] = rule
	return ok(nil)
}

// move puts a rule before the one that is now at a position; the length of the list is its end.
func (f *firewall) move(from, to int) {
	rule := f.rules[from]
	if to > from {
		to-- // the rule itself is gone from before that position
	}
	f.rules = slices.Insert(slices.Delete(slices.Clone(f.rules), from, from+1), to, rule)
}

func deleteFirewallRule(r *request) (result, *apiError) {
	f, pos, err := r.firewallRuleOfPath()
	if err != nil {
		return fail(err)
	}
	f.rules = slices.Delete(slices.Clone(f.rules), pos, pos+1)
	return ok(nil)
}
