package membackend

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	_ firewall.GroupManager = (*Firewall)(nil)
	_ firewall.MacroLister  = (*Firewall)(nil)
)

// clusterScope is the scope of the cluster, to which groups and macros belong.
var clusterScope = firewall.Scope{Kind: firewall.ClusterScope}

// groupScope returns the scope with the rules of a group.
func groupScope(name string) firewall.Scope {
	return firewall.Scope{Kind: firewall.GroupScope, Group: name}
}

// Groups implements firewall.GroupManager.
func (f *Firewall) Groups(ctx context.Context) (groups []firewall.Group, sum string, err error) {
	err = f.read(ctx, "Groups", func(e *Endpoint) error {
		groups, sum = slices.Clone(e.groups), digest(e.groups)
		return f.claims(clusterScope, "groups")
	})
	return groups, sum, err
}

// CreateGroup implements firewall.GroupManager.
func (f *Firewall) CreateGroup(ctx context.Context, group firewall.Group, sum string) error {
	return f.editGroups(ctx, "CreateGroup", sum, func(e *Endpoint) error {
		if err := firewall.CheckName(firewall.FieldName, group.Name); err != nil {
			return err
		}
		if err := firewall.CheckText(firewall.FieldComment, group.Comment, firewall.MaxComment); err != nil {
			return err
		}
		if e.group(group.Name) >= 0 {
			return taken(firewall.FieldName)
		}
		e.add(groupScope(group.Name))
		e.groups[e.group(group.Name)] = group
		return nil
	})
}

// ChangeGroup implements firewall.GroupManager.
func (f *Firewall) ChangeGroup(ctx context.Context, name string, change firewall.GroupChange) error {
	return f.editGroups(ctx, "ChangeGroup", change.Digest, func(e *Endpoint) error {
		i := e.group(name)
		if i < 0 {
			return missing(firewall.FieldName)
		}
		now := e.groups[i]
		if change.Comment != nil {
			now.Comment = *change.Comment
		}
		if err := firewall.CheckText(firewall.FieldComment, now.Comment, firewall.MaxComment); err != nil {
			return err
		}
		if change.Rename != "" && change.Rename != name {
			if err := firewall.CheckName(firewall.FieldRename, change.Rename); err != nil {
				return err
			}
			if e.group(change.Rename) >= 0 {
				return taken(firewall.FieldName)
			}
			s := e.scopes[key(groupScope(name))]
			delete(e.scopes, key(groupScope(name)))
			now.Name, s.scope.Group = change.Rename, change.Rename
			e.scopes[key(s.scope)] = s
		}
		e.groups = slices.Clone(e.groups)
		e.groups[i] = now
		return nil
	})
}

// DeleteGroup implements firewall.GroupManager.
func (f *Firewall) DeleteGroup(ctx context.Context, name, sum string) error {
	return f.editGroups(ctx, "DeleteGroup", sum, func(e *Endpoint) error {
		i := e.group(name)
		if i < 0 {
			return missing(firewall.FieldName)
		}
		if len(e.scopes[key(groupScope(name))].rules) > 0 {
			return failed(plugin.Conflict, firewall.FieldRules, "the group has rules")
		}
		delete(e.scopes, key(groupScope(name)))
		e.groups = slices.Delete(slices.Clone(e.groups), i, i+1)
		return nil
	})
}

// editGroups changes the list of groups after checking its digest.
func (f *Firewall) editGroups(ctx context.Context, method, sum string, do func(*Endpoint) error) error {
	return f.change(ctx, method, func(e *Endpoint) error {
		if err := f.claims(clusterScope, "groups"); err != nil {
			return err
		}
		if err := stale(sum, digest(e.groups)); err != nil {
			return err
		}
		return do(e)
	})
}

// group returns the index of a group, or -1.
func (e *Endpoint) group(name string) int {
	return slices.IndexFunc(e.groups, func(g firewall.Group) bool { return g.Name == name })
}

// Macros implements firewall.MacroLister.
func (f *Firewall) Macros(ctx context.Context) (macros []firewall.Macro, err error) {
	err = f.read(ctx, "Macros", func(e *Endpoint) error {
		macros = slices.Clone(e.macros)
		return f.claims(clusterScope, "macros")
	})
	return macros, err
}
