package pvesim_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

func TestMigrationRefusals(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1, TaskDuration: -1})
	root := as(t, c, c.AdminToken())
	for _, spec := range []pvesim.GuestSpec{
		{VMID: 100, Status: pvesim.StatusRunning}, {VMID: 101, Type: pvesim.LXC, Status: pvesim.StatusRunning},
		{VMID: 102, Lock: "backup"},
	} {
		if _, err := c.AddGuest(spec); err != nil {
			t.Fatal(err)
		}
	}
	root.refused("POST", "/nodes/pve1/qemu/100/migrate", "target=pve2", 500, "can't migrate running VM without --online")
	root.refused("POST", "/nodes/pve1/lxc/101/migrate", "target=pve2", 500,
		"can't migrate running container without --online or --restart")
	root.refused("POST", "/nodes/pve1/qemu/100/migrate", "target=pve7&online=1", 500, "no such cluster node 'pve7'")
	root.refused("POST", "/nodes/pve1/qemu/100/migrate", "target=pve2&online=1&force=1", 400, "Parameter verification failed.")
	root.refused("POST", "/nodes/pve1/qemu/100/migrate", "target=pve2&online=1&targetstorage=none", 500, "storage 'none' does not exist")
	root.task("POST", "/nodes/pve1/qemu/102/migrate", "target=pve2", "VM is locked (backup)")
	noError(t, c.SetNodeOnline("pve2", false))
	root.task("POST", "/nodes/pve1/qemu/100/migrate", "target=pve2&online=1&with-local-disks=1", "migration aborted")
	noError(t, c.SetNodeOnline("pve3", false))
	root.refused("POST", "/nodes/pve1/qemu/100/migrate", "target=pve2&online=1", 500, "cluster not ready - no quorum?")
	if g, _ := c.Guest(100); g.Node != "pve1" || g.Lock != "" || g.Status != pvesim.StatusRunning {
		t.Errorf("the guest is %+v", g)
	}
}
