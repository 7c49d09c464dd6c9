package pve

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestNodeStatusForms(t *testing.T) {
	t.Parallel()
	const least = `"uptime":1,"memory":{"total":2}`
	for name, c := range map[string]struct {
		data string
		good func(s hypervisor.NodeStatus) bool // nil: the answer is refused
	}{
		"the least": {least, func(s hypervisor.NodeStatus) bool {
			return *s.Uptime == 1 && *s.MemoryTotal == 2 && s.Memory == nil && s.Load == nil && s.CPU == nil && s.Cores == nil &&
				s.SwapTotal == nil && s.SecureBoot == nil
		}},
		"numbers as texts": {`"uptime":"7","cpu":"0.5","memory":{"total":"2","used":"1"},"cpuinfo":{"cores":"4","sockets":"1","cpus":"8"},` +
			`"ksm":{"shared":"5000000000"}`,
			func(s hypervisor.NodeStatus) bool {
				return *s.Uptime == 7 && *s.CPU == 0.5 && *s.Memory == 1 && *s.Cores == 4 && *s.Sockets == 1 && *s.CPUs == 8 &&
					*s.KSMShared == 5_000_000_000
			}},
		"load as texts":   {least + `,"loadavg":["0.10","2","3.5"]`, loadIs(0.1, 2, 3.5)},
		"load as numbers": {least + `,"loadavg":[0.1,2,3.5]`, loadIs(0.1, 2, 3.5)},
		"two loads":       {least + `,"loadavg":["0.1","2"]`, loadIs()},
		"load of words":   {least + `,"loadavg":["0.1","2","n/a"]`, loadIs()},
		"load null":       {least + `,"loadavg":null`, loadIs()},
		"old kernel": {least + `,"kversion":"Linux 5.15.1-1-pve #1 SMP PVE","pveversion":"pve-manager/7.4-16/0f39"`,
			func(s hypervisor.NodeStatus) bool {
				return s.Kernel == "5.15.1-1-pve" && s.Version == "7.4-16"
			}},
		"new kernel": {least + `,"kversion":"Linux a b","current-kernel":{"release":"6.17"},"pveversion":"pve-manager/9.2.11/0123"`,
			func(s hypervisor.NodeStatus) bool {
				return s.Kernel == "6.17" && s.Version == "9.2.11"
			}},
		"strange kernel and version": {least + `,"kversion":"GNU","pveversion":"9.9"`, func(s hypervisor.NodeStatus) bool {
			return s.Kernel == "GNU" && s.Version == "9.9"
		}},
		"EFI": {least + `,"boot-info":{"mode":"efi","secureboot":1}`, func(s hypervisor.NodeStatus) bool {
			return s.BootMode == hypervisor.BootEFI && *s.SecureBoot
		}},
		"EFI, not secure": {least + `,"boot-info":{"mode":"efi","secureboot":0}`, func(s hypervisor.NodeStatus) bool { return !*s.SecureBoot }},
		"BIOS": {least + `,"boot-info":{"mode":"legacy-bios"}`,
			func(s hypervisor.NodeStatus) bool { return s.BootMode == hypervisor.BootBIOS && s.SecureBoot == nil }},
		"another boot":  {least + `,"boot-info":{"mode":"coreboot"}`, func(s hypervisor.NodeStatus) bool { return s.BootMode == "" }},
		"unknown model": {least + `,"cpuinfo":{"model":"unknown"}`, func(s hypervisor.NodeStatus) bool { return s.CPUModel == "" }},
		"nulls": {least + `,"cpuinfo":null,"swap":null,"rootfs":null,"ksm":null,"boot-info":{"secureboot":null}`,
			func(s hypervisor.NodeStatus) bool {
				return s.CPUs == nil && s.SwapTotal == nil && s.DiskTotal == nil && s.KSMShared == nil && s.SecureBoot == nil
			}},
		"no figures":       {``, nil},
		"no memory":        {`"uptime":1`, nil},
		"memory of a list": {`"uptime":1,"memory":[1,2]`, nil},
		"uptime of a list": {`"uptime":[1],"memory":{"total":2}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := serveReply(t, reply{Status: 200, Reason: "OK",
				Response: json.RawMessage(`{"data":{` + c.data + `}}`)}).NodeStatus(t.Context(), "pve1")
			switch {
			case c.good == nil:
				if plugin.KindOf(err) != plugin.Protocol {
					t.Errorf("%+v, error %v, want protocol", s, err)
				}
			case err != nil || s.Name != "pve1" || !c.good(s):
				t.Errorf("%+v, error %v", s, err)
			}
		})
	}
}

func loadIs(want ...float64) func(hypervisor.NodeStatus) bool {
	return func(s hypervisor.NodeStatus) bool { return slices.Equal(s.Load, want) }
}
