package pve

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// The parts of a property string have no order.
func TestFormsOfNICs(t *testing.T) {
	t.Parallel()
	const mac = "BC:24:11:00:00:01"
	for value, model := range map[string]string{
		"virtio=" + mac + ",bridge=vmbr0,tag=5":                                "virtio",
		"bridge=vmbr0,virtio=" + mac + ",tag=5":                                "virtio",
		"tag=5,bridge=vmbr0,e1000-82545em=" + mac:                              "e1000-82545em",
		"bridge=vmbr0,model=vmxnet3,macaddr=" + mac + ",tag=5":                 "vmxnet3",
		"bridge=vmbr0,rtl8139,tag=5,macaddr=" + mac:                            "rtl8139",
		"bridge=vmbr0,later=" + mac + ",tag=5":                                 "later",
		"bridge=vmbr0,tag=5,hwaddr=" + mac + ",name=eth0,type=veth":            "",
		"name=eth0,firewall=on,bridge=vmbr0,hwaddr=" + mac + ",tag=5,ip6=auto": "",
	} {
		n := nicOf("net0", value)
		if n.Model != model || n.MAC != mac || n.Bridge != "vmbr0" || n.VLAN == nil || *n.VLAN != 5 ||
			n.Firewall != strings.Contains(value, "firewall") {
			t.Errorf("%s: %+v", value, n)
		}
	}
	if n := nicOf("net0", "virtio,bridge=vmbr0"); n.Model != "virtio" || n.MAC != "" {
		t.Errorf("without an address: %+v", n)
	}
}

// Keys are in the order of their numbers, those of NICs and of disks.
func TestOrderOfKeys(t *testing.T) {
	t.Parallel()
	var rows []configRow
	for _, key := range []string{"net10", "net2", "scsi1", "net0", "scsi11", "scsi2", "net1"} {
		value := "virtio,bridge=vmbr0"
		if strings.HasPrefix(key, "scsi") {
			value = "local-lvm:vm-100-disk-0"
		}
		rows = append(rows, configRow{Key: pveapi.Text(key), Value: pveapi.Text(value)})
	}
	c := configOf(hypervisor.GuestRef{Kind: hypervisor.VM, ID: "100"}, rows)
	var keys []string
	for _, n := range c.NICs {
		keys = append(keys, n.Key)
	}
	for _, d := range c.Disks {
		keys = append(keys, d.Key)
	}
	if got := strings.Join(keys, " "); got != "net0 net1 net2 net10 scsi1 scsi2 scsi11" {
		t.Errorf("the order is %s", got)
	}
	c = configOf(hypervisor.GuestRef{Kind: hypervisor.VM, ID: "100"}, []configRow{{Key: "memory", Value: "later=1,current=2048"}})
	if c.MemoryMB == nil || *c.MemoryMB != 2048 {
		t.Errorf("the memory is %v", c.MemoryMB)
	}
}
