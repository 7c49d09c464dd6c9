package pve

import (
	"context"
	"net/url"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ firewall.GroupManager = (*Firewall)(nil)

// groupsPath is the path of the security groups.
const groupsPath = "/cluster/firewall/groups"

// noGroup returns the NotFound error for a security group.
func noGroup(name string) error { return noObject("security group", name) }

// Groups implements firewall.GroupManager. Every token may read the list.
func (f *Firewall) Groups(ctx context.Context) ([]firewall.Group, string, error) {
	var rows []struct {
		Name    pveapi.Text `json:"group"`
		Comment pveapi.Text `json:"comment"`
		Digest  pveapi.Text `json:"digest"`
	}
	if err := f.read(ctx, place{path: groupsPath}, &rows); err != nil {
		return nil, "", err
	}
	groups := make([]firewall.Group, len(rows))
	for i, row := range rows {
		groups[i] = firewall.Group{Name: string(row.Name), Comment: string(row.Comment)}
	}
	return groups, digestOf(len(rows), func(i int) pveapi.Text { return rows[i].Digest }), nil
}

// CreateGroup implements firewall.GroupManager. Proxmox VE ignores a digest here, so
// the list is read and compared first.
func (f *Firewall) CreateGroup(ctx context.Context, group firewall.Group, digest string) error {
	if err := checkObject(group.Name, group.Comment); err != nil {
		return err
	}
	if err := smallLetters(firewall.FieldName, group.Name); err != nil {
		return err
	}
	form := url.Values{"group": {group.Name}}
	if group.Comment != "" {
		form.Set("comment", group.Comment)
	}
	return f.changeGroups(ctx, func() error {
		if digest != "" {
			_, now, err := f.Groups(ctx)
			if err == nil {
				err = fresh(digest, now)
			}
			if err != nil {
				return err
			}
		}
		_, err := f.host.api.Post(ctx, groupsPath, form, nil)
		return err
	})
}

// ChangeGroup implements firewall.GroupManager. Rules that refer to the group follow
// a new name.
func (f *Firewall) ChangeGroup(ctx context.Context, name string, change firewall.GroupChange) error {
	if err := checkChange(name, change.Rename, change.Comment); err != nil {
		return err
	}
	if err := smallLetters(firewall.FieldRename, change.Rename); err != nil {
		return err
	}
	form := url.Values{"group": {name}, "rename": {name}}
	if change.Rename != "" {
		form.Set("group", change.Rename)
	}
	if change.Comment != nil {
		form.Set("comment", *change.Comment)
	}
	err := f.changeGroups(ctx, func() error {
		_, err := f.host.api.Post(ctx, groupsPath, withDigest(form, change.Digest), nil)
		return err
	})
	if e, refused := asError(err); refused && e.Kind == plugin.Invalid && e.Field == firewall.FieldName && change.Rename != "" {
		e.Field = firewall.FieldRename // the hypervisor has it the other way round
	}
	return err
}

// DeleteGroup implements firewall.GroupManager. Proxmox VE reports success for a
// group that does not exist, and ignores a digest; so the list is read first.
func (f *Firewall) DeleteGroup(ctx context.Context, name, digest string) error {
	if err := checkChange(name, "", nil); err != nil {
		return err
	}
	one, err := place{path: groupsPath}.below(name)
	if err != nil {
		return err
	}
	return f.changeGroups(ctx, func() error {
		groups, now, err := f.Groups(ctx)
		if err != nil {
			return err
		}
		if err := fresh(digest, now); err != nil {
			return err
		}
		if !slices.ContainsFunc(groups, func(g firewall.Group) bool { return g.Name == name }) {
			return noGroup(name)
		}
		_, err = f.host.api.Delete(ctx, one.path, nil, nil)
		return err
	})
}

// changeGroups sends a change of the list of groups.
func (f *Firewall) changeGroups(ctx context.Context, send func() error) error {
	return f.change(ctx, place{path: groupsPath}, send)
}
