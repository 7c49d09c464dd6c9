package pve

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvetest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// noOptions are the keys of a guest's configuration that are no options of people.
var noOptions = map[hypervisor.GuestKind][]string{
	hypervisor.VM: {
		// what a change has fields for
		"name", "description", "tags", "cpu", "cores", "sockets", "memory", "balloon",
		// disks, NICs, and what comes from the node
		"ide[n]", "sata[n]", "scsi[n]", "virtio[n]", "efidisk0", "tpmstate0", "unused[n]", "cdrom", "net[n]", "hostpci[n]", "usb[n]",
		"serial[n]", "parallel[n]", "virtiofs[n]", "audio0", "ivshmem", "numa[n]", "hookscript", "vmstatestorage",
		// only root@pam's
		"affinity", "amd-sev", "arch", "args", "hugepages", "intel-tdx", "keephugepages", "lock", "rng0", "skiplock",
		// secrets, files, and what identifies a guest
		"cicustom", "cipassword", "ipconfig[n]", "smbios1", "sshkeys", "vmgenid",
		// without effect, without return, or old words
		"autostart", "smp", "spice_enhancements", "template",
		// of the request
		"node", "vmid", "delete", "digest", "force", "revert",
	},
	hypervisor.Container: {
		"hostname", "description", "tags", "cores", "memory", "swap",
		"dev[n]", "hookscript", "mp[n]", "net[n]", "rootfs", "unused[n]",
		"arch", "entrypoint", "env", "lock", "ostype", "template", "unprivileged",
		"node", "vmid", "delete", "digest", "revert",
	},
}

// The hypervisor's own schema has every option of each release that it knows, with the type, the values and the bounds that the
// driver's table has; and each key that it has is an option, or is known to be none.
func TestOptionsAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	for kind, path := range map[hypervisor.GuestKind]string{hypervisor.VM: "qemu", hypervisor.Container: "lxc"} {
		m, _ := schema.Find("PUT", "/nodes/pve1/"+path+"/100/config")
		for version, release := range map[string]string{"7.4-16": "7.4", "8.4.5": "8.4", "9.1.3": "9.1", "9.2.3": "9.2"} {
			names := []string{}
			for _, key := range optionKeys(kind, parseRelease(release)) {
				names = append(names, key.Name)
				p := m.Parameters[key.Name]
				if p == nil || slices.Contains(p.NotIn, version) {
					t.Errorf("%s %s: %s has no %s", path, key.Name, version, key.Name)
					continue
				}
				if p.Type != key.Type || p.MaxLength != int(key.MaxLength) || !sameBound(p.Minimum, key.Min) ||
					!sameBound(p.Maximum, key.Max) || !slices.Equal(p.Enum, key.Values) {
					t.Errorf("%s %s: the schema has %+v, the table %+v", path, key.Name, p, key)
				}
			}
			if !slices.IsSorted(names) {
				t.Errorf("%s: not sorted: %v", path, names)
			}
			for name, p := range m.Parameters {
				isOption := slices.Contains(names, name)
				if isOption == slices.Contains(noOptions[kind], name) && !slices.Contains(p.NotIn, version) {
					t.Errorf("%s %s of %s: an option %v", path, name, version, isOption)
				}
			}
		}
	}
}

func sameBound(schema *json.Number, table *float64) bool {
	if schema == nil || table == nil {
		return schema == nil && table == nil
	}
	n, err := schema.Float64()
	return err == nil && n == *table
}
