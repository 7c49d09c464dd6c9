package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// hardwareRead tests HardwareReader. A section that the hypervisor does not
// have is Unsupported, but at least one must work. The health of disks is only
// read on request, because it wakes disks that sleep.
func (s *suite) hardwareRead(t *testing.T) {
	need[hypervisor.HardwareReader](t, s)
	s.run(t, "every section of a node", func(t *testing.T, ctx context.Context) {
		reader, node := as[hypervisor.HardwareReader](t, s.host(t, endpoint.Monitoring)), s.nodes(t, ctx)[0]
		read := 0
		for _, section := range hypervisor.HardwareSections() {
			hardware, err := reader.NodeHardware(ctx, hypervisor.HardwareQuery{Node: node, Section: section})
			if plugin.KindOf(err) == plugin.Unsupported {
				continue
			}
			must(t, "reading "+string(section), err)
			checkHardware(t, section, &hardware)
			read++
		}
		if read == 0 {
			t.Error("no section is readable")
		}
	})
	s.run(t, "disks that were not asked", func(t *testing.T, ctx context.Context) {
		reader, node := as[hypervisor.HardwareReader](t, s.host(t, endpoint.Monitoring)), s.nodes(t, ctx)[0]
		quiet, err := reader.NodeHardware(ctx, hypervisor.HardwareQuery{Node: node, Section: hypervisor.HardwareDisks})
		must(t, "reading the disks", err)
		for _, d := range quiet.Disks {
			if d.Health != "" || d.Wear != nil {
				t.Errorf("%s reports its health although it was not requested", d.Path)
			}
		}
		asked, err := reader.NodeHardware(ctx, hypervisor.HardwareQuery{Node: node, Section: hypervisor.HardwareDisks, Health: true})
		must(t, "asking the disks", err)
		if len(asked.Disks) != len(quiet.Disks) {
			t.Errorf("%d disks, but %d with their health", len(quiet.Disks), len(asked.Disks))
		}
		checkHardware(t, hypervisor.HardwareDisks, &asked)
	})
	s.run(t, "no such section, no such node", func(t *testing.T, ctx context.Context) {
		reader, node := as[hypervisor.HardwareReader](t, s.host(t, endpoint.Monitoring)), s.nodes(t, ctx)[0]
		for _, section := range []hypervisor.HardwareSection{"", "DISKS", "../status", "firewall"} {
			_, err := reader.NodeHardware(ctx, hypervisor.HardwareQuery{Node: node, Section: section})
			wantKind(t, err, plugin.Unsupported)
		}
		for _, name := range []string{"", "..", "no-such-node", node + "/../" + node, node + "\x00", "localhost"} {
			for _, section := range hypervisor.HardwareSections() {
				_, err := reader.NodeHardware(ctx, hypervisor.HardwareQuery{Node: name, Section: section})
				switch plugin.KindOf(err) {
				case plugin.NotFound, plugin.Invalid:
				default:
					t.Errorf("%s of node %.80q: error is %.200v, want not found or invalid", section, name, err)
				}
			}
		}
	})
	s.run(t, "a token without the right", func(t *testing.T, ctx context.Context) {
		hook(t, "Lacking", s.Lacking != nil)
		node := s.nodes(t, ctx)[0]
		target, _ := s.Lacking(t, endpoint.Monitoring)
		_, err := as[hypervisor.HardwareReader](t, s.open(t, target)).NodeHardware(ctx,
			hypervisor.HardwareQuery{Node: node, Section: hypervisor.HardwareDisks})
		if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
			t.Error("the error does not name the missing privilege")
		}
	})
}

// checkHardware checks that the response only contains the requested section,
// and that its values are possible: wear is a percentage, sizes are not
// negative, and health is one of the known words or empty.
func checkHardware(t *testing.T, section hypervisor.HardwareSection, h *hypervisor.NodeHardware) {
	t.Helper()
	for other, filled := range map[hypervisor.HardwareSection]bool{
		hypervisor.HardwareDisks: len(h.Disks) > 0, hypervisor.HardwareInterfaces: len(h.Interfaces) > 0,
		hypervisor.HardwarePCI: len(h.PCI) > 0, hypervisor.HardwareServices: len(h.Services) > 0,
		hypervisor.HardwareSubscription: h.Subscription != nil, hypervisor.HardwareSystem: h.System != nil,
	} {
		if filled && other != section {
			t.Errorf("%s has %s", section, other)
		}
	}
	for _, d := range h.Disks {
		if d.Path == "" || d.Size != nil && *d.Size < 0 || d.Wear != nil && (*d.Wear < 0 || *d.Wear > 100) {
			t.Errorf("disk %+v", d)
		}
		switch d.Health {
		case "", hypervisor.HealthPassed, hypervisor.HealthFailed:
		default:
			t.Errorf("%s: health %q", d.Path, d.Health)
		}
	}
	for _, i := range h.Interfaces {
		if i.Name == "" {
			t.Errorf("interface %+v", i)
		}
	}
	switch section {
	case hypervisor.HardwareSubscription:
		if h.Subscription == nil {
			t.Error("the section has no subscription")
		}
	case hypervisor.HardwareSystem:
		if h.System == nil || !h.System.Clock.IsZero() && time.Since(h.System.Clock).Abs() > 24*time.Hour {
			t.Errorf("system %+v", h.System)
		}
	}
}
