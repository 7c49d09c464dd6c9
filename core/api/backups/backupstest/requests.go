// Package backupstest has valid requests about backups. The tests over all
// operations of the API send them; see package requesttest.
package backupstest

import (
	"fmt"
	"time"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// storage is that of the backups of the laboratory.
const storage = requesttest.Canary + "-archive"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		others(f)
		token := f.Lab.Target(endpoint.Backup).Credential
		f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/credentials", f.Host),
			fmt.Sprintf(`{"capability":"backup","token_id":%q,"token_secret":%q}`, token.ID, string(token.Secret)), 200)
		f.Lab.AddStorage(memdriver.StorageSpec{Name: storage, Archive: &memdriver.Archive{}})
		return map[string]string{"backup_id": put(f)}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		deleted, restored := put(f), put(f)
		saved := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
		f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
		vm := f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, saved.ID)
		return []requesttest.Change{
			{Operation: "update_backup", Body: `{"protected":false}`},
			{Operation: "run_backups", Skips: true, Body: fmt.Sprintf(`{"targets":[{"vm":%s}],"storage":%q}`, vm, storage)},
			{Operation: "restore_backup", Body: `{}`, Path: map[string]string{"backup_id": restored}},
			{Operation: "delete_backup", Path: map[string]string{"backup_id": deleted},
				Body: fmt.Sprintf(`{"confirm":%q}`, dbtest.Value[string](f.T, f.DB, "SELECT name FROM backups WHERE id = "+
					"$1::bigint", deleted))},
		}
	},
}

// others gives every host of another team a storage of backups with one backup, in the cache alone.
func others(f *requesttest.Fixture) {
	dbtest.Exec(f.T, f.DB, `WITH s AS (INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of)
		SELECT h.cluster_id, h.id, '', h.name || '-archive', now() FROM hosts h WHERE h.team_id <> 1
		ON CONFLICT (cluster_id, node, name) DO UPDATE SET as_of = now() RETURNING id, cluster_id)
		INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, name, taken_at)
		SELECT DISTINCT ON (s.id) s.cluster_id, s.id, 'backup/1', g.node, g.kind, g.ref, g.id, g.name, now() FROM s
		JOIN guests g ON g.cluster_id = s.cluster_id ORDER BY s.id, g.id ON CONFLICT (storage_id, ref) DO NOTHING`)
}

// put makes a guest with a backup that the service knows of, and gives the backup's id.
func put(f *requesttest.Fixture) string {
	of := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	id := storage + ":" + f.Lab.ArchiveOf(storage).Put(f.Lab, of, time.Now())
	dbtest.Exec(f.T, f.DB, `WITH s AS (INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of)
		SELECT cluster_id, id, '', $2, now() FROM hosts WHERE id = $1
		ON CONFLICT (cluster_id, node, name) DO UPDATE SET as_of = now() RETURNING id, cluster_id)
		INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, uid, guest_id, name, taken_at)
		SELECT s.cluster_id, s.id, $3, g.node, g.kind, g.ref, g.uid, g.id, g.name, now() FROM s, guests g
		WHERE g.cluster_id = s.cluster_id AND g.ref = $4`, f.Host, storage, id, string(of.ID))
	return f.ID("SELECT id FROM backups WHERE ref = $1", id)
}
