package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/backups"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/storage"
	"github.com/hostler/hostler/core/api/uploads"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/core/upload"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// volumesFixture has a cluster with the hosts 1 and 2, one for each node, and the storages "nas" and "vault" of both nodes and "disk" of
// each. A backup is in the vault. Jobs are enqueued and never begin.
type volumesFixture struct {
	*servicetest.Resource
	t       *testing.T
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
	backup  string
}

func newVolumes(t *testing.T) *volumesFixture {
	t.Helper()
	driver := memdriver.New()
	f := &volumesFixture{t: t, driver: driver, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2})}
	driver.AddEntry(f.cluster, "second.mem:8006", f.cluster.Nodes()[1])
	spool, err := upload.OpenSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		storage.Register(a, d.Storage)
		uploads.Register(a, d.Uploads)
		backups.Register(a, d.Backups)
	}, func(c *service.Config) {
		c.Drivers, c.Spool = servicetest.Drivers{Driver: driver}, spool
	})
	inventorytest.Team(t, f.DB, 2)
	vault := &memdriver.Archive{}
	f.cluster.AddStorage(memdriver.StorageSpec{Name: "nas", Type: "share", FreeGB: 100, Content: []string{"iso", "templates"}})
	f.cluster.AddStorage(memdriver.StorageSpec{Name: "disk", Type: "dir", FreeGB: 100, Content: []string{"iso"}})
	f.cluster.AddStorage(memdriver.StorageSpec{Name: "vault", Archive: vault})
	web := f.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.cluster.Change(web.ID, func(g *hypervisor.Guest) { g.Name = "web" })
	f.backup = "vault:" + vault.Put(f.cluster, web, time.Now().Add(-time.Hour))
	f.Enrol(t, "lab", f.cluster, endpoint.Lifecycle, endpoint.Backup)
	f.Expect(t, "POST", "hosts/1/peers", `{"nodes":["`+f.cluster.Nodes()[1]+`"]}`, apitest.Owner, 200, "", `"host_id":2`)
	f.Exec("UPDATE hosts SET cluster_id = 1 WHERE id = 2") // as a poll does where nodes report their addresses
	if err := f.Backups.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// upload sends a file of a name that replaces one which is there.
func (f *volumesFixture) upload(storage, node, name string, status int, code string) *apitest.Response {
	f.t.Helper()
	body, kind := formOf(formPart{name: "overwrite", value: "true"}, formPart{name: "node", value: node}, filePart(name, "abc"))
	var got *apitest.Response
	f.Run(f.t, apitest.Scenario{Name: storage + " " + name, Method: "POST", URL: "/api/v1/storage/" + storage + "/content", Body: body,
		As: apitest.Admin, Status: status, Error: code, Headers: map[string]string{"Content-Type": kind},
		After: func(_ *testing.T, a *apitest.Response) { got = a }})
	return got
}

func (f *volumesFixture) download(storage, name string, status int, code string) {
	f.t.Helper()
	f.Expect(f.t, "POST", "storage/"+storage+"/content/download", `{"url":"https://files.example.com/`+name+`","content":"iso"}`,
		apitest.Admin, status, code)
}

func TestVolumes_OneJobWritesOrDeletesAVolume(t *testing.T) {
	t.Parallel()
	f := newVolumes(t)
	first, second := f.cluster.Nodes()[0], f.cluster.Nodes()[1]

	// A shared storage is the same one through every host and on every node.
	f.upload("1/nas", first, "a.iso", 202, "")
	if refused := f.upload("2/nas", second, "a.iso", 409, "guest_busy"); strings.Contains(string(refused.Body), "this guest") {
		t.Errorf("the refusal is about a guest: %s", refused.Body)
	}
	f.download("2/nas", "a.iso", 409, "guest_busy")
	f.download("2/nas", "b.iso", 202, "")
	f.upload("1/nas", first, "b.iso", 409, "guest_busy")
	f.download("1/nas", "c.iso", 202, "") // another name

	// A local storage is another one on each node.
	f.upload("1/disk", first, "a.iso", 202, "")
	f.upload("1/disk", second, "a.iso", 202, "")
	f.upload("2/disk", first, "a.iso", 409, "guest_busy")

	// Deletions exclude uploads, in both orders.
	f.cluster.AddVolume("nas", hypervisor.Volume{Name: "old.iso", Kind: hypervisor.VolumeImage, Content: "iso"})
	f.Expect(t, "DELETE", "storage/1/nas/content/nas:old.iso", `{"confirm":"old.iso"}`, apitest.Admin, 202, "")
	f.upload("2/nas", second, "old.iso", 409, "guest_busy")
	f.cluster.AddVolume("nas", hypervisor.Volume{Name: "new.iso", Kind: hypervisor.VolumeImage, Content: "iso"})
	f.upload("2/nas", second, "new.iso", 202, "")
	f.Expect(t, "DELETE", "storage/1/nas/content/nas:new.iso", `{"confirm":"new.iso"}`, apitest.Admin, 409, "guest_busy")

	// So do templates, and the two ways to delete a backup.
	f.Expect(t, "POST", "storage/1/nas/templates", `{"template":"tiny-1.tar"}`, apitest.Admin, 202, "")
	f.upload("2/nas", second, "tiny-1.tar", 409, "guest_busy")
	f.Expect(t, "DELETE", "backups/1", `{"confirm":"web"}`, apitest.Admin, 202, "")
	f.Expect(t, "DELETE", "storage/2/vault/content/"+f.backup, `{"confirm":"`+f.backup[len("vault:backup/"):]+`"}`, apitest.Admin, 409,
		"guest_busy")
}

// Jobs of two teams that have enrolled the same cluster take the same volumes, on shared storages and on those of one node.
func TestVolumes_OneJobOfTwoTeams(t *testing.T) {
	t.Parallel()
	f := newVolumes(t)
	other := f.driver.Add("other.mem:8006", memdriver.Spec{Nodes: 2})
	other.AddStorage(memdriver.StorageSpec{Name: "nas", Type: "share", FreeGB: 100, Content: []string{"iso", "templates"}})
	other.AddStorage(memdriver.StorageSpec{Name: "disk", Type: "dir", FreeGB: 100, Content: []string{"iso"}})
	f.Enrol(t, "theirs", other, endpoint.Lifecycle)
	first, second := f.cluster.Nodes()[0], f.cluster.Nodes()[1]
	f.upload("1/nas", first, "a.iso", 202, "")
	f.upload("3/nas", first, "a.iso", 202, "") // of another cluster, as far as is known
	// Each side knows the certificate that the other one's host has shown.
	f.Exec("UPDATE clusters SET team_id = id, name = 'same'")
	f.Exec("UPDATE hosts SET entry_node = CASE id WHEN 3 THEN $1 ELSE $2 END", second, first)
	f.Exec("UPDATE nodes SET fingerprint = (SELECT tls_fingerprint FROM hosts WHERE id = 1), address = '' WHERE name = $1", first)
	f.Exec("UPDATE nodes SET fingerprint = (SELECT tls_fingerprint FROM hosts WHERE id = 3), address = '' WHERE name = $1", second)
	f.upload("1/nas", first, "b.iso", 202, "")
	refused := f.upload("3/nas", second, "b.iso", 409, "guest_busy")
	if !strings.Contains(string(refused.Body), "another team has enrolled") {
		t.Errorf("the refusal is %s", refused.Body)
	}
	f.download("3/nas", "b.iso", 409, "guest_busy")
	f.download("3/nas", "c.iso", 202, "")
	f.upload("2/nas", second, "c.iso", 409, "guest_busy")
	f.upload("3/disk", first, "b.iso", 202, "")
	f.upload("1/disk", second, "b.iso", 202, "")
	f.upload("1/disk", first, "b.iso", 409, "guest_busy")
}
