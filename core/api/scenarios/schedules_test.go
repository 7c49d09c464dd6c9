package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/service/servicetest"
)

// schedulesFixture is the resource on a real database, with the kinds of VMs and apps. Jobs are enqueued and never begin.
type schedulesFixture struct {
	*servicetest.Resource
	t     *testing.T
	store *schedule.Store
}

// Ids: VMs 1 web and 2 base (a template), 4 far (of another team); containers 3 and 5, the latter the app 1; app 2 has no container.
func newSchedules(t *testing.T) *schedulesFixture {
	t.Helper()
	b := &schedulesFixture{t: t}
	b.Resource = servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) {
		kinds := slices.Concat(d.VMs.VMs.Kinds(), d.Apps.Apps.Kinds())
		b.store = schedule.New(schedule.Config{DB: d.Cluster.DB, Users: d.Users.Users, Kinds: kinds})
		schedules.Register(a, schedules.Deps{Schedules: b.store})
	})
	// Those that come with the service are tested where their jobs are.
	b.Exec("DELETE FROM schedules; ALTER TABLE schedules ALTER COLUMN id RESTART")
	inventorytest.Write(t, b.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Capabilities: []string{"lifecycle"}}},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: "web"}, {VMID: 101, Node: "n1", Name: "base", Status: "stopped", Template: true},
				{Container: true, VMID: 102, Node: "n1", Name: "ct"},
			}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "rack2"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "far"}}})
	b.Exec("INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status) VALUES " +
		"(1, 1, 'container', 103, '103', 'n1', 'wiki', 'running')")
	inventorytest.Adopt(t, b.DB, 1, 103, "wiki")
	inventorytest.MissingApp(t, b.DB, 1, 999, "lost")
	return b
}

// create writes a schedule as an admin and returns its id.
func (b *schedulesFixture) create(body string) int64 {
	b.t.Helper()
	var made schedule.Schedule
	b.Expect(b.t, "POST", "schedules", body, apitest.Admin, 201, "").Decode(b.t, &made)
	return made.ID
}

func schedulePath(id int64, rest string) string {
	return fmt.Sprintf("/api/v1/schedules/%d%s", id, rest)
}

const nightlySchedule = `{"name":"Nightly","cron":"30 2 * * MON-FRI","timezone":"Europe/Berlin","job_kind":"vm.shutdown",` +
	`"params":{"vm_id":1}}`

func TestCreateSchedule(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	b.Run(t,
		apitest.Scenario{Name: "all given", Method: "POST", URL: "/api/v1/schedules", Body: nightlySchedule, As: apitest.Admin, Status: 201,
			Contains: []string{`"cron":"30 2 * * MON-FRI","timezone":"Europe/Berlin","job_kind":"vm.shutdown","params":{"vm_id":1},` +
				`"enabled":true,"next_run_at":"20`,
				`"last_run_at":null,"last_job_id":null,"last_error":"","disabled_reason":"","writer":{"id":`, `"seeded":false`},
			After: func(t *testing.T, answer *apitest.Response) {
				var s schedule.Schedule
				if err := json.Unmarshal(answer.Body, &s); err != nil || s.NextRunAt.Second() != 0 || s.NextRunAt.Minute() != 30 ||
					!strings.Contains(string(answer.Body), `:30:00Z"`) {
					t.Errorf("%s: %v", answer.Body, err)
				}
			}},
		apitest.Scenario{Name: "the least", Method: "POST", URL: "/api/v1/schedules",
			Body: `{"name":"n","cron":"* * * * *","job_kind":"app.stop","params":{"app_id":1}}`, As: apitest.Admin, Status: 201,
			Contains: []string{`"timezone":"UTC"`, `"enabled":true`}},
		apitest.Scenario{Name: "off", Method: "POST", URL: "/api/v1/schedules", Body: `{"name":"n","cron":" 0  0 1 jan * ",` +
			`"job_kind":"vm.start","params":{"vm_id":1},"enabled":false}`, As: apitest.Owner, Status: 201,
			Contains: []string{`"cron":"0 0 1 jan *"`, `"enabled":false,"next_run_at":null`}},
		apitest.Scenario{Name: "operator", Method: "POST", URL: "/api/v1/schedules", Body: nightlySchedule, As: apitest.Operator, Status: 403,
			Error: "forbidden"},
		apitest.Scenario{Name: "owner of another team", Method: "POST", URL: "/api/v1/schedules", Body: nightlySchedule,
			As: apitest.In(2, identity.Owner), Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "list", Method: "GET", URL: "/api/v1/schedules?per_page=2", As: apitest.Viewer, Status: 200,
			Contains: []string{`"id":1,`, `"id":2,`}, Lacks: []string{`"id":3,`},
			After: func(t *testing.T, answer *apitest.Response) {
				if total := answer.Header.Get("X-Total-Count"); total != "3" {
					t.Errorf("total %s", total)
				}
			}},
		apitest.Scenario{Name: "second page", Method: "GET", URL: "/api/v1/schedules?per_page=2&page=2", As: apitest.Viewer, Status: 200,
			Contains: []string{`"id":3,`}, Lacks: []string{`"id":1,`}},
		apitest.Scenario{Name: "list without a role", Method: "GET", URL: "/api/v1/schedules", As: apitest.NoRole, Status: 403,
			Error: "forbidden"},
	)
	if got := b.Value("SELECT concat_ws(' ', action, target_kind, target_id, target_name, details->>'job_kind') FROM audit WHERE result " +
		"= 'ok' ORDER BY id LIMIT 1"); got != "schedule.create schedule 1 Nightly vm.shutdown" {
		t.Error(got)
	}
}

// What the operation itself would refuse is refused when it is written down for later.
func TestCreateScheduleAsksWhetherTheCallerMay(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.Guests.Self.Hostname = "web"
	for _, test := range []struct {
		kind, params string
		status       int
		code         string
	}{
		{"vm.start", `{"vm_id":99}`, 404, "not_found"}, {"vm.start", `{"vm_id":3}`, 404, "not_found"},
		{"vm.start", `{"vm_id":2}`, 409, "invalid_state"},
		{"vm.start", `{"vm_id":4}`, 409, "capability_missing"}, {"app.start", `{"app_id":9}`, 404, "not_found"},
		{"app.start", `{"app_id":2}`, 409, "invalid_state"},
		{"vm.stop", `{"vm_id":1}`, 409, "self_target"}, {"vm.start", `{"vm_id":1}`, 201, ""}, {"app.restart", `{"app_id":1}`, 201, ""},
	} {
		b.Run(t, apitest.Scenario{Name: test.kind + test.params, Method: "POST", URL: "/api/v1/schedules", As: apitest.Admin,
			Status: test.status, Error: test.code,
			Body: fmt.Sprintf(`{"name":"n","cron":"0 0 * * *","job_kind":%q,"params":%s}`, test.kind, test.params)})
	}
	if got := b.Value("SELECT count(*) FROM jobs"); got != "0" {
		t.Errorf("%s jobs", got)
	}
}

type scheduleFaults struct {
	Detail []struct {
		Loc  []any
		Msg  string
		Type string
	}
}

func faultsIn(t *testing.T, answer *apitest.Response) []string {
	t.Helper()
	var told scheduleFaults
	if err := json.Unmarshal(answer.Body, &told); err != nil {
		t.Fatalf("%s: %v", answer.Body, err)
	}
	var all []string
	for _, f := range told.Detail {
		all = append(all, strings.Trim(fmt.Sprint(f.Loc), "[]")+" "+f.Type)
	}
	slices.Sort(all)
	return all
}

func TestFaultsOfSchedules(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	id := b.create(nightlySchedule)
	for _, test := range []struct {
		name, method, body string
		want               []string
	}{
		{"nothing", "POST", `{}`, []string{"body cron missing", "body job_kind missing", "body name missing"}},
		{"all at once", "POST", `{"name":"","cron":"61 * * * *","timezone":"CANARY99","job_kind":"vm.start","params":{"vm_id":"CANARY99",` +
			`"x":1},"enabled":"yes","more":1}`,
			[]string{"body cron value_error", "body enabled bool_type", "body more extra_forbidden", "body name too_short",
				"body params vm_id int_type", "body params x extra_forbidden", "body timezone value_error"}},
		{"unknown kind", "POST", `{"name":"n","cron":"x","job_kind":"vm.CANARY99","params":{"x":1}}`,
			[]string{"body cron value_error", "body job_kind value_error"}},
		{"kind that needs a confirmation", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.delete","params":{"vm_id":1}}`,
			[]string{"body job_kind value_error"}},
		{"parameters missing", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start"}`, []string{"body params vm_id missing"}},
		{"parameters null", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":null}`,
			[]string{"body params vm_id missing"}},
		{"parameters no object", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":[1]}`,
			[]string{"body params dict_type"}},
		{"out of range", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":{"vm_id":0}}`,
			[]string{"body params vm_id greater_than_equal"}},
		{"a fraction", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":{"vm_id":1.5}}`,
			[]string{"body params vm_id int_type"}},
		{"huge", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":{"vm_id":99999999999999999999}}`,
			[]string{"body params vm_id int_out_of_range"}},
		{"other case", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":{"VM_ID":1}}`,
			[]string{"body params VM_ID extra_forbidden", "body params vm_id missing"}},
		{"key with a dot", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.start","params":{"vm_id":1,"a.b[0]c":1}}`,
			[]string{"body params a.b[0]c extra_forbidden"}},
		{"NUL", "POST", `{"name":"n\u0000","cron":"* * * * *","job_kind":"vm.start","params":{"vm_id":1}}`,
			[]string{"body name string_nul", "body name value_error"}},
		{"no time zone", "POST", `{"name":"n","cron":"* * * * *","timezone":"","job_kind":"vm.start","params":{"vm_id":1}}`,
			[]string{"body timezone too_short"}},
		{"the machine's zone", "POST", `{"name":"n","cron":"* * * * *","timezone":"Local","job_kind":"vm.start","params":{"vm_id":1}}`,
			[]string{"body timezone value_error"}},
		{"never", "POST", `{"name":"n","cron":"0 0 31 2 *","job_kind":"vm.start","params":{"vm_id":1}}`, []string{"body cron value_error"}},
		{"long", "POST", `{"name":"n","cron":"` + strings.Repeat("1,", 5000) + `1 * * * *","job_kind":"vm.start","params":{"vm_id":1}}`,
			[]string{"body cron too_long", "body cron value_error"}},
		{"a snapshot without a name", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.snapshot_create","params":{"vm_id":1}}`,
			[]string{"body params name missing"}},
		{"a snapshot with a long name", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.snapshot_create",` +
			`"params":{"vm_id":1,"name":"a234567890123456789012345"}}`, []string{"body params name too_long"}},
		{"a snapshot with a bad name", "POST", `{"name":"n","cron":"* * * * *","job_kind":"app.snapshot_create",` +
			`"params":{"app_id":1,"name":"a/b"}}`, []string{"body params name string_pattern_mismatch"}},
		{"a snapshot of a VM with wrong types", "POST", `{"name":"n","cron":"* * * * *","job_kind":"vm.snapshot_create",` +
			`"params":{"vm_id":1,"name":1,"vmstate":"yes","held":3}}`,
			[]string{"body params held extra_forbidden", "body params name string_type", "body params vmstate bool_type"}},
		{"a snapshot of an app with its memory", "POST", `{"name":"n","cron":"* * * * *","job_kind":"app.snapshot_create",` +
			`"params":{"app_id":1,"name":"nightly","vmstate":true}}`, []string{"body params vmstate extra_forbidden"}},
		{"patch of nothing", "PATCH", `{}`, []string{"body nothing_to_change"}},
		{"patch with nulls", "PATCH", `{"name":null,"cron":null,"job_kind":null,"enabled":null}`,
			[]string{"body cron null_forbidden", "body enabled null_forbidden", "body job_kind null_forbidden", "body name null_forbidden"}},
		{"patch of parameters alone", "PATCH", `{"params":{"app_id":1}}`,
			[]string{"body params app_id extra_forbidden", "body params vm_id missing"}},
		{"patch of parameters to none", "PATCH", `{"params":null}`, []string{"body params vm_id missing"}},
		{"patch of the kind alone", "PATCH", `{"job_kind":"app.start"}`,
			[]string{"body params app_id missing", "body params vm_id extra_forbidden"}},
		{"patch with all faults", "PATCH", `{"cron":"@daily","timezone":"x","job_kind":"app.start","params":{"app_id":-1},"x":1}`,
			[]string{"body cron value_error", "body params app_id greater_than_equal", "body timezone value_error", "body x extra_forbidden"}},
	} {
		url := "/api/v1/schedules"
		if test.method == "PATCH" {
			url = schedulePath(id, "")
		}
		b.Run(t, apitest.Scenario{Name: test.name, Method: test.method, URL: url, Body: test.body, As: apitest.Owner, Status: 422,
			Error: "invalid", Lacks: []string{"CANARY99"}, After: func(t *testing.T, answer *apitest.Response) {
				if got := faultsIn(t, answer); !slices.Equal(got, test.want) {
					t.Errorf("\n got %q\nwant %q", got, test.want)
				}
			}})
	}
	b.Run(t,
		apitest.Scenario{Name: "the kinds are named", Method: "POST", URL: "/api/v1/schedules", Body: `{"name":"n","cron":"* * * * *",` +
			`"job_kind":"x"}`, As: apitest.Admin, Status: 422, Error: "invalid",
			Contains: []string{"must be one of app.restart, app.shutdown, app.snapshot_create, app.start, app.stop, vm.pause"}},
		apitest.Scenario{Name: "422 before 404", Method: "PATCH", URL: schedulePath(99, ""), Body: `{"cron":"x"}`, As: apitest.Admin,
			Status: 422, Error: "invalid"},
	)
}

func TestUpdateRunDeleteSchedule(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	id := b.create(nightlySchedule)
	next := b.Value("SELECT next_run_at FROM schedules")
	b.Run(t,
		apitest.Scenario{Name: "the writer changes", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"name":"Other","params":{"vm_id":1}}`,
			As: apitest.Owner, Status: 200,
			Contains: []string{`"name":"Other"`, b.Account(apitest.Owner).Email}},
		apitest.Scenario{Name: "operator", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"name":"Other"}`, As: apitest.Operator,
			Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "kind and parameters together", Method: "PATCH", URL: schedulePath(id, ""),
			Body: `{"job_kind":"app.stop","params":{"app_id":1}}`, As: apitest.Owner, Status: 200, Contains: []string{`"params":{"app_id":1}`}},
		apitest.Scenario{Name: "a thing that is not there", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"params":{"app_id":77}}`,
			As: apitest.Owner, Status: 404, Error: "not_found"},
	)
	if now := b.Value("SELECT next_run_at FROM schedules"); now != next {
		t.Errorf("next_run_at has moved from %s to %s", next, now)
	}
	b.Run(t,
		apitest.Scenario{Name: "run", Method: "POST", URL: schedulePath(id, "/run"), As: apitest.Operator, Status: 202,
			Contains: []string{`{"job":{"id":1,"kind":"app.stop"`, fmt.Sprintf(`"schedule_id":%d`, id),
				fmt.Sprintf(`"requested_by":{"id":%d,`, b.Account(apitest.Operator).ID)}},
		apitest.Scenario{Name: "run while it runs", Method: "POST", URL: schedulePath(id, "/run"), As: apitest.Operator, Status: 409,
			Error: "guest_busy"},
		apitest.Scenario{Name: "viewer", Method: "POST", URL: schedulePath(id, "/run"), As: apitest.Viewer, Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "no such", Method: "POST", URL: schedulePath(99, "/run"), As: apitest.Operator, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "off", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"enabled":false,"timezone":null}`, As: apitest.Admin,
			Status: 200, Contains: []string{`"timezone":"UTC"`, `"next_run_at":null`}},
		apitest.Scenario{Name: "on", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"enabled":true,"cron":"0 5 * * *"}`, As: apitest.Admin,
			Status: 200, Contains: []string{`T05:00:00Z"`}},
		apitest.Scenario{Name: "delete as an operator", Method: "DELETE", URL: schedulePath(id, ""), As: apitest.Operator, Status: 403,
			Error: "forbidden"},
		apitest.Scenario{Name: "delete", Method: "DELETE", URL: schedulePath(id, ""), As: apitest.Admin, Status: 204},
		apitest.Scenario{Name: "delete again", Method: "DELETE", URL: schedulePath(id, ""), As: apitest.Admin, Status: 404, Error: "not_found"},
	)
	if got := b.Value("SELECT string_agg(DISTINCT concat(action, ' ', result), ',' ) FROM audit WHERE target_kind = 'schedule' AND " +
		"target_id = '1' AND result = 'ok'"); got != "schedule.create ok,schedule.delete ok,schedule.run ok,schedule.update ok" {
		t.Error(got)
	}
	if got := b.Value("SELECT concat_ws(' ', target_name, job_id, team_id, host_id, details->>'writer') FROM audit WHERE action = " +
		"'schedule.run' AND result = 'ok'"); got != "Other 1 1 1 "+b.Account(apitest.Owner).Email {
		t.Error(got)
	}
	if got := b.Value("SELECT count(*) FROM audit WHERE action = 'schedule.run' AND result = 'refused'"); got != "3" {
		t.Errorf("%s refused runs", got)
	}
}

func TestKindsOfSchedules(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	b.Run(t,
		apitest.Scenario{Name: "viewer", Method: "GET", URL: "/api/v1/schedules/kinds", As: apitest.Viewer, Status: 200,
			After: func(t *testing.T, answer *apitest.Response) {
				var kinds []struct {
					Kind, Summary string
					Params        struct {
						Type                 string
						Required             []string
						AdditionalProperties bool
						Properties           map[string]struct{ Type any }
					}
				}
				if err := json.Unmarshal(answer.Body, &kinds); err != nil || len(kinds) != 13 {
					t.Fatalf("%s: %v", answer.Body, err)
				}
				for _, kind := range kinds {
					thing, action, _ := strings.Cut(kind.Kind, ".")
					id, required := thing+"_id", []string{thing + "_id"}
					if action == "snapshot_create" {
						required = []string{"name"} // the guest, or a selection
					}
					if kind.Summary == "" || kind.Params.Type != "object" || !slices.Equal(kind.Params.Required, required) ||
						kind.Params.Properties[id].Type != "integer" || kind.Params.AdditionalProperties {
						t.Errorf("%+v", kind)
					}
				}
			}},
		apitest.Scenario{Name: "nobody", Method: "GET", URL: "/api/v1/schedules/kinds", Status: 401, Error: "unauthenticated"},
	)
}

// A guest that goes away takes its schedule out of service.
func TestScheduleOfAGuestThatIsGone(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	id := b.create(nightlySchedule)
	b.Exec("DELETE FROM guests WHERE id = 1; UPDATE schedules SET next_run_at = now() - interval '1 minute'")
	if _, err := b.store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Run(t,
		apitest.Scenario{Name: "list", Method: "GET", URL: "/api/v1/schedules", As: apitest.Viewer, Status: 200,
			Contains: []string{`"enabled":false,"next_run_at":null`, `"disabled_reason":"vm not found"`}},
		apitest.Scenario{Name: "on again", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"enabled":true}`, As: apitest.Admin, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "a new name is possible", Method: "PATCH", URL: schedulePath(id, ""), Body: `{"name":"Old"}`, As: apitest.Admin,
			Status: 200, Contains: []string{`"disabled_reason":""`}},
	)
	if got := b.Value("SELECT concat_ws(' ', action, details->>'reason') FROM " +
		"audit WHERE actor_type = 'system'"); got != "schedule.disable vm not found" {
		t.Error(got)
	}
}

func TestRunOfASchedule_ReturnsAllJobs(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	b.Exec("INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status) VALUES " +
		"(1, 1, 'vm', 110, '110', 'n1', 'db', 'running')")
	id := b.create(`{"name":"n","cron":"30 2 * * *","job_kind":"vm.snapshot_create","params":{"select":{"host_id":1},"name":"nightly-"}}`)
	var got struct {
		Job  struct{ ID int64 }
		Jobs []struct {
			ID     int64
			Target struct{ Name string }
		}
	}
	b.Expect(t, "POST", fmt.Sprintf("schedules/%d/run", id), "", apitest.Operator, 202, "").Decode(t, &got)
	if len(got.Jobs) != 2 || got.Job.ID != got.Jobs[0].ID {
		t.Fatalf("%+v", got)
	}
	if names := []string{got.Jobs[0].Target.Name, got.Jobs[1].Target.Name}; !slices.Contains(names, "web") || !slices.Contains(names, "db") {
		t.Errorf("jobs on %v", names)
	}
}

// The real kinds ask for the role that the operation itself asks for, of the writer and on the guest's own team.
func TestWriterOfAScheduleIsNoOperatorAnyMore(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	vm := b.create(nightlySchedule)
	app := b.create(`{"name":"n","cron":"30 2 * * *","job_kind":"app.shutdown","params":{"app_id":1}}`)
	run := func(status int, code string) {
		t.Helper()
		for _, id := range []int64{vm, app} {
			b.Run(t, apitest.Scenario{Name: fmt.Sprint("run ", id), Method: "POST", URL: schedulePath(id, "/run"), As: apitest.Operator,
				Status: status, Error: code})
		}
	}
	b.Exec("UPDATE team_members SET role = 'viewer' WHERE user_id IN (SELECT writer_id FROM schedules)")
	run(403, "forbidden")
	// A high role in a team that does not own the guest counts for nothing.
	b.Exec("UPDATE team_members SET team_id = 2, role = 'owner' WHERE user_id IN (SELECT writer_id FROM schedules)")
	run(404, "not_found")
	b.Exec("UPDATE team_members SET team_id = 1, role = 'operator' WHERE user_id IN (SELECT writer_id FROM schedules)")
	run(202, "")
}

func TestTimesOfSchedules(t *testing.T) {
	t.Parallel()
	b := newSchedules(t)
	times := func(name, query string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "GET", "/api/v1/schedules/times?"+query, "", as, status, code, contains...)
	}
	five := times("five", "cron=0+3+1+1+*&timezone=Europe/Berlin", apitest.Viewer, 200, "", "-01-01T02:00:00Z")
	five.After = func(t *testing.T, answer *apitest.Response) {
		var told schedules.Times
		if err := json.Unmarshal(answer.Body, &told); err != nil || len(told.Times) != 5 {
			t.Fatalf("%s: %v", answer.Body, err)
		}
		for i, at := range told.Times[1:] {
			if at.Year() != told.Times[i].Year()+1 {
				t.Errorf("%s after %s", at, told.Times[i])
			}
		}
	}
	b.Run(t, five,
		times("rare", "cron=0+0+29+2+*", apitest.Viewer, 200, "", "-02-29T00:00:00Z"),
		times("never", "cron=0+0+31+2+*", apitest.Viewer, 422, "invalid", `["query","cron"]`, "never matches"),
		times("macro", "cron=@daily", apitest.Viewer, 422, "invalid", `["query","cron"]`),
		times("zone", "cron=0+0+*+*+*&timezone=../etc", apitest.Viewer, 422, "invalid", `["query","timezone"]`),
		times("none", "", apitest.Viewer, 422, "invalid", `["query","cron"]`),
		times("nobody", "cron=0+0+*+*+*", nil, 401, "unauthenticated"),
	)
}
