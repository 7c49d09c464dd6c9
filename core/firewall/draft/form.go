package draft

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// What hypervisors write in another form than it was sent in would be taken for
// somebody else's change. So a draft has it in the one form in which all of
// them keep it.

// comment returns a comment without the spaces around it, as hypervisors store
// it. They write some values in another form than they receive; a draft uses
// the common form, because the difference would otherwise look like a change by
// somebody else.
func comment(text string) string { return strings.TrimSpace(text) }

// address returns an address without the prefix length of a single address, and
// false for a text that is neither an address nor a network. Host bits are
// kept.
func address(text string) (form string, is bool) {
	if at, err := netip.ParseAddr(text); err == nil {
		return text, at.Zone() == ""
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return text, false
	}
	if network.IsSingleIP() {
		return strings.TrimSuffix(strings.TrimSuffix(text, "/32"), "/128"), true
	}
	return text, true
}

// member returns the form in which a set stores an address or a network:
// without host bits. Other members stay as they are.
func member(text string) string {
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Bits() == 0 {
		return text
	}
	form, _ := address(network.Masked().String())
	return form
}

// formed returns the members in their stored form.
func formed(all []Member) []Member {
	all = slices.Clone(all)
	for i := range all {
		all[i].CIDR, all[i].Comment = member(all[i].CIDR), comment(all[i].Comment)
	}
	return all
}

// macros writes the macros of new rules in the firewall's spelling, and refuses
// unknown ones. If the firewall cannot list its macros, it judges them itself
// later.
func (s *Store) macros(ctx context.Context, r *record, q *Request) error {
	has := func(list []sdk.Rule, name string) bool {
		return slices.ContainsFunc(list, func(r sdk.Rule) bool { return r.Macro == name })
	}
	wanted := false
	for i := range r.Scopes {
		wanted = wanted || slices.ContainsFunc(r.Scopes[i].After.Rules, func(one sdk.Rule) bool {
			return one.Macro != "" && !has(r.Scopes[i].Before.Rules, one.Macro)
		})
	}
	if !wanted {
		return nil
	}
	known, err := firewall.WithFirewall(ctx, s.Firewalls, r.HostID, endpoint.Monitoring, func(ctx context.Context,
		fw sdk.Firewall) ([]sdk.Macro,
		error) {
		able, err := have[sdk.MacroLister](fw, sdk.Scope{Kind: sdk.ClusterScope})
		if err != nil {
			return nil, err
		}
		return able.Macros(ctx)
	})
	switch code := problem.CodeOf(err); {
	case err != nil && (code == problem.CodeUnsupported || code == problem.CodeUnsupportedAtScope):
		return nil // it judges them itself
	case err != nil:
		return err
	}
	for i := range r.Scopes {
		after := slices.Clone(r.Scopes[i].After.Rules)
		for n, one := range after {
			if one.Macro == "" || has(r.Scopes[i].Before.Rules, one.Macro) {
				continue
			}
			at := slices.IndexFunc(known, func(m sdk.Macro) bool { return strings.EqualFold(m.Name, one.Macro) })
			if at < 0 {
				return q.unknownMacro(one.Macro)
			}
			after[n].Macro = known[at].Name
		}
		r.Scopes[i].After.Rules = after
	}
	return nil
}

// unknownMacro returns the fault of an unknown macro, at the change that names
// it.
func (q *Request) unknownMacro(name string) error {
	const text = "macro not found"
	for n := range q.Changes {
		if rule := q.Changes[n].Rule; rule != nil && rule.Macro != nil && *rule.Macro == name {
			return at(change(n), text, "rule", sdk.FieldMacro)
		}
	}
	return at(where{"body"}, text+": "+name, "scopes")
}
