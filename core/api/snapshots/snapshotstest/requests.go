// Package snapshotstest has valid requests to snapshots. The tests over all
// operations of the API send them; see package requesttest.
package snapshotstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// name is that of a snapshot which the fixture's VM and app have, and each guest of the requests.
const name = requesttest.Canary

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values:  func(*requesttest.Fixture) map[string]string { return map[string]string{"name": name} },
	Changes: changes,
}

// changes are on guests of their own: while a snapshot is worked on, its guest is busy.
func changes(f *requesttest.Fixture) (all []requesttest.Change) {
	take(f, dbtest.Value[hypervisor.GuestID](f.T, f.DB, "SELECT ref FROM guests WHERE id = $1", f.VM))
	take(f, dbtest.Value[hypervisor.GuestID](f.T, f.DB, "SELECT guest_ref FROM apps WHERE id = $1", f.App))
	for _, kind := range []string{"vm", "app"} {
		on := func() (string, map[string]string) {
			id, guest := newGuest(f, kind)
			return guest, map[string]string{kind + "_id": id}
		}
		_, taken := on()
		_, deleted := on()
		guest, rolledBack := on()
		all = append(all,
			requesttest.Change{Operation: "create_" + kind + "_snapshot", Body: `{"name":"zqcanary-new"}`, Path: taken},
			requesttest.Change{Operation: "delete_" + kind + "_snapshot", Path: deleted},
			requesttest.Change{Operation: "rollback_" + kind + "_snapshot", Body: fmt.Sprintf(`{"confirm":%q}`, guest), Path: rolledBack},
		)
	}
	return all
}

// newGuest makes a VM or an app that has the snapshot.
func newGuest(f *requesttest.Fixture, kind string) (id, guest string) {
	f.T.Helper()
	of := map[string]hypervisor.GuestKind{"vm": hypervisor.VM, "app": hypervisor.Container}[kind]
	ref := f.Lab.NewGuest(of, hypervisor.GuestRunning)
	take(f, ref.ID)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	row := " FROM guests WHERE host_id = $1 AND ref = $2"
	if kind == "app" {
		row = " FROM apps WHERE host_id = $1 AND guest_ref = $2"
		f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ref.ID), 200)
	}
	return f.ID("SELECT id"+row, f.Host, ref.ID), dbtest.Value[string](f.T, f.DB, "SELECT name"+row, f.Host, ref.ID)
}

// take takes the snapshot of a guest behind the service's back.
func take(f *requesttest.Fixture, id hypervisor.GuestID) {
	f.T.Helper()
	at, err := f.Driver.Open(f.T.Context(), f.Lab.Target(endpoint.Lifecycle))
	if err != nil {
		f.T.Fatal(err)
	}
	for _, ref := range f.Lab.Guests() {
		if ref.ID != id {
			continue
		}
		task, err := at.(hypervisor.Snapshotter).TakeSnapshot(f.T.Context(), ref, hypervisor.SnapshotSpec{Name: name})
		if err == nil {
			_, err = at.WaitTask(f.T.Context(), task, 0, func(hypervisor.LogLine) error { return nil })
		}
		if err != nil {
			f.T.Fatal(err)
		}
	}
}
