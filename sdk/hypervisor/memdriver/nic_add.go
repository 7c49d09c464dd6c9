package memdriver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// nicKeys are the keys that an interface can have.
var nicKeys = regexp.MustCompile(`^net[0-9]$`)

// AddNIC implements hypervisor.NICAdder.
func (h *Host) AddNIC(ctx context.Context, ref hypervisor.GuestRef, nic hypervisor.NIC, digest string) error {
	return h.edit(ctx, "addnic", ref, digest, func(c *Cluster, g *guest) error {
		switch {
		case !nicKeys.MatchString(nic.Key),
			slices.ContainsFunc(g.config.NICs, func(n hypervisor.NIC) bool { return n.Key == nic.Key }):
			return invalid("key", "%.40q is not a free key", nic.Key)
		case !slices.Contains(c.bridges, nic.Bridge):
			return invalid(hypervisor.NICBridge, "bridge %.80q not found", nic.Bridge)
		}
		slot := strings.TrimPrefix(nic.Key, "net")
		nic.MAC, nic.Raw, nic.Pending = fmt.Sprintf("02:00:%02x:%02x:ff:0%s", byte(g.number>>8), byte(g.number), slot), "", false
		if g.Kind == hypervisor.Container {
			nic.Name = "eth" + slot
		} else if nic.Model == "" {
			nic.Model = "virtio"
		}
		g.config.NICs = append(slices.Clone(g.config.NICs), nic)
		slices.SortFunc(g.config.NICs, func(a, b hypervisor.NIC) int { return strings.Compare(a.Key, b.Key) })
		return nil
	})
}
