package memdriver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NICs implements hypervisor.NICEditor.
func (h *Host) NICs(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.NICList, error) {
	return look(ctx, h, "nics", ref, func(g *guest) (hypervisor.NICList, error) {
		now := g.presentConfig()
		list := hypervisor.NICList{Digest: now.Digest, NICs: slices.Clone(now.NICs)}
		for i := range list.NICs {
			list.NICs[i].Raw = g.rawNIC(i)
		}
		return list, nil
	})
}

// rawNIC returns a NIC's own form, with the pending changes. A change must
// start from it.
func (g *guest) rawNIC(i int) string {
	nic := g.config.NICs[i]
	if waiting, ok := g.pendingNICs[nic.Key]; ok {
		nic = waiting
	}
	text, err := json.Marshal(nic)
	if err != nil {
		panic(err) // plain values
	}
	return string(text)
}

// Addresses implements hypervisor.NICEditor. Each NIC of a running guest has an
// address that follows from the guest's number.
func (h *Host) Addresses(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.NICAddresses, error) {
	return look(ctx, h, "addresses", ref, func(g *guest) (told []hypervisor.NICAddresses, err error) {
		if g.Status != hypervisor.GuestRunning {
			return nil, plugin.Errorf(plugin.Conflict, "guest %s is %s", ref.ID, g.Status)
		}
		for i, nic := range g.config.NICs {
			told = append(told, hypervisor.NICAddresses{
				Name: fmt.Sprintf("eth%d", i), MAC: nic.MAC, Addresses: []string{fmt.Sprintf("10.%d.%d.%d/16", i, byte(g.number>>8), byte(g.number))},
			})
		}
		return told, nil
	})
}

// ChangeNIC implements hypervisor.NICEditor. A change of the MTU of a running
// VM waits for its next start, with everything else in the change.
func (h *Host) ChangeNIC(ctx context.Context, ref hypervisor.GuestRef, key string, change hypervisor.NICChange) error {
	return h.edit(ctx, "changenic", ref, change.Digest, func(c *Cluster, g *guest) error {
		i := slices.IndexFunc(g.config.NICs, func(n hypervisor.NIC) bool { return n.Key == key })
		if i < 0 {
			return plugin.Errorf(plugin.NotFound, "guest %s has no NIC %.40q", ref.ID, key)
		}
		if change.Raw != g.rawNIC(i) {
			stale := plugin.Errorf(plugin.Conflict, "the NIC is not what the change was made from")
			stale.Field = "digest"
			return stale
		}
		changed := g.config.NICs[i]
		if waiting, ok := g.pendingNICs[key]; ok {
			changed = waiting
		}
		for _, field := range change.Clear {
			if err := setNIC(&changed, hypervisor.NIC{}, field); err != nil {
				return err
			}
		}
		for _, field := range change.Fields {
			if field == hypervisor.NICBridge && !slices.Contains(c.bridges, change.Set.Bridge) {
				return invalid(field, "bridge %.80q not found", change.Set.Bridge)
			}
			if err := setNIC(&changed, change.Set, field); err != nil {
				return err
			}
		}
		named := slices.Concat(change.Fields, change.Clear)
		if g.Kind == hypervisor.VM && g.Status != hypervisor.GuestStopped && slices.Contains(named, hypervisor.NICMTU) {
			if g.pendingNICs == nil {
				g.pendingNICs = map[string]hypervisor.NIC{}
			}
			g.pendingNICs[key] = changed
			return nil
		}
		g.config.NICs[i] = changed
		return nil
	})
}

// setNIC copies a field from another NIC.
func setNIC(n *hypervisor.NIC, from hypervisor.NIC, field string) error {
	switch field {
	case hypervisor.NICBridge:
		n.Bridge = from.Bridge
	case hypervisor.NICVLAN:
		n.VLAN = from.VLAN
	case hypervisor.NICRate:
		n.Rate = from.Rate
	case hypervisor.NICMTU:
		n.MTU = from.MTU
	case hypervisor.NICFirewall:
		n.Firewall = from.Firewall
	case hypervisor.NICLinkDown:
		n.LinkDown = from.LinkDown
	case hypervisor.NICIP:
		n.IP = from.IP
	case hypervisor.NICGateway:
		n.Gateway = from.Gateway
	case hypervisor.NICIP6:
		n.IP6 = from.IP6
	case hypervisor.NICGateway6:
		n.Gateway6 = from.Gateway6
	default:
		return invalid(field, "unknown NIC field")
	}
	return nil
}
