package pve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// backupFixture is a host with a storage for backups, and a token for them that may also make guests.
func backupFixture(t *testing.T) (*fixture, *pve.Host) {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
	w.SetRole("ServiceBackup", append(pve.Privileges(endpoint.Backup), "SDN.Use", "VM.Allocate")...)
	w.AddStorage(pvesim.StorageSpec{ID: "dump", Content: "backup", Size: 1 << 40})
	return w, w.host(t, endpoint.Backup)
}

// ended waits for a task of a call, which must have been taken.
func ended(t *testing.T, host *pve.Host, id string, err error) hypervisor.TaskResult {
	t.Helper()
	must(t, "sending", err)
	if id == "" {
		t.Fatal("there is no task")
	}
	_, result, err := follow(t, host, id, 0)
	must(t, "waiting", err)
	return result
}

// backedUp backs a guest up and gives the newest backup of it.
func backedUp(t *testing.T, host *pve.Host, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) hypervisor.Backup {
	t.Helper()
	id, err := host.RunBackup(t.Context(), ref, spec)
	result := ended(t, host, id, err)
	if !result.OK() {
		t.Fatalf("the backup ended %+v", result)
	}
	all := backupsIn(t, host, spec.Storage)
	newest := all[len(all)-1]
	if result.Backup != newest.ID {
		t.Errorf("the task tells that it made %q, and the newest backup is %q", result.Backup, newest.ID)
	}
	return newest
}

func backupsIn(t *testing.T, host *pve.Host, storage string) []hypervisor.Backup {
	t.Helper()
	all, err := host.Backups(t.Context(), hypervisor.BackupQuery{Storage: storage, Node: "pve1"})
	must(t, "listing the backups", err)
	return all
}

func TestRestoreBringsTheGuestBack(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w, host := backupFixture(t)
			w.AddStorage(pvesim.StorageSpec{ID: "fast", Plugin: "lvmthin", Content: "images,rootdir"})
			ref := w.guest(t, pvesim.GuestSpec{VMID: 300, Type: kind, Name: "first", Cores: 4, Storage: "fast"})
			before := w.GuestConfig(300)
			b := backedUp(t, host, ref, hypervisor.BackupSpec{Storage: "dump", Compress: "zstd"})
			must(t, "changing the guest", w.ChangeGuest(300, func(s *pvesim.GuestSpec) { s.Name, s.Cores = "second", 2 }))

			spec := hypervisor.RestoreSpec{Backup: b, ID: ref.ID, Node: "pve1"}
			wantKind(t, second(host.Restore(t.Context(), spec)), plugin.Conflict)
			spec.Over = true
			id, err := host.Restore(t.Context(), spec)
			if result := ended(t, host, id, err); !result.OK() {
				t.Fatalf("setting back ended %+v", result)
			}
			after := w.GuestConfig(300)
			for _, key := range []string{"name", "hostname", "cores", "memory", "net0", "unprivileged", "smbios1"} {
				if fmt.Sprint(after[key]) != fmt.Sprint(before[key]) {
					t.Errorf("%s was %v and is %v", key, before[key], after[key])
				}
			}
			disk := map[string]string{pvesim.QEMU: "scsi0", pvesim.LXC: "rootfs"}[kind]
			if !strings.HasPrefix(fmt.Sprint(after[disk]), "fast:") {
				t.Errorf("the disk was %v and is %v", before[disk], after[disk])
			}

			spec = hypervisor.RestoreSpec{Backup: b, ID: "301", Node: "pve1", Storage: "local-lvm", NewIdentity: true}
			id, err = host.Restore(t.Context(), spec)
			if result := ended(t, host, id, err); !result.OK() {
				t.Fatalf("making a second one ended %+v", result)
			}
			other := w.GuestConfig(301)
			if fmt.Sprint(other["net0"]) == fmt.Sprint(before["net0"]) || other["net0"] == nil || other["lock"] != nil ||
				kind == pvesim.QEMU && other["smbios1"] == before["smbios1"] || !strings.HasPrefix(fmt.Sprint(other[disk]), "local-lvm:") {
				t.Errorf("the second one is %v", other)
			}

			must(t, "starting", w.SetGuestStatus(300, pvesim.StatusRunning))
			id, err = host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: b, ID: ref.ID, Node: "pve1", Over: true})
			if result := ended(t, host, id, err); result.OK() || !strings.Contains(result.Message, "running") {
				t.Errorf("over one that runs: %+v", result)
			}
			if g, _ := w.Guest(300); g.Status != pvesim.StatusRunning || g.Lock != "" {
				t.Errorf("the guest is %+v", g)
			}
		})
	}
}

// A guest that was backed up in one cluster can be restored in another that has the storage.
func TestRestoreInAnotherCluster(t *testing.T) {
	t.Parallel()
	shared := pvesim.NewSharedStorage(pvesim.StorageSpec{ID: "vault", Plugin: "pbs"})
	clusters := make([]*fixture, 2)
	for i := range clusters {
		clusters[i] = newFixture(t, pvesim.Options{
			Guests: -1, TaskDuration: -1, Recommended: true, SharedStorages: []*pvesim.SharedStorage{shared},
		})
	}
	from, to := clusters[0], clusters[1]
	ref := from.guest(t, pvesim.GuestSpec{VMID: 300, Name: "moved", Memory: 3 << 30})
	b := backedUp(t, from.host(t, endpoint.Backup), ref, hypervisor.BackupSpec{Storage: "vault", Notes: "on the way"})
	host := to.host(t, endpoint.Backup)
	seen := backupsIn(t, host, "vault")
	if len(seen) != 1 || seen[0].ID != b.ID || seen[0].Notes != "on the way" || !strings.HasPrefix(b.ID, "vault:backup/vm/300/") {
		t.Fatalf("the other cluster sees %+v, not %+v", seen, b)
	}
	id, err := host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: seen[0], ID: "300", Node: "pve1"})
	if result := ended(t, host, id, err); !result.OK() {
		t.Fatalf("the restore ended %+v", result)
	}
	if g, _ := to.Guest(300); g.Name != "moved" || g.Memory != 3<<30 {
		t.Errorf("the guest is %+v", g)
	}
}

func TestBackupSaysWhatItIs(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	ref := w.guest(t, pvesim.GuestSpec{VMID: 300, Name: "web"})
	for notes, want := range map[string]string{
		"plain": "plain", `C:\new`: `C:\new`, "{{guestname}} of {{nobody}}": "{ {guestname}} of { {nobody}}", "{{{": "{ { {",
		"two\nlines": "two", "two\r\nlines": "two", `\{{vmid}}`: `\{ {vmid}}`, "": "",
	} {
		b := backedUp(t, host, ref, hypervisor.BackupSpec{Storage: "dump", Notes: notes, Mode: "stop", Compress: "gzip"})
		if b.Notes != want || b.Format != "vma.gz" || b.Kind != hypervisor.VM || b.Guest != "300" || b.SizeBytes == nil ||
			*b.SizeBytes <= 0 || b.Protected || b.Encrypted || b.Verified != "" || time.Since(b.TakenAt) > time.Hour {
			t.Errorf("notes %q: %+v", notes, b)
		}
	}
	id, err := host.RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "dump"})
	must(t, "backing up", err)
	if lines, _, err := follow(t, host, id, 0); err != nil || !strings.Contains(lines[0], "--remove 0") {
		t.Errorf("older backups may be removed: %q, %v", lines, err)
	}
	for compress, want := range map[string]string{"": "vma.zst", "0": "vma"} {
		if b := backedUp(t, host, ref, hypervisor.BackupSpec{Storage: "dump", Compress: compress}); b.Format != want {
			t.Errorf("compressed by %q it is a %s", compress, b.Format)
		}
	}
	before := w.Stats().Requests["POST /nodes/{node}/vzdump"]
	for field, spec := range map[string]hypervisor.BackupSpec{
		"storage":  {Storage: "dump --dumpdir /"},
		"notes":    {Storage: "dump", Notes: strings.Repeat("a", 2000)},
		"mode":     {Storage: "dump", Mode: "freeze"},
		"compress": {Storage: "dump", Compress: "rar"},
	} {
		if e := wantKind(t, second(host.RunBackup(t.Context(), ref, spec)), plugin.Invalid); e.Field != field {
			t.Errorf("%s: the error names %q: %v", field, e.Field, e)
		}
	}
	wantKind(t, second(host.RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "dump", Notes: "a\x00b"})), plugin.Invalid)
	if n := w.Stats().Requests["POST /nodes/{node}/vzdump"] - before; n != 3 {
		t.Errorf("%d requests were sent, want one for each of those that the hypervisor refuses", n)
	}
}

// What the task says of its end is no more than "job errors"; the reason is in its log.
func TestFailedBackupsTellWhy(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "small", Content: "backup", Size: 1 << 30, Used: 1 << 30})
	ref := w.guest(t, pvesim.GuestSpec{VMID: 300})
	locked := w.guest(t, pvesim.GuestSpec{VMID: 301, Lock: "snapshot"})
	broken := w.guest(t, pvesim.GuestSpec{VMID: 302, Type: pvesim.LXC, BackupError: "command 'tar' failed: exit code 2"})
	gone := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"}
	for name, c := range map[string]struct {
		ref     hypervisor.GuestRef
		storage string
		want    string
	}{
		"no room":       {ref, "small", "No space left on device"},
		"a lock":        {locked, "dump", "VM is locked (snapshot)"},
		"no guest":      {gone, "dump", "unable to find VM '999'"},
		"a bad disk":    {broken, "dump", "command 'tar' failed: exit code 2"},
		"no storage":    {ref, "none", "storage 'none' does not exist"},
		"wrong purpose": {ref, "local-lvm", "wrong content type"},
	} {
		id, err := host.RunBackup(t.Context(), c.ref, hypervisor.BackupSpec{Storage: c.storage})
		result := ended(t, host, id, err)
		if result.OK() || !strings.Contains(result.Message, c.want) {
			t.Errorf("%s: %+v", name, result)
		}
	}
	if ids := slices.Concat(w.Backups("small"), w.Backups("dump")); len(ids) != 0 {
		t.Errorf("backups %v were made", ids)
	}
	for _, id := range []int{300, 302} {
		if g, _ := w.Guest(id); g.Lock != "" {
			t.Errorf("guest %d is locked (%s)", id, g.Lock)
		}
	}
}

func TestBackupOfAGuestThatMoved(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Nodes: 2, Guests: -1, TaskDuration: -1})
	ref := w.guest(t, pvesim.GuestSpec{VMID: 300, Node: "pve2"})
	ref.Node = "pve1"
	wantKind(t, second(w.host(t, endpoint.Backup).RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "nas"})), plugin.NotFound)
	if ids := w.Backups("nas"); len(ids) != 0 {
		t.Errorf("backups %v were made", ids)
	}
}

// A privilege that a task lacks is told with the command that grants it.
func TestBackupPrivileges(t *testing.T) {
	t.Parallel()
	w, full := backupFixture(t)
	ref := w.guest(t, pvesim.GuestSpec{VMID: 300})
	b := backedUp(t, full, ref, hypervisor.BackupSpec{Storage: "dump"})
	with := func(privileges ...string) *pve.Host {
		return w.open(t, w.target(endpoint.Backup, w.token("/", true, privileges...)))
	}
	spaceOnly := with("Datastore.AllocateSpace", "Datastore.Audit")
	id, err := spaceOnly.RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "dump"})
	result := ended(t, spaceOnly, id, err)
	if result.OK() || !slices.Equal(result.Missing, []string{"VM.Backup"}) || result.Path != "/vms/300" ||
		!strings.HasPrefix(result.Remedy, "pveum acl modify '/vms/300' ") || !strings.HasSuffix(result.Remedy, " --roles ServiceBackup") {
		t.Errorf("in the task: %+v", result)
	}
	backupOnly := with("VM.Backup")
	for name, err := range map[string]error{
		"a backup": second(backupOnly.RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "dump"})),
		"deleting": second(backupOnly.DeleteBackup(t.Context(), b)),
	} {
		if e := wantKind(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{"Datastore.AllocateSpace"}) ||
			e.Path != "/storage/dump" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	_, err = backupOnly.Backups(t.Context(), hypervisor.BackupQuery{Storage: "dump", Node: "pve1"})
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 || e.Remedy == "" {
		t.Errorf("the list: %+v", e)
	}

	// The role of the specification sets guests back, and lacks what makes new ones.
	role := with(pve.Privileges(endpoint.Backup)...)
	spec := hypervisor.RestoreSpec{Backup: b, ID: "301", Node: "pve1"}
	if e := wantKind(t, second(role.Restore(t.Context(), spec)), plugin.Denied); !slices.Equal(e.Missing, []string{"VM.Allocate"}) ||
		e.Path != "/vms/301" || e.Remedy == "" {
		t.Errorf("a new guest: %+v", e)
	}
	spec.ID, spec.Over = "300", true
	id, err = role.Restore(t.Context(), spec)
	if result = ended(t, role, id, err); result.OK() || !slices.Equal(result.Missing, []string{"SDN.Use"}) || result.Remedy == "" {
		t.Errorf("a NIC on a bridge: %+v", result)
	}
	if e := wantKind(t, second(with("Datastore.AllocateSpace").Restore(t.Context(), spec)), plugin.Denied); !slices.Equal(e.Missing,
		[]string{"VM.Backup"}) || e.Path != "/vms/300" {
		t.Errorf("setting back: %+v", e)
	}
	netless := w.guest(t, pvesim.GuestSpec{VMID: 310, NoNIC: true})
	b = backedUp(t, full, netless, hypervisor.BackupSpec{Storage: "dump"})
	spec = hypervisor.RestoreSpec{Backup: b, ID: "310", Node: "pve1", Over: true}
	id, err = role.Restore(t.Context(), spec)
	if result = ended(t, role, id, err); !result.OK() {
		t.Errorf("without a NIC: %+v", result)
	}
	if g, _ := w.Guest(300); g.Lock != "" {
		t.Errorf("the guest is locked (%s)", g.Lock)
	}
}

func TestProtectedBackups(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	ref := w.guest(t, pvesim.GuestSpec{VMID: 300})
	b := backedUp(t, host, ref, hypervisor.BackupSpec{Storage: "dump", Protected: true})
	id, err := host.DeleteBackup(t.Context(), b)
	if result := ended(t, host, id, err); result.OK() || !strings.Contains(result.Message, "protected") {
		t.Errorf("deleting a protected one: %+v", result)
	}
	must(t, "ending the protection", host.ProtectBackup(t.Context(), b, false))
	must(t, "ending it again", host.ProtectBackup(t.Context(), b, false))
	for range 6 {
		_, err = w.AddBackup(pvesim.BackupSpec{Storage: "dump", VMID: 300})
		must(t, "adding a backup", err)
	}
	all := backupsIn(t, host, "dump")
	for i, other := range all {
		err := host.ProtectBackup(t.Context(), other, true)
		if i < 5 {
			must(t, "protecting", err)
		} else {
			wantKind(t, err, plugin.Conflict) // of one guest no more than five
		}
	}
	last := all[len(all)-1]
	for range 2 { // one that is gone counts as deleted
		id, err = host.DeleteBackup(t.Context(), last)
		if result := ended(t, host, id, err); !result.OK() {
			t.Errorf("deleting ended %+v", result)
		}
	}
	if all = backupsIn(t, host, "dump"); len(all) != 6 || !all[0].Protected {
		t.Errorf("left are %+v", all)
	}
}

// The name of a volume may have slashes and odd characters, and leads to nothing else.
func TestNamesOfBackups(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "vault", Plugin: "pbs", Content: "backup"})
	w.guest(t, pvesim.GuestSpec{VMID: 300})
	for storage, names := range map[string][]string{
		"dump": {
			"backup/vzdump-qemu-300-2026_11_21-00_59_10.vma.zst", "backup/vzdump-qemu-300-a b;c?d#e&f=g+h%2Fi.vma",
			"backup/vzdump-qemu-300-äöü.vma", `backup/vzdump-qemu-300-"quoted'\.vma`,
		},
		"vault": {"backup/vm/300/2026-11-21T00:59:10Z"},
	} {
		for _, name := range names {
			_, err := w.AddBackup(pvesim.BackupSpec{Storage: storage, VMID: 300, Name: name})
			must(t, "adding a backup", err)
		}
		all := backupsIn(t, host, storage)
		if len(all) != len(names) {
			t.Fatalf("%s has %+v", storage, all)
		}
		for _, b := range all {
			must(t, "protecting "+b.ID, host.ProtectBackup(t.Context(), b, true))
		}
		for _, b := range backupsIn(t, host, storage) {
			if !b.Protected {
				t.Errorf("%s is not protected", b.ID)
			}
			must(t, "ending the protection", host.ProtectBackup(t.Context(), b, false))
			id, err := host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: b, ID: "300", Node: "pve1", Over: true})
			if result := ended(t, host, id, err); !result.OK() {
				t.Errorf("restoring %s: %+v", b.ID, result)
			}
			id, err = host.DeleteBackup(t.Context(), b)
			if result := ended(t, host, id, err); !result.OK() {
				t.Errorf("deleting %s: %+v", b.ID, result)
			}
		}
		if ids := w.Backups(storage); len(ids) != 0 {
			t.Errorf("left are %v", ids)
		}
	}
	before := w.Stats().Total
	for _, id := range []string{
		"", "dump", "dump:", ":backup/a", "dump:backup/", "dump:backup/../../etc/shadow", "dump:backup/./a",
		"dump:backup//a", "other:backup/a",
		"dump:iso/a.iso", "dump:300/vm-300-disk-0.qcow2", "dump:backup/a\x00b", "dump:backup/a\nb", "dump:backup/\xff", "/etc/passwd",
		"dump:backup/" + strings.Repeat("a", 300),
	} {
		b := hypervisor.Backup{ID: id, Storage: "dump", Node: "pve1", Kind: hypervisor.VM, Guest: "300"}
		wantKind(t, second(host.DeleteBackup(t.Context(), b)), plugin.NotFound)
		wantKind(t, host.ProtectBackup(t.Context(), b, true), plugin.NotFound)
		wantKind(t, second(host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: b, ID: "301", Node: "pve1"})), plugin.NotFound)
	}
	for _, node := range []string{"", "..", "pve1/qemu", "pve1\x00"} {
		_, err := host.Backups(t.Context(), hypervisor.BackupQuery{Storage: "dump", Node: node})
		wantKind(t, err, plugin.Invalid)
	}
	_, err := host.Backups(t.Context(), hypervisor.BackupQuery{Storage: "../../qemu", Node: "pve1"})
	wantKind(t, err, plugin.NotFound)
	if after := w.Stats().Total; after != before {
		t.Errorf("%d requests were sent", after-before)
	}
}

func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	vm, ct := w.guest(t, pvesim.GuestSpec{VMID: 300}), w.guest(t, pvesim.GuestSpec{VMID: 301, Type: pvesim.LXC})
	w.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 2 << 30, Used: 1 << 30})
	locked := w.guest(t, pvesim.GuestSpec{VMID: 302, Lock: "migrate"})
	protected := w.guest(t, pvesim.GuestSpec{VMID: 303, Config: map[string]any{"protection": 1}})
	for _, ref := range []hypervisor.GuestRef{vm, ct} {
		b := backedUp(t, host, ref, hypervisor.BackupSpec{Storage: "dump"})
		to := func(change func(*hypervisor.RestoreSpec)) (string, error) {
			spec := hypervisor.RestoreSpec{Backup: b, ID: "400", Node: "pve1"}
			change(&spec)
			return host.Restore(t.Context(), spec)
		}
		for field, change := range map[string]func(*hypervisor.RestoreSpec){
			"id":      func(s *hypervisor.RestoreSpec) { s.ID = "../qemu/1" },
			"storage": func(s *hypervisor.RestoreSpec) { s.Storage = "none" },
			"node":    func(s *hypervisor.RestoreSpec) { s.Node = ".." },
		} {
			id, err := to(change)
			if err == nil { // a VM's storage is looked at in the task
				if result := ended(t, host, id, nil); result.OK() || !strings.Contains(result.Message, "'none'") {
					t.Errorf("%s: %+v", field, result)
				}
				continue
			}
			if e := wantKind(t, err, plugin.Invalid); e.Field != field {
				t.Errorf("%s: the error names %q: %v", field, e.Field, e)
			}
		}
		id, err := to(func(s *hypervisor.RestoreSpec) { s.Storage = "small" })
		if result := ended(t, host, id, err); result.OK() || !strings.Contains(result.Message, "insufficient free space") {
			t.Errorf("a full storage: %+v", result)
		}
		id, err = to(func(s *hypervisor.RestoreSpec) { s.Storage = "dump" })
		if err == nil {
			err = plugin.Errorf(plugin.Invalid, "%s", ended(t, host, id, nil).Message)
		}
		// The refusal of a parameter does not repeat it; the end of a task does.
		if text := fmt.Sprint(err); plugin.KindOf(err) != plugin.Invalid || !strings.Contains(text, "'dump'") &&
			!strings.Contains(text, "storage does not support") {
			t.Errorf("a storage for other things: %v", err)
		}
		if _, made := w.Guest(400); made {
			t.Error("a failed restore left a guest")
		}
		wantKind(t, second(to(func(s *hypervisor.RestoreSpec) { s.Backup.Kind = "jail" })), plugin.Invalid)
	}
	b := backedUp(t, host, vm, hypervisor.BackupSpec{Storage: "dump"})
	over := func(id hypervisor.GuestID) (string, error) {
		return host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: b, ID: id, Node: "pve1", Over: true})
	}
	wantKind(t, second(over(ct.ID)), plugin.Conflict)
	wantKind(t, second(over(locked.ID)), plugin.Busy)
	id, err := over(protected.ID)
	if result := ended(t, host, id, err); result.OK() || !strings.Contains(result.Message, "protection") {
		t.Errorf("over a protected guest: %+v", result)
	}
	_, err = host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: hypervisor.Backup{
		ID: "dump:backup/vzdump-qemu-300-2001_01_01-00_00_00.vma", Storage: "dump", Node: "pve1", Kind: hypervisor.VM, Guest: "300",
	}, ID: "401", Node: "pve1"})
	wantKind(t, err, plugin.NotFound)
}

// Storages that cannot be read are never empty.
func TestStoragesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "away", Content: "backup", Away: true})
	w.AddStorage(pvesim.StorageSpec{ID: "off", Content: "backup", Disabled: true})
	w.AddStorage(pvesim.StorageSpec{ID: "elsewhere", Content: "backup", Nodes: []string{"pve7"}})
	for storage, kind := range map[string]plugin.ErrorKind{
		"away": plugin.Refused, "off": plugin.Refused, "elsewhere": plugin.Refused, "none": plugin.NotFound,
	} {
		all, err := host.Backups(t.Context(), hypervisor.BackupQuery{Storage: storage, Node: "pve1"})
		if plugin.KindOf(err) != kind {
			t.Errorf("%s: %v, %v", storage, all, err)
		}
	}
}

// A request that changes something is sent once, also when nobody knows whether it was taken.
func TestBackupRequestsAreSentOnce(t *testing.T) {
	t.Parallel()
	w, host := backupFixture(t)
	ref := w.guest(t, pvesim.GuestSpec{VMID: 300})
	b := backedUp(t, host, ref, hypervisor.BackupSpec{Storage: "dump"})
	const volume = "/nodes/{node}/storage/{storage}/content/{volume}"
	for path, send := range map[string]func() error{
		"POST /nodes/{node}/vzdump": func() error {
			return second(host.RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "dump"}))
		},
		"POST /nodes/{node}/qemu": func() error {
			return second(host.Restore(t.Context(), hypervisor.RestoreSpec{Backup: b, ID: "400", Node: "pve1"}))
		},
		"PUT " + volume:    func() error { return host.ProtectBackup(t.Context(), b, true) },
		"DELETE " + volume: func() error { return second(host.DeleteBackup(t.Context(), b)) },
	} {
		for _, after := range []bool{true, false} {
			method, template, _ := strings.Cut(path, " ")
			before := w.Stats().Requests[path]
			w.fault(t, pvesim.Fault{Match: pvesim.Match{Method: method, Path: template}, Kind: pvesim.FaultCut, After: after})
			wantKind(t, send(), plugin.Unreachable)
			if n := w.Stats().Requests[path] - before; n != 1 {
				t.Errorf("%s was sent %d times", path, n)
			}
			w.ClearFaults()
		}
	}
}
