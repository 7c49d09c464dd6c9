// Package gueststest has valid requests about many guests. The tests over all
// operations of the API send them; see package requesttest.
package gueststest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{Changes: func(f *requesttest.Fixture) []requesttest.Change {
	ref := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	idle := f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, ref.ID)
	return []requesttest.Change{{
		Operation: "act_on_guests", Skips: true, Body: fmt.Sprintf(`{"action":"start","targets":[{"vm":%s}]}`, idle),
		Nulls: fmt.Sprintf(`{"action":"stop","targets":[{"vm":%s}],"confirm":"x"}`, idle),
	}}
}}
