package setting

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/db"
)

// Entitlement is a feature that can be switched off.
type Entitlement struct {
	// Name is what operations declare.
	Name        string
	Description string
	Enabled     bool
}

// entitlements are all features that this release knows.
var entitlements = []Entitlement{
	{Name: "store.catalog", Description: "The catalog of apps and its status"},
	{Name: "apps.reconfigure", Description: "Changing cores, memory and other resources of an app"},
	{Name: "apps.uninstall", Description: "Uninstalling an app"},
	{Name: "audit.log", Description: "Exporting the audit log"},
}

// IsEntitled reports whether a feature is on: one that this release knows and that the setting entitlements.disabled does not name. A
// feature that it does not know is off.
func IsEntitled(ctx context.Context, d *db.DB, name string) (bool, error) {
	if !slices.ContainsFunc(entitlements, func(e Entitlement) bool { return e.Name == name }) {
		return false, nil
	}
	disabled, err := Get(ctx, d, EntitlementsDisabled)
	if err != nil {
		return false, err
	}
	return !slices.Contains(disabled, name), nil
}

// Entitlements lists the features that this release knows. Names in the setting that it does not know are not listed: such
// a feature is off in any case.
func Entitlements(ctx context.Context, d *db.DB) ([]Entitlement, error) {
	disabled, err := Get(ctx, d, EntitlementsDisabled)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(entitlements)
	for i := range all {
		all[i].Enabled = !slices.Contains(disabled, all[i].Name)
	}
	return all, nil
}
