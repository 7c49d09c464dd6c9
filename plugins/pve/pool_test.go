package pve_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A token with rights in a pool only makes guests there: new ones, copies and those of backups.
func TestGuestsAreMadeInThePoolOfTheToken(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
	w.AddPool("customers", "")
	w.AddStorage(pvesim.StorageSpec{ID: "theirs", Content: "images,backup", Size: 1 << 40})
	w.SetRole("Shared", "SDN.Use", "Datastore.AllocateSpace", "Datastore.Audit")
	token := func(privileges ...string) pvesim.Token {
		made := w.token("/pool/customers", true, privileges...)
		user, _, _ := strings.Cut(made.ID, "!")
		for _, subject := range []string{user, made.ID} {
			w.Grant("/sdn", subject, "Shared", true)
			w.Grant("/storage/theirs", subject, "Shared", true)
		}
		return made
	}
	source := w.guest(t, pvesim.GuestSpec{VMID: 400, Storage: "theirs", Pool: "customers"})
	lifecycle := w.open(t, w.target(endpoint.Lifecycle, token("VM.Allocate", "VM.Clone", "VM.Config.Disk", "VM.Config.CPU",
		"VM.Config.Memory", "VM.Config.Options", "VM.Config.Network", "Datastore.AllocateSpace", "VM.Audit")))
	backup := w.open(t, w.target(endpoint.Backup, token("VM.Backup", "VM.Allocate", "VM.Audit")))
	reader := w.open(t, w.target(endpoint.Monitoring, token("VM.Audit")))

	spec, copied := newVMSpec("300"), hypervisor.CloneSpec{ID: "301", Name: "copy", Full: true}
	spec.Storage = "theirs"
	must(t, "checking a VM", lifecycle.CheckVM(t.Context(), spec))
	must(t, "checking a copy", lifecycle.CheckClone(t.Context(), source, copied))
	for _, ref := range []hypervisor.GuestRef{{Kind: hypervisor.VM, Node: "pve1", ID: "300"}} {
		_, err := reader.Guest(t.Context(), ref)
		wantKind(t, err, plugin.NotFound)
		_, err = reader.Config(t.Context(), ref)
		wantKind(t, err, plugin.NotFound)
	}
	id, err := lifecycle.CreateVM(t.Context(), spec)
	wantOK(t, "a VM", ended(t, lifecycle, id, err))
	id, err = lifecycle.Clone(t.Context(), source, copied)
	wantOK(t, "a copy", ended(t, lifecycle, id, err))
	id, err = backup.RunBackup(t.Context(), source, hypervisor.BackupSpec{Storage: "theirs"})
	wantOK(t, "a backup", ended(t, backup, id, err))
	kept, err := backup.Backups(t.Context(), hypervisor.BackupQuery{Node: "pve1", Storage: "theirs"})
	if err != nil || len(kept) != 1 {
		t.Fatalf("backups %+v, %v", kept, err)
	}
	restored := hypervisor.RestoreSpec{Backup: kept[0], ID: "302", Node: "pve1", Storage: "theirs"}
	must(t, "checking a restore", backup.CheckRestore(t.Context(), restored))
	id, err = backup.Restore(t.Context(), restored)
	wantOK(t, "a restore", ended(t, backup, id, err))
	for _, vmid := range []int{300, 301, 302} {
		if made, there := w.Guest(vmid); !there || made.Pool != "customers" {
			t.Errorf("%d is %+v", vmid, made)
		}
	}
	outside := w.guest(t, pvesim.GuestSpec{VMID: 500})
	_, err = reader.Guest(t.Context(), outside)
	wantKind(t, err, plugin.Denied)
}

func wantOK(t *testing.T, what string, result hypervisor.TaskResult) {
	t.Helper()
	if !result.OK() {
		t.Errorf("%s ended %+v", what, result)
	}
}
