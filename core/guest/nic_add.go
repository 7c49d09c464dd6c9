package guest

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// newNIC returns the NIC with a key that a change adds. Its model is that of
// the guest's first NIC, whose driver the guest certainly has.
func (a *Actor) newNIC(ctx context.Context, g *Guest, list hypervisor.NICList, key string, change hypervisor.NICChange) (*hypervisor.NIC,
	error) {
	if err := a.Hosts.Require(ctx, g.HostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.NICAdder](at)
		return err
	}); err != nil {
		return nil, err
	}
	nic := change.Set
	nic.Key = key
	if len(list.NICs) > 0 {
		nic.Model = list.NICs[0].Model
	}
	return &nic, nil
}

// addNIC sends the new NIC.
func (c *Change) addNIC(ctx context.Context, on Subject, nic hypervisor.NIC, digest string, fields []string) error {
	err := SendTo(ctx, c, fields, func(able hypervisor.NICAdder, ctx context.Context, ref hypervisor.GuestRef) error {
		return able.AddNIC(ctx, ref, nic, digest)
	}, func(ctx context.Context) (bool, error) {
		list, err := Call(ctx, on, hypervisor.NICEditor.NICs)
		return slices.ContainsFunc(list.NICs, func(n hypervisor.NIC) bool { return n.Key == nic.Key }), err
	})
	return keyFault(err, "iface")
}

// keyFault attributes the hypervisor's fault in a key to the parameter of the
// path that it comes from.
func keyFault(err error, parameter string) error {
	if err == nil {
		return nil
	}
	known := problem.From(plugin.Problem(err))
	if known.Code != problem.CodeInvalid {
		return err
	}
	faults := slices.Clone(known.Faults)
	for i := range faults {
		if n := len(faults[i].Loc); n > 0 && faults[i].Loc[n-1] == "key" {
			faults[i].Loc = []any{"path", parameter}
		}
	}
	return problem.Invalid(faults...).WithCause(err)
}
