package setting

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/db"
)

// Entitlements are the features that can be switched off, by the names that operations declare.
var Entitlements = []string{"store.catalog", "apps.reconfigure", "apps.uninstall", "audit.log"}

// Entitled reports whether a feature is on: one of Entitlements that the setting entitlements.disabled does not name. A
// feature that this release does not know is off.
func Entitled(ctx context.Context, d *db.DB, name string) (bool, error) {
	if !slices.Contains(Entitlements, name) {
		return false, nil
	}
	disabled, err := Get(ctx, d, EntitlementsDisabled)
	if err != nil {
		return false, err
	}
	return !slices.Contains(disabled, name), nil
}
