package setting_test

import (
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/setting"
)

func TestEntitlements(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	check := func(name string, want bool) {
		t.Helper()
		if on, err := setting.IsEntitled(t.Context(), d, name); err != nil || on != want {
			t.Errorf("%s is %v, %v", name, on, err)
		}
	}
	for _, name := range []string{"store.catalog", "apps.reconfigure", "apps.uninstall", "audit.log"} {
		check(name, true)
	}
	check("store.unheard_of", false)
	check("", false)
	if err := change(t, d, "entitlements.disabled", `["audit.log","store.unheard_of"]`); err != nil {
		t.Fatal(err)
	}
	check("audit.log", false)
	check("store.catalog", true)
	all, err := setting.Entitlements(t.Context(), d)
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, e := range all {
		if e.Enabled != (e.Name != "audit.log") || e.Description == "" {
			t.Errorf("%+v", e)
		}
	}
	// A row that cannot be read switches nothing on.
	if _, err := d.Pool.Exec(t.Context(), `UPDATE settings SET value = '7'`); err != nil {
		t.Fatal(err)
	}
	if on, err := setting.IsEntitled(t.Context(), d, "store.catalog"); on || err == nil {
		t.Errorf("%v, %v", on, err)
	}
}
