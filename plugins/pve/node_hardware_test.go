package pve_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// hardware reads one section of pve1.
func hardware(t *testing.T, host *pve.Host, section hypervisor.HardwareSection, health bool) hypervisor.NodeHardware {
	t.Helper()
	found, err := host.NodeHardware(t.Context(), hypervisor.HardwareQuery{Node: "pve1", Section: section, Health: health})
	must(t, "reading "+string(section), err)
	return found
}

func TestNodeHardwareTellsWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 1})
	host := w.host(t, endpoint.Monitoring)
	w.ResetStats()
	quiet := hardware(t, host, hypervisor.HardwareDisks, false).Disks
	asked := hardware(t, host, hypervisor.HardwareDisks, true).Disks
	if len(quiet) != 3 || len(asked) != 3 {
		t.Fatalf("disks are %+v and %+v", quiet, asked)
	}
	for i, want := range []struct {
		kind, use, health string
		wear              int64 // -1: it does not tell
		wakes             bool
	}{
		{hypervisor.DiskNVMe, "ZFS", hypervisor.HealthPassed, 2, false}, {hypervisor.DiskHDD, "LVM", hypervisor.HealthPassed, -1, true},
		{hypervisor.DiskSSD, "", hypervisor.HealthFailed, 97, false},
	} {
		q, a := quiet[i], asked[i]
		if q.Health != "" || q.Wear != nil || q.Kind != want.kind || q.Use != want.use || q.Wakes != want.wakes || q.Vendor != "ATA" ||
			(q.RPM != nil) != want.wakes || *q.Size <= 0 || q.Serial == "" || q.WWN == "" {
			t.Errorf("a disk that was not asked is %+v", q)
		}
		if a.Health != want.health || (a.Wear != nil) != (want.wear >= 0) || a.Wear != nil && *a.Wear != want.wear {
			t.Errorf("a disk that was asked is %+v, want %+v", a, want)
		}
	}
	interfaces := hardware(t, host, hypervisor.HardwareInterfaces, false).Interfaces
	if len(interfaces) != 3 || interfaces[2].Name != "vmbr0" || interfaces[2].Type != "bridge" || !*interfaces[2].Active ||
		strings.Join(interfaces[2].Addresses, " ") != "10.99.0.10/24" || strings.Join(interfaces[2].Ports, " ") != "eno1" ||
		strings.Join(interfaces[2].Gateways, " ") != "10.99.0.1" || *interfaces[0].Autostart {
		t.Errorf("interfaces are %+v", interfaces)
	}
	stage := hypervisor.InterfaceChange{Node: "pve1", Want: hypervisor.Interface{Name: "vmbr7", Type: hypervisor.InterfaceBridge}}
	must(t, "staging a bridge", w.host(t, endpoint.Lifecycle).StageInterface(t.Context(), stage))
	w.ResetStats()
	if staged := hardware(t, host, hypervisor.HardwareInterfaces, false).Interfaces; len(staged) != 3 {
		t.Errorf("interfaces with one that is staged are %+v", staged)
	}
	pci := hardware(t, host, hypervisor.HardwarePCI, false).PCI
	if len(pci) != 2 || *pci[0].IOMMUGroup != 12 || pci[0].Mediated || pci[1].IOMMUGroup != nil || pci[1].VendorName != "Intel Corporation" {
		t.Errorf("devices are %+v", pci)
	}
	services := hardware(t, host, hypervisor.HardwareServices, false).Services
	if len(services) != 4 || services[0].Name != "postfix" || services[0].Active != "inactive" || services[0].State != "dead" {
		t.Errorf("services are %+v", services)
	}
	s := hardware(t, host, hypervisor.HardwareSubscription, false).Subscription
	if s.Status != "active" || s.Key != "pve1c-…" || *s.Sockets != 1 || s.Due != "2027-01-31" || time.Since(s.Checked).Abs() > 2*time.Hour {
		t.Errorf("subscription is %+v", s)
	}
	system := hardware(t, host, hypervisor.HardwareSystem, false).System
	if strings.Join(system.Nameservers, " ") != "10.99.0.1" || system.SearchDomain != "example.test" ||
		system.Timezone != "Etc/UTC" || system.Clock.IsZero() {
		t.Errorf("system is %+v", system)
	}
	if got, want := w.Stats().Requests, map[string]int64{"GET /nodes/{node}/network": 1,
		"GET /nodes/{node}/hardware/pci": 1, "GET /nodes/{node}/services": 1, "GET /nodes/{node}/subscription": 1,
		"GET /nodes/{node}/dns": 1, "GET /nodes/{node}/time": 1}; !maps.Equal(got, want) {
		t.Errorf("requests are %v, want %v", got, want)
	}
}

// TestNodeHardwareSaysWhichPrivilege: also where the hypervisor names none, and where it leaves out what it may not show.
func TestNodeHardwareSaysWhichPrivilege(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 1})
	for section, want := range map[hypervisor.HardwareSection][2]string{
		hypervisor.HardwareDisks: {"/nodes/pve1", "Sys.Audit"}, hypervisor.HardwarePCI: {"/", "Sys.Audit|Sys.Modify"},
		hypervisor.HardwareServices: {"/nodes/pve1", "Sys.Audit"}, hypervisor.HardwareSystem: {"/nodes/pve1", "Sys.Audit"},
		hypervisor.HardwareInterfaces: {"/sdn/zones/localnetwork", "SDN.Audit"},
	} {
		t.Run(string(section), func(t *testing.T) {
			t.Parallel()
			host := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit")))
			_, err := host.NodeHardware(t.Context(), hypervisor.HardwareQuery{Node: "pve1", Section: section})
			if e := wantKind(t, err, plugin.Denied); e.Path != want[0] || strings.Join(e.Missing, " ") != want[1] || e.Remedy == "" {
				t.Errorf("error is %+v", e)
			}
		})
	}
	t.Run("subscription", func(t *testing.T) {
		t.Parallel()
		host := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit")))
		if s := hardware(t, host, hypervisor.HardwareSubscription, false).Subscription; s.Status != "active" || s.Key != "" {
			t.Errorf("subscription is %+v", s)
		}
	})
}

func TestNodeHardwareFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		section hypervisor.HardwareSection
		fault   pvesim.Fault
		kind    plugin.ErrorKind
	}{
		"a release without it": {hypervisor.HardwarePCI, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 501,
			Reason: "Method 'GET /nodes/pve1/hardware/pci' not implemented"}, plugin.Unsupported},
		"disks that hang": {hypervisor.HardwareDisks, pvesim.Fault{Kind: pvesim.FaultHang}, plugin.Timeout},
		"half a list":     {hypervisor.HardwareServices, pvesim.Fault{Kind: pvesim.FaultTruncate}, plugin.Unreachable},
		"no data":         {hypervisor.HardwareSubscription, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 200}, plugin.Protocol},
		"refused by the clock": {hypervisor.HardwareSystem, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "no clock",
			Match: pvesim.Match{Path: "/nodes/{node}/time"}}, plugin.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Guests: 1})
			w.fault(t, c.fault)
			_, err := w.host(t, endpoint.Monitoring).NodeHardware(t.Context(),
				hypervisor.HardwareQuery{Node: w.NodeNames()[0], Section: c.section})
			wantKind(t, err, c.kind)
		})
	}
}
