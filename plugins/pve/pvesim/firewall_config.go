package pvesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FirewallConfig is all that a scope has, in the API's own names. Nodes have
// options and rules only; groups are the cluster's.
type FirewallConfig struct {
	Options map[string]any  `json:"options,omitempty"`
	Aliases []FirewallAlias `json:"aliases,omitempty"`
	IPSets  []FirewallIPSet `json:"ipsets,omitempty"`
	Groups  []SecurityGroup `json:"groups,omitempty"`
	Rules   []FirewallRule  `json:"rules,omitempty"`
}

// FirewallIPSet is a named list of addresses.
type FirewallIPSet struct {
	Name    string           `json:"name"`
	Comment string           `json:"comment,omitempty"`
	Members []FirewallMember `json:"entries,omitempty"`
}

// SecurityGroup is a list of rules that others refer to by its name.
type SecurityGroup struct {
	Name    string         `json:"group"`
	Comment string         `json:"comment,omitempty"`
	Rules   []FirewallRule `json:"rules,omitempty"`
}

// MarshalJSON writes a rule as the API shows it, without position and digest.
func (r FirewallRule) MarshalJSON() ([]byte, error) { return json.Marshal(r.row()) }

// UnmarshalJSON reads a rule as the API shows it. What it works out itself
// counts for nothing. One without enable is off.
func (r *FirewallRule) UnmarshalJSON(b []byte) error {
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	*r = FirewallRule{}
	for name, value := range members {
		field := ruleFields[name]
		switch text, isText := value.(string); {
		case field != nil && isText:
			*field(r) = text
		case field != nil:
			return fmt.Errorf("%s of a firewall rule is no text", name)
		case name == "enable":
			r.Enable = value != false && value != 0.0 && value != "0"
		case !slices.Contains([]string{"pos", "digest", "errors", "ipversion"}, name):
			return fmt.Errorf("a firewall rule has no %q", name)
		}
	}
	return nil
}

// MarshalJSON writes a member as the API shows it, without digest.
func (m FirewallMember) MarshalJSON() ([]byte, error) { return json.Marshal(m.row()) }

// UnmarshalJSON reads a member as the API shows it.
func (m *FirewallMember) UnmarshalJSON(b []byte) error {
	var in struct {
		CIDR    string `json:"cidr"`
		NoMatch any    `json:"nomatch"`
		Comment string `json:"comment"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*m = FirewallMember{CIDR: in.CIDR, Comment: in.Comment, NoMatch: in.NoMatch != nil && in.NoMatch != false && in.NoMatch != 0.0}
	return nil
}

// SetFirewalls replaces all firewall configurations at once: scopes that are
// not given are empty then. It takes what a file may have and the API does not
// let in: rules with faults stay and are shown with them. Guests need not
// exist, but nodes do.
func (c *Cluster) SetFirewalls(all map[FirewallScope]FirewallConfig) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := map[FirewallScope]*firewall{}
	for scope, config := range all {
		kind, id, _ := strings.Cut(string(scope), "/")
		vmid, err := strconv.Atoi(id)
		if kind == "group" || kind != "guest" && c.checkScope(scope) != nil || kind == "guest" && (err != nil || vmid < 100) {
			return fmt.Errorf("no firewall scope %q", scope)
		}
		f, err := config.build(kind)
		if err != nil {
			return fmt.Errorf("firewall of %s: %w", scope, err)
		}
		next[scope] = f
	}
	c.changeFirewall(FirewallCluster)
	c.firewalls = next
	return nil
}

// build returns the firewall of a scope from its configuration, or an error for
// one that the API would not accept.
func (config FirewallConfig) build(kind string) (*firewall, error) {
	f := newFirewall()
	switch {
	case kind != "cluster" && len(config.Groups) > 0:
		return nil, errors.New("only the cluster has groups")
	case kind == "node" && len(config.Aliases)+len(config.IPSets) > 0:
		return nil, errors.New("a node has neither aliases nor IP sets")
	}
	f.rules = slices.Clone(config.Rules)
	f.options = map[string]any{}
	for name, value := range config.Options {
		if n, isNumber := value.(float64); isNumber {
			value = int64(n)
		}
		f.options[name] = value
	}
	for _, a := range config.Aliases {
		if _, err := addressFamily(a.CIDR); err != nil || !firewallNamePattern.MatchString(a.Name) {
			return nil, fmt.Errorf("alias %q of %q", a.Name, a.CIDR)
		}
		f.aliases[strings.ToLower(a.Name)] = a
	}
	for _, s := range config.IPSets {
		if !firewallNamePattern.MatchString(s.Name) {
			return nil, fmt.Errorf("IP set %q", s.Name)
		}
		set := &section[FirewallMember]{comment: s.Comment, list: slices.Clone(s.Members)}
		sortMembers(set.list)
		f.ipsets[strings.ToLower(s.Name)] = set
	}
	for _, g := range config.Groups {
		if !groupNamePattern.MatchString(g.Name) {
			return nil, fmt.Errorf("group %q", g.Name)
		}
		f.groups[strings.ToLower(g.Name)] = &section[FirewallRule]{comment: g.Comment, list: slices.Clone(g.Rules)}
	}
	return f, nil
}

// Firewalls returns all firewall configurations that are not empty, as
// [Cluster.SetFirewalls] takes them.
func (c *Cluster) Firewalls() map[FirewallScope]FirewallConfig {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[FirewallScope]FirewallConfig{}
	for scope, f := range c.firewalls {
		if config := f.config(); len(config.Options)+len(config.Aliases)+len(config.IPSets)+len(config.Groups)+len(config.Rules) > 0 {
			all[scope] = config
		}
	}
	return all
}

// config is the inverse of build.
func (f *firewall) config() FirewallConfig {
	config := FirewallConfig{Options: maps.Clone(f.options), Rules: slices.Clone(f.rules)}
	for _, key := range slices.Sorted(maps.Keys(f.aliases)) {
		config.Aliases = append(config.Aliases, f.aliases[key])
	}
	for _, name := range slices.Sorted(maps.Keys(f.ipsets)) {
		s := f.ipsets[name]
		config.IPSets = append(config.IPSets, FirewallIPSet{Name: name, Comment: s.comment, Members: slices.Clone(s.list)})
	}
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		g := f.groups[name]
		config.Groups = append(config.Groups, SecurityGroup{Name: name, Comment: g.comment, Rules: slices.Clone(g.list)})
	}
	return config
}

// cloneFirewall gives a copy of a guest the firewall of that guest, in place of
// what others have left under its id.
func (c *Cluster) cloneFirewall(from, to int) {
	made, err := c.firewallOf(FirewallGuest(from)).config().build("guest")
	if err != nil { // what is there was let in before
		made = newFirewall()
	}
	c.noteFirewallChange()
	c.firewalls[FirewallGuest(to)] = made
}
