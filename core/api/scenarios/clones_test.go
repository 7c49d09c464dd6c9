package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/clones"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// newClones is a Lab whose VMs and apps can be made, cloned and destroyed.
func newClones(t *testing.T) *servicetest.Lab {
	t.Helper()
	return servicetest.NewLab(t, memdriver.Tokens, func(a *op.API, d api.Deps) { clones.Register(a, d.Clones) })
}

func TestCreateVM(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 9000})
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "away", VMs: true, FreeGB: 9000, Away: true})
	order := func(more string) string {
		return `{"host_id":1,"name":"web1","storage":"local","bridge":"br0"` + more + `}`
	}
	foreign := apitest.In(2, identity.Owner)
	b.Expect(t, "POST", "vms", order(""), apitest.Operator, 403, "forbidden")
	b.Expect(t, "POST", "vms", order(""), foreign, 404, "not_found")
	b.Expect(t, "POST", "vms", `{"host_id":9,"name":"web1"}`, apitest.Admin, 404, "not_found")
	b.Expect(t, "POST", "vms", `{"host_id":1}`, apitest.Admin, 422, "invalid", `"name"`)
	b.Expect(t, "POST", "vms", `{"host_id":1,"name":"web1"}`, apitest.Admin, 422, "invalid", `["body","storage"]`, `["body","bridge"]`)
	b.Expect(t, "POST", "vms",
		`{"host_id":1,"name":"-web_1","storage":"none","bridge":"br9","cores":900,"memory_mb":9000000,"disk_gb":900000,`+
			`"ostype":"dos","iso":"local:iso/none.iso","vmid":7}`, apitest.Admin, 422, "invalid", `["body","name"]`, `["body","storage"]`,
		`["body","bridge"]`, `["body","cores"]`, `["body","memory_mb"]`, `["body","disk_gb"]`, `["body","ostype"]`, `["body","iso"]`,
		`["body","vmid"]`)
	b.Expect(t, "POST", "vms", order(`,"node":"nowhere"`), apitest.Admin, 422, "invalid", `["body","node"]`)
	b.Expect(t, "POST", "vms", strings.ReplaceAll(order(`,"node":"nowhere"`), "web1", "a..b"), apitest.Admin, 422, "invalid",
		`["body","node"]`,
		`["body","name"]`)
	b.Expect(t, "POST", "vms", strings.ReplaceAll(order(""), "web1", "a-.b"), apitest.Admin, 422, "invalid", `["body","name"]`)
	b.Expect(t, "POST", "vms", order(`,"disk_gb":5000`), apitest.Admin, 422, "invalid", "GiB free")
	b.Expect(t, "POST", "vms", order(`,"cores":0`), apitest.Admin, 422, "invalid", `["body","cores"]`)
	b.Expect(t, "POST", "vms", strings.ReplaceAll(order(""), `"local"`, `"archive"`), apitest.Admin, 422, "invalid",
		"does not accept disks of a vm")
	b.Expect(t, "POST", "vms", strings.ReplaceAll(order(""), `"local"`, `"away"`), apitest.Admin, 422, "invalid", "not available")
	b.Expect(t, "POST", "vms", order(`,"cores":900,"vmid":`+string(b.Refs["stopped"].ID)), apitest.Admin, 422, "invalid", `["body","vmid"]`,
		"is taken", `["body","cores"]`)
	b.Expect(t, "POST", "vms", order(`,"vmid":7`), apitest.Admin, 422, "invalid", `"greater_than_equal"`, "must be from")
	b.Expect(t, "POST", "vms", order(`,"ostype":"dos"`), apitest.Admin, 422, "invalid", "must be one of l26, win11, other")
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "tight", VMs: true, FreeGB: 32})
	b.Expect(t, "POST", "vms", strings.ReplaceAll(order(`,"disk_gb":32`), `"local"`, `"tight"`), apitest.Admin, 422, "invalid", "GiB free")
	if n := b.Value("SELECT count(*) FROM jobs"); n != "0" {
		t.Fatalf("%s jobs were made", n)
	}
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "thin", VMs: true, FreeGB: 20, Thin: true})
	b.Expect(t, "POST", "vms", strings.ReplaceAll(order(`,"disk_gb":32`), `"local"`, `"thin"`), apitest.Admin, 202, "")
	if told := b.Value("SELECT params->>'warnings' FROM jobs"); !strings.Contains(told, "The storage thin has 20 GiB free") {
		t.Errorf("the warnings are %s", told)
	}
	b.Exec("DELETE FROM jobs")
	var first, second struct{ VMID int64 }
	for _, into := range []any{&first, &second} {
		b.Expect(t, "POST", "vms", order(`,"iso":"local:iso/installer.iso","node":null,"vlan_tag":7,"start":true`), apitest.Admin, 202, "",
			`"kind":"vm.create"`, `"vmid":`).Decode(t, into)
	}
	if first.VMID == 0 || second.VMID == 0 || first.VMID == second.VMID {
		t.Errorf("two VMs that are to be made have the numbers %d and %d", first.VMID, second.VMID)
	}
	b.Expect(t, "POST", "vms", order(fmt.Sprintf(`,"vmid":%d`, first.VMID)), apitest.Admin, 422, "invalid", `["body","vmid"]`,
		"reserved by a job")
	b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	b.Expect(t, "POST", "vms", order(""), apitest.Admin, 409, "capability_missing")
}

func TestPlacementOfVMs(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 9000})
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "away", VMs: true, FreeGB: 9000, Away: true})
	node := b.Value("SELECT name FROM nodes ORDER BY name LIMIT 1")
	url := "hosts/1/nodes/" + node + "/placement"
	b.Expect(t, "GET", url, "", nil, 401, "unauthenticated")
	b.Expect(t, "GET", url, "", apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "GET", "hosts/9/nodes/"+node+"/placement", "", apitest.Viewer, 404, "not_found")
	b.Expect(t, "GET", "hosts/1/nodes/nowhere/placement", "", apitest.Viewer, 404, "not_found")
	var first, second struct {
		Number   int64
		Bridges  []string
		OSTypes  []string
		Storages []struct {
			Name                    string
			VMs, Backups, Available bool
			FreeBytes               int64 `json:"free_bytes"`
		}
		Limits struct{ Cores *int64 }
	}
	b.Get(t, url, &first)
	if len(first.Bridges) == 0 || len(first.OSTypes) == 0 || first.Limits.Cores == nil {
		t.Errorf("the node offers %+v", first)
	}
	for _, s := range first.Storages {
		if s.Name == "archive" && (s.VMs || !s.Backups || s.FreeBytes != 9000<<30) || s.Name == "away" && (!s.VMs || s.Available) {
			t.Errorf("a storage is %+v", s)
		}
	}
	// A number that a job is about to use is not free.
	b.Expect(t, "POST", "vms", fmt.Sprintf(`{"host_id":1,"name":"web1","storage":"local","bridge":"br0","vmid":%d}`, first.Number),
		apitest.Admin, 202, "")
	b.Get(t, url, &second)
	if first.Number == 0 || second.Number <= first.Number {
		t.Errorf("the free numbers are %d and then %d", first.Number, second.Number)
	}
}

func TestDeleteVM(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	b.Exec(fmt.Sprintf(`INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled)
		VALUES ('Nightly', '0 1 * * *', 'UTC', 'vm.start', '{"vm_id":%s}', true)`, strings.TrimPrefix(b.VM("stopped"), "vms/")))
	b.Exec(fmt.Sprintf(`INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled) VALUES
		('Both', '0 1 * * *', 'UTC', 'backup.run', '{"targets":[{"vm":%[1]s},{"app":1}]}', true),
		('Alone', '0 1 * * *', 'UTC', 'backup.run', '{"targets":[{"vm":%[1]s}]}', true),
		('Others', '0 1 * * *', 'UTC', 'backup.run', '{"targets":[{"app":1}]}', true)`, strings.TrimPrefix(b.VM("stopped"), "vms/")))
	b.Expect(t, "DELETE", b.VM("stopped"), `{"confirm":"stopped"}`, apitest.Admin, 403, "forbidden")
	b.Expect(t, "DELETE", b.VM("stopped"), `{"confirm":"stopped"}`, apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "DELETE", b.VM("running"), `{"confirm":"running"}`, apitest.Owner, 409, "guest_running")
	b.Expect(t, "DELETE", b.VM("running")+"?plan=true", "", apitest.Owner, 200, "", `"blockers":[{"error":"guest_running"`,
		`"confirm_phrase":"running"`)
	b.Expect(t, "DELETE", b.VM("stopped"), "", apitest.Owner, 409, "confirm_required", `"confirm_phrase":"stopped"`,
		`"size_bytes":34359738368`,
		"stopped is also removed from the hypervisor's own backup jobs and high availability.", "The schedule Nightly has no targets",
		"The schedule Alone has no targets", "The schedule Both continues with its other targets.")
	b.Run(t, apitest.Scenario{Name: "no others", Method: "DELETE", URL: "/api/v1/" + b.VM("stopped") + "?plan=true", As: apitest.Owner,
		Status: 200, Lacks: []string{"The schedule Others"}})
	b.Cluster.ChangeConfig(b.Refs["stopped"].ID, func(c *hypervisor.Config) { c.Protected = true })
	b.Expect(t, "DELETE", b.VM("stopped"), "", apitest.Owner, 409, "protected")
	b.Cluster.ChangeConfig(b.Refs["stopped"].ID, func(c *hypervisor.Config) { c.Protected = false })
	b.Expect(t, "DELETE", b.VM("stopped"), `{"confirm":"stopped"}`, apitest.Owner, 202, "", `"kind":"vm.delete"`, `"params":{"purge":true}`)
	b.Expect(t, "DELETE", b.VM("stopped"), `{"confirm":"stopped"}`, apitest.Owner, 409, "guest_busy")
	b.Expect(t, "DELETE", b.VM("template")+"?plan=true", `{"purge":false}`, apitest.Owner, 200, "",
		"The entries for template in the hypervisor's own backup jobs and high availability stay.")
	b.Expect(t, "DELETE", b.VM("template"), `{"confirm":"template","purge":false}`, apitest.Owner, 202, "", `"params":{"purge":false}`)
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.Guests.Self.Hostname = "running"
	b.Expect(t, "DELETE", b.VM("running"), "", apitest.Owner, 409, "self_target", `"confirm_phrase":"running"`, `"is_self":true`)
	b.Expect(t, "DELETE", b.VM("running"), `{"confirm":"running"}`, apitest.Owner, 409, "guest_running")
}

// addVolumes gives a guest disks that it does not use, that wait, that belong to another guest and to none, and drives.
func addVolumes(b *servicetest.Lab, id hypervisor.GuestID) {
	b.Cluster.ChangeConfig(id, func(c *hypervisor.Config) {
		size := int64(5)
		c.Disks = append(c.Disks,
			hypervisor.Disk{Key: "unused0", Storage: "local", Volume: "local:unused", Unused: true, Owner: id},
			hypervisor.Disk{Key: "scsi2", Storage: "local", Volume: "local:waiting", Pending: true, SizeGB: &size},
			hypervisor.Disk{Key: "scsi3", Storage: "local", Volume: "local:foreign", Owner: "999", Kept: true},
			hypervisor.Disk{Key: "scsi4", Storage: "local", Volume: "local:nobodys", Kept: true},
			hypervisor.Disk{Key: "ide0", Storage: "local", Volume: "local:made", Removable: true, Owner: id},
			hypervisor.Disk{Key: "ide1", Storage: "local", Volume: "local:image", Removable: true},
		)
	})
}

// The plans of all that destroys a guest tell of each of its volumes whether it is destroyed or stays.
func TestPlansOfDeletionTellOfEveryVolume(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	for path, ref := range map[string]hypervisor.GuestRef{b.VM("stopped"): b.Refs["stopped"], "apps/1": b.Refs["files"]} {
		addVolumes(b, ref.ID)
		b.Run(t, apitest.Scenario{Name: path, Method: "DELETE", URL: "/api/v1/" + path + "?plan=true", As: apitest.Owner, Status: 200,
			Contains: []string{
				`"text":"The unused disk unused0 on the storage local is destroyed with all its data.","name":"local:unused"`,
				`"text":"The disk scsi2 on the storage local is destroyed with all its data.","name":"local:waiting",` +
					`"size_bytes":5368709120`,
				`"text":"The image in the drive ide0 on the storage local, which the hypervisor created for `,
				`The volume local:foreign, which scsi3 of `, `belongs to the guest 999 and stays.`,
				`The volume local:nobodys, which scsi4 of `, `belongs to no guest and stays.`,
			}, Lacks: []string{`"name":"local:foreign"`, `"name":"local:nobodys"`, "local:image"}})
	}
}

// A VM that has no name is confirmed by what it is shown as.
func TestDeleteVMWithoutAName(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	ref := b.Cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	b.Cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "" })
	b.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	phrase := "VM " + string(ref.ID)
	path, asks := "vms/"+b.Value("SELECT id FROM guests WHERE name = $1", phrase), fmt.Sprintf(`"confirm_phrase":%q`, phrase)
	b.Expect(t, "DELETE", path+"?plan=true", "", apitest.Owner, 200, "", asks, phrase+" is destroyed.")
	for _, body := range []string{"", `{"confirm":null}`, `{"confirm":""}`, `{"confirm":"VM"}`, `{"confirm":" "}`,
		fmt.Sprintf(`{"confirm":%q}`, ref.ID), fmt.Sprintf(`{"confirm":"vm %s"}`, ref.ID), fmt.Sprintf(`{"confirm":"%s "}`, phrase)} {
		b.Expect(t, "DELETE", path, body, apitest.Owner, 409, "confirm_required", asks)
	}
	if n := b.Value("SELECT count(*) FROM jobs WHERE kind = 'vm.delete'"); n != "0" {
		t.Errorf("%s jobs were made", n)
	}
	b.Expect(t, "DELETE", path, fmt.Sprintf(`{"confirm":%q}`, phrase), apitest.Owner, 202, "", `"kind":"vm.delete"`)
}

func TestCloneGuests(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	clone := b.VM("stopped") + "/clone"
	b.Expect(t, "POST", clone, "", apitest.Operator, 403, "forbidden")
	b.Expect(t, "POST", clone, "", apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "POST", clone, `{"full":false}`, apitest.Admin, 409, "linked_clone_needs_template", "it is not a template")
	b.Expect(t, "POST", clone, `{"name":"a_b","storage":"none","newid":7}`, apitest.Admin, 422, "invalid", `["body","name"]`,
		`["body","storage"]`, `["body","newid"]`)
	b.Expect(t, "POST", clone, `{"target":"nowhere"}`, apitest.Admin, 422, "invalid", `["body","target"]`)
	b.Expect(t, "POST", clone, `{"newid":`+string(b.Refs["running"].ID)+`}`, apitest.Admin, 422, "invalid", `["body","newid"]`)
	b.Expect(t, "POST", b.VM("template")+"/clone", `{"full":false,"storage":"local"}`, apitest.Admin, 422, "invalid", `["body","storage"]`)
	b.Expect(t, "POST", clone+"?plan=true", `{"name":"copy"}`, apitest.Admin, 200, "", "stopped is cloned to copy", `"confirm_phrase":null`)
	b.Expect(t, "POST", clone+"?plan=true", `{"full":false}`, apitest.Admin, 200, "", `"blockers":[{"error":"linked_clone_needs_template"`)
	// What the hypervisor does not copy is told before the job, of full and of linked copies.
	for path, of := range map[string]struct{ name, kind, body string }{"apps/1/clone": {"files", "mp0", ""},
		b.VM("template") + "/clone": {"template", "scsi7", `{"full":false}`}} {
		config := b.Cluster.ConfigOf(b.Refs[of.name].ID)
		b.Cluster.ChangeConfig(b.Refs[of.name].ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: of.kind, Local: true})
		})
		b.Expect(t, "POST", path+"?plan=true", of.body, apitest.Admin, 200, "", `"blockers":[{"error":"invalid_state"`, "remove "+of.kind)
		b.Expect(t, "POST", path, of.body, apitest.Admin, 409, "invalid_state", "directories and devices of the node")
		b.Cluster.ChangeConfig(b.Refs[of.name].ID, func(c *hypervisor.Config) { *c = config })
	}
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "local", VMs: true, Containers: true, FreeGB: 31})
	b.Expect(t, "POST", clone, "", apitest.Admin, 422, "invalid", "the storage local has 31 GiB free, but the clone needs 32 GiB")
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "local", VMs: true, Containers: true, FreeGB: 31, Thin: true})
	b.Expect(t, "POST", clone+"?plan=true", "", apitest.Admin, 200, "", `"blockers":[]`,
		"The storage local has 31 GiB free, but the disks can grow to 32 GiB")
	b.Cluster.AddStorage(memdriver.StorageSpec{Name: "local", VMs: true, Containers: true, FreeGB: 1000})
	b.Expect(t, "POST", clone, "", apitest.Admin, 202, "", `"kind":"vm.clone"`, `"params":{"full":true}`, `"vmid":`)
	b.Expect(t, "POST", b.VM("template")+"/clone", `{"full":false,"name":"linked"}`, apitest.Admin, 202, "",
		`"params":{"full":false,"name":"linked"}`)
	b.Expect(t, "POST", "apps/1/clone", `{"newid":4000,"name":null}`, apitest.Admin, 202, "", `"kind":"app.clone"`, `"vmid":4000`)
	b.Expect(t, "POST", "apps/1/clone", "", apitest.Admin, 409, "guest_busy")
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Exec("UPDATE guests SET name = 'VM 7 (old)' WHERE name = 'stopped'")
	b.Expect(t, "POST", clone, "", apitest.Admin, 202, "")
	if got := b.Value("SELECT params->'spec'->>'Name' FROM jobs ORDER BY id DESC LIMIT 1"); got != "VM-7-old-copy" {
		t.Errorf("the copy of a guest whose name no new one may have is called %q", got)
	}
	b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	b.Expect(t, "POST", "apps/1/clone?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"capability_missing"`)
}

// A template whose disks linked clones need is not deleted, and who deletes it is told of the clones.
func TestDelete_RefusesTemplateWithLinkedClones(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	base := b.Cluster.ConfigOf(b.Refs["template"].ID).Disks[0]
	add := func(name, parent string, of hypervisor.GuestID) {
		b.Cluster.AddVolume(base.Storage, hypervisor.Volume{Name: name, Kind: hypervisor.VolumeDisk, Content: "images", Parent: parent,
			Guest: of})
	}
	add("alone", "", b.Refs["running"].ID)
	add("of-another", base.Storage+":something", b.Refs["running"].ID)
	b.Expect(t, "DELETE", b.VM("template")+"?plan=true", "", apitest.Owner, 200, "", `"blockers":[]`)
	add("linked-1", base.Volume, b.Refs["stopped"].ID)
	add("linked-2", base.Volume, "999")
	const says = "cannot delete template: linked clones need its disks: stopped, 1 other guest; delete them first"
	b.Expect(t, "DELETE", b.VM("template")+"?plan=true", "", apitest.Owner, 200, "", `"blockers":[{"error":"volume_in_use"`, says)
	b.Expect(t, "DELETE", b.VM("template"), `{"confirm":"template"}`, apitest.Owner, 409, "volume_in_use", says)
	// So is the template of a container.
	box := b.Cluster.ConfigOf(b.Refs["files"].ID).Disks[0]
	b.Cluster.Change(b.Refs["files"].ID, func(g *hypervisor.Guest) { g.Template = true })
	b.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	b.Cluster.AddVolume(box.Storage, hypervisor.Volume{Name: "linked-3", Kind: hypervisor.VolumeDisk, Content: "rootdir", Parent: box.Volume,
		Guest: b.Refs["wiki"].ID})
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files"}`, apitest.Owner, 409, "volume_in_use", "linked clones need its disks: wiki")
	// What cannot be listed keeps nobody: the hypervisor itself refuses.
	b.Cluster.SetFault("content", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no answer")})
	b.Expect(t, "DELETE", b.VM("template")+"?plan=true", "", apitest.Owner, 200, "", `"blockers":[]`)
}

// The hypervisor copies a running VM, and no running container.
func TestClone_RefusesFullCopyOfRunningContainer(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	b.Expect(t, "POST", "apps/2/clone", "", apitest.Admin, 409, "guest_running",
		"cannot clone wiki: the container is running; stop it first")
	b.Expect(t, "POST", "apps/2/clone?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"guest_running"`)
	b.Expect(t, "POST", b.VM("running")+"/clone", "", apitest.Admin, 202, "")
	b.Cluster.Change(b.Refs["wiki"].ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestPaused })
	b.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	b.Expect(t, "POST", "apps/2/clone", "", apitest.Admin, 409, "guest_running", "the container is paused; stop it first")
	b.Cluster.Change(b.Refs["wiki"].ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestStopped })
	b.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	b.Expect(t, "POST", "apps/2/clone", "", apitest.Admin, 202, "")
}

// A job of which it is not known how it ended is not asked for again while its task runs: that could make a second copy.
func TestRetryWhileTheTaskRuns(t *testing.T) {
	t.Parallel()
	b := servicetest.NewLab(t, memdriver.Tokens, func(a *op.API, d api.Deps) {
		clones.Register(a, d.Clones)
		jobs.Register(a, d.Jobs)
	})
	for i, kind := range []string{"vm.clone", "vm.start"} {
		task := b.Cluster.NewTask(kind, 1)
		b.Exec(fmt.Sprintf(`INSERT INTO jobs (id, kind, status, team_id, host_id, target_kind, target_id, target_name, asked, task_id,
				started_at,
				finished_at) OVERRIDING SYSTEM VALUE
			SELECT %d, '%s', 'unknown', 1, 1, 'vm', id, 'x', '{}', '%s', now(), now() FROM guests WHERE ref = '%s'`, 700+i, kind, task,
			b.Refs["stopped"].ID))
		retry := fmt.Sprintf("jobs/%d/retry", 700+i)
		b.Expect(t, "POST", retry, "", apitest.Admin, 409, "invalid_state", "is still running on the hypervisor")
		b.Cluster.EndTask(task, hypervisor.TaskOK, "")
		b.Expect(t, "POST", retry, "", apitest.Admin, 202, "", `"kind":"`+kind+`"`)
		b.Exec("UPDATE jobs SET status = 'failed' WHERE status = 'queued'")
	}
}

// Guests that are asked for at once get a number each.
func TestGuestsThatAreMadeAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("sends many requests at once: make check runs it")
	}
	t.Parallel()
	b := newClones(t)
	for i := range 8 {
		b.Refs[fmt.Sprint(i)] = b.Cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	}
	b.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	requests := map[string]string{}
	for i := range 8 {
		ref := b.Refs[fmt.Sprint(i)].ID
		path := "/api/v1/vms/" + b.Value(fmt.Sprintf("SELECT id FROM guests WHERE ref = '%s'", ref)) + "/clone"
		requests[fmt.Sprint("clone ", i)] = path + " {}"
		requests[fmt.Sprint("create ", i)] = fmt.Sprintf(`/api/v1/vms {"host_id":1,"name":"web%d","storage":"local","bridge":"br0"}`, i)
	}
	var all sync.WaitGroup
	for name, request := range requests {
		all.Go(func() {
			path, body, _ := strings.Cut(request, " ")
			r, err := http.NewRequest(http.MethodPost, b.URL+path, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			if answer, err := b.Do(t.Context(), r, apitest.Admin); err != nil || answer.Status != http.StatusAccepted {
				t.Errorf("%s: %v\n%s", name, err, answer.Body)
			}
		})
	}
	all.Wait()
	if n := b.Value("SELECT count(DISTINCT params->'spec'->>'ID') FROM jobs WHERE kind IN ('vm.create', 'vm.clone')"); n != "16" {
		t.Errorf("%s numbers for 16 guests", n)
	}
}

func TestUninstallApp(t *testing.T) {
	t.Parallel()
	b := newClones(t)
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files"}`, apitest.Operator, 403, "forbidden")
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files"}`, apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "DELETE", "apps/1", "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"files"`, `"kind":"disk"`)
	b.Expect(t, "DELETE", "apps/1", `{"keep_ct":true}`, apitest.Admin, 409, "confirm_required", "its container stays as it is")
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files"}`, apitest.Admin, 200, "", `"removed":false`, `"kind":"app.uninstall"`)
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files","keep_ct":true}`, apitest.Admin, 409, "guest_busy")
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Exec("UPDATE apps SET guest_id = NULL")
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files"}`, apitest.Admin, 409, "invalid_state", "the container of files does not exist")
	b.Expect(t, "DELETE", "apps/1?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"invalid_state"`)
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files","keep_ct":true}`, apitest.Admin, 200, "", `"removed":true,"ct_kept":true,"job":null`)
	b.Expect(t, "DELETE", "apps/1", `{"confirm":"files","keep_ct":true}`, apitest.Admin, 404, "not_found")
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'app.uninstall' AND result = 'ok'"); n != "2" {
		t.Errorf("%s rows of success in the audit log", n)
	}
}
