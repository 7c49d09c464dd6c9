package scenarios

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// An app goes to another cluster by way of both machines, once there is consent to log in to them.
func TestMigrateByTransfer(t *testing.T) {
	t.Parallel()
	b := newMigrations(t)
	check, to := "apps/1/migrate/preflight", `{"target_host_id":2}`
	for _, cluster := range []*memdriver.Cluster{b.cluster, b.other} {
		cluster.AddStorage(memdriver.StorageSpec{Name: "dumps", Archive: &memdriver.Archive{Folder: memdriver.DumpFolder}, FreeGB: 100})
	}
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":false`, `"code":"no_shared_storage"`, `"code":"transfer"`,
		"nobody has consented to running programs as root")
	b.Expect(t, "POST", check, `{"target_host_id":2,"strategy":"transfer"}`, apitest.Admin, 200, "", `"possible":false`,
		`"code":"consent_required"`)
	b.Expect(t, "POST", check, `{"target_host_id":2,"strategy":"teleport"}`, apitest.Admin, 422, "invalid", "expected value to be one of")
	for _, host := range []string{"1", "2"} {
		b.Expect(t, "POST", "hosts/"+host+"/credentials", `{"rotate_ssh":true,"ssh_consent":true}`, apitest.Owner, 200, "")
		b.Expect(t, "POST", "hosts/"+host+"/ssh/verify", "", apitest.Admin, 200, "")
	}
	b.Expect(t, "POST", check, to, apitest.Admin, 200, "", `"possible":true`, `"strategy":"transfer"`, `"source_storage":"dumps"`,
		`"target_storage":"dumps"`, `"code":"shared_storage"`)
	b.Expect(t, "POST", "apps/1/migrate?plan=true", to, apitest.Admin, 200, "", "to the storage dumps of the other host")
	b.Expect(t, "POST", "apps/1/migrate", `{"target_host_id":2,"confirm":"files"}`, apitest.Admin, 202, "", `"strategy":"transfer"`)
	if err := b.Queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Queue.Stop(context.Background()) })
	waittest.Until(t, "the job has ended", func() bool {
		return b.Value("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')") == "0"
	})
	status := b.Value(`SELECT status || ': ' || (SELECT string_agg(text, '; ' ORDER BY e.seq) FROM job_events e WHERE e.job_id = j.id)
		FROM jobs j WHERE kind = 'app.migrate'`)
	if made := b.other.Guests(); len(made) != 1 || !strings.HasPrefix(status, "succeeded") {
		t.Fatalf("the job is %s, on the other side are %v", status, made)
	}
	for _, cluster := range []*memdriver.Cluster{b.cluster, b.other} {
		if left := cluster.MachineFiles(); len(left) > 0 {
			t.Errorf("a machine has %v", left)
		}
	}
	b.cluster.Change(b.refs["files"].ID, func(g *hypervisor.Guest) {
		if g.Status != hypervisor.GuestStopped {
			t.Errorf("the guest that was left is %s", g.Status)
		}
	})
}
