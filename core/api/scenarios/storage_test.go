package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/storage"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// storageFixture has a hypervisor in memory with host 1, two nodes, and a storage "nas" that both have.
type storageFixture struct {
	*servicetest.Resource
	t       *testing.T
	cluster *memdriver.Cluster
	web     hypervisor.GuestRef
}

func newStorage(t *testing.T, tokens ...endpoint.Capability) *storageFixture {
	t.Helper()
	driver := memdriver.New()
	f := &storageFixture{t: t, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2})}
	f.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		jobs.Register(a, d.Jobs)
		storage.Register(a, d.Storage)
	}, func(c *service.Config) {
		c.Drivers = servicetest.Drivers{Driver: driver}
		c.Loops = []service.Loop{service.Jobs}
	})
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	inventorytest.Team(t, f.DB, 2)
	f.cluster.AddStorage(memdriver.StorageSpec{Name: "nas", Type: "share", Content: []string{"images", "iso", "backup"},
		Archive: &memdriver.Archive{}})
	f.web = f.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.cluster.Change(f.web.ID, func(g *hypervisor.Guest) { g.Name = "web" })
	f.Enrol(t, "lab", f.cluster, tokens...)
	return f
}

func (f *storageFixture) sync() {
	f.t.Helper()
	f.Expect(f.t, "POST", "hosts/1/sync", "", apitest.Admin, 200, "")
}

// ends waits for the last job, and holds how it ended.
func (f *storageFixture) ends(status, text string) {
	f.t.Helper()
	id := dbtest.Value[int64](f.t, f.DB, "SELECT max(id) FROM jobs")
	waittest.Until(f.t, "the job has ended", func() bool {
		return dbtest.Value[bool](f.t, f.DB, "SELECT finished_at IS NOT NULL FROM jobs WHERE id = $1", id)
	})
	got := dbtest.Value[string](f.t, f.DB, "SELECT status || ': ' || coalesce(error, '') FROM jobs WHERE id = $1", id)
	if !strings.HasPrefix(got, status+":") || !strings.Contains(got, text) {
		f.t.Fatalf("the job ended as %q, want %s %q", got, status, text)
	}
}

// image puts an image onto a storage, and gives its path below the API.
func (f *storageFixture) image(name string) string {
	return "storage/1/nas/content/" + f.cluster.AddVolume("nas", hypervisor.Volume{Name: name, Kind: hypervisor.VolumeImage, Content: "iso"})
}

func TestListOfStorages(t *testing.T) {
	t.Parallel()
	f := newStorage(t)
	f.Expect(t, "GET", "storage", "", apitest.Viewer, 200, "", `"name":"nas"`, `"shared":true`, `"name":"local"`)
	all := f.Expect(t, "GET", "storage?name=nas", "", apitest.Viewer, 200, "", `"node":"node1"`, `"node":"node2"`)
	if total := all.Header.Get("X-Total-Count"); total != "1" {
		t.Errorf("a shared storage counts %s times", total)
	}
	f.Expect(t, "GET", "storage?name=local", "", apitest.Viewer, 200, "", `"used_bytes":2147483648`) // of both nodes
	f.Expect(t, "GET", "storage?content=backup&per_page=1", "", apitest.Viewer, 200, "", `"name":"nas"`)
	f.Expect(t, "GET", "storage?status=gone", "", apitest.Viewer, 422, "invalid")
}

func TestStorageDetailAndEdit(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	f.Expect(t, "POST", "storage",
		`{"host_id":1,"storage":"vault","type":"share","config":{"server":"s","password":"zqcanary-hush","port":445,
		"content":["iso","images"]}}`, apitest.Admin, 201, "", `"storage":"vault"`)
	if got := f.cluster.SecretOf("vault", "password"); got != "zqcanary-hush" {
		t.Errorf("the password that arrived is %q", got)
	}
	f.Expect(t, "GET", "storage?name=vault", "", apitest.Viewer, 200, "", `"name":"vault"`, `"node":"node1"`) // without waiting for a poll
	d := f.Expect(t, "GET", "storage/1/vault", "", apitest.Viewer, 200, "", `"server":"s"`, `"port":"445"`, `"node":"node2"`)
	if strings.Contains(string(d.Body), "hush") {
		t.Errorf("the password is shown: %s", d.Body)
	}
	f.Expect(t, "GET", "storage/1/vault?node=node9", "", apitest.Viewer, 404, "not_found")
	f.Expect(t, "GET", "storage/1/none", "", apitest.Viewer, 404, "not_found")
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{"comment":"new","port":null},"digest":"stale"}`, apitest.Admin, 409,
		"digest_conflict")
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{"comment":"zqcanary-value","port":null,"password":"zqcanary-other"}}`,
		apitest.Admin, 200, "",
		`"comment":"zqcanary-value"`)
	after := f.Expect(t, "GET", "storage/1/vault", "", apitest.Viewer, 200, "")
	if strings.Contains(string(after.Body), `"port"`) || f.cluster.SecretOf("vault", "password") != "zqcanary-other" {
		t.Errorf("after the edit: %s", after.Body)
	}
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{}}`, apitest.Admin, 422, "invalid", "nothing_to_change")
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{"server":"t"}}`, apitest.Admin, 422, "invalid", "fixed")
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{"server":null}}`, apitest.Admin, 422, "invalid")
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{"port":99999,"nope":1,"content":["x"]}}`, apitest.Admin, 422, "invalid", "port",
		"nope",
		"content")
	f.Expect(t, "PATCH", "storage/1/vault", `{"config":{"comment":"x"}}`, apitest.Operator, 403, "forbidden")
	for _, secret := range []string{"zqcanary-hush", "zqcanary-other", "zqcanary-value"} {
		if n := dbtest.Value[int64](t, f.DB, "SELECT count(*) FROM audit WHERE audit::text LIKE '%' || $1 || '%'", secret); n != 0 {
			t.Errorf("%s is in %d rows of the audit log", secret, n)
		}
	}
	if n := dbtest.Value[int64](t, f.DB, "SELECT count(*) FROM audit WHERE action = 'storage.edit' AND result = 'ok' AND "+
		"details::text LIKE '%comment%'"); n != 1 {
		t.Errorf("%d rows of the audit log name the changed field, want 1", n)
	}
}

func TestAttachStorageRefuses(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	attach := func(body string, status int, code string, contains ...string) {
		t.Helper()
		f.Expect(t, "POST", "storage", body, apitest.Admin, status, code, contains...)
	}
	attach(`{"host_id":1,"storage":"a","type":"tape"}`, 422, "invalid", `"type"`)
	attach(`{"host_id":1,"storage":"a","type":"share","config":{"port":"x","zq":1}}`, 422, "invalid", "server", "port", "zq")
	attach(`{"host_id":1,"storage":"../a","type":"dir","config":{"path":"/a"}}`, 422, "invalid")
	attach(`{"host_id":1,"storage":"nas","type":"dir","config":{"path":"/a"}}`, 409, "conflict")
	attach(`{"host_id":9,"storage":"a","type":"dir","config":{"path":"/a"}}`, 404, "not_found")
	attach(`{"host_id":1,"storage":"a","type":"share","config":{"server":"nowhere"}}`, 502, "hypervisor_error")
	f.Expect(t, "POST", "storage", `{"host_id":1,"storage":"a","type":"dir","config":{"path":"/a"}}`, apitest.Operator, 403, "forbidden")
	// An answer that is lost is judged by what is there, and nothing is sent again.
	f.cluster.SetFault("attachstorage", memdriver.Fault{Late: true, Err: plugin.Errorf(plugin.Unreachable, "the line broke")})
	attach(`{"host_id":1,"storage":"late","type":"dir","config":{"path":"/late"}}`, 201, "")
	f.cluster.SetFault("attachstorage", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no answer")})
	attach(`{"host_id":1,"storage":"never","type":"dir","config":{"path":"/never"}}`, 502, "hypervisor_error",
		"reading the storage afterwards showed no change")
	f.cluster.SetFault("storagedefinition", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no answer")})
	attach(`{"host_id":1,"storage":"never","type":"dir","config":{"path":"/never"}}`, 504, "outcome_unknown")
}

func TestStorageWithoutToken(t *testing.T) {
	t.Parallel()
	f := newStorage(t)
	f.Expect(t, "POST", "storage", `{"host_id":1,"storage":"a","type":"dir","config":{"path":"/a"}}`, apitest.Admin, 409,
		"capability_missing")
	f.Expect(t, "PATCH", "storage/1/nas", `{"config":{"comment":"x"}}`, apitest.Admin, 409, "capability_missing")
	f.Expect(t, "DELETE", "storage/1/nas", `{"confirm":"nas"}`, apitest.Owner, 409, "capability_missing")
	f.Expect(t, "DELETE", f.image("a.iso"), `{"confirm":"a.iso"}`, apitest.Admin, 409, "capability_missing")
	const blocker = `"blockers":[{"error":"capability_missing"`
	f.Expect(t, "DELETE", "storage/1/nas?plan=true", "", apitest.Owner, 200, "", blocker, `"confirm_phrase":"nas"`)
	f.Expect(t, "DELETE", f.image("a.iso")+"?plan=true", "", apitest.Admin, 200, "", blocker)
	answer := f.Expect(t, "GET", "storage/1/nas/content", "", apitest.Viewer, 200, "", "a.iso")
	if got := answer.Header.Get("X-Hidden-Content"); !strings.Contains(got, "images") {
		t.Errorf("what is hidden is not told: %q", got)
	}
	f.Expect(t, "GET", "storage/1/nas/content?content=images", "", apitest.Viewer, 502, "hypervisor_error", "permission")
}

func TestDetachStorage(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "scsi1", Storage: "nas", Volume: "nas:disk-9"})
	})
	f.image("a.iso")
	for n := range 12 {
		f.image(fmt.Sprintf("more-%02d.iso", n))
	}
	for n, owner := range []hypervisor.GuestID{f.web.ID, f.web.ID, "999"} {
		f.cluster.AddVolume("nas", hypervisor.Volume{Name: fmt.Sprintf("b%d.tar", n), Kind: hypervisor.VolumeBackup, Content: "backup",
			Guest: owner})
	}
	f.Expect(t, "DELETE", "storage/1/nas", `{"confirm":"nas"}`, apitest.Admin, 403, "forbidden")
	f.Expect(t, "DELETE", "storage/1/nas?plan=true", "", apitest.Owner, 200, "", "web loses 1 of its disks",
		"13 images become inaccessible: a.iso, more-00.iso, ", "more-08.iso and 3 more.", "2 backups of the VM web become inaccessible.",
		"1 backup of a guest that no longer exists becomes inaccessible.", "3 backups become inaccessible.", `"confirm_phrase":"nas"`)
	f.Expect(t, "DELETE", "storage/1/nas", "", apitest.Owner, 409, "confirm_required", "web loses")
	f.Expect(t, "DELETE", "storage/1/nas", `{"confirm":"local"}`, apitest.Owner, 409, "confirm_required")
	f.Expect(t, "DELETE", "storage/1/nas", `{"confirm":"nas"}`, apitest.Owner, 200, "", `"detached":true`)
	f.Expect(t, "GET", "storage/1/nas", "", apitest.Viewer, 404, "not_found")
	f.Expect(t, "DELETE", "storage/1/nas", `{"confirm":"nas"}`, apitest.Owner, 404, "not_found")
}

func TestContentOfStorages(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	f.image("b.iso")
	f.image("a.iso")
	answer := f.Expect(t, "GET", "storage/1/nas/content?per_page=1", "", apitest.Viewer, 200, "", "a.iso")
	if answer.Header.Get("X-Total-Count") != "2" || strings.Contains(string(answer.Body), "b.iso") {
		t.Errorf("the first page of %s: %s", answer.Header.Get("X-Total-Count"), answer.Body)
	}
	f.Expect(t, "GET", "storage/1/nas/content?kind=disk", "", apitest.Viewer, 200, "", "[]")
	f.Expect(t, "GET", "storage/1/local/content?node="+f.web.Node, "", apitest.Viewer, 200, "", `"guest_ref":"`+string(f.web.ID)+`"`)
	f.Expect(t, "GET", "storage/1/nas/content?node=node9", "", apitest.Viewer, 404, "not_found")
	f.Expect(t, "GET", "storage/1/none/content", "", apitest.Viewer, 404, "not_found")
	f.cluster.SetFault("content", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no answer")})
	f.Expect(t, "GET", "storage/1/nas/content", "", apitest.Viewer, 502, "hypervisor_error")
}

func TestDeleteVolume(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle, endpoint.Backup)
	path := f.image("a.iso")
	f.Expect(t, "DELETE", path, "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"a.iso"`)
	f.Expect(t, "DELETE", path, `{"confirm":"a.iso"}`, apitest.Operator, 403, "forbidden")
	f.Expect(t, "DELETE", "storage/1/nas/content/nas:none.iso", `{"confirm":"none.iso"}`, apitest.Admin, 404, "not_found")
	f.Expect(t, "DELETE", "storage/1/local/content/local:iso%2Finstaller.iso", `{"confirm":"installer.iso"}`, apitest.Admin, 422, "invalid",
		"node")
	f.Expect(t, "DELETE", path, `{"confirm":"a.iso"}`, apitest.Admin, 202, "", `"kind":"storage.delete_volume"`)
	f.ends("succeeded", "")
	if f.cluster.HasVolume("nas", "nas:a.iso") {
		t.Error("the volume is still there")
	}
	// A disk is its guest's, an image that of a VM whose drive has it.
	disk := f.cluster.ConfigOf(f.web.ID).Disks[0].Volume
	f.Expect(t, "DELETE", "storage/1/local/content/"+disk+"?node="+f.web.Node, `{"confirm":"`+strings.TrimPrefix(disk, "local:")+`"}`,
		apitest.Admin,
		409, "volume_in_use", `"name":"web"`)
	// A container that is no app has its disks all the same.
	container := f.cluster.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	f.cluster.Change(container.ID, func(g *hypervisor.Guest) { g.Name = "box" })
	f.sync()
	disk = f.cluster.ConfigOf(container.ID).Disks[0].Volume
	f.Expect(t, "DELETE", "storage/1/local/content/"+disk+"?node="+container.Node, `{"confirm":"`+strings.TrimPrefix(disk, "local:")+`"}`,
		apitest.Admin, 409, "volume_in_use", `"name":"box"`)
	used := f.image("used.iso")
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "ide2", Storage: "nas", Volume: "nas:used.iso", Removable: true})
	})
	f.Expect(t, "DELETE", used, `{"confirm":"used.iso"}`, apitest.Admin, 202, "") // by a reading that is older
	f.ends("failed", "nothing was done: guests have it in their configuration")
	f.Expect(t, "DELETE", used, `{"confirm":"used.iso"}`, apitest.Admin, 409, "volume_in_use", `"name":"web"`)
	f.Expect(t, "DELETE", used+"?plan=true", "", apitest.Admin, 200, "", `"error":"volume_in_use"`, "web uses it.")
	f.cluster.AddVolume("nas", hypervisor.Volume{Name: "kept.tar", Kind: hypervisor.VolumeBackup, Content: "backup", Protected: true})
	f.Expect(t, "DELETE", "storage/1/nas/content/nas:kept.tar", `{"confirm":"kept.tar"}`, apitest.Admin, 409, "protected")
	// A hypervisor that does not tell who uses it is no reason to delete.
	free := f.image("free.iso")
	dbtest.Exec(t, f.DB, "UPDATE guest_details SET as_of = now() - interval '61 minutes'")
	f.cluster.SetFault("config", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no answer")})
	f.Expect(t, "DELETE", free, `{"confirm":"free.iso"}`, apitest.Admin, 502, "hypervisor_error")
	f.cluster.SetFault("config", memdriver.Fault{})
	// The answer is lost after the request was taken: what is gone is deleted, and was sent for once.
	f.cluster.SetFault("deletevolume", memdriver.Fault{Late: true, Err: plugin.Errorf(plugin.Unreachable, "the line broke")})
	f.Expect(t, "DELETE", free, `{"confirm":"free.iso"}`, apitest.Admin, 202, "")
	f.ends("succeeded", "")
	sent := 0
	for _, task := range f.cluster.Tasks() {
		if task.Operation == hypervisor.OperationVolumeDelete {
			sent++
		}
	}
	if sent != 2 {
		t.Errorf("%d deletions were begun, want 2", sent)
	}
}

// Who asks for a deletion is answered by what was read of guests lately, where it says of them that they do not use the volume; the job
// asks all of them.
func TestDeleteVolumeAsksThoseThatItHasTo(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	for range 4 {
		f.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	}
	f.cluster.NewGuest(hypervisor.Container, hypervisor.GuestStopped) // has no drives
	f.sync()
	asked := func(path string) int {
		t.Helper()
		before := f.cluster.Calls("config")
		f.Expect(t, "DELETE", path+"?plan=true", "", apitest.Admin, 200, "")
		return f.cluster.Calls("config") - before
	}
	path := f.image("a.iso")
	if n := asked(path); n != 5 {
		t.Errorf("%d guests were asked of which nothing is known, want 5", n)
	}
	if n := asked(path); n != 0 {
		t.Errorf("%d guests were asked that were just read", n)
	}
	for what, change := range map[string]string{
		"old":           "UPDATE guest_details SET as_of = now() - interval '61 minutes' WHERE guest_id = 2",
		"worked on":     "UPDATE guest_details SET stale_at = now() WHERE guest_id = 2",
		"renamed":       "UPDATE guests SET name = 'renamed' WHERE id = 2",
		"never read":    "DELETE FROM guest_details WHERE guest_id = 2",
		"partly known":  "UPDATE guest_details SET partial = true WHERE guest_id = 2",
		"said to do so": "INSERT INTO guest_volumes VALUES (2, 'ide2', 'nas', 'nas:a.iso', NULL, true)",
	} {
		dbtest.Exec(t, f.DB, change)
		if n := asked(path); n != 1 {
			t.Errorf("%d guests were asked, want the one that is %s", n, what)
		}
	}
	// A change that waits for a restart may name it, and is no volume yet.
	waits := "nas:a.iso,media=cdrom"
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) { c.Pending = map[string]*string{"ide2": &waits} })
	dbtest.Exec(t, f.DB, "DELETE FROM guest_details")
	for range 2 {
		f.Expect(t, "DELETE", path, `{"confirm":"a.iso"}`, apitest.Admin, 409, "volume_in_use", `"name":"web"`)
	}
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) { c.Pending = nil })
	// So may what is no disk, such as a hook script.
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) {
		c.Files = []hypervisor.File{{Key: "hookscript", Storage: "nas", Volume: "nas:a.iso"}}
	})
	dbtest.Exec(t, f.DB, "DELETE FROM guest_details")
	for range 2 {
		f.Expect(t, "DELETE", path, `{"confirm":"a.iso"}`, apitest.Admin, 409, "volume_in_use", `"name":"web"`)
	}
	f.Expect(t, "DELETE", "storage/1/nas?plan=true", "", apitest.Owner, 200, "", "The VM web loses 1 of the scripts and snippets")
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) { c.Files = nil })
	dbtest.Exec(t, f.DB, "DELETE FROM guest_details")
	// One that uses it is enough.
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "ide2", Storage: "nas", Volume: "nas:a.iso", Removable: true})
	})
	f.Expect(t, "DELETE", path, `{"confirm":"a.iso"}`, apitest.Admin, 409, "volume_in_use", `"name":"web"`)
	dbtest.Exec(t, f.DB, "UPDATE guest_details SET as_of = now() - interval '61 minutes'")
	if n := asked(path); n != 1 {
		t.Errorf("%d guests were asked where the first has it", n)
	}
	f.cluster.ChangeConfig(f.web.ID, func(c *hypervisor.Config) { c.Disks = c.Disks[:len(c.Disks)-1] })
	f.Expect(t, "DELETE", path+"?plan=true", "", apitest.Admin, 200, "") // reads them all
	before := f.cluster.Calls("config")
	f.Expect(t, "DELETE", path, `{"confirm":"a.iso"}`, apitest.Admin, 202, "")
	f.ends("succeeded", "")
	if n := f.cluster.Calls("config") - before; n != 5 {
		t.Errorf("%d guests were asked by the request and its job, want the 5 of the job", n)
	}
}

// The plan of a detachment tells of guests by what lies on the storage and by what was read of their configurations.
func TestDetachStorageTellsWhoUsesIt(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	other := f.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.cluster.Change(other.ID, func(g *hypervisor.Guest) { g.Name = "other" })
	f.sync()
	f.Expect(t, "DELETE", "storage/1/nas?plan=true", "", apitest.Owner, 200, "", "configurations of 2 guests were not read yet")
	dbtest.Exec(t, f.DB, `INSERT INTO guest_details (guest_id, as_of) SELECT id, now() - interval '5 minutes' FROM guests
		WHERE name = 'other'`)
	dbtest.Exec(t, f.DB, `INSERT INTO guest_volumes SELECT id, key, 'nas', 'nas:' || key, NULL, key = 'ide2'
		FROM guests, unnest('{scsi1,scsi2,ide2}'::text[]) key WHERE name = 'other'`)
	plan := f.Expect(t, "DELETE", "storage/1/nas?plan=true", "", apitest.Owner, 200, "", "configuration of 1 guest was not read yet",
		"The VM other loses 2 of its disks, as of its last read", "The VM other loses the media in 1 of its drives")
	var told struct {
		Digest  string
		Effects []struct {
			Text string
			At   *time.Time
		}
	}
	plan.Decode(t, &told)
	read := dbtest.Value[time.Time](t, f.DB, "SELECT max(as_of) FROM guest_details")
	for _, e := range told.Effects {
		if strings.Contains(e.Text, "as of its last read") && (e.At == nil || e.At.Sub(read).Abs() > time.Second) {
			t.Errorf("%q is as of %v, and the configuration was read at %v", e.Text, e.At, read)
		}
	}
	// That it is read anew and is the same makes no other plan.
	dbtest.Exec(t, f.DB, "UPDATE guest_details SET as_of = now()")
	f.Expect(t, "DELETE", "storage/1/nas?plan=true", "", apitest.Owner, 200, "", told.Digest)
}

func TestDownloadToStorages(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	path := "storage/1/nas/content/download"
	for _, body := range []string{
		`{"url":"ftp://files.example.com/a.iso","content":"iso"}`, `{"url":"https://user:zqcanary@files.example.com/a.iso","content":"iso"}`,
		`{"url":"http://127.0.0.1/a.iso","content":"iso"}`, `{"url":"https://files.example.com/","content":"iso"}`,
		`{"url":"http://[::1]/a.iso","content":"iso"}`, `{"url":"http://169.254.169.254/a.iso","content":"iso"}`,
		`{"url":"https://files.example.com/a.iso","content":"iso","checksum":"12"}`,
		`{"url":"https://files.example.com/a.iso","content":"rootfs"}`,
		`{"url":"https://files.example.com/a.iso","content":"iso","checksum":"12","checksum_algorithm":"md5"}`,
		`{"url":"https://files.example.com/a.iso","content":"iso","filename":"../a.iso"}`,
	} {
		f.Expect(t, "POST", path, body, apitest.Admin, 422, "invalid")
	}
	// Addresses are read in all forms in which a resolver may read them.
	for _, server := range []string{"127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "2852039166", "0", "１２７.0.0.1",
		"127。0。0。1", "localhost.", "localhost.localdomain", "[::ffff:127.0.0.1]", "[fd00:ec2::254]:80", "0x7f.1:8006"} {
		f.Expect(t, "POST", path, `{"url":"http://`+server+`/a.iso","content":"iso"}`, apitest.Admin, 422, "invalid",
			"cannot download from this server")
	}
	f.Expect(t, "POST", path, `{"url":"https://files.example.com/a.iso?key=zqcanary-signed","content":"iso"}`, apitest.Admin, 202, "",
		`"kind":"storage.download"`)
	f.ends("succeeded", "")
	f.Expect(t, "POST", path, `{"url":"https://files.example.com/a.iso","content":"iso"}`, apitest.Admin, 409, "conflict")
	f.Expect(t, "POST", path, `{"url":"https://files.example.com/missing.iso?key=zqcanary-lost","content":"iso"}`, apitest.Admin, 202, "")
	f.ends("failed", "does not have the file: downloading https://files.example.com/missing.iso?[secret]")
	f.Expect(t, "POST", path, `{"url":"https://files.example.com/missing.iso","content":"iso"}`, apitest.Admin, 202, "")
	f.ends("failed", "does not have the file")
	// A file can be fetched again by its job, unless its address may have had a secret.
	f.Expect(t, "POST", "jobs/1/retry", "", apitest.Admin, 409, "invalid_state", "no longer known")
	f.Expect(t, "POST", "jobs/3/retry", "", apitest.Admin, 202, "", `"kind":"storage.download"`)
	f.ends("failed", "does not have the file")
	for table, column := range map[string]string{"jobs": "jobs::text", "job_events": "text", "audit": "audit::text"} {
		if n := dbtest.Value[int64](t, f.DB, "SELECT count(*) FROM "+table+" WHERE "+column+" LIKE '%zqcanary%'"); n != 0 {
			t.Errorf("the secret of a URL is in %d rows of %s", n, table)
		}
	}
}

func TestTemplatesOfStorages(t *testing.T) {
	t.Parallel()
	f := newStorage(t, endpoint.Lifecycle)
	f.Expect(t, "GET", "storage/1/nas/templates?search=tiny", "", apitest.Viewer, 200, "", "tiny-1.tar", `"present":false`)
	f.Expect(t, "POST", "storage/1/nas/templates", `{"template":"none.tar"}`, apitest.Admin, 422, "invalid")
	f.Expect(t, "POST", "storage/1/nas/templates", `{"template":"tiny-1.tar"}`, apitest.Admin, 202, "", `"kind":"storage.fetch_template"`)
	f.ends("succeeded", "")
	f.Expect(t, "GET", "storage/1/nas/templates?search=tiny", "", apitest.Viewer, 200, "", `"present":true`)
	f.Expect(t, "POST", "storage/1/nas/templates", `{"template":"tiny-1.tar"}`, apitest.Admin, 409, "conflict")
	// It can be asked for again by its job.
	f.Expect(t, "POST", "jobs/1/retry", "", apitest.Admin, 409, "conflict", "tiny-1.tar")
}

// A storage that grows says when it will be full, in the list and alone, and one of which too little is known does not.
func TestGrowthOfStorages(t *testing.T) {
	t.Parallel()
	f := newStorage(t)
	f.Expect(t, "GET", "storage", "", apitest.Viewer, 200, "", `"name":"nas"`, `"days_until_full":null`)
	f.Exec("UPDATE storages SET used = 500e9, total = 1000e9 WHERE name = 'nas'")
	for _, month := range []time.Time{time.Now(), time.Now().AddDate(0, 0, -14)} {
		if err := metric.EnsurePartitions(t.Context(), f.DB, month); err != nil {
			t.Fatal(err)
		}
	}
	// 50 and 100 GB a day
	f.Exec(`INSERT INTO metric_1h (at, target_kind, target_id, samples, disk) SELECT date_trunc('hour', now()) - n * interval '1 hour',
		'storage', s.id, 120, 600e9 - n * s.rank * 50e9 / 24 FROM (SELECT id, row_number() OVER (ORDER BY node) AS rank FROM storages
		WHERE name = 'nas') s, generate_series(0, 120) n`)
	for _, path := range []string{"storage?name=nas", "storage/1/nas"} {
		f.Expect(t, "GET", path, "", apitest.Viewer, 200, "", `"days_until_full":10`, `"days_until_full":5`)
	}
}
