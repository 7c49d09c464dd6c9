package firewall

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Alias is a name for an address or a network, as the API shows it.
type Alias struct {
	Name    string  `json:"name" example:"backup-server"`
	CIDR    string  `json:"cidr" example:"192.0.2.10" doc:"An IP address or a network"`
	Comment *string `json:"comment" example:"in the basement"`
	Digest  *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the whole list, the same for each alias; it changes when any of them changes. Null if the hypervisor has none, and in the response to a change if another user has changed the list since"`
}

// aliases returns the listing of a scope's aliases.
func (s *Store) aliases(on Scope) *listing[sdk.Alias] {
	return &listing[sdk.Alias]{
		things: "the aliases",
		read: func(ctx context.Context) (rows []sdk.Alias, digest string, err error) {
			rows, err = ask(ctx, s, on, func(ctx context.Context, able sdk.AliasManager, scope sdk.Scope) (found []sdk.Alias, err error) {
				found, digest, err = able.Aliases(ctx, scope)
				return found, err
			})
			return rows, digest, err
		},
		show: func(rows []sdk.Alias, digest *string) any { return showEach(rows, digest, showAlias) },
		tell: func(a sdk.Alias) map[string]any {
			return map[string]any{"name": a.Name, "cidr": a.CIDR, "comment": a.Comment}
		},
	}
}

// showAlias converts an alias for the API.
func showAlias(a sdk.Alias, digest *string) Alias {
	return Alias{Name: host.Clean(a.Name), CIDR: host.Clean(a.CIDR), Comment: host.CleanOrNil(a.Comment), Digest: digest}
}

// showEach shows rows as the API does.
func showEach[R, V any](rows []R, digest *string, show func(R, *string) V) []V {
	all := make([]V, len(rows))
	for i := range rows {
		all[i] = show(rows[i], digest)
	}
	return all
}

// list reads a list and returns it in the API's form, with its digest, nil for
// none.
func list[R, V any](ctx context.Context, l *listing[R], show func(R, *string) V) ([]V, *string, error) {
	rows, digest, err := l.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := host.CleanOrNil(digest)
	return showEach(rows, now, show), now, nil
}

// Aliases returns the aliases of a scope, with their digest, nil for none.
// Problems: those of Rules.
func (s *Store) Aliases(ctx context.Context, on Scope) ([]Alias, *string, error) {
	return list(ctx, s.aliases(on), showAlias)
}

// CreateAlias makes an alias. Problems: invalid, conflict for a name that is in
// use, digest_conflict with current and digest, guest_busy during another
// change of the scope, outcome_unknown, capability_missing, and those of
// Aliases.
func (s *Store) CreateAlias(ctx context.Context, on Scope, alias sdk.Alias, digest string) (Alias, error) {
	faults := slices.Concat(fault(sdk.CheckName(sdk.FieldName, alias.Name)), cidrFault(alias.CIDR),
		fault(sdk.CheckText(sdk.FieldComment, alias.Comment, sdk.MaxComment)))
	return editList[sdk.AliasManager](ctx, s, on, s.aliases(on), showAlias, digest, faults, func(was []sdk.Alias) (edit[sdk.Alias], error) {
		if aliasAt(was, alias.Name) >= 0 {
			return edit[sdk.Alias]{}, taken()
		}
		return edit[sdk.Alias]{free: true, before: -1, at: len(was), want: append(slices.Clone(was), alias),
			send: requestOf(s, on, func(ctx context.Context, able sdk.AliasManager, scope sdk.Scope, digest string) error {
				return able.CreateAlias(ctx, scope, alias, digest)
			})}, nil
	})
}

// ChangeAlias changes an alias. A new name for an alias that is in use is the
// problem in_use unless confirm is the alias's name: rules that name it are not
// changed. Problems: not_found, in_use with the places, and those of
// CreateAlias.
func (s *Store) ChangeAlias(ctx context.Context, on Scope, name string, change sdk.AliasChange, confirm string) (Alias, error) {
	var faults []problem.Fault
	if change.CIDR != "" {
		faults = cidrFault(change.CIDR)
	}
	if change.Comment != nil {
		faults = append(faults, fault(sdk.CheckText(sdk.FieldComment, *change.Comment, sdk.MaxComment))...)
	}
	if change.Rename != "" {
		faults = append(faults, fault(sdk.CheckName(sdk.FieldRename, change.Rename))...)
	}
	return editList[sdk.AliasManager](ctx, s, on, s.aliases(on), showAlias, change.Digest, faults, func(was []sdk.Alias) (edit[sdk.Alias],
		error) {
		at := aliasAt(was, name)
		if at < 0 {
			return edit[sdk.Alias]{}, none("alias")
		}
		want := slices.Clone(was)
		if change.CIDR != "" {
			want[at].CIDR = change.CIDR
		}
		if change.Comment != nil {
			want[at].Comment = *change.Comment
		}
		if change.Rename != "" && change.Rename != was[at].Name {
			if other := aliasAt(was, change.Rename); other >= 0 && other != at {
				return edit[sdk.Alias]{}, taken()
			}
			if err := s.inUse(ctx, on, sdk.AliasObject, was[at].Name, confirm, 0); err != nil {
				return edit[sdk.Alias]{}, err
			}
			want[at].Name = change.Rename
		}
		return edit[sdk.Alias]{before: at, at: at, want: want,
			send: requestOf(s, on, func(ctx context.Context, able sdk.AliasManager, scope sdk.Scope, digest string) error {
				change.Digest = digest
				return able.ChangeAlias(ctx, scope, was[at].Name, change)
			})}, nil
	})
}

// DeleteAlias deletes an alias and returns it as it was. An alias that is in
// use is the problem in_use unless confirm is its name. Problems: those of
// ChangeAlias.
func (s *Store) DeleteAlias(ctx context.Context, on Scope, name, digest, confirm string) (Alias, error) {
	return editList[sdk.AliasManager](ctx, s, on, s.aliases(on), showAlias, digest, nil, func(was []sdk.Alias) (edit[sdk.Alias], error) {
		at := aliasAt(was, name)
		if at < 0 {
			return edit[sdk.Alias]{}, none("alias")
		}
		if err := s.inUse(ctx, on, sdk.AliasObject, was[at].Name, confirm, 0); err != nil {
			return edit[sdk.Alias]{}, err
		}
		return edit[sdk.Alias]{before: at, at: -1, want: slices.Delete(slices.Clone(was), at, at+1),
			send: requestOf(s, on, func(ctx context.Context, able sdk.AliasManager, scope sdk.Scope, digest string) error {
				return able.DeleteAlias(ctx, scope, was[at].Name, digest)
			})}, nil
	})
}

// aliasAt returns the index of an alias, ignoring case; -1 if there is none.
func aliasAt(rows []sdk.Alias, name string) int {
	return slices.IndexFunc(rows, func(a sdk.Alias) bool { return strings.EqualFold(a.Name, name) })
}

// none is the problem of a thing that the firewall does not have.
func none(thing string) error {
	return problem.New(problem.CodeNotFound, "%s not found", thing)
}

// cidrFault returns the fault of an address or a network.
func cidrFault(text string) []problem.Fault {
	if _, ok := prefixOf(text); ok {
		return nil
	}
	return bodyFault(sdk.FieldCIDR, "must be an address or a network, such as 192.0.2.10 or 2001:db8::/64")
}

// prefixOf reads an address, which is a network with one address, or a network.
func prefixOf(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), true
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil
}
