package guest

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// InterfaceChangeResult is a NIC after a change.
type InterfaceChangeResult struct {
	Interface
	PendingRestart bool `json:"pending_restart" doc:"true if a change waits for a restart of the guest"`
}

// addressing lists the fields that only the NICs of containers have.
var addressing = []string{hypervisor.NICIP, hypervisor.NICGateway, hypervisor.NICIP6, hypervisor.NICGateway6}

// ChangeNIC changes the NIC of a guest, named by its key or by its name inside
// a container, in one request that is sent once. If the guest has no such NIC
// and the change names a bridge, it adds one with this key. It does not read
// the addresses. All faults of the change are one problem invalid. Other problems:
// not_found for the NIC; vm_addressing_not_editable for addresses of a VM;
// digest_conflict; guest_busy; capability_missing; unsupported; those of
// host.Call and of Actor.Do.
func ChangeNIC(ctx context.Context, a *Actor, r Request, iface string, change hypervisor.NICChange) (InterfaceChangeResult, error) {
	named := slices.Concat(change.Fields, change.Clear)
	if len(named) == 0 {
		return InterfaceChangeResult{}, NothingToChange()
	}
	if err := a.Hosts.Require(ctx, r.Guest.HostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.NICEditor](at)
		return err
	}); err != nil {
		return InterfaceChangeResult{}, err
	}
	on := Subject{Guest: r.Guest, hosts: a.Hosts}
	list, err := Call(ctx, on, hypervisor.NICEditor.NICs)
	if err != nil {
		return InterfaceChangeResult{}, err
	}
	now := nicNamed(list, iface)
	adds := now == nil && slices.Contains(change.Fields, hypervisor.NICBridge)
	switch {
	case adds:
		if now, err = a.newNIC(ctx, r.Guest, list, iface, change); err != nil {
			return InterfaceChangeResult{}, err
		}
	case now == nil:
		return InterfaceChangeResult{}, problem.New(problem.CodeNotFound, "the guest does not have this NIC; name its bridge to add it")
	}
	switch {
	case r.Guest.Kind == VM && slices.ContainsFunc(named, func(field string) bool { return slices.Contains(addressing, field) }):
		return InterfaceChangeResult{}, problem.New(problem.CodeVMAddressing,
			"the addresses of a VM are set inside it or by its network; the hypervisor does not know them")
	}
	if err := CheckDigest(change.Digest, list.Digest); err != nil {
		return InterfaceChangeResult{}, err
	}
	if err := a.checkNIC(ctx, r.Guest, *now, change); err != nil {
		return InterfaceChangeResult{}, err
	}
	change.Digest, change.Raw = list.Digest, now.Raw
	audit.Describe(ctx, func(e *audit.Entry) {
		e.Detail("changed", named)
		if adds {
			e.Detail("added", true)
		}
	})
	var after InterfaceChangeResult
	err = a.Do(ctx, r, func(ctx context.Context, c *Change) (err error) {
		if adds {
			err = c.addNIC(ctx, on, *now, list.Digest, named)
		} else {
			err = c.changeNIC(ctx, on, *now, list.Digest, change)
		}
		if err == nil {
			after, err = resultOfNIC(ctx, on, now.Key)
		}
		// The configuration is marked as outdated even if the change failed,
		// because a failed request may have changed something.
		if stale := detailStale(ctx, a.DB, r.Guest.ID); err == nil {
			err = stale // also where it failed: what was done then is not known
		}
		return err
	})
	return after, err
}

// changeNIC sends the change.
func (c *Change) changeNIC(ctx context.Context, on Subject, before hypervisor.NIC, digest string, change hypervisor.NICChange) error {
	return SendTo(ctx, c, slices.Concat(change.Fields, change.Clear),
		func(able hypervisor.NICEditor, ctx context.Context, ref hypervisor.GuestRef) error {
			return able.ChangeNIC(ctx, ref, before.Key, change)
		}, func(ctx context.Context) (bool, error) {
			now, list, err := readNIC(ctx, on, before.Key)
			if err != nil {
				return false, err
			}
			// A pending change is not visible in the values. If the NIC was not
			// pending before and is now, and the digest differs, the request
			// was carried out.
			waits := now.Pending && !before.Pending && list.Digest != digest
			return waits || nicWith(*now, change) == *nicComparable(now), nil
		})
}

// readNIC reads the NIC with a key, and the list that it is in. Without the NIC
// it returns not_found.
func readNIC(ctx context.Context, on Subject, key string) (*hypervisor.NIC, hypervisor.NICList, error) {
	list, err := Call(ctx, on, hypervisor.NICEditor.NICs)
	if err != nil {
		return nil, list, err
	}
	if now := nicNamed(list, key); now != nil {
		return now, list, nil
	}
	return nil, list, problem.New(problem.CodeNotFound, "the guest no longer has this NIC")
}

// resultOfNIC reads the NIC after a change.
func resultOfNIC(ctx context.Context, on Subject, key string) (InterfaceChangeResult, error) {
	now, list, err := readNIC(ctx, on, key)
	if err != nil {
		return InterfaceChangeResult{}, err
	}
	shown := showNICs(hypervisor.NICList{Digest: list.Digest, NICs: []hypervisor.NIC{*now}})
	return InterfaceChangeResult{Interface: shown[0], PendingRestart: now.Pending}, nil
}

// nicNamed returns the NIC with the key, or else with the name inside a
// container, or nil. Keys come first, because a container may name an interface
// like the key of another one.
func nicNamed(list hypervisor.NICList, iface string) *hypervisor.NIC {
	for _, by := range []func(n hypervisor.NIC) string{
		func(n hypervisor.NIC) string { return n.Key }, func(n hypervisor.NIC) string { return n.Name },
	} {
		if i := slices.IndexFunc(list.NICs, func(n hypervisor.NIC) bool { return iface != "" && by(n) == iface }); i >= 0 {
			return &list.NICs[i]
		}
	}
	return nil
}
