package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/migrations"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// migrationsFixture has host 1, a cluster in memory of three nodes, with the VM "stopped" and the running app 1 "files", and host 2
// elsewhere.
type migrationsFixture struct {
	*servicetest.Resource
	cluster, other *memdriver.Cluster
	refs           map[string]hypervisor.GuestRef
}

func newMigrations(t *testing.T) *migrationsFixture {
	t.Helper()
	driver := memdriver.New()
	b := &migrationsFixture{refs: map[string]hypervisor.GuestRef{}}
	b.cluster = driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 3})
	b.other = driver.Add("other.mem:8006", memdriver.Spec{Nodes: 1, Prefix: "o"})
	b.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		vms.Register(a, d.VMs)
		apps.Register(a, d.Apps)
		migrations.Register(a, d.Migrations)
	}, func(c *service.Config) { c.Drivers = servicetest.Drivers{Driver: driver} })
	inventorytest.Team(t, b.DB, 2)
	for name, kind := range map[string]hypervisor.GuestKind{"stopped": hypervisor.VM, "files": hypervisor.Container} {
		b.refs[name] = b.cluster.NewGuest(kind, hypervisor.GuestStopped)
		b.cluster.Change(b.refs[name].ID, func(g *hypervisor.Guest) {
			if g.Name, g.Node = name, b.cluster.Nodes()[0]; name == "files" {
				g.Status = hypervisor.GuestRunning
			}
		})
	}
	b.Enrol(t, "lab", b.cluster, endpoint.Lifecycle, endpoint.Backup)
	b.Enrol(t, "elsewhere", b.other, endpoint.Lifecycle, endpoint.Backup)
	b.Expect(t, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q}]}`, b.refs["files"].ID), apitest.Admin, 200, "")
	return b
}

// migrate is the path of a VM's migration.
func (b *migrationsFixture) migrate(name string) string {
	return "vms/" + b.Value("SELECT id FROM guests WHERE name = '"+name+"'") + "/migrate"
}

func TestPreflightOfMigrations(t *testing.T) {
	t.Parallel()
	b := newMigrations(t)
	check, to := b.migrate("stopped")+"/preflight", `{"target_host_id":1,"node":"node2"}`
	b.Expect(t, "POST", check, to, apitest.Operator, 403, "forbidden")
	b.Expect(t, "POST", check, to, apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "POST", check, `{"target_host_id":9}`, apitest.Admin, 404, "not_found")
	b.Expect(t, "POST", check, `{"node":"node2"}`, apitest.Admin, 422, "invalid", `["body","target_host_id"]`)
	b.Expect(t, "POST", check, `{"target_host_id":1,"node":"node9"}`, apitest.Admin, 422, "invalid", `["body","node"]`)
	b.Expect(t, "POST", check, `{"target_host_id":1}`, apitest.Admin, 422, "invalid", "choose one of these nodes: node2, node3")
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"strategy":"cluster"`, `"possible":true`, `"target_node":"node2"`,
		`"blockers":[]`,
		`"bytes":34359738368`, `"downtime_s":0`)
	b.Expect(t, "POST", "apps/1/migrate/preflight", to, apitest.Admin, 200, "", `"live":false`, `"downtime_s":357`, "100 MiB/s")
	b.Expect(t, "POST", check, `{"target_host_id":1,"node":"node2","storage":"none"}`, apitest.Admin, 200, "", `"code":"storage_missing"`,
		`"possible":false`)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "small", VMs: true, FreeGB: 1})
	b.Expect(t, "POST", check, `{"target_host_id":1,"node":"node2","storage":"small"}`, apitest.Admin, 200, "", `"code":"storage_full"`,
		`"possible":false`)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "small", VMs: true, FreeGB: 1, Thin: true})
	b.Expect(t, "POST", check, `{"target_host_id":1,"node":"node2","storage":"small"}`, apitest.Admin, 200, "", `"code":"storage_full"`,
		`"possible":true`)
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) {
		c.NICs[0].Bridge = "br9"
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "mp0", Local: true})
	})
	b.Expect(t, "POST", "apps/1/migrate/preflight", to, apitest.Admin, 200, "", `"code":"bridge_missing"`, `"code":"bind_mount"`)
	// What all nodes have goes along within the cluster, and not to another one.
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) {
		c.NICs[0].Bridge = "br0"
		c.Disks[len(c.Disks)-1].Shared = true
	})
	b.cluster.ChangeConfig(b.refs["stopped"].ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "scsi1", Local: true, Shared: true})
	})
	for _, path := range []string{"apps/1/migrate/preflight", check} {
		b.Expect(t, "POST", path, to, apitest.Admin, 200, "", `"possible":true`, `"blockers":[]`)
	}
	b.Expect(t, "POST", "apps/1/migrate/preflight", `{"target_host_id":2}`, apitest.Admin, 200, "", `"code":"bind_mount"`)
	b.Exec("UPDATE clusters SET quorate = false")
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"code":"quorum_lost"`)
	b.cluster.SetFault("checkmigration", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "it is away")})
	b.Expect(t, "POST", check, to, apitest.Admin, 502, "hypervisor_error")
	b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	b.Expect(t, "POST", check, to, apitest.Admin, 409, "capability_missing")
	if n := b.Value("SELECT count(*) FROM jobs"); n != "0" {
		t.Errorf("%s jobs were made", n)
	}
}

func TestMigrateGuests(t *testing.T) {
	t.Parallel()
	b := newMigrations(t)
	vm, to := b.migrate("stopped"), `{"target_host_id":1,"node":"node2"}`
	b.Expect(t, "POST", vm, to, apitest.Operator, 403, "forbidden")
	b.Expect(t, "POST", vm, to, apitest.In(2, identity.Owner), 404, "not_found")
	b.Expect(t, "POST", vm, `{"target_host_id":1,"node":"node1"}`, apitest.Admin, 409, "migration_blocked", `"blockers":[{"code":"same_node"`)
	b.Expect(t, "POST", vm+"?plan=true", `{"target_host_id":1,"node":"node1"}`, apitest.Admin, 200, "", `"error":"migration_blocked"`,
		"same_node")
	b.Run(t, apitest.Scenario{Name: "a plan to stay", Method: "POST", URL: "/api/v1/" + vm + "?plan=true", As: apitest.Admin,
		Body: `{"target_host_id":1,"node":"node1"}`, Status: 200, Lacks: []string{"is moved"}})
	b.Expect(t, "POST", vm+"?plan=true", to, apitest.Admin, 200, "", "is moved from the node node1 to the node node2",
		`"confirm_phrase":null`)
	b.Expect(t, "POST", "apps/1/migrate", to, apitest.Admin, 409, "confirm_required", `"confirm_phrase":"files"`,
		"is running and is interrupted")
	b.Expect(t, "POST", "apps/1/migrate", `{"target_host_id":1,"node":"node2","confirm":"else"}`, apitest.Admin, 409, "confirm_required")
	b.Expect(t, "POST", vm, to, apitest.Admin, 202, "", `"kind":"vm.migrate"`, `"params":{"node":"node2","target_host_id":1}`,
		`"strategy":"cluster"`)
	b.Expect(t, "POST", vm, to, apitest.Admin, 409, "guest_busy")
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.Guests.Self.Hostname = "files"
	b.Expect(t, "POST", "apps/1/migrate", to, apitest.Admin, 409, "self_target", `"is_self":true`)
	b.Expect(t, "POST", "apps/1/migrate", `{"target_host_id":1,"node":"node2","confirm":"files"}`, apitest.Admin, 202, "",
		`"kind":"app.migrate"`, `"is_self":true`)
	if n := b.Value("SELECT count(*) FROM audit WHERE action IN ('vm.migrate', 'app.migrate') AND result = 'ok'"); n != "2" {
		t.Errorf("%s rows of success in the audit log", n)
	}
}

// A plan that nothing more can be looked at for ends with what is in the way; it is no request.
func TestPlanOfAMigrationWithoutAHypervisor(t *testing.T) {
	t.Parallel()
	b := newMigrations(t)
	vm, to := b.migrate("stopped")+"?plan=true", `{"target_host_id":1,"node":"node2"}`
	b.cluster.SetFault("checkmigration", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "it is away")})
	b.Expect(t, "POST", vm, to, apitest.Admin, 200, "", `"warnings":["The hypervisor did not answer: `, `"blockers":[]`)
	b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	b.Expect(t, "POST", vm, to, apitest.Admin, 200, "", `"blockers":[{"error":"capability_missing"`)
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'vm.migrate' AND result = 'ok'"); n != "0" {
		t.Errorf("%s rows of success in the audit log", n)
	}
}

func TestMigrateToAnotherCluster(t *testing.T) {
	t.Parallel()
	b := newMigrations(t)
	check, to := "apps/1/migrate/preflight", `{"target_host_id":2}`
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"strategy":"shared_storage"`, `"possible":false`, `"code":"no_shared_storage"`)
	b.Expect(t, "POST", "apps/1/migrate", to, apitest.Admin, 409, "migration_blocked", `"code":"no_shared_storage"`)
	archive := &memdriver.Archive{}
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: archive, FreeGB: 100})
	b.other.AddStorage(memdriver.StorageSpec{Name: "vault", Archive: archive, FreeGB: 100})
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"code":"no_shared_storage"`) // nothing shows that they are the same
	archive.Put(b.cluster, b.refs["files"], time.Now())
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":true`, `"source_storage":"archive"`, `"target_storage":"vault"`,
		`"target_node":"onode1"`, `"code":"source_stays"`, `"live":false`)
	b.Expect(t, "POST", "apps/1/migrate", to, apitest.Admin, 409, "confirm_required", "The original guest is kept")
	b.Exec(`INSERT INTO schedules (name, cron, job_kind, params, next_run_at)
		VALUES ('nightly', '0 2 * * *', 'app.stop', '{"app_id":1}', now())`)
	b.Expect(t, "POST", "apps/1/migrate?plan=true", to, apitest.Admin, 200, "", "The schedule nightly moves to the new guest")
	b.Exec("UPDATE hosts SET team_id = 2")
	b.Expect(t, "POST", "apps/1/migrate?plan=true", to, apitest.In(2, identity.Owner), 200, "", "1 schedule moves to the new guest")
	b.Exec("UPDATE hosts SET team_id = 1")
	for id, name := range []string{"", "lab", "elsewhere"} {
		b.Exec("UPDATE clusters SET quorate = id <> (SELECT cluster_id FROM hosts WHERE id = $1)", id)
		if name != "" {
			b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":false`, `"code":"quorum_lost"`,
				"The cluster of the host "+name+" has no")
		}
	}
	b.Exec("UPDATE clusters SET quorate = true")
	b.other.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 100})
	b.other.AddStorage(memdriver.StorageSpec{Name: "vault", FreeGB: 100})
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"code":"no_shared_storage"`) // of one name, and without the backup
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 100})
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":true`, `"code":"shared_storage_unproven"`)
	attic := &memdriver.Archive{}
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "attic", Archive: attic, FreeGB: 70})
	b.other.AddStorage(memdriver.StorageSpec{Name: "attic", Archive: attic, FreeGB: 70})
	b.other.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 50}) // one storage has one free space
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"source_storage":"attic"`,
		"Among such storages (archive, attic), attic has the most similar free space")
	b.Expect(t, "POST", "apps/1/migrate", `{"target_host_id":2,"confirm":"files"}`, apitest.Admin, 202, "", `"kind":"app.migrate"`,
		`"strategy":"shared_storage"`)
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.other.NewGuestAs(hypervisor.VM, hypervisor.GuestStopped, b.refs["files"].ID)
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":true`, `"code":"id_taken"`)
	b.cluster.ChangeConfig(b.refs["files"].ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "ide2", Storage: "local", Volume: "local:iso/installer.iso", Removable: true})
	})
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":false`, `"code":"local_image"`)
	b.other.SetFault("placement", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "it is away")})
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"code":"target_unreachable"`)
	b.other.SetFault("placement", memdriver.Fault{})
	b.Exec("DELETE FROM host_credentials WHERE capability = 'backup' AND host_id = 2")
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"code":"backup_token_missing"`)
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.Guests.Self.Hostname = "files"
	b.Expect(t, "POST", "apps/1/migrate", `{"target_host_id":2,"confirm":"files"}`, apitest.Admin, 409, "migration_blocked",
		`"code":"self_target"`)
	b.Exec("UPDATE hosts SET team_id = 2 WHERE id = 1")
	b.Expect(t, "POST", check, to, apitest.In(2, identity.Owner), 404, "not_found") // of the target's host
}
