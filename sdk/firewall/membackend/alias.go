package membackend

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.AliasManager = (*Firewall)(nil)

// Aliases implements firewall.AliasManager.
func (f *Firewall) Aliases(ctx context.Context, scope firewall.Scope) (aliases []firewall.Alias, sum string, err error) {
	err = f.read(ctx, "Aliases", func(e *Endpoint) error {
		s, err := f.at(e, scope, "aliases")
		if err != nil {
			return err
		}
		aliases, sum = slices.Clone(s.aliases), digest(s.aliases)
		return nil
	})
	return aliases, sum, err
}

// CreateAlias implements firewall.AliasManager.
func (f *Firewall) CreateAlias(ctx context.Context, scope firewall.Scope, alias firewall.Alias, sum string) error {
	return f.editAliases(ctx, "CreateAlias", scope, sum, func(s *state) error {
		if err := checkAlias(alias); err != nil {
			return err
		}
		if s.alias(alias.Name) >= 0 {
			return taken(firewall.FieldName)
		}
		s.aliases = append(slices.Clone(s.aliases), alias)
		return nil
	})
}

// ChangeAlias implements firewall.AliasManager.
func (f *Firewall) ChangeAlias(ctx context.Context, scope firewall.Scope, name string, change firewall.AliasChange) error {
	return f.editAliases(ctx, "ChangeAlias", scope, change.Digest, func(s *state) error {
		i := s.alias(name)
		if i < 0 {
			return missing(firewall.FieldName)
		}
		now := s.aliases[i]
		if change.CIDR != "" {
			now.CIDR = change.CIDR
		}
		if change.Comment != nil {
			now.Comment = *change.Comment
		}
		if change.Rename != "" {
			if err := firewall.CheckName(firewall.FieldRename, change.Rename); err != nil {
				return err
			}
			if at := s.alias(change.Rename); at >= 0 && at != i {
				return taken(firewall.FieldName)
			}
			now.Name = change.Rename
		}
		if err := checkAlias(now); err != nil {
			return err
		}
		s.aliases = slices.Clone(s.aliases)
		s.aliases[i] = now
		return nil
	})
}

// DeleteAlias implements firewall.AliasManager.
func (f *Firewall) DeleteAlias(ctx context.Context, scope firewall.Scope, name, sum string) error {
	return f.editAliases(ctx, "DeleteAlias", scope, sum, func(s *state) error {
		i := s.alias(name)
		if i < 0 {
			return missing(firewall.FieldName)
		}
		s.aliases = slices.Delete(slices.Clone(s.aliases), i, i+1)
		return nil
	})
}

// editAliases changes the aliases of a scope after checking the digest.
func (f *Firewall) editAliases(ctx context.Context, method string, scope firewall.Scope, sum string, do func(*state) error) error {
	return f.change(ctx, method, func(e *Endpoint) error {
		s, err := f.at(e, scope, "aliases")
		if err != nil {
			return err
		}
		if err := stale(sum, digest(s.aliases)); err != nil {
			return err
		}
		return do(s)
	})
}

// alias returns the index of an alias, or -1. Case does not matter.
func (s *state) alias(name string) int {
	return slices.IndexFunc(s.aliases, func(a firewall.Alias) bool { return strings.EqualFold(a.Name, name) })
}

// checkAlias returns an Invalid error for a bad name, address or comment.
func checkAlias(a firewall.Alias) error {
	if err := firewall.CheckName(firewall.FieldName, a.Name); err != nil {
		return err
	}
	if !network(a.CIDR) {
		return firewall.Invalid(firewall.FieldCIDR, "it is neither an address nor a network")
	}
	return firewall.CheckText(firewall.FieldComment, a.Comment, firewall.MaxComment)
}

// network reports whether a text is an address without a zone, or a network.
func network(text string) bool {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Zone() == ""
	}
	_, err := netip.ParsePrefix(text)
	return err == nil
}
