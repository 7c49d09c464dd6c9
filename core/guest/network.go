package guest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

const (
	// addressLimit bounds the request for addresses, because the agent in a
	// guest may hang.
	addressLimit = 3 * time.Second
	// maxAddresses limits the addresses of one NIC that are shown, and those of
	// a guest that are stored. The guest is untrusted and may report any
	// number.
	maxAddresses = 64
)

// Interface is a network interface of a guest: its configuration, and what the
// guest reports about it.
type Interface struct {
	NIC
	Model          *string  `json:"model" example:"virtio" doc:"Model of the virtual NIC; null for containers"`
	Tag            *int64   `json:"tag" example:"20" doc:"VLAN tag; null for none"`
	Rate           *float64 `json:"rate" example:"12.5" doc:"Rate limit in MB per second; null for none"`
	MTU            *int64   `json:"mtu" example:"1500" doc:"MTU; null for the MTU of the bridge"`
	Firewall       bool     `json:"firewall" doc:"true if the hypervisor's firewall applies to it, provided that the firewall is enabled"`
	LinkDown       bool     `json:"link_down" doc:"true if the link is disconnected"`
	IP             *string  `json:"ip" example:"192.0.2.5/24" doc:"Configured IPv4 address of a container: an address with prefix, dhcp or manual"`
	Gateway        *string  `json:"gw" example:"192.0.2.1"`
	IP6            *string  `json:"ip6" example:"auto" doc:"Configured IPv6 address of a container: an address with prefix, dhcp, auto or manual"`
	Gateway6       *string  `json:"gw6"`
	Addresses      []string `json:"addresses" nullable:"true" example:"[\"192.0.2.5/24\"]" doc:"Addresses that the guest reports for this request, at most 64; null if it cannot report them"`
	AddressesError *string  `json:"addresses_error" doc:"Why the guest cannot report its addresses; null if it did"`
	Pending        bool     `json:"pending" doc:"true if a change waits for a restart"`
	Digest         *string  `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the whole configuration, the same for each NIC. Null if the hypervisor has none"`
}

// Network reads a guest's NICs from the hypervisor and its addresses from the
// guest, and stores the addresses. A guest that cannot report them does not
// make the request fail. Problems: not_found, unsupported, and those of
// host.Call.
func (a *Actor) Network(ctx context.Context, g *Guest) ([]Interface, error) {
	on := Subject{Guest: g, hosts: a.Hosts}
	found, err := Call(ctx, on, hypervisor.NICEditor.NICs)
	if err != nil {
		return nil, err
	}
	_ = keepNICs(ctx, a.DB, g.ID, found.NICs)
	all := showNICs(found)
	limited, cancel := context.WithTimeout(ctx, addressLimit)
	defer cancel()
	told, err := Call(limited, on, hypervisor.NICEditor.Addresses)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		if refused := (*sdk.Error)(nil); errors.As(err, &refused) && refused.Kind == sdk.Denied {
			err = refused // which is explained with the command that grants what lacks
		}
		why := host.Clean(job.Explain(err))
		if errors.Is(limited.Err(), context.DeadlineExceeded) {
			why = fmt.Sprintf("the guest did not answer within %s", addressLimit)
		}
		for i := range all {
			all[i].AddressesError = &why
		}
		return all, nil
	}
	for i := range all {
		all[i].Addresses = addressesOf(all[i].NIC, told)
	}
	return all, a.keepAddresses(ctx, g, all)
}

// showNICs converts a driver's NICs for JSON.
func showNICs(list hypervisor.NICList) []Interface {
	all := make([]Interface, 0, len(list.NICs))
	for _, n := range list.NICs[:min(len(list.NICs), maxParts)] {
		all = append(all, Interface{
			NIC: NIC{Key: host.Clean(n.Key), Name: host.CleanOrNil(n.Name), MAC: host.CleanOrNil(n.MAC), Bridge: host.CleanOrNil(n.Bridge)},
			Tag: n.VLAN, Rate: n.Rate, MTU: n.MTU, Firewall: n.Firewall, LinkDown: n.LinkDown, Pending: n.Pending,
			Model: host.CleanOrNil(n.Model), IP: host.CleanOrNil(n.IP), Gateway: host.CleanOrNil(n.Gateway), IP6: host.CleanOrNil(n.IP6),
			Gateway6: host.CleanOrNil(n.Gateway6), Digest: host.CleanOrNil(list.Digest),
		})
	}
	return all
}

// addressesOf returns the addresses that the guest reports for a NIC, matched
// by MAC or else by name. Invalid addresses are dropped.
func addressesOf(nic NIC, told []hypervisor.NICAddresses) []string {
	all := []string{}
	for _, t := range told {
		same := nic.MAC != nil && strings.EqualFold(t.MAC, *nic.MAC) || t.MAC == "" && nic.Name != nil && t.Name == *nic.Name
		if !same {
			continue
		}
		for _, text := range t.Addresses {
			prefix, err := netip.ParsePrefix(text)
			if err != nil || len(all) == maxAddresses || slices.Contains(all, prefix.String()) {
				continue
			}
			all = append(all, prefix.String())
		}
	}
	return all
}

// keepAddresses stores the addresses by which others can reach the guest. An
// unchanged list is rewritten at most every ten seconds, so that a page which
// polls does not write with every request.
func (a *Actor) keepAddresses(ctx context.Context, g *Guest, all []Interface) error {
	kept := []string{}
	for _, n := range all {
		for _, text := range n.Addresses {
			prefix, err := netip.ParsePrefix(text)
			if err != nil || !prefix.Addr().IsGlobalUnicast() || len(kept) == maxAddresses {
				continue
			}
			kept = append(kept, prefix.Addr().String())
		}
	}
	_, err := a.DB.Pool.Exec(ctx, `UPDATE guests SET addresses = $2, addresses_at = now() WHERE id = $1
		AND (addresses IS DISTINCT FROM $2 OR addresses_at < now() - interval '10 seconds')`, g.ID, kept)
	if err != nil {
		return db.Problem(fmt.Errorf("storing a guest's addresses: %w", err))
	}
	return nil
}
