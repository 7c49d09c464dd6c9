package scenarios

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
)

// A schedule of snapshots is refused where any other kind is, and where its host is away only the job finds out.
func TestSnapshotSchedulesAreRefused(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	for _, test := range []struct {
		kind, params string
		status       int
		code         string
	}{
		{"vm.snapshot_create", `{"vm_id":99,"name":"nightly"}`, 404, "not_found"},
		{"vm.snapshot_create", `{"vm_id":3,"name":"nightly"}`, 404, "not_found"},
		{"vm.snapshot_create", `{"vm_id":2,"name":"nightly"}`, 409, "invalid_state"},
		{"vm.snapshot_create", `{"vm_id":4,"name":"nightly"}`, 409, "capability_missing"},
		{"app.snapshot_create", `{"app_id":9,"name":"nightly"}`, 404, "not_found"},
		{"app.snapshot_create", `{"app_id":2,"name":"nightly"}`, 409, "invalid_state"},
		{"vm.snapshot_create", `{"vm_id":1,"name":"nightly","vmstate":true,"description":"before dawn"}`, 201, ""},
		{"app.snapshot_create", `{"app_id":1,"name":"nightly","description":null}`, 201, ""},
	} {
		b.Run(t, apitest.Scenario{Name: test.kind + test.params, Method: "POST", URL: "/api/v1/schedules", As: apitest.Admin,
			Status: test.status, Error: test.code,
			Body: fmt.Sprintf(`{"name":"n","cron":"0 0 * * *","job_kind":%q,"params":%s}`, test.kind, test.params)})
	}
	if got := b.Value("SELECT count(*) FROM jobs"); got != "0" {
		t.Errorf("%s jobs", got)
	}
}

// Each run makes a job of the ordinary kind, whose snapshot has the prefix and the time in UTC.
func TestSnapshotScheduleRuns(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	vm := b.create(`{"name":"n","cron":"0 0 * * *","job_kind":"vm.snapshot_create",` +
		`"params":{"vm_id":1,"name":"nightly","vmstate":true,"description":"before dawn"}}`)
	app := b.create(`{"name":"n","cron":"0 0 * * *","job_kind":"app.snapshot_create",` +
		`"params":{"app_id":1,"name":"a23456789012345678901234"}}`)
	began := time.Now().UTC().Truncate(time.Second)
	b.Exec(fmt.Sprintf("UPDATE schedules SET next_run_at = now() - interval '1 minute' WHERE id = %d", vm))
	if _, err := b.store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Run(t, apitest.Scenario{Name: "run", Method: "POST", URL: schedulePath(app, "/run"), As: apitest.Operator, Status: 202,
		Contains: []string{`"kind":"app.snapshot_create"`, fmt.Sprintf(`"schedule_id":%d`, app)}})
	for kind, prefix := range map[string]string{"vm": "nightly", "app": "a23456789012345678901234"} {
		name := b.Value("SELECT params->'spec'->>'Name' FROM jobs WHERE kind = '" + kind + ".snapshot_create'")
		m := regexp.MustCompile("^" + prefix + `-(\d{8}T\d{6})$`).FindStringSubmatch(name)
		if m == nil || len(name) > 40 {
			t.Errorf("%s: the name is %q", kind, name)
			continue
		}
		if at, err := time.Parse("20060102T150405", m[1]); err != nil || at.Before(began) || at.After(time.Now()) {
			t.Errorf("%s: the name %q is of the time %v, %v", kind, name, at, err)
		}
	}
	if got := b.Value("SELECT concat_ws(' ', schedule_id, params->'spec'->>'Memory', params->'spec'->>'Description', target_kind) " +
		"FROM jobs WHERE kind = 'vm.snapshot_create'"); got != fmt.Sprintf("%d true before dawn vm", vm) {
		t.Error(got)
	}
	if got := b.Value("SELECT (details->>'snapshot' = (SELECT params->'spec'->>'Name' FROM jobs WHERE kind = 'app.snapshot_create'))::text " +
		"FROM audit WHERE action = 'schedule.run' AND result = 'ok'"); got != "true" {
		t.Errorf("the audit log names the snapshot: %s", got)
	}
}
