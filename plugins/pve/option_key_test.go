package pve_test

import (
	"slices"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestOptionKeysFollowTheRelease(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]map[string]bool{
		"6.2-4":  {"onboot": true, "ciupgrade": false, "allow-ksm": false},
		"7.4-16": {"onboot": true, "ciupgrade": false, "allow-ksm": false},
		"8.4.5":  {"onboot": true, "ciupgrade": true, "allow-ksm": false},
		"9.2.11": {"onboot": true, "ciupgrade": true, "allow-ksm": true},
	} {
		w := newFixture(t, pvesim.Options{Version: version})
		before := w.Stats().Total
		keys, err := w.host(t, endpoint.Monitoring).OptionKeys(t.Context(), hypervisor.VM)
		must(t, "asking", err)
		if n := w.Stats().Total - before; n != 1 {
			t.Errorf("%s: %d requests", version, n)
		}
		for name, there := range want {
			i := slices.IndexFunc(keys, func(k hypervisor.OptionKey) bool { return k.Name == name })
			if (i >= 0) != there || i >= 0 && keys[i].Autostart != (name == "onboot") {
				t.Errorf("%s of %s: %d", name, version, i)
			}
		}
		i := slices.IndexFunc(keys, func(k hypervisor.OptionKey) bool { return k.Name == "ostype" })
		if win11 := slices.Contains(keys[i].Values, "win11"); win11 != (version != "6.2-4") {
			t.Errorf("%s has win11: %v", version, win11)
		}
	}
}
