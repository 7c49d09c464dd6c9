package acl

import (
	"context"
	"net/url"
	"slices"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Firewall is the lists of one server, seen through one token.
type Firewall struct{ client client }

var (
	_ firewall.RuleLister = (*Firewall)(nil)
	_ firewall.RuleEditor = (*Firewall)(nil)
)

// Close implements firewall.Firewall; connections stay for the next call.
func (f *Firewall) Close() error { return nil }

// Rules implements firewall.RuleLister.
func (f *Firewall) Rules(ctx context.Context, scope firewall.Scope) ([]firewall.Rule, string, error) {
	_, rows, etag, err := f.read(ctx, scope, "")
	if err != nil {
		return nil, "", err
	}
	rules := make([]firewall.Rule, len(rows))
	for i, r := range rows {
		rules[i] = ruleOf(i, r)
	}
	return rules, etag, nil
}

// CreateRule implements firewall.RuleEditor.
func (f *Firewall) CreateRule(ctx context.Context, scope firewall.Scope, rule firewall.Rule, digest string) (int, string, error) {
	added, err := rowOf(rule)
	if err != nil {
		return 0, "", err
	}
	path, rows, etag, err := f.read(ctx, scope, digest)
	if err != nil {
		return 0, "", err
	}
	rows = append(rows, added)
	order(rows)
	after, err := f.client.put(ctx, path, etag, rows)
	if err != nil {
		return 0, "", err
	}
	return slices.Index(rows, added), after, nil
}

// ChangeRule implements firewall.RuleEditor.
func (f *Firewall) ChangeRule(ctx context.Context, scope firewall.Scope, position int, change firewall.RuleChange) error {
	return f.edit(ctx, scope, position, change.Digest, func(rows []row) ([]row, error) {
		rule, err := change.Apply(ruleOf(position, rows[position]))
		if err != nil {
			return nil, err
		}
		rows[position], err = rowOf(rule)
		return rows, err
	})
}

// DeleteRule implements firewall.RuleEditor.
func (f *Firewall) DeleteRule(ctx context.Context, scope firewall.Scope, position int, digest string) error {
	return f.edit(ctx, scope, position, digest, func(rows []row) ([]row, error) {
		return slices.Delete(rows, position, position+1), nil
	})
}

// edit reads a list, changes the rule at a position, and writes the list unless somebody has changed it in between.
func (f *Firewall) edit(ctx context.Context, scope firewall.Scope, position int, digest string, do func([]row) ([]row, error)) error {
	path, rows, etag, err := f.read(ctx, scope, digest)
	if err != nil {
		return err
	}
	if position < 0 || position >= len(rows) {
		err := plugin.Errorf(plugin.NotFound, "rule %d does not exist", position)
		err.Field = firewall.FieldPosition
		return err
	}
	if rows, err = do(rows); err != nil {
		return err
	}
	_, err = f.client.put(ctx, path, etag, rows)
	return err
}

// read gives the path of a scope's list, and the list in order with its ETag, which the digest must be unless that is empty.
func (f *Firewall) read(ctx context.Context, scope firewall.Scope, digest string) (path string, rows []row, etag string, err error) {
	if path, err = pathOf(scope); err != nil {
		return "", nil, "", err
	}
	if rows, etag, err = f.client.get(ctx, path); err != nil {
		return "", nil, "", err
	}
	if digest != "" && digest != etag {
		return "", nil, "", firewall.Stale()
	}
	order(rows)
	return path, rows, etag, nil
}

// pathOf is the path of a scope's list. A guest's id and node are a stranger's texts.
func pathOf(scope firewall.Scope) (string, error) {
	switch {
	case !firewall.ValidScope(scope):
		return "", firewall.Invalid(firewall.FieldScope, "it is not a valid scope")
	case scope.Kind == firewall.ClusterScope:
		return "/v1/list", nil
	case scope.Kind != firewall.GuestScope: // the service never asks for these
		return "", plugin.Errorf(plugin.Unsupported, "a %s has no access lists", scope.Kind)
	}
	for _, text := range []string{scope.Guest.ID, scope.Guest.Node} {
		if err := firewall.CheckName("guest", text); err != nil {
			return "", err
		}
	}
	return "/v1/guests/" + url.PathEscape(scope.Guest.ID) + "/list", nil
}
