package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// firewallAliasEndpoints serves aliases of the cluster and of guests.
func firewallAliasEndpoints() []*endpoint {
	var all []*endpoint
	for _, at := range firewallObjectPaths {
		all = append(all,
			serve("GET", at+"/aliases", listAliases),
			serve("POST", at+"/aliases", createAlias),
			serve("GET", at+"/aliases/{name}", readAlias),
			serve("PUT", at+"/aliases/{name}", updateAlias),
			serve("DELETE", at+"/aliases/{name}", deleteAlias),
		)
	}
	return all
}

// FirewallAlias is a name for an address or a network. Bits of the host stay in it.
type FirewallAlias struct {
	Name    string `json:"name"`
	CIDR    string `json:"cidr"`
	Comment string `json:"comment,omitempty"`
}

// row is an alias as answers show it, without digest.
func (a FirewallAlias) row() map[string]any {
	row := map[string]any{"name": a.Name, "cidr": a.CIDR}
	if family, err := addressFamily(a.CIDR); err == nil {
		row["ipversion"] = family
	}
	if a.Comment != "" {
		row["comment"] = a.Comment
	}
	return row
}

// aliasRows lists aliases by their names in lower case.
func (f *firewall) aliasRows() (rows []map[string]any, digest string) {
	rows = []map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(f.aliases)) {
		rows = append(rows, f.aliases[key].row())
	}
	return rows, withDigest(rows)
}

// listAliases lists the aliases of a scope.
func listAliases(r *request) (result, *apiError) {
	rows, _ := r.firewall().aliasRows()
	return ok(rows)
}

// aliasOfPath finds an alias, whose case does not count.
func (r *request) aliasOfPath() (key string, alias FirewallAlias, err *apiError) {
	key = strings.ToLower(r.values.text("name"))
	alias, exists := r.firewall().aliases[key]
	if !exists {
		return "", FirewallAlias{}, badParameter("name", "no such alias")
	}
	return key, alias, nil
}

// readAlias answers without a digest.
func readAlias(r *request) (result, *apiError) {
	_, alias, err := r.aliasOfPath()
	if err != nil {
		return fail(err)
	}
	return ok(alias.row())
}

// sentAlias is the alias that a request describes. Its name has the case that the request gives it.
func (r *request) sentAlias() FirewallAlias {
	return FirewallAlias{Name: r.values.text("name"), CIDR: withoutFullLength(r.values.text("cidr")),
		Comment: fileComment(r.values.text("comment"))}
}

// aliasExists returns the error of a name that is taken.
func aliasExists(name string) *apiError {
	return badParameter("name", "alias '"+name+"' already exists")
}

// createAlias compares names in lower case, as the original does.
func createAlias(r *request) (result, *apiError) {
	a := r.sentAlias()
	aliases := r.changeFirewall().aliases
	if _, exists := aliases[strings.ToLower(a.Name)]; exists {
		return fail(aliasExists(a.Name))
	}
	aliases[strings.ToLower(a.Name)] = a
	return ok(nil)
}

// updateAlias replaces the whole alias: a comment that is not sent again is
// gone. A new name that differs by its case only is none.
func updateAlias(r *request) (result, *apiError) {
	_, digest := r.firewall().aliasRows()
	if err := r.unmodified(digest); err != nil {
		return fail(err)
	}
	key, _, err := r.aliasOfPath()
	if err != nil {
		return fail(err)
	}
	a, next := r.sentAlias(), key
	aliases := r.changeFirewall().aliases
	if rename := r.values.text("rename"); rename != "" && strings.ToLower(rename) != key {
		a.Name, next = rename, strings.ToLower(rename)
		if _, exists := aliases[next]; exists {
			return fail(aliasExists(rename))
		}
	}
	delete(aliases, key)
	aliases[next] = a
	return ok(nil)
}

// deleteAlias takes one away that is in use, and does not mind one that is not there.
func deleteAlias(r *request) (result, *apiError) {
	_, digest := r.firewall().aliasRows()
	if err := r.unmodified(digest); err != nil {
		return fail(err)
	}
	delete(r.changeFirewall().aliases, strings.ToLower(r.values.text("name")))
	return ok(nil)
}

// SetFirewallAlias sets a name for an address that the rules of the scope may
// use; an empty address removes it.
func (c *Cluster) SetFirewallAlias(scope FirewallScope, name, cidr string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkScope(scope); err != nil {
		return err
	}
	if cidr == "" {
		delete(c.changeFirewall(scope).aliases, strings.ToLower(name))
		return nil
	}
	if _, err := addressFamily(cidr); err != nil || !firewallNamePattern.MatchString(name) {
		return fmt.Errorf("firewall alias %q for %q: %w", name, cidr, errors.Join(err, errors.New("a name and an address are needed")))
	}
	c.changeFirewall(scope).aliases[strings.ToLower(name)] = FirewallAlias{Name: name, CIDR: withoutFullLength(cidr)}
	return nil
}
