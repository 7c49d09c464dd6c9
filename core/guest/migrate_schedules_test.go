package guest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Schedules go with a VM that moves to another cluster, and where it is not known there they are switched off: none acts on the one that
// was left.
func TestSchedulesFollowAVMToAnotherCluster(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known: %t", known), func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withOther(t, true)
				b.worker.Sync = func(ctx context.Context, host int64) error {
					if made := b.other.Guests(); known && host == b.otherID && len(made) == 1 {
						_, err := b.db.Pool.Exec(ctx, `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status)
							SELECT cluster_id, id, 'vm', 900, $2, 'n', 'moved', 'stopped' FROM hosts WHERE id = $1`, host, string(made[0].ID))
						return err
					}
					return nil
				}
				b.start(t)
				_, p := b.starting(t, hypervisor.VM, hypervisor.GuestStopped)
				_, other := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				b.exec(t, "DELETE FROM schedules")
				moved, stays := p.GuestID, other.GuestID
				for name, params := range map[string]string{
					"a one":     fmt.Sprintf(`{"vm_id":%d,"keep":2}`, moved),
					"b many":    fmt.Sprintf(`{"targets":[{"vm":%d},{"app":%[1]d},{"vm":%d}]}`, moved, stays),
					"c alone":   fmt.Sprintf(`{"targets":[{"vm":%d}]}`, moved),
					"d another": fmt.Sprintf(`{"vm_id":%d}`, stays),
					"e app":     fmt.Sprintf(`{"app_id":%d}`, moved),
					"f tag":     `{"select":{"tag":"x"}}`,
				} {
					b.exec(t, `INSERT INTO schedules (name, cron, job_kind, params, next_run_at, updated_at)
						VALUES ($1, '0 2 * * *', 'x', $2, now(), now() - interval '1 day')`, name, params)
				}
				_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
				one, many, alone := fmt.Sprintf(`{"keep": 2, "vm_id": %d} false`, moved),
					fmt.Sprintf(`{"targets": [{"app": %d}, {"vm": %d}]} true`, moved, stays), fmt.Sprintf(`{"targets": [{"vm": %d}]} false`, moved)
				trail := "a one disable, b many update, c alone disable"
				if known {
					made := dbtest.Value[int64](t, b.db, "SELECT id FROM guests WHERE vmid = 900")
					one, alone = fmt.Sprintf(`{"keep": 2, "vm_id": %d} true`, made), fmt.Sprintf(`{"targets": [{"vm": %d}]} true`, made)
					many = fmt.Sprintf(`{"targets": [{"vm": %d}, {"app": %d}, {"vm": %d}]} true`, made, moved, stays)
					trail = "a one update, b many update, c alone update"
				}
				want := fmt.Sprintf(`a one %s, b many %s, c alone %s, d another {"vm_id": %d} true, e app {"app_id": %d} true, `+
					`f tag {"select": {"tag": "x"}} true`, one, many, alone, stays, moved)
				for sql, want := range map[string]string{
					"SELECT string_agg(concat_ws(' ', name, params, enabled::text), ', ' ORDER BY name) FROM schedules":                     want,
					"SELECT string_agg(left(name, 1), ' ' ORDER BY name) FROM schedules WHERE updated_at > now() - interval '1 hour'":       "a b c",
					"SELECT string_agg(target_name || ' ' || substr(action, 10), ', ' ORDER BY target_name) FROM audit WHERE result = 'ok'": trail,
					"SELECT count(*)::text FROM schedules WHERE NOT enabled AND disabled_reason NOT LIKE '%add the new VM to the schedule'": "0",
				} {
					if got := dbtest.Value[string](t, b.db, sql); got != want {
						t.Errorf("%s:\n%s, want\n%s\n%s", sql, got, want, transcript)
					}
				}
			})
		})
	}
}
