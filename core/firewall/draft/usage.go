package draft

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// maxUsages limits the objects about which the hypervisor is asked: each
// question may take it hundreds of requests.
const maxUsages = 3

// object is something that rules can name.
type object struct {
	scope sdk.Scope
	kind  sdk.ObjectKind
	name  string
}

// String returns the object for a sentence.
func (o object) String() string {
	return map[sdk.ObjectKind]string{sdk.AliasObject: "the alias ", sdk.IPSetObject: "the IP set ", sdk.GroupObject: "the group "}[o.kind] +
		o.name
}

// namedBy reports whether a rule names the object, or another one with its
// name.
func (o object) namedBy(r sdk.Rule) bool {
	if o.kind == sdk.GroupObject {
		return r.Direction == sdk.DirectionGroup && r.Action == o.name
	}
	return mentions(r, o.name)
}

// namedByAny reports whether a rule of the chosen scopes names the object.
func (o object) namedByAny(all []sdk.State, chosen []bool) bool {
	for i := range all {
		if chosen[i] && slices.ContainsFunc(all[i].Rules, o.namedBy) {
			return true
		}
	}
	return false
}

// taken returns the objects that exist in one state of a scope and not in
// another.
func taken(from, to sdk.State) (all []object) {
	for _, a := range from.Aliases {
		if aliasNamed(to.Aliases, a.Name) < 0 {
			all = append(all, object{from.Scope, sdk.AliasObject, a.Name})
		}
	}
	for _, set := range from.IPSets {
		if setNamed(to.IPSets, set.Name) < 0 {
			all = append(all, object{from.Scope, sdk.IPSetObject, set.Name})
		}
	}
	if to.Absent && !from.Absent {
		all = append(all, object{sdk.Scope{Kind: sdk.ClusterScope}, sdk.GroupObject, from.Scope.Group})
	}
	return all
}

// usages returns sentences about objects that a draft deletes and that rules
// still name, in its scopes and elsewhere. The hypervisor leaves such rules in
// place and ignores them, so that a rule that dropped something silently drops
// nothing.
func (s *Store) usages(ctx context.Context, r *record) (all []string, err error) {
	var gone []object
	own := map[string]bool{}
	for i := range r.Scopes {
		own[placeOf(r.Scopes[i].Before.Scope)] = true
		gone = append(gone, taken(r.Scopes[i].Before, r.Scopes[i].After)...)
	}
	asked := 0
	for _, o := range gone {
		places := r.leaves(o)
		switch {
		case o.scope.Kind == sdk.GuestScope: // what a guest has nobody else can name
		case asked == maxUsages:
			all = append(all, fmt.Sprintf("it was not checked whether %s is in use elsewhere, because the draft deletes more than %d "+
				"objects", o, maxUsages))
		default:
			asked++
			usage, err := s.usage(ctx, r, o)
			if err != nil {
				all = append(all, fmt.Sprintf("could not check whether %s is in use elsewhere (%s)", o, job.Explain(err)))
			}
			for _, p := range usage.Places {
				if !own[placeOf(p.Scope)] {
					places++
				}
			}
			if usage.Incomplete != "" {
				all = append(all, fmt.Sprintf("not every place that may use %s could be checked: %s", o, host.Clean(usage.Incomplete)))
			}
		}
		if places > 0 {
			all = append(all, fmt.Sprintf("%s, which the draft deletes, is still used in %s", o,
				plan.Plural(places, "1 place", "%d places")))
		}
	}
	return all, nil
}

// leaves counts the rules in the draft's scopes that name an object afterwards.
// In a scope with its own object of that name they mean that one.
func (r *record) leaves(o object) (places int) {
	for i := range r.Scopes {
		after := r.Scopes[i].After
		if o.scope.Kind == sdk.GuestScope && placeOf(after.Scope) != placeOf(o.scope) ||
			aliasNamed(after.Aliases, o.name) >= 0 || setNamed(after.IPSets, o.name) >= 0 {
			continue
		}
		for _, rule := range after.Rules {
			if o.namedBy(rule) {
				places++
			}
		}
	}
	return places
}

// usage asks the hypervisor what names an object. A hypervisor that cannot tell
// refuses the deletion itself.
func (s *Store) usage(ctx context.Context, r *record, o object) (sdk.Usage, error) {
	usage, err := firewall.WithFirewall(ctx, s.Firewalls, r.HostID, endpoint.Monitoring, func(ctx context.Context,
		fw sdk.Firewall) (sdk.Usage,
		error) {
		able, err := have[sdk.UsageFinder](fw, o.scope)
		if err != nil {
			return sdk.Usage{}, err
		}
		return able.Usage(ctx, o.scope, o.kind, o.name)
	})
	if slices.Contains([]problem.Code{problem.CodeUnsupported, problem.CodeUnsupportedAtScope}, problem.CodeOf(err)) {
		return sdk.Usage{}, nil
	}
	return usage, err
}

// placeOf names a scope within its cluster, as the hypervisor knows it. The
// node of a guest is not part of it: the guest may move.
func placeOf(s sdk.Scope) string {
	if s.Guest != nil {
		return "guest " + s.Guest.ID
	}
	return string(s.Kind) + " " + s.Node + s.Group
}
