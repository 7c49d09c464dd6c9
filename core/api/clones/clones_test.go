package clones_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/clones"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// fixture has the guests of a hypervisor in memory with host 1: the VMs "stopped", "running" and "template", and app 1 "files".
type fixture struct {
	*servicetest.Resource
	t       *testing.T
	cluster *memdriver.Cluster
	refs    map[string]hypervisor.GuestRef
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	driver := memdriver.New()
	b := &fixture{t: t, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2}), refs: map[string]hypervisor.GuestRef{}}
	b.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		vms.Register(a, d.VMs)
		apps.Register(a, d.Apps)
		clones.Register(a, d.Clones)
	}, func(c *service.Config) { c.Drivers = servicetest.Drivers{Driver: driver} })
	inventorytest.Team(t, b.DB, 2)
	for name, kind := range map[string]hypervisor.GuestKind{"stopped": hypervisor.VM, "running": hypervisor.VM, "template": hypervisor.VM,
		"files": hypervisor.Container} {
		b.refs[name] = b.cluster.NewGuest(kind, hypervisor.GuestStopped)
		b.cluster.Change(b.refs[name].ID, func(g *hypervisor.Guest) { g.Name, g.Template = name, name == "template" })
	}
	b.cluster.Change(b.refs["running"].ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestRunning })
	token := func(c endpoint.Capability) string {
		credential := b.cluster.Target(c).Credential
		return fmt.Sprintf(`"token_id":%q,"token_secret":%q`, credential.ID, string(credential.Secret))
	}
	b.ask("POST", "hosts", fmt.Sprintf(`{"name":"lab","address":"https://pool.mem","tls_fingerprint":%q,%s}`, b.cluster.Fingerprint(),
		token(endpoint.Monitoring)), apitest.Admin, 201, "")
	b.ask("POST", "hosts/1/credentials", `{"capability":"lifecycle",`+token(endpoint.Lifecycle)+`}`, apitest.Owner, 200, "")
	b.ask("POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	b.ask("POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q}]}`, b.refs["files"].ID), apitest.Admin, 200, "")
	return b
}

func (b *fixture) ask(method, url, body string, as *apitest.Caller, status int, code string, contains ...string) {
	b.t.Helper()
	b.Run(b.t, apitest.Scenario{Name: method + " " + url + " " + body, Method: method, URL: "/api/v1/" + url, Body: body, As: as,
		Status: status, Error: code, Contains: contains})
}

// vm is the path of a VM.
func (b *fixture) vm(name string) string {
	return "vms/" + b.Value("SELECT id FROM guests WHERE name = '"+name+"'")
}

// idle ends all jobs, which never begin here.
func (b *fixture) idle() { b.Exec("UPDATE jobs SET status = 'failed'") }

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 9000})
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "away", VMs: true, FreeGB: 9000, Away: true})
	order := func(more string) string {
		return `{"host_id":1,"name":"web1","storage":"local","bridge":"br0"` + more + `}`
	}
	foreign := apitest.In(2, identity.Owner)
	b.ask("POST", "vms", order(""), apitest.Operator, 403, "forbidden")
	b.ask("POST", "vms", order(""), foreign, 404, "not_found")
	b.ask("POST", "vms", `{"host_id":9,"name":"web1"}`, apitest.Admin, 404, "not_found")
	b.ask("POST", "vms", `{"host_id":1}`, apitest.Admin, 422, "invalid", `"name"`)
	b.ask("POST", "vms", `{"host_id":1,"name":"web1"}`, apitest.Admin, 422, "invalid", `["body","storage"]`, `["body","bridge"]`)
	b.ask("POST", "vms", `{"host_id":1,"name":"-web_1","storage":"none","bridge":"br9","cores":900,"memory_mb":9000000,"disk_gb":900000,`+
		`"ostype":"dos","iso":"local:iso/none.iso","vmid":7}`, apitest.Admin, 422, "invalid", `["body","name"]`, `["body","storage"]`,
		`["body","bridge"]`, `["body","cores"]`, `["body","memory_mb"]`, `["body","disk_gb"]`, `["body","ostype"]`, `["body","iso"]`,
		`["body","vmid"]`)
	b.ask("POST", "vms", order(`,"node":"nowhere"`), apitest.Admin, 422, "invalid", `["body","node"]`)
	b.ask("POST", "vms", strings.ReplaceAll(order(`,"node":"nowhere"`), "web1", "a..b"), apitest.Admin, 422, "invalid", `["body","node"]`,
		`["body","name"]`)
	b.ask("POST", "vms", strings.ReplaceAll(order(""), "web1", "a-.b"), apitest.Admin, 422, "invalid", `["body","name"]`)
	b.ask("POST", "vms", order(`,"disk_gb":5000`), apitest.Admin, 422, "invalid", "has room for")
	b.ask("POST", "vms", order(`,"cores":0`), apitest.Admin, 422, "invalid", `["body","cores"]`)
	b.ask("POST", "vms", strings.ReplaceAll(order(""), `"local"`, `"archive"`), apitest.Admin, 422, "invalid", "holds no disks")
	b.ask("POST", "vms", strings.ReplaceAll(order(""), `"local"`, `"away"`), apitest.Admin, 422, "invalid", "not available")
	b.ask("POST", "vms", order(`,"cores":900,"vmid":`+string(b.refs["stopped"].ID)), apitest.Admin, 422, "invalid", `["body","vmid"]`,
		"is taken", `["body","cores"]`)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "tight", VMs: true, FreeGB: 32})
	b.ask("POST", "vms", strings.ReplaceAll(order(`,"disk_gb":32`), `"local"`, `"tight"`), apitest.Admin, 422, "invalid", "has room for")
	if n := b.Value("SELECT count(*) FROM jobs"); n != "0" {
		t.Fatalf("%s jobs were made", n)
	}
	var first, second struct{ VMID int64 }
	for _, into := range []any{&first, &second} {
		b.Run(t, apitest.Scenario{Name: "good", Method: "POST", URL: "/api/v1/vms", As: apitest.Admin, Status: 202,
			Body:     order(`,"iso":"local:iso/installer.iso","node":null,"vlan_tag":7,"start":true`),
			Contains: []string{`"kind":"vm.create"`, `"vmid":`},
			After: func(t *testing.T, a *apitest.Answer) {
				if err := json.Unmarshal(a.Body, into); err != nil {
					t.Error(err)
				}
			}})
	}
	if first.VMID == 0 || second.VMID == 0 || first.VMID == second.VMID {
		t.Errorf("two VMs that are to be made have the numbers %d and %d", first.VMID, second.VMID)
	}
	b.ask("POST", "vms", order(fmt.Sprintf(`,"vmid":%d`, first.VMID)), apitest.Admin, 422, "invalid", `["body","vmid"]`, "a job is making")
	b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	b.ask("POST", "vms", order(""), apitest.Admin, 409, "capability_missing")
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 9000})
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "away", VMs: true, FreeGB: 9000, Away: true})
	node := b.Value("SELECT name FROM nodes ORDER BY name LIMIT 1")
	url := "hosts/1/nodes/" + node + "/placement"
	b.ask("GET", url, "", nil, 401, "unauthenticated")
	b.ask("GET", url, "", apitest.In(2, identity.Owner), 404, "not_found")
	b.ask("GET", "hosts/9/nodes/"+node+"/placement", "", apitest.Viewer, 404, "not_found")
	b.ask("GET", "hosts/1/nodes/nowhere/placement", "", apitest.Viewer, 404, "not_found")
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
	read := func(into any) {
		b.Run(t, apitest.Scenario{Name: "good", Method: "GET", URL: "/api/v1/" + url, As: apitest.Viewer, Status: 200,
			After: func(t *testing.T, a *apitest.Answer) {
				if err := json.Unmarshal(a.Body, into); err != nil {
					t.Error(err)
				}
			}})
	}
	read(&first)
	if len(first.Bridges) == 0 || len(first.OSTypes) == 0 || first.Limits.Cores == nil {
		t.Errorf("the node offers %+v", first)
	}
	for _, s := range first.Storages {
		if s.Name == "archive" && (s.VMs || !s.Backups || s.FreeBytes != 9000<<30) || s.Name == "away" && (!s.VMs || s.Available) {
			t.Errorf("a storage is %+v", s)
		}
	}
	// A number that a job is about to use is not free.
	b.ask("POST", "vms", fmt.Sprintf(`{"host_id":1,"name":"web1","storage":"local","bridge":"br0","vmid":%d}`, first.Number), apitest.Admin,
		202, "")
	read(&second)
	if first.Number == 0 || second.Number <= first.Number {
		t.Errorf("the free numbers are %d and then %d", first.Number, second.Number)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Exec(fmt.Sprintf(`INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled)
		VALUES ('Nightly', '0 1 * * *', 'UTC', 'vm.start', '{"vm_id":%s}', true)`, strings.TrimPrefix(b.vm("stopped"), "vms/")))
	b.Exec(fmt.Sprintf(`INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled) VALUES
		('Both', '0 1 * * *', 'UTC', 'backup.run', '{"targets":[{"vm":%[1]s},{"app":1}]}', true),
		('Alone', '0 1 * * *', 'UTC', 'backup.run', '{"targets":[{"vm":%[1]s}]}', true),
		('Others', '0 1 * * *', 'UTC', 'backup.run', '{"targets":[{"app":1}]}', true)`, strings.TrimPrefix(b.vm("stopped"), "vms/")))
	b.ask("DELETE", b.vm("stopped"), `{"confirm":"stopped"}`, apitest.Admin, 403, "forbidden")
	b.ask("DELETE", b.vm("stopped"), `{"confirm":"stopped"}`, apitest.In(2, identity.Owner), 404, "not_found")
	b.ask("DELETE", b.vm("running"), `{"confirm":"running"}`, apitest.Owner, 409, "guest_running")
	b.ask("DELETE", b.vm("running")+"?plan=true", "", apitest.Owner, 200, "", `"blockers":[{"error":"guest_running"`,
		`"confirm_phrase":"running"`)
	b.ask("DELETE", b.vm("stopped"), "", apitest.Owner, 409, "confirm_required", `"confirm_phrase":"stopped"`, `"size_bytes":34359738368`,
		"backup jobs and its high availability forget stopped as well.", "The schedule Nightly finds nothing",
		"The schedule Alone finds nothing", "The schedule Both goes on with its other targets.")
	b.Run(t, apitest.Scenario{Name: "no others", Method: "DELETE", URL: "/api/v1/" + b.vm("stopped") + "?plan=true", As: apitest.Owner,
		Status: 200, Lacks: []string{"The schedule Others"}})
	b.cluster.ChangeConfig(b.refs["stopped"].ID, func(c *hypervisor.Config) { c.Protected = true })
	b.ask("DELETE", b.vm("stopped"), "", apitest.Owner, 409, "protected")
	b.cluster.ChangeConfig(b.refs["stopped"].ID, func(c *hypervisor.Config) { c.Protected = false })
	b.ask("DELETE", b.vm("stopped"), `{"confirm":"stopped"}`, apitest.Owner, 202, "", `"kind":"vm.delete"`, `"params":{"purge":true}`)
	b.ask("DELETE", b.vm("stopped"), `{"confirm":"stopped"}`, apitest.Owner, 409, "guest_busy")
	b.ask("DELETE", b.vm("template")+"?plan=true", `{"purge":false}`, apitest.Owner, 200, "", "high availability have of template stays.")
	b.ask("DELETE", b.vm("template"), `{"confirm":"template","purge":false}`, apitest.Owner, 202, "", `"params":{"purge":false}`)
	b.idle()
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.Guests.Self.Hostname = "running"
	b.ask("DELETE", b.vm("running"), "", apitest.Owner, 409, "self_target", `"confirm_phrase":"running"`, `"is_self":true`)
	b.ask("DELETE", b.vm("running"), `{"confirm":"running"}`, apitest.Owner, 409, "guest_running")
}

// addVolumes gives a guest disks that it does not use, that wait, that belong to another guest and to none, and drives.
func (b *fixture) addVolumes(id hypervisor.GuestID) {
	b.cluster.ChangeConfig(id, func(c *hypervisor.Config) {
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
func TestPlansTellOfEveryVolume(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for path, ref := range map[string]hypervisor.GuestRef{b.vm("stopped"): b.refs["stopped"], "apps/1": b.refs["files"]} {
		b.addVolumes(ref.ID)
		b.Run(t, apitest.Scenario{Name: path, Method: "DELETE", URL: "/api/v1/" + path + "?plan=true", As: apitest.Owner, Status: 200,
			Contains: []string{
				`"text":"The unused disk unused0 on the storage local is destroyed with all that is on it.","name":"local:unused"`,
				`"text":"The disk scsi2 on the storage local is destroyed with all that is on it.","name":"local:waiting","size_bytes":5368709120`,
				`"text":"The image in the drive ide0 on the storage local, which the hypervisor made for `,
				`The volume local:foreign, which scsi3 of `, `belongs to the guest 999 and stays.`,
				`The volume local:nobodys, which scsi4 of `, `belongs to no guest and stays.`,
			}, Lacks: []string{`"name":"local:foreign"`, `"name":"local:nobodys"`, "local:image"}})
	}
}

// A VM that has no name is confirmed by what it is shown as.
func TestDeleteWithoutAName(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ref := b.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "" })
	b.ask("POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	phrase := "VM " + string(ref.ID)
	path, asks := b.vm(phrase), fmt.Sprintf(`"confirm_phrase":%q`, phrase)
	b.ask("DELETE", path+"?plan=true", "", apitest.Owner, 200, "", asks, phrase+" is destroyed.")
	for _, body := range []string{"", `{"confirm":null}`, `{"confirm":""}`, `{"confirm":"VM"}`, `{"confirm":" "}`,
		fmt.Sprintf(`{"confirm":%q}`, ref.ID), fmt.Sprintf(`{"confirm":"vm %s"}`, ref.ID), fmt.Sprintf(`{"confirm":"%s "}`, phrase)} {
		b.ask("DELETE", path, body, apitest.Owner, 409, "confirm_required", asks)
	}
	if n := b.Value("SELECT count(*) FROM jobs WHERE kind = 'vm.delete'"); n != "0" {
		t.Errorf("%s jobs were made", n)
	}
	b.ask("DELETE", path, fmt.Sprintf(`{"confirm":%q}`, phrase), apitest.Owner, 202, "", `"kind":"vm.delete"`)
}

func TestClone(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	clone := b.vm("stopped") + "/clone"
	b.ask("POST", clone, "", apitest.Operator, 403, "forbidden")
	b.ask("POST", clone, "", apitest.In(2, identity.Owner), 404, "not_found")
	b.ask("POST", clone, `{"full":false}`, apitest.Admin, 409, "linked_clone_needs_template", "only of a template")
	b.ask("POST", clone, `{"name":"a_b","storage":"none","newid":7}`, apitest.Admin, 422, "invalid", `["body","name"]`, `["body","storage"]`,
		`["body","newid"]`)
	b.ask("POST", clone, `{"target":"nowhere"}`, apitest.Admin, 422, "invalid", `["body","target"]`)
	b.ask("POST", clone, `{"newid":`+string(b.refs["running"].ID)+`}`, apitest.Admin, 422, "invalid", `["body","newid"]`)
	b.ask("POST", b.vm("template")+"/clone", `{"full":false,"storage":"local"}`, apitest.Admin, 422, "invalid", `["body","storage"]`)
	b.ask("POST", clone+"?plan=true", `{"name":"copy"}`, apitest.Admin, 200, "", "stopped is copied to copy", `"confirm_phrase":null`)
	b.ask("POST", clone+"?plan=true", `{"full":false}`, apitest.Admin, 200, "", `"blockers":[{"error":"linked_clone_needs_template"`)
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "local", VMs: true, Containers: true, FreeGB: 31})
	b.ask("POST", clone, "", apitest.Admin, 422, "invalid", "the storage local has room for 31 GiB and the copy needs 32 GiB")
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "local", VMs: true, Containers: true, FreeGB: 1000})
	b.ask("POST", clone, "", apitest.Admin, 202, "", `"kind":"vm.clone"`, `"params":{"full":true}`, `"vmid":`)
	b.ask("POST", b.vm("template")+"/clone", `{"full":false,"name":"linked"}`, apitest.Admin, 202, "",
		`"params":{"full":false,"name":"linked"}`)
	b.ask("POST", "apps/1/clone", `{"newid":4000,"name":null}`, apitest.Admin, 202, "", `"kind":"app.clone"`, `"vmid":4000`)
	b.ask("POST", "apps/1/clone", "", apitest.Admin, 409, "guest_busy")
	b.idle()
	b.Exec("UPDATE guests SET name = 'VM 7 (old)' WHERE name = 'stopped'")
	b.ask("POST", clone, "", apitest.Admin, 202, "")
	if got := b.Value("SELECT params->'spec'->>'Name' FROM jobs ORDER BY id DESC LIMIT 1"); got != "VM-7-old-copy" {
		t.Errorf("the copy of a guest whose name no new one may have is called %q", got)
	}
	b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	b.ask("POST", "apps/1/clone?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"capability_missing"`)
}

// Guests that are asked for at once get a number each.
func TestGuestsThatAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for i := range 8 {
		b.refs[fmt.Sprint(i)] = b.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	}
	b.ask("POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	requests := map[string]string{}
	for i := range 8 {
		ref := b.refs[fmt.Sprint(i)].ID
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

func TestUninstall(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.ask("DELETE", "apps/1", `{"confirm":"files"}`, apitest.Operator, 403, "forbidden")
	b.ask("DELETE", "apps/1", `{"confirm":"files"}`, apitest.In(2, identity.Owner), 404, "not_found")
	b.ask("DELETE", "apps/1", "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"files"`, `"kind":"disk"`)
	b.ask("DELETE", "apps/1", `{"keep_ct":true}`, apitest.Admin, 409, "confirm_required", "its container stays as it is")
	b.ask("DELETE", "apps/1", `{"confirm":"files"}`, apitest.Admin, 200, "", `"removed":false`, `"kind":"app.uninstall"`)
	b.ask("DELETE", "apps/1", `{"confirm":"files","keep_ct":true}`, apitest.Admin, 409, "guest_busy")
	b.idle()
	b.Exec("UPDATE apps SET guest_id = NULL")
	b.ask("DELETE", "apps/1", `{"confirm":"files"}`, apitest.Admin, 409, "invalid_state", "is not there")
	b.ask("DELETE", "apps/1?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"invalid_state"`)
	b.ask("DELETE", "apps/1", `{"confirm":"files","keep_ct":true}`, apitest.Admin, 200, "", `"removed":true,"ct_kept":true,"job":null`)
	b.ask("DELETE", "apps/1", `{"confirm":"files","keep_ct":true}`, apitest.Admin, 404, "not_found")
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'app.uninstall' AND result = 'ok'"); n != "2" {
		t.Errorf("%s rows of success in the trail", n)
	}
}
