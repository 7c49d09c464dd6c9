package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/backups"
	"github.com/hostler/hostler/core/api/guests"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// backupsFixture has a hypervisor in memory with host 1 and its storage of backups "nas": the VMs "web" and "db", and app 1 "files". The
// VM "web" has two backups, a day and an hour old.
type backupsFixture struct {
	*servicetest.Resource
	t       *testing.T
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
	nas     *memdriver.Archive
	refs    map[string]hypervisor.GuestRef
	// Self is how the service knows the guest that it runs in.
	Self *guest.Self
}

// newBackups gives host 1 tokens for monitoring, for backups and for what is further named.
func newBackups(t *testing.T, further ...endpoint.Capability) *backupsFixture {
	t.Helper()
	driver := memdriver.New()
	b := &backupsFixture{t: t, driver: driver, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2}),
		refs: map[string]hypervisor.GuestRef{},
		nas:  &memdriver.Archive{}}
	b.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		vms.Register(a, d.VMs)
		apps.Register(a, d.Apps)
		guests.Register(a, d.Guests)
		settings.Register(a, d.Settings)
		schedules.Register(a, d.Schedules)
		backups.Register(a, d.Backups)
	}, func(c *service.Config) {
		c.Drivers = servicetest.Drivers{Driver: driver}
		c.Self = &guest.Self{DB: c.DB}
		b.Self = c.Self
	})
	b.Self.DB = b.DB
	inventorytest.Team(t, b.DB, 2)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "nas", Archive: b.nas})
	for _, g := range []struct {
		name string
		kind hypervisor.GuestKind
	}{{"web", hypervisor.VM}, {"db", hypervisor.VM}, {"files", hypervisor.Container}} {
		b.refs[g.name] = b.cluster.NewGuest(g.kind, hypervisor.GuestStopped)
		b.cluster.Change(b.refs[g.name].ID, func(c *hypervisor.Guest) { c.Name = g.name })
	}
	b.nas.Put(b.cluster, b.refs["web"], time.Now().Add(-24*time.Hour))
	b.nas.Put(b.cluster, b.refs["web"], time.Now().Add(-time.Hour))
	b.Enrol(t, "lab", b.cluster, append([]endpoint.Capability{endpoint.Backup}, further...)...)
	b.Expect(t, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q}]}`, b.refs["files"].ID), apitest.Admin, 200, "")
	b.turn()
	return b
}

func (b *backupsFixture) sync() {
	b.t.Helper()
	b.Expect(b.t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
}

// turn lists what is due.
func (b *backupsFixture) turn() {
	b.t.Helper()
	if err := b.Backups.Turn(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// list lists all storages again. A turn skips a storage that another listing has locked to judge its backups; the next one lists it.
func (b *backupsFixture) list() {
	b.t.Helper()
	b.Exec("UPDATE backup_storages SET tried_at = NULL")
	for before, left := "", "all"; left != before; {
		b.turn()
		before, left = left, b.Value("SELECT count(*) FROM backup_storages WHERE tried_at IS NULL")
	}
}

// vm is the id of a VM.
func (b *backupsFixture) vm(name string) string {
	return b.Value("SELECT id FROM guests WHERE name = '" + name + "'")
}

// backup is the id of the newest backup of a guest.
func (b *backupsFixture) backup(name string) string {
	return b.Value("SELECT id FROM backups WHERE name = '" + name + "' ORDER BY taken_at DESC LIMIT 1")
}

// idle ends all jobs, which never begin here.
func (b *backupsFixture) idle() { b.Exec("UPDATE jobs SET status = 'failed'") }

func TestListOfBackups(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	web := b.vm("web")
	both := `"vm_id":` + web + `,"app_id":null,"name":"web"`
	b.Expect(t, "GET", "backups", "", nil, 401, "unauthenticated")
	b.Expect(t, "GET", "backups", "", apitest.Viewer, 200, "", `"storage":"nas"`, both, `"protected":false`, `"verified":null`)
	for _, query := range []string{"host=1", "vm=" + web, "storage=nas", "guest_ref=" + string(b.refs["web"].ID), "page=1&per_page=2"} {
		b.Expect(t, "GET", "backups?"+query, "", apitest.Viewer, 200, "", both)
	}
	for _, query := range []string{"host=2", "vm=99", "app=1", "storage=other", "guest_ref=none", "page=2", "app=9"} {
		b.Expect(t, "GET", "backups?"+query, "", apitest.Viewer, 200, "", "[]")
	}
	b.Expect(t, "GET", "backups?vm=0", "", apitest.Viewer, 422, "invalid")
	b.Expect(t, "GET", "backups?per_page=501", "", apitest.Viewer, 422, "invalid")
	for _, url := range []string{"backups", "backups/storages", "backups/coverage"} {
		b.Run(t, apitest.Scenario{Name: "another team's " + url, Method: "GET", URL: "/api/v1/" + url, As: foreign, Status: 200,
			Contains: []string{"[]"}, Lacks: []string{"web", "nas"}})
	}
	b.Expect(t, "GET", "guests", "", apitest.Viewer, 200, "", `"backup_at":"`, `"backup_at":null`)
	b.Expect(t, "GET", "backups?orphaned=true", "", apitest.Viewer, 200, "", "[]")
	b.Exec("UPDATE backups SET guest_id = NULL WHERE guest_id = " + web)
	b.Expect(t, "GET", "backups?orphaned=true", "", apitest.Viewer, 200, "", `"vm_id":null,"app_id":null,"name":"web"`)
}

// What is no longer there goes, with its id; what stays keeps its id. A failure leaves what is known, and says since when and why.
func TestListingBackupsAnew(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	id := b.backup("web")
	b.nas.Put(b.cluster, b.refs["files"], time.Now())
	b.turn()
	if n := b.Value("SELECT count(*) FROM backups"); n != "2" {
		t.Errorf("%s backups before the hour is over", n)
	}
	b.list()
	b.Expect(t, "GET", "backups?app=1", "", apitest.Viewer, 200, "", `"vm_id":null,"app_id":1,"name":"files"`)
	b.cluster.SetFault("backups", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.list()
	b.Expect(t, "GET", "backups/storages", "", apitest.Viewer, 200, "", `"name":"nas","backups":3`, `"error":"hypervisor_error"`, "no route")
	if now := b.backup("web"); now != id {
		t.Errorf("the backup %s was %s", now, id)
	}
	b.cluster.SetFault("backups", memdriver.Fault{})
	b.list()
	b.Expect(t, "GET", "backups/storages", "", apitest.Viewer, 200, "", `"node":null,"name":"nas","backups":3`, `"error":null,"detail":""`)
	b.Exec("DELETE FROM host_credentials WHERE capability = 'backup'")
	b.list()
	b.Expect(t, "GET", "backups/storages", "", apitest.Viewer, 200, "", `"error":"capability_missing"`)
	b.Expect(t, "PATCH", "backups/"+id, `{"protected":true}`, apitest.Operator, 409, "capability_missing")
}

// A guest that got the id of one that is gone is not taken for it where identities tell them apart, and the old name stays.
func TestOwnerOfABackup(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	b.Exec("UPDATE backups SET uid = 'a-lasting-one'")
	b.Exec("UPDATE guests SET uid = 'another' WHERE name = 'web'")
	b.Exec("UPDATE backups SET guest_id = NULL")
	b.turn()
	b.Expect(t, "GET", "backups", "", apitest.Viewer, 200, "", `"vm_id":null,"app_id":null,"name":"web"`)
	b.Exec("UPDATE guests SET uid = 'a-lasting-one', ref = 'renamed', name = 'renamed' WHERE name = 'web'")
	b.turn()
	b.Expect(t, "GET", "backups", "", apitest.Viewer, 200, "", `"name":"renamed"`)
	b.Exec("DELETE FROM guests WHERE name = 'renamed'")
	b.Expect(t, "GET", "backups", "", apitest.Viewer, 200, "", `"vm_id":null,"app_id":null,"name":"renamed"`)
}

// A backup of a guest that is gone keeps its name, and is not taken for one of the guest that got its id: it neither covers that nor is
// put in its place. A guest that comes back under the name has it again.
func TestBackupsOfAnIDThatIsReused(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	one, ref := "backups/"+b.backup("web"), b.refs["web"].ID
	b.Exec("DELETE FROM guests WHERE name = 'web'")
	b.cluster.Change(ref, func(g *hypervisor.Guest) { g.Name = "payroll" })
	b.sync()
	for range 2 { // when guests are looked for, and when the storage is listed
		b.turn()
		b.Expect(t, "GET", "backups", "", apitest.Viewer, 200, "", `"vm_id":null,"app_id":null,"name":"web"`)
		b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"name":"payroll"`,
			`"backup_id":null,"backup_at":null,"storage":null,"age_s":null,"max_age_days":7,"state":"stale"`)
		b.Expect(t, "POST", one+"/restore", `{"over":true,"confirm":"payroll"}`, apitest.Admin, 409, "invalid_state",
			"guest web no longer exists")
		b.list()
	}
	b.cluster.Change(ref, func(g *hypervisor.Guest) { g.Name = "web" })
	b.sync()
	b.turn()
	b.Expect(t, "GET", "backups?vm="+b.vm("web"), "", apitest.Viewer, 200, "", `"name":"web"`)
	// Of a guest that a job has made anew they are not, whatever it is called.
	b.Exec("UPDATE backups SET superseded = true, guest_id = NULL")
	b.turn()
	b.list()
	b.Expect(t, "GET", "backups", "", apitest.Viewer, 200, "", `"vm_id":null,"app_id":null,"name":"web"`)
	// What has the id of another guest's backup is another backup.
	b.Exec("UPDATE backups SET guest_ref = 'other'")
	b.list()
	b.Expect(t, "GET", "backups?vm="+b.vm("web"), "", apitest.Viewer, 200, "", `"name":"web"`)
}

func TestBackupCoverage(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	state := func(name string) string {
		t.Helper()
		all, _, err := b.Backups.Coverage(t.Context(), backup.CoverageFilter{}, identity.VisibleTeams{All: true, Teams: []int64{}}, 0, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.Name == name {
				return c.State
			}
		}
		return ""
	}
	check := func(name, want string) {
		t.Helper()
		if got := state(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	check("web", "covered")
	check("db", "stale")
	// Templates are promised nothing without a tag, as schedules do not select them.
	b.Exec("UPDATE guests SET template = true WHERE name = 'db'")
	check("db", "exempt")
	b.Exec("UPDATE guests SET tags = '{backup-30d}' WHERE name = 'db'")
	check("db", "stale")
	b.Exec("UPDATE guests SET template = false WHERE name = 'db'")
	b.Exec("UPDATE guests SET tags = '{backup-none}' WHERE name = 'db'")
	check("db", "exempt")
	b.nas.Change(func(k *hypervisor.Backup) { k.TakenAt = k.TakenAt.Add(-48 * time.Hour) })
	b.list()
	check("web", "covered")
	b.Exec("UPDATE guests SET tags = '{x,backup-30d,backup-2d,backup-0d,backup-xd}' WHERE name = 'web'")
	check("web", "stale")
	b.Exec("UPDATE guests SET tags = '{backup-3d}' WHERE name = 'web'")
	check("web", "covered")
	b.Expect(t, "GET", "backups/coverage?stale=true", "", apitest.Viewer, 200, "", `"name":"files"`, `"max_age_days":7,"state":"stale"`)
	b.Exec("UPDATE guests SET tags = '{}'")
	b.Expect(t, "PATCH", "settings", `{"backup.max_age_days":1}`, apitest.Admin, 200, "")
	check("web", "stale")
	b.nas.Change(func(k *hypervisor.Backup) { k.TakenAt, k.Verified = time.Now(), hypervisor.BackupDamaged })
	b.list()
	b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"backup_id":null,"backup_at":null,"storage":null,"age_s":null`)
	b.Expect(t, "GET", "backups?vm="+b.vm("web"), "", apitest.Viewer, 200, "", `"verified":"failed"`)
	b.Exec("UPDATE backup_storages SET as_of = NULL")
	check("web", "unknown")
	_, total, err := b.Backups.Coverage(t.Context(), backup.CoverageFilter{}, identity.VisibleTeams{All: true, Teams: []int64{}}, 500, 50)
	if err != nil || total != 3 {
		t.Errorf("%d guests in all, %v", total, err)
	}
}

// A backup without content and one of a time that has not come are shown and do not count.
func TestSuspiciousBackups(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	web := b.vm("web")
	for name, c := range map[string]struct {
		change func(*hypervisor.Backup)
		says   string
	}{
		"unfinished": {func(k *hypervisor.Backup) { k.SizeBytes = new(int64(1)) }, "The backup is empty"},
		"in_future":  {func(k *hypervisor.Backup) { k.TakenAt = time.Unix(2082758400, 0) }, "The backup is dated in the future"},
	} {
		b.nas.Change(func(k *hypervisor.Backup) { // as they were
			k.SizeBytes, k.TakenAt = new(int64(1<<30)), time.Now().Add(-time.Hour)
		})
		b.list()
		b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"max_age_days":7,"state":"covered"`)
		b.Expect(t, "GET", "backups?vm="+web, "", apitest.Viewer, 200, "", `"suspicion":null`)
		b.nas.Change(c.change)
		b.list()
		b.Run(t, apitest.Scenario{Name: name, Method: "GET", URL: "/api/v1/backups/coverage", As: apitest.Viewer, Status: 200,
			Lacks: []string{`"covered"`, `"age_s":-`}})
		b.Run(t, apitest.Scenario{Name: name + " of guests", Method: "GET", URL: "/api/v1/guests", As: apitest.Viewer, Status: 200,
			Lacks: []string{`"backup_at":"`}})
		b.Expect(t, "GET", "backups?vm="+web, "", apitest.Viewer, 200, "", `"suspicion":"`+name+`"`)
		one := "backups/" + b.backup("web")
		b.Expect(t, "POST", one+"/restore?plan=true", `{"over":true}`, apitest.Admin, 200, "", c.says)
		b.Expect(t, "POST", one+"/restore?plan=true", `{}`, apitest.Admin, 200, "", c.says)
		b.Expect(t, "DELETE", one+"?plan=true", "", apitest.Admin, 200, "", "the last known good backup of web")
	}
}

// Where two clusters list the same backup, it counts for the guest that something shows it to be of.
func TestBackupsThatTwoClustersList(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	other := b.driver.Add("other.mem:8006", memdriver.Spec{Nodes: 1})
	other.AddStorage(memdriver.StorageSpec{Name: "vault", Archive: b.nas})
	shop := other.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	if shop.ID != b.refs["web"].ID {
		t.Fatalf("the guests have the ids %s and %s", shop.ID, b.refs["web"].ID)
	}
	other.Change(shop.ID, func(g *hypervisor.Guest) { g.Name = "shop" })
	check := func(name, want string) {
		t.Helper()
		got := b.Value(`SELECT string_agg(DISTINCT COALESCE(x.suspicion, 'counts'), ' ') FROM (SELECT name, ` + guest.BackupSuspicion +
			` AS suspicion FROM backups b) x WHERE name = '` + name + `'`)
		state := map[string]string{"counts": "covered", guest.BackupOfUnknown: "stale"}[want]
		b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"name":"`+name+`"`, `"state":"`+state+`"`)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	check("web", "counts")
	b.Enrol(t, "elsewhere", other, endpoint.Backup)
	b.turn()
	check("shop", guest.BackupOfUnknown)
	check("web", guest.BackupOfUnknown) // without it being listed again
	b.nas.Change(func(k *hypervisor.Backup) { k.Notes = "nightly, Web" })
	b.list()
	check("web", "counts")
	check("shop", guest.BackupOfUnknown)
	of := "backups/" + b.backup("shop")
	b.Expect(t, "POST", of+"/restore?plan=true", `{"over":true}`, apitest.Admin, 200, "",
		`it is not certain that it belongs to shop. Its notes are: \"nightly, Web\".`)
	b.Exec(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, started_at, finished_at)
		SELECT 'backup.run', 'succeeded', 1, 2, 'vm', id, name, now() - interval '25 hours', now() FROM guests WHERE name = 'shop'`)
	b.list()
	check("shop", "counts")
	b.nas.Change(func(k *hypervisor.Backup) { k.Notes = "webshop" }) // which names neither
	b.list()
	check("web", guest.BackupOfUnknown)
}

// Guests of one cluster that two teams have enrolled are locked for both.
func TestJobsOnAClusterOfTwoTeams(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	other := b.driver.Add("other.mem:8006", memdriver.Spec{Nodes: 1})
	other.AddStorage(memdriver.StorageSpec{Name: "nas", Archive: b.nas})
	twin := other.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	other.Change(twin.ID, func(g *hypervisor.Guest) { g.Name = "twin" })
	b.Enrol(t, "elsewhere", other, endpoint.Backup)
	b.turn()
	backUp := func(name string, says ...string) {
		t.Helper()
		b.Expect(t, "POST", "backups/run", `{"targets":[{"vm":`+b.vm(name)+`}],"storage":"nas"}`, apitest.Operator, 202, "", says...)
	}
	backUp("twin", `"kind":"backup.run"`)
	backUp("web", `"kind":"backup.run"`) // of another cluster
	b.idle()
	// The other cluster says that it is the same, with the certificate of a node of the first one. That keeps nobody's jobs waiting.
	b.Exec(`UPDATE clusters SET team_id = id, name = 'same', ident = 'same'`)
	b.Exec("UPDATE hosts SET entry_node = 'node' || id")
	b.Exec("UPDATE nodes SET fingerprint = (SELECT tls_fingerprint FROM hosts WHERE id = 1), address = '' WHERE name = 'node1'")
	backUp("twin", `"kind":"backup.run"`)
	backUp("web", `"kind":"backup.run"`)
	b.idle()
	// The first one also knows the certificate that the other one's host has shown.
	b.Exec("UPDATE nodes SET fingerprint = (SELECT tls_fingerprint FROM hosts WHERE id = 2) WHERE cluster_id = 1 AND name = 'node2'")
	backUp("twin", `"kind":"backup.run"`)
	backUp("web", `"jobs":[]`, `"error":"guest_busy"`, "another team has enrolled the same cluster")
	b.idle()
	backUp("web", `"kind":"backup.run"`)
	// An id that the other team's job makes a guest of is taken as well.
	b.idle()
	b.Expect(t, "POST", "backups/"+b.backup("web")+"/restore", `{"newid":900}`, apitest.Admin, 202, "", `"vmid":900`)
	b.Expect(t, "POST", "backups/"+b.backup("twin")+"/restore", `{"newid":900}`, apitest.Admin, 409, "guest_busy")
}

// leaveOut gives the VM "web" a disk and the container "files" a mount point that backups leave out, a directory of the node, and both a
// disk that they do not use.
func (b *backupsFixture) leaveOut() {
	size := int64(200)
	b.cluster.ChangeConfig(b.refs["web"].ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "scsi1", Storage: "local", Volume: "local:scratch", SizeGB: &size, LeftOut: true},
			hypervisor.Disk{Key: "unused0", Storage: "local", Volume: "local:old", Unused: true, LeftOut: true})
	})
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks,
			hypervisor.Disk{Key: "mp0", Path: "/srv/data", Storage: "local", Volume: "local:data", SizeGB: &size, LeftOut: true},
			hypervisor.Disk{Key: "mp1", Path: "/media", Local: true, LeftOut: true},
			hypervisor.Disk{Key: "unused0", Storage: "local", Volume: "local:spare", Unused: true, LeftOut: true})
	})
}

// read reads the configurations of all guests.
func (b *backupsFixture) read() {
	b.t.Helper()
	reader := &guest.DetailReader{DB: b.DB, Hosts: b.Hosts}
	const read = "SELECT count(*) FROM guest_details WHERE as_of > stale_at OR as_of IS NOT NULL AND stale_at IS NULL"
	waittest.Until(b.t, "all configurations are read", func() bool {
		b.Exec("UPDATE clusters SET next_detail_at = now()")
		if err := reader.Turn(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		return b.Value(read) == fmt.Sprint(len(b.refs))
	})
}

// Coverage, plans of backups and the report name what backups leave out.
func TestVolumesThatBackupsLeaveOut(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	b.leaveOut()
	b.nas.Put(b.cluster, b.refs["files"], time.Now())
	b.list()
	b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"state":"covered","left_out":[],"volumes_as_of":null`)
	b.Expect(t, "POST", "backups/run?plan=true", `{"targets":[{"vm":`+b.vm("web")+`}],"storage":"nas"}`, apitest.Operator, 200, "",
		"The configuration of web has not been read yet, so its backup may not include all volumes.")
	b.read()
	b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "",
		`"state":"partial","left_out":[{"key":"scsi1","path":null,"storage":"local","volume":"local:scratch","size_gb":200,`+
			`"included_at":null}],"volumes_as_of":"`,
		`"state":"partial","left_out":[{"key":"mp0","path":"/srv/data","storage":"local","volume":"local:data","size_gb":200,`+
			`"included_at":null},{"key":"mp1","path":"/media","storage":null,"volume":null,"size_gb":null,"included_at":null}]`,
		`"state":"stale","left_out":[],"volumes_as_of":"`)
	b.Run(t, apitest.Scenario{Name: "unused disks", Method: "GET", URL: "/api/v1/backups/coverage", As: apitest.Viewer, Status: 200,
		Lacks: []string{"unused0"}})
	b.Run(t, apitest.Scenario{Name: "stale ones", Method: "GET", URL: "/api/v1/backups/coverage?stale=true", As: apitest.Viewer, Status: 200,
		Lacks: []string{`"partial"`}})
	b.Expect(t, "POST", "backups/run?plan=true", `{"targets":[{"vm":`+b.vm("web")+`},{"app":1}],"storage":"nas"}`, apitest.Operator, 200, "",
		"The backup of web does not include scsi1 (200 GiB).", "The backup of files does not include mp0 (/srv/data, 200 GiB) and mp1 (/media).",
		`"text":"The list of the volumes of web was last read at this time.","name":"web","size_bytes":null,"at":"2`)
	// A volume that is included from now on is not in the backups from before, and not left out of the next one.
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) { c.Disks[1].LeftOut = false })
	for range 2 {
		b.Exec("UPDATE guest_details SET stale_at = now()")
		b.read()
		b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "",
			`"state":"partial","left_out":[{"key":"mp0","path":"/srv/data","storage":"local","volume":"local:data","size_gb":200,"included_at":"`)
	}
	b.Expect(t, "POST", "backups/run?plan=true", `{"targets":[{"app":1}],"storage":"nas"}`, apitest.Operator, 200, "",
		"The backup of files does not include mp1 (/media).")
	// What only directories of the node are left out of is covered. Backups tell their time in whole seconds.
	b.nas.Put(b.cluster, b.refs["files"], time.Now().Add(time.Second))
	b.list()
	b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"state":"covered","left_out":[{"key":"mp1"`)
	// What a release read that did not ask for it is not known.
	b.Exec("UPDATE guest_volumes SET left_out = NULL WHERE key = 'scsi0'")
	b.Expect(t, "GET", "backups/coverage", "", apitest.Viewer, 200, "", `"left_out":[],"volumes_as_of":null`)
}

func TestProtectBackup(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	one := "backups/" + b.backup("web")
	b.Expect(t, "PATCH", one, `{"protected":true}`, apitest.Viewer, 403, "forbidden")
	b.Expect(t, "PATCH", one, `{"protected":true}`, foreign, 404, "not_found")
	b.Expect(t, "PATCH", "backups/99", `{"protected":true}`, apitest.Operator, 404, "not_found")
	b.Expect(t, "PATCH", one, `{}`, apitest.Operator, 422, "invalid")
	b.Expect(t, "PATCH", one, `{"protected":true}`, apitest.Operator, 200, "", `"protected":true`)
	if all := b.nas.Backups(); !all[1].Protected || all[0].Protected {
		t.Errorf("%+v", all)
	}
	b.Expect(t, "PATCH", one, `{"protected":false}`, apitest.Operator, 200, "", `"protected":false`)
	b.cluster.SetFault("protectbackup", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.Expect(t, "PATCH", one, `{"protected":true}`, apitest.Operator, 502, "hypervisor_error")
	if got := b.Value("SELECT string_agg(result || ' ' || (details->>'protected'), ', ' ORDER BY id) FROM audit WHERE action = " +
		"'backup.update' " +
		"AND target_name = 'web' AND result <> 'refused'"); !strings.HasPrefix(got, "ok true, ok false") {
		t.Errorf("the audit log: %s", got)
	}
}

// asked is what the newest job was asked for.
func (b *backupsFixture) asked() string {
	return b.Value("SELECT kind || ' ' || target_kind || ' ' || target_name || ' ' || coalesce(exclusive, '') FROM jobs ORDER BY id " +
		"DESC LIMIT 1")
}

func TestRunBackups(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	web := b.vm("web")
	body := func(more string) string { return `{"targets":[{"vm":` + web + `},{"app":1}]` + more + `}` }
	b.Expect(t, "POST", "backups/run", body(""), apitest.Viewer, 403, "forbidden")
	b.Expect(t, "POST", "backups/run", body(""), foreign, 202, "", `"jobs":[]`, `"error":"not_found"`)
	b.Expect(t, "POST", "backups/run?plan=true", body(""), foreign, 200, "", `"blockers":[]`,
		"Every target is skipped, so no job starts.")
	for _, wrong := range []string{`{}`, `{"targets":[]}`, `{"targets":[{}]}`, `{"targets":[{"vm":1,"app":1}]}`,
		`{"targets":[{"vm":1},{"vm":1}]}`,
		body(`,"mode":"quick"`), body(`,"compress":"rar"`), body(`,"storage":"local"`), body(`,"storage":"none"`), body(`,"notes":7`),
		body(`,"storage":"../etc"`)} {
		b.Expect(t, "POST", "backups/run", wrong, apitest.Operator, 422, "invalid")
	}
	b.Expect(t, "POST", "backups/run?plan=true", body(""), apitest.Operator, 200, "", `"kind":"backup"`, `web is backed up to nas.`)
	b.Expect(t, "POST", "backups/run", body(`,"mode":"snapshot","compress":"zstd","notes":"before","protected":true`), apitest.Operator, 202,
		"",
		`"kind":"backup.run"`,
		`"params":{"compress":"zstd","mode":"snapshot","notes":"before","protected":true,"targets":[{"vm":`+web+`}]}`,
		`"skipped":[]`)
	if got := b.asked(); !strings.HasPrefix(got, "backup.run ") || !strings.Contains(got, " guest:") {
		t.Errorf("the job %s", got)
	}
	b.Expect(t, "POST", "backups/run", body(""), apitest.Operator, 202, "", `"jobs":[]`, `"error":"guest_busy"`)
	b.idle()
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "second", Archive: &memdriver.Archive{}})
	b.sync()
	b.Expect(t, "POST", "backups/run", body(""), apitest.Operator, 422, "invalid", "specify one")
	b.Expect(t, "POST", "backups/run", body(`,"storage":"second"`), apitest.Operator, 202, "", `"storage":"second"`)
	b.idle()
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "second", Archive: &memdriver.Archive{}, Away: true})
	b.sync()
	b.Expect(t, "POST", "backups/run", body(`,"storage":"second"`), apitest.Operator, 422, "invalid", "not available")
	// Where the service itself runs, a guest is not stopped without its name.
	b.Expect(t, "PATCH", "settings", `{"self.host_id":1}`, apitest.Admin, 200, "")
	b.Self.Hostname = "web"
	stop := `{"targets":[{"vm":` + web + `}],"storage":"nas","mode":"stop"`
	b.Expect(t, "POST", "backups/run", stop+`}`, apitest.Operator, 202, "", `"jobs":[]`, `"error":"self_target"`)
	b.Expect(t, "POST", "backups/run", stop+`,"confirm":"web"}`, apitest.Operator, 202, "", `"skipped":[]`)
	b.idle()
	b.Exec("DELETE FROM host_credentials WHERE capability = 'backup'")
	b.Expect(t, "POST", "backups/run", body(`,"storage":"nas"`), apitest.Operator, 202, "", `"jobs":[]`, `"error":"capability_missing"`)
}

func TestDeleteBackup(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	one := "backups/" + b.backup("web")
	b.Expect(t, "DELETE", one, "", apitest.Operator, 403, "forbidden")
	b.Expect(t, "DELETE", one, "", foreign, 404, "not_found")
	b.Expect(t, "DELETE", "backups/99", "", apitest.Admin, 404, "not_found")
	b.Expect(t, "DELETE", one+"?plan=true", "", apitest.Admin, 200, "", `"kind":"backup","text":"The backup of web on nas is deleted."`,
		`1 good backup of the guest remains.`, `"confirm_phrase":"web"`)
	b.Expect(t, "DELETE", one, `{"confirm":"db"}`, apitest.Admin, 409, "confirm_required", `"confirm_phrase":"web"`)
	b.nas.Change(func(k *hypervisor.Backup) { k.Protected = true })
	b.Expect(t, "DELETE", one, `{"confirm":"web"}`, apitest.Admin, 409, "protected")
	b.Expect(t, "DELETE", one+"?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"protected"`)
	b.nas.Change(func(k *hypervisor.Backup) { k.Protected = false })
	b.cluster.SetFault("backups", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.Expect(t, "DELETE", one, `{"confirm":"web"}`, apitest.Admin, 502, "hypervisor_error")
	b.cluster.SetFault("backups", memdriver.Fault{})
	b.Expect(t, "DELETE", one, `{"confirm":"web"}`, apitest.Admin, 202, "", `"kind":"backup.delete"`, `"target":{"kind":"backup"`)
	b.Expect(t, "DELETE", one, `{"confirm":"web"}`, apitest.Admin, 409, "guest_busy")
	b.idle()
	b.Exec("UPDATE backups SET name = '', guest_id = NULL")
	b.Expect(t, "DELETE", one, `{}`, apitest.Admin, 409, "confirm_required", fmt.Sprintf(`"confirm_phrase":%q`, b.refs["web"].ID))
	b.Exec("UPDATE backups SET ref = 'nas:gone' WHERE id = " + strings.TrimPrefix(one, "backups/"))
	b.Expect(t, "DELETE", one, `{}`, apitest.Admin, 404, "not_found")
}

func TestRestoreBackupToANewID(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	back := "backups/" + b.backup("web") + "/restore"
	b.Expect(t, "POST", back, "", apitest.Operator, 403, "forbidden")
	b.Expect(t, "POST", back, "", foreign, 404, "not_found")
	b.Expect(t, "POST", back+"?plan=true", "", apitest.Admin, 200, "", `is created from the backup of web on node`, `"confirm_phrase":null`)
	for _, wrong := range []string{`{"newid":0}`, `{"newid":1}`, `{"node":"none"}`, `{"storage":"nas"}`, `{"storage":"none"}`,
		`{"name":"-"}`,
		`{"unknown":1}`, `{"over":1}`} {
		b.Expect(t, "POST", back, wrong, apitest.Admin, 422, "invalid")
	}
	b.Expect(t, "POST", back, fmt.Sprintf(`{"newid":%s}`, b.refs["db"].ID), apitest.Admin, 422, "invalid", `["body","newid"]`, "is taken")
	b.Expect(t, "POST", back, `{"start":true}`, apitest.Admin, 409, "capability_missing", `"lifecycle"`)
	b.Expect(t, "POST", back+"?plan=true", `{"start":true}`, apitest.Admin, 200, "", `"blockers":[{"error":"capability_missing"`)
	b.Expect(t, "POST", back, `{"newid":900}`, apitest.Admin, 202, "", `"kind":"backup.restore"`, `"vmid":900,"guest_ref":"900"`,
		`"target":{"kind":"backup"`, `"params":{"newid":900}`)
	if got := b.Value("SELECT params->'spec'->>'NewIdentity' FROM jobs ORDER BY id DESC LIMIT 1"); got != "true" {
		t.Errorf("new MAC addresses beside the one that is there: %s", got)
	}
	b.Expect(t, "POST", back, `{"newid":900}`, apitest.Admin, 422, "invalid", `["body","newid"]`, "reserved by a job")
	for body, want := range map[string]string{`{"newid":901}`: "web ", `{"newid":902,"name":"web2"}`: "web2 web2"} {
		b.Expect(t, "POST", back, body, apitest.Admin, 202, "")
		if got := b.Value("SELECT concat(params->>'name', ' ', params->'spec'->>'Name') FROM jobs ORDER BY id DESC LIMIT 1"); got != want {
			t.Errorf("%s: the job knows the guest by its name, and sends the name: %q, want %q", body, got, want)
		}
	}
	b.idle()
	b.Exec("DELETE FROM guests WHERE name = 'web'")
	b.Expect(t, "POST", back, `{"storage":"local"}`, apitest.Admin, 202, "", `"params":{"storage":"local"}`)
	if got := b.Value("SELECT params->'spec'->>'NewIdentity' FROM jobs ORDER BY id DESC LIMIT 1"); got != "false" {
		t.Errorf("new MAC addresses for one that is gone: %s", got)
	}
	b.Expect(t, "POST", back, `{"over":true}`, apitest.Admin, 409, "invalid_state", "no longer exists")
	b.Expect(t, "POST", back+"?plan=true", `{"over":true}`, apitest.Admin, 200, "", `"blockers":[{"error":"invalid_state"`)
	b.Exec("DELETE FROM host_credentials WHERE capability = 'backup'")
	b.Expect(t, "DELETE", strings.TrimSuffix(back, "/restore")+"?plan=true", "", apitest.Admin, 200, "",
		`"blockers":[{"error":"capability_missing"`)
}

// restoreOverLeftOut tests that a restore over a guest does not destroy volumes that are not in the backup.
func (b *backupsFixture) restoreOverLeftOut() {
	b.t.Helper()
	b.leaveOut()
	b.nas.Put(b.cluster, b.refs["files"], time.Now().Add(-40*time.Minute))
	b.list()
	for _, body := range []string{`{}`, `{"over":true}`} {
		path := "backups/" + b.backup("files") + "/restore"
		b.Expect(b.t, "POST", path, body, apitest.Admin, 409, "invalid_state", "cannot restore files: it has mp1, a directory of the node")
		b.Expect(b.t, "POST", path+"?plan=true", body, apitest.Admin, 200, "",
			`"blockers":[{"error":"invalid_state","detail":"cannot restore files`)
	}
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) {
		c.Disks = slices.DeleteFunc(c.Disks, func(d hypervisor.Disk) bool { return d.Local })
	})
	b.nas.Put(b.cluster, b.refs["web"], time.Now().Add(-30*time.Minute))
	b.nas.Put(b.cluster, b.refs["files"], time.Now().Add(-30*time.Minute))
	b.list()
	// Of a VM the hypervisor keeps it.
	web := "backups/" + b.backup("web") + "/restore"
	b.Expect(b.t, "POST", web+"?plan=true", `{"over":true}`, apitest.Admin, 200, "", `"blockers":[]`,
		"The disk scsi0 on the storage local is replaced.",
		"The disk scsi1 on the storage local is kept as an unused disk: it is not in the backup.",
		"The unused disk unused0 on the storage local is kept as an unused disk",
		"Not in the backup, so not attached to the restored guest: scsi1 (200 GiB).")
	b.Expect(b.t, "POST", web, `{"over":true,"confirm":"web"}`, apitest.Admin, 202, "")
	b.idle()
	b.Expect(b.t, "POST", web+"?plan=true", "", apitest.Admin, 200, "", `"blockers":[]`,
		"Not in the backup, so not attached to the restored guest: scsi1 (200 GiB).")
	b.Expect(b.t, "POST", web, "", apitest.Admin, 202, "")
	b.idle()
	// Of a container it destroys all volumes.
	files := "backups/" + b.backup("files") + "/restore"
	b.Expect(b.t, "POST", files+"?plan=true", `{"over":true}`, apitest.Admin, 200, "",
		`"blockers":[{"error":"volumes_not_in_backup","detail":"cannot restore over files: `+
			`the restore would destroy mp0 (/srv/data, 200 GiB) and unused0, and the backup`,
		"The disk rootfs on the storage local is replaced.",
		"The disk mp0 (/srv/data) on the storage local is destroyed with all its data: it is not in the backup.")
	b.Expect(b.t, "POST", files, `{"over":true,"confirm":"files"}`, apitest.Admin, 409, "volumes_not_in_backup")
	b.Expect(b.t, "POST", files+"?plan=true", "", apitest.Admin, 200, "", `"blockers":[]`,
		"Not in the backup, so empty in the restored guest: mp0 (/srv/data, 200 GiB).")
	b.Expect(b.t, "POST", files, "", apitest.Admin, 202, "")
	b.idle()
	// What counts is the backup, and not what one would have that is made now.
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) { c.Disks[1].LeftOut, c.Disks = false, c.Disks[:2] })
	b.Expect(b.t, "POST", files, `{"over":true,"confirm":"files"}`, apitest.Admin, 409, "volumes_not_in_backup",
		"would destroy mp0 (/srv/data, 200 GiB), and the backup does not contain that data")
	b.nas.Put(b.cluster, b.refs["files"], time.Now().Add(-time.Minute))
	b.list()
	b.Expect(b.t, "POST", "backups/"+b.backup("files")+"/restore", `{"over":true,"confirm":"files"}`, apitest.Admin, 202, "")
	judged := "SELECT params->'spec'->'Judged'->>'volumes' FROM jobs ORDER BY id DESC LIMIT 1"
	if got := b.Value(judged); !strings.Contains(got, "local:data") {
		b.t.Errorf("the job was judged by the volumes %s", got)
	}
	b.idle()
	// A backup that cannot be read is restored beside, and not over.
	b.cluster.SetFault("backupcontent", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.Expect(b.t, "POST", files+"?plan=true", "", apitest.Admin, 200, "", "The hypervisor did not answer")
	b.Expect(b.t, "POST", files, "", apitest.Admin, 202, "")
	b.idle()
	b.Expect(b.t, "POST", files, `{"over":true,"confirm":"files"}`, apitest.Admin, 502, "hypervisor_error")
	b.cluster.SetFault("backupcontent", memdriver.Fault{})
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) { c.Disks = c.Disks[:1] })
}

func TestRestoreBackupOver(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	back := "backups/" + b.backup("web") + "/restore"
	b.Expect(t, "POST", back, `{"over":true}`, apitest.Admin, 409, "confirm_required", `"confirm_phrase":"web"`,
		`All data that web has written since the backup was taken is lost.`)
	b.Expect(t, "POST", back+"?plan=true", `{"over":true}`, apitest.Admin, 200, "", `"kind":"data"`, `"kind":"disk"`,
		`"kind":"backup","text":"A backup on nas remains."`)
	for hours := range 3 {
		b.nas.Put(b.cluster, b.refs["web"], time.Now().Add(-time.Duration(30+hours)*time.Hour))
	}
	b.list()
	b.Run(t, apitest.Scenario{Name: "several backups", Method: "POST", URL: "/api/v1/" + back + "?plan=true", As: apitest.Admin,
		Body: `{"over":true}`, Status: 200, Contains: []string{`"kind":"backup","text":"4 backups on nas remain."`},
		Lacks: []string{"A backup on"}})
	b.Expect(t, "POST", back, `{"over":true,"newid":900,"name":"x","node":"y","new_identity":true}`, apitest.Admin, 422, "invalid",
		`"newid"`, `"name"`,
		`"node"`, `"new_identity"`)
	b.Expect(t, "POST", back, `{"over":true,"storage":"none","confirm":"web"}`, apitest.Admin, 422, "invalid", `"storage"`)
	b.Expect(t, "POST", back+"?plan_digest=0000000000000000", `{"over":true,"confirm":"web"}`, apitest.Admin, 409, "plan_stale")
	b.cluster.ChangeConfig(b.refs["web"].ID, func(c *hypervisor.Config) { c.Protected = true })
	b.Expect(t, "POST", back, `{"over":true,"confirm":"web"}`, apitest.Admin, 409, "protected")
	b.cluster.ChangeConfig(b.refs["web"].ID, func(c *hypervisor.Config) { c.Protected = false })
	b.Exec("UPDATE guests SET status = 'running' WHERE name = 'web'")
	b.Expect(t, "POST", back, `{"over":true,"confirm":"web"}`, apitest.Admin, 409, "guest_running")
	b.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'web'")
	b.Expect(t, "POST", back, `{"over":true,"confirm":"web"}`, apitest.Admin, 202, "", `"kind":"backup.restore"`, `"target":{"kind":"backup"`,
		`"params":{"over":true}`)
	if got := b.asked(); got != "backup.restore backup web guest:"+b.vm("web") {
		t.Errorf("the job %s", got)
	}
	b.Expect(t, "POST", back, `{"over":true,"confirm":"web"}`, apitest.Admin, 409, "guest_busy")
	b.idle()
	b.restoreOverLeftOut()
	// An app is confirmed by its own name, and a container that is none cannot be named.
	b.nas.Put(b.cluster, b.refs["files"], time.Now())
	b.list()
	b.Exec("UPDATE apps SET name = 'wiki'")
	app := "backups/" + b.backup("files") + "/restore"
	b.Expect(t, "POST", app, `{"over":true,"confirm":"wiki"}`, apitest.Admin, 202, "")
	b.idle()
	b.Exec("DELETE FROM apps")
	b.Expect(t, "POST", app, `{"over":true,"confirm":"files"}`, apitest.Admin, 409, "invalid_state", "adopt it first")
}
