package pve

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.ReferenceLister = (*Firewall)(nil)

// referenceScopes maps the scopes of references. Others, such as that of
// virtual networks, have no scope in the SDK.
var referenceScopes = map[pveapi.Text]firewall.ScopeKind{"dc": firewall.ClusterScope, "guest": firewall.GuestScope}

// References implements firewall.ReferenceLister. If a guest has an object with the
// name of one of the cluster, a rule with the bare name means the guest's; so
// the returned text always names the scope.
func (f *Firewall) References(ctx context.Context, scope firewall.Scope) ([]firewall.Reference, error) {
	at, err := objectsOf(scope, "refs")
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Type    pveapi.Text `json:"type"`
		Name    pveapi.Text `json:"name"`
		Text    pveapi.Text `json:"ref"`
		Scope   pveapi.Text `json:"scope"`
		Comment pveapi.Text `json:"comment"`
	}
	if err := f.read(ctx, at, &rows); err != nil {
		return nil, err
	}
	all := make([]firewall.Reference, 0, len(rows))
	own := map[firewall.Reference]bool{} // kind and name
	for _, row := range rows {
		if row.Scope == "guest" {
			own[firewall.Reference{Kind: firewall.ObjectKind(row.Type), Name: string(row.Name)}] = true
		}
	}
	for _, row := range rows {
		kind := firewall.ObjectKind(row.Type)
		if kind == firewall.GroupObject || !slices.Contains(firewall.ObjectKinds(), kind) {
			continue
		}
		ref := firewall.Reference{Kind: kind, Name: string(row.Name), Text: string(row.Text), Scope: referenceScopes[row.Scope],
			Comment: string(row.Comment)}
		if row.Scope == "dc" && own[firewall.Reference{Kind: kind, Name: ref.Name}] {
			ref.Text = reference(kind, "dc/"+ref.Name)
		}
		all = append(all, ref)
	}
	return all, nil
}

// reference returns the text by which a rule refers to an alias or a set.
func reference(kind firewall.ObjectKind, name string) string {
	if kind == firewall.IPSetObject {
		return "+" + name
	}
	return name
}
