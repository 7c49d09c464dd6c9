package pve

import (
	"context"
	"net/url"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.IPSetManager = (*Firewall)(nil)

// neverASet is a name that no set has, because Proxmox VE stores names in small
// letters.
const neverASet = "NONE"

// IPSets implements firewall.IPSetManager.
func (f *Firewall) IPSets(ctx context.Context, scope firewall.Scope) ([]firewall.IPSet, string, error) {
	at, err := objectsOf(scope, "ipset")
	if err != nil {
		return nil, "", err
	}
	var rows []struct {
		Name    pveapi.Text `json:"name"`
		Comment pveapi.Text `json:"comment"`
		Digest  pveapi.Text `json:"digest"`
	}
	if err := f.read(ctx, at, &rows); err != nil {
		return nil, "", err
	}
	sets := make([]firewall.IPSet, len(rows))
	for i, row := range rows {
		sets[i] = firewall.IPSet{Name: string(row.Name), Comment: string(row.Comment)}
	}
	return sets, digestOf(len(rows), func(i int) pveapi.Text { return rows[i].Digest }), nil
}

// CreateIPSet implements firewall.IPSetManager. The hypervisor looks at no digest then.
func (f *Firewall) CreateIPSet(ctx context.Context, scope firewall.Scope, set firewall.IPSet, digest string) error {
	at, err := objectsOf(scope, "ipset")
	if err != nil {
		return err
	}
	if err := checkObject(set.Name, set.Comment); err != nil {
		return err
	}
	if err := smallLetters(firewall.FieldName, set.Name); err != nil {
		return err
	}
	form := url.Values{"name": {set.Name}}
	if set.Comment != "" {
		form.Set("comment", set.Comment)
	}
	return f.change(ctx, at, func() error {
		if err := f.freshSets(ctx, at, digest); err != nil {
			return err
		}
		_, err := f.host.api.Post(ctx, at.path, form, nil)
		return err
	})
}

// DeleteIPSet implements firewall.IPSetManager. The hypervisor looks at no digest then.
func (f *Firewall) DeleteIPSet(ctx context.Context, scope firewall.Scope, name string, withMembers bool, digest string) error {
	at, err := objectsOf(scope, "ipset")
	if err != nil {
		return err
	}
	if err := checkChange(name, "", nil); err != nil {
		return err
	}
	one, err := at.below(name)
	if err != nil {
		return err
	}
	query := url.Values{}
	if withMembers {
		query.Set("force", "1")
	}
	return f.change(ctx, one, func() error {
		if err := f.freshSets(ctx, at, digest); err != nil {
			return err
		}
		_, err := f.host.api.Delete(ctx, one.path, query, nil)
		return err
	})
}

// freshSets compares a digest with that of the list of sets without the right
// to read it. It asks to rename a set that cannot exist: Proxmox VE compares
// the digest first and then refuses, so that nothing changes.
func (f *Firewall) freshSets(ctx context.Context, at place, digest string) error {
	if digest == "" {
		return nil
	}
	_, err := f.host.api.Post(ctx, at.path, url.Values{"name": {neverASet}, "rename": {neverASet}, "digest": {digest}}, nil)
	return freshAfter(err, "renamed a set that cannot exist")
}
