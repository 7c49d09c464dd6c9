package schedules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/service/servicetest"
)

// fixture is the resource on a real database, with the kinds of VMs and apps. Jobs are enqueued and never begin.
type fixture struct {
	*servicetest.Resource
	t     *testing.T
	store *schedule.Store
}

// Ids: VMs 1 web and 2 base (a template), 4 far (of another team); containers 3 and 5, the latter the app 1; app 2 has no container.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{t: t}
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
	inventorytest.Away(t, b.DB, 1, 999, "lost")
	return b
}

// create writes a schedule as an admin and returns its id.
func (b *fixture) create(body string) int64 {
	b.t.Helper()
	var made schedule.Schedule
	b.Run(b.t, apitest.Scenario{Name: "create", Method: "POST", URL: "/api/v1/schedules", Body: body, As: apitest.Admin, Status: 201,
		After: func(t *testing.T, answer *apitest.Answer) {
			if err := json.Unmarshal(answer.Body, &made); err != nil {
				t.Fatal(err)
			}
		}})
	return made.ID
}

func path(id int64, rest string) string { return fmt.Sprintf("/api/v1/schedules/%d%s", id, rest) }
