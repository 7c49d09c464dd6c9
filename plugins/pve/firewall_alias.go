package pve

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ firewall.AliasManager = (*Firewall)(nil)

// aliasRow is one row of the list of aliases.
type aliasRow struct {
	Name    pveapi.Text `json:"name"`
	CIDR    pveapi.Text `json:"cidr"`
	Comment pveapi.Text `json:"comment"`
	Digest  pveapi.Text `json:"digest"`
}

// Aliases implements firewall.AliasManager.
func (f *Firewall) Aliases(ctx context.Context, scope firewall.Scope) ([]firewall.Alias, string, error) {
	at, err := objectsOf(scope, "aliases")
	if err != nil {
		return nil, "", err
	}
	return f.aliases(ctx, at)
}

// aliases reads the aliases of a scope, with a digest of the list.
func (f *Firewall) aliases(ctx context.Context, at place) ([]firewall.Alias, string, error) {
	var rows []aliasRow
	if err := f.read(ctx, at, &rows); err != nil {
		return nil, "", err
	}
	aliases := make([]firewall.Alias, len(rows))
	for i, row := range rows {
		aliases[i] = firewall.Alias{Name: string(row.Name), CIDR: string(row.CIDR), Comment: string(row.Comment)}
	}
	return aliases, digestOf(len(rows), func(i int) pveapi.Text { return rows[i].Digest }), nil
}

// CreateAlias implements firewall.AliasManager. Proxmox VE ignores a digest here, so
// the list is read and compared first.
func (f *Firewall) CreateAlias(ctx context.Context, scope firewall.Scope, alias firewall.Alias, digest string) error {
	at, err := objectsOf(scope, "aliases")
	if err != nil {
		return err
	}
	if err := checkObject(alias.Name, alias.Comment); err != nil {
		return err
	}
	if err := firewall.CheckText(firewall.FieldCIDR, alias.CIDR, firewall.MaxText); err != nil {
		return err
	}
	form := url.Values{"name": {alias.Name}, "cidr": {alias.CIDR}}
	if alias.Comment != "" {
		form.Set("comment", alias.Comment)
	}
	return f.change(ctx, at, func() error {
		if digest != "" {
			_, now, err := f.aliases(ctx, at)
			if err == nil {
				err = fresh(digest, now)
			}
			if err != nil {
				return err
			}
		}
		_, err := f.host.api.Post(ctx, at.path, form, nil)
		return err
	})
}

// ChangeAlias implements firewall.AliasManager. Proxmox VE replaces the whole alias
// and stores its name as written in the path. So the values that stay are read
// first, and the digest of that list goes with the change.
func (f *Firewall) ChangeAlias(ctx context.Context, scope firewall.Scope, name string, change firewall.AliasChange) error {
	at, err := objectsOf(scope, "aliases")
	if err != nil {
		return err
	}
	if err := checkChange(name, change.Rename, change.Comment); err != nil {
		return err
	}
	if err := firewall.CheckText(firewall.FieldCIDR, change.CIDR, firewall.MaxText); err != nil {
		return err
	}
	return f.change(ctx, at, func() error {
		alias, digest, err := f.alias(ctx, at, name, change.Digest)
		if err != nil {
			return err
		}
		known := alias.Name
		if change.CIDR != "" {
			alias.CIDR = change.CIDR
		}
		if change.Comment != nil {
			alias.Comment = *change.Comment
		}
		form := url.Values{"cidr": {alias.CIDR}, "digest": {digest}}
		if alias.Comment != "" {
			form.Set("comment", alias.Comment)
		}
		switch {
		case change.Rename == "":
		case strings.EqualFold(change.Rename, known): // for the hypervisor no other name
			known = change.Rename
		default:
			form.Set("rename", change.Rename)
		}
		one, err := at.below(known)
		if err != nil {
			return err
		}
		_, err = f.host.api.Put(ctx, one.path, form, nil)
		return err
	})
}

// DeleteAlias implements firewall.AliasManager. Proxmox VE reports success for an
// alias that does not exist, so it is looked for first.
func (f *Firewall) DeleteAlias(ctx context.Context, scope firewall.Scope, name, digest string) error {
	at, err := objectsOf(scope, "aliases")
	if err != nil {
		return err
	}
	if err := checkChange(name, "", nil); err != nil {
		return err
	}
	return f.change(ctx, at, func() error {
		alias, _, err := f.alias(ctx, at, name, digest)
		if err != nil {
			return err
		}
		one, err := at.below(alias.Name)
		if err != nil {
			return err
		}
		_, err = f.host.api.Delete(ctx, one.path, withDigest(url.Values{}, digest), nil)
		return err
	})
}

// alias finds an alias, ignoring case, and returns the digest of the list. A
// given digest must match unless it is empty.
func (f *Firewall) alias(ctx context.Context, at place, name, digest string) (firewall.Alias, string, error) {
	aliases, now, err := f.aliases(ctx, at)
	if err != nil {
		return firewall.Alias{}, "", err
	}
	if err := fresh(digest, now); err != nil {
		return firewall.Alias{}, "", err
	}
	i := slices.IndexFunc(aliases, func(a firewall.Alias) bool { return strings.EqualFold(a.Name, name) })
	if i < 0 {
		return firewall.Alias{}, "", noObject("alias", name)
	}
	return aliases[i], now, nil
}

// checkObject checks the name and the comment of a new object.
func checkObject(name, comment string) error {
	if err := firewall.CheckName(firewall.FieldName, name); err != nil {
		return err
	}
	return firewall.CheckText(firewall.FieldComment, comment, firewall.MaxComment)
}

// checkChange checks the values of a change of an object. A name that the
// firewall does not accept is reported as not found.
func checkChange(name, rename string, comment *string) error {
	if firewall.CheckName(firewall.FieldName, name) != nil {
		return noObject("object", name)
	}
	if rename != "" {
		if err := firewall.CheckName(firewall.FieldRename, rename); err != nil {
			return err
		}
	}
	if comment != nil {
		return firewall.CheckText(firewall.FieldComment, *comment, firewall.MaxComment)
	}
	return nil
}

// smallLetters refuses capital letters in a name that Proxmox VE stores in
// small letters: it would accept the name and never find the object again.
func smallLetters(field, name string) error {
	if name != strings.ToLower(name) {
		return firewall.Invalid(field, "it must be lower case")
	}
	return nil
}

// noObject returns the NotFound error for an alias, set or group. The
// hypervisor itself may answer a deletion of a missing object with success.
func noObject(kind, name string) error {
	e := plugin.Errorf(plugin.NotFound, "%s %.80q does not exist", kind, name)
	e.Field = firewall.FieldName
	return e
}
