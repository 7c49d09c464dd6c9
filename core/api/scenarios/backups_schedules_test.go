package scenarios

import (
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// writtenSchedule is the body of a schedule.
func writtenSchedule(kind, params string) string {
	return fmt.Sprintf(`{"name":"nightly","cron":"0 2 * * *","job_kind":%q,"params":%s}`, kind, params)
}

// newScheduledBackups is newBackups with a user whose rights outlast a request, who writes schedules. The VMs have the tag prod.
func newScheduledBackups(t *testing.T) *backupsFixture {
	t.Helper()
	b := newBackups(t, endpoint.Lifecycle)
	b.Exec("DELETE FROM schedules") // those that come with the service
	b.Exec("ALTER TABLE schedules ALTER COLUMN id RESTART")
	b.Exec("INSERT INTO team_members (team_id, user_id, role) VALUES (1, 1, 'admin') ON CONFLICT DO NOTHING")
	b.Exec("UPDATE guests SET tags = '{prod}' WHERE kind = 'vm'")
	return b
}

func TestScheduledParamsOfBackups(t *testing.T) {
	t.Parallel()
	b := newScheduledBackups(t)
	for _, wrong := range []string{`{}`, `{"vm_id":1,"app_id":1}`, `{"vm_id":1,"select":{"tag":"prod"}}`, `{"select":{}}`,
		`{"select":{"tag":"prod","host_id":1}}`, `{"targets":[]}`, `{"targets":[{}]}`, `{"targets":[{"vm":1},{"vm":1}]}`,
		`{"vm_id":1,"keep":0}`,
		`{"vm_id":1,"keep":366}`, `{"vm_id":1,"mode":"quick"}`, `{"vm_id":1,"storage":"none"}`, `{"select":{"tag":7}}`} {
		b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", wrong), apitest.Admin, 422, "invalid")
	}
	for _, wrong := range []string{`{"name":"n"}`, `{"name":"n","vm_id":1,"select":{"tag":"prod"}}`, `{"name":"n","select":{}}`,
		`{"name":"n","vm_id":1,"keep":"x"}`} {
		b.Expect(t, "POST", "schedules", writtenSchedule("vm.snapshot_create", wrong), apitest.Admin, 422, "invalid")
	}
	// What is made protected is never deleted. A schedule of before that has both goes on, and can be switched off.
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"select":{"tag":"prod"},"protected":true,"keep":3}`), apitest.Admin, 422,
		"invalid",
		`"params","keep"`, "never deleted")
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"select":{"tag":"prod"},"protected":true,"storage":"nas"}`),
		apitest.Admin,
		201, "")
	b.Exec(`UPDATE schedules SET params = params || '{"keep":3}'`)
	b.Expect(t, "POST", "schedules/1/run", "", apitest.Operator, 202, "")
	b.idle()
	b.Expect(t, "PATCH", "schedules/1", writtenSchedule("backup.run", `{"select":{"tag":"prod"},"protected":true,"keep":2}`), apitest.Admin,
		422,
		"invalid",
		"never deleted")
	b.Expect(t, "PATCH", "schedules/1", `{"enabled":false}`, apitest.Admin, 200, "")
	b.Exec("DELETE FROM schedules")
	b.Exec("ALTER TABLE schedules ALTER COLUMN id RESTART")
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"vm_id":99}`), apitest.Admin, 404, "not_found")
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"select":{"tag":"none"},"keep":3}`), apitest.Admin, 201, "", `"keep":3`)
	b.Expect(t, "POST", "schedules/1/run", "", apitest.Operator, 409, "invalid_state", "the selection matches no guest")
}

// What is selected is found anew at each run, and each guest gets a job of the schedule and a row in the audit log.
func TestBackupsSelectedAtEachRun(t *testing.T) {
	t.Parallel()
	b := newScheduledBackups(t)
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"select":{"tag":"Prod"},"storage":"nas"}`), apitest.Admin, 201, "")
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"select":{"host_id":1}}`), apitest.Admin, 201, "")
	b.Expect(t, "POST", "schedules", writtenSchedule("vm.snapshot_create", `{"select":{"host_id":1},"name":"n"}`), apitest.Admin, 201, "")
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"targets":[{"vm":1},{"app":1}]}`), apitest.Admin, 201, "")
	jobs := func() string {
		defer b.idle()
		return b.Value("SELECT string_agg(kind || ' ' || target_name || ' ' || schedule_id, ', ' ORDER BY target_name) FROM jobs " +
			"WHERE status = 'queued'")
	}
	run := func(id int, want string) {
		t.Helper()
		b.Expect(t, "POST", fmt.Sprintf("schedules/%d/run", id), "", apitest.Operator, 202, "", `"job":`)
		if got := jobs(); got != want {
			t.Errorf("schedule %d: %s, want %s", id, got, want)
		}
	}
	run(1, "backup.run db 1, backup.run web 1")
	run(2, "backup.run db 2, backup.run files 2, backup.run web 2")
	run(3, "vm.snapshot_create db 3, vm.snapshot_create web 3")
	// A template is selected for backups where a tag promises them, and for nothing else.
	b.Exec("UPDATE guests SET template = true WHERE name = 'db'")
	run(1, "backup.run web 1")
	b.Exec("UPDATE guests SET tags = '{prod,backup-7d}' WHERE name = 'db'")
	run(1, "backup.run db 1, backup.run web 1")
	run(3, "vm.snapshot_create web 3")
	b.Exec("UPDATE guests SET template = false, tags = '{}' WHERE name = 'db'")
	run(1, "backup.run web 1")
	if got := b.Value("SELECT count(*) FROM audit WHERE action = 'backup.run' AND result = 'ok' AND job_id IS NOT NULL"); got != "4" {
		t.Errorf("%s rows for the further jobs", got)
	}
	// One that is busy is left out, and the run is refused when all are.
	b.Exec("INSERT INTO jobs (kind, target_kind, target_id, target_name, exclusive) SELECT 'x', 'vm', id, name, 'guest:' || id FROM " +
		"guests " +
		"WHERE name = 'web'")
	b.Expect(t, "POST", "schedules/1/run", "", apitest.Operator, 409, "guest_busy")
	b.Expect(t, "POST", "schedules/2/run", "", apitest.Operator, 202, "")
}

// What a schedule made is deleted but for the newest, after a run since it was written; what others made, and what is protected, stays.
func TestBackupsThatAScheduleKeeps(t *testing.T) {
	t.Parallel()
	b := newScheduledBackups(t)
	b.Expect(t, "POST", "schedules", writtenSchedule("backup.run", `{"vm_id":`+b.vm("web")+`,"keep":1}`), apitest.Admin, 201, "")
	b.Expect(t, "POST", "schedules", writtenSchedule("vm.snapshot_create", `{"vm_id":`+b.vm("db")+`,"keep":1,"name":"n"}`), apitest.Admin,
		201,
		"")
	for range 2 {
		b.nas.Put(b.cluster, b.refs["web"], b.nas.Backups()[0].TakenAt)
	}
	b.list()
	jobs := func() string {
		return b.Value("SELECT coalesce(string_agg(kind || ' ' || target_name || ' ' || coalesce(asked->>'name', ''), ', ' ORDER BY " +
			"id), '') " +
			"FROM jobs WHERE status = 'queued'")
	}
	made := func(schedule int, guest, kind, names, age string) {
		b.Exec(fmt.Sprintf(`INSERT INTO schedule_made (schedule_id, guest_id, kind, name, made_at) SELECT %d, g.id, '%s', n, now()
			- '%s'::interval
			+ o * interval '1 second' FROM guests g, (%s) x(n, o) WHERE g.name = '%s'`, schedule, kind, age, names, guest))
	}
	const backups = "SELECT ref, row_number() OVER (ORDER BY id) FROM backups WHERE id > 2"
	made(1, "web", "backup", backups, "1 day")
	made(2, "db", "snapshot", "VALUES ('n-1', 1), ('n-2', 2), ('n-3', 3)", "1 day")
	b.turn()
	if got := jobs(); got != "" {
		t.Errorf("before a run since the schedules were written: %s", got)
	}
	b.nas.Change(func(k *hypervisor.Backup) { k.Protected = true })
	b.list()
	b.Exec("UPDATE schedule_made SET made_at = made_at + interval '1 day 1 minute'")
	b.turn()
	if got := jobs(); got != "vm.snapshot_delete db n-1" {
		t.Errorf("with protected backups: %s", got)
	}
	b.nas.Change(func(k *hypervisor.Backup) { k.Protected = false })
	b.idle()
	b.list()
	b.Exec("UPDATE schedule_made SET deleting_at = NULL WHERE kind = 'backup'")
	b.turn()
	if got := jobs(); got != "vm.snapshot_delete db n-2, backup.delete web " {
		t.Errorf("then: %s", got)
	}
	want := b.Value("SELECT min(id) FROM backups WHERE id > 2")
	if got := b.Value("SELECT target_id FROM jobs WHERE kind = 'backup.delete'"); got != want {
		t.Errorf("the backup %s goes, want the schedule's older one", got)
	}
	b.idle()
	b.turn()
	if got := jobs(); got != "" {
		t.Errorf("once more at once: %s", got)
	}
	if got := b.Value("SELECT count(*) FROM audit WHERE actor_type = 'system' AND details->>'reason' LIKE 'the schedule " +
		"keeps%'"); got != "3" {
		t.Errorf("%s rows in the audit log", got)
	}
}
