package vms_test

import (
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
)

func register(a *op.API, d api.Deps) { vms.Register(a, d.VMs) }

// newFixture is the resource on a real database. Jobs are enqueued and never begin.
func newFixture(t *testing.T, edits ...func(*service.Config)) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResource(t, register, edits...)
	inventorytest.Write(t, r.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Capabilities: []string{"lifecycle"}}},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: "web", CPU: 0.5, Memory: 1000, Uptime: 60},
				{VMID: 101, Node: "n1", Name: "base", Status: "stopped", Template: true},
				{VMID: 102, Node: "n1", Name: "ct", Container: true},
			}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "rack2"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "far", Status: "unknown"}}})
	return r
}
