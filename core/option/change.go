package option

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Change changes the options that a body names: first the VM's own in one request, then the firewall's in another, each sent once, and
// gives all as they are then. All that is wrong with the body is one problem invalid; other problems: digest_conflict; unsupported for
// the firewall's options where there are none; guest_busy; capability_missing; those of Get and of guest.Actor.Do.
func (s *Store) Change(ctx context.Context, r guest.Request, body map[string]json.RawMessage) (VMOptions, error) {
	if !names(body) {
		return VMOptions{}, guest.NothingToChange()
	}
	if err := s.Actor.Hosts.Require(ctx, r.Guest.HostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.ConfigEditor](at)
		return err
	}); err != nil {
		return VMOptions{}, err
	}
	now, err := s.read(ctx, r.Guest)
	if err != nil {
		return VMOptions{}, err
	}
	o := read(body, now.keys)
	switch {
	case len(o.faults) > 0:
		return VMOptions{}, problem.Invalid(o.faults...)
	case len(o.firewallKeys) > 0 && now.firewall == nil:
		return VMOptions{}, problem.New(problem.CodeUnsupported, "the hypervisor's firewall has no options for guests").With("options",
			o.firewallKeys)
	}
	config, err := o.checkDigest(&now)
	if err != nil {
		return VMOptions{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.Detail("changed", slices.Concat(slices.Sorted(maps.Keys(o.options)), o.firewallKeys))
	})
	var after VMOptions
	err = s.Actor.Do(ctx, r, func(ctx context.Context, c *guest.Change) error {
		if err := s.send(ctx, c, r.Guest, o, config); err != nil {
			return err
		}
		after, err = s.Get(ctx, r.Guest)
		return err
	})
	return after, err
}

// checkDigest refuses a digest that is another by now, and gives what the change of the configuration is sent with. What changes the
// firewall's options alone may have the digest of these.
func (o *order) checkDigest(now *state) (config string, err error) {
	if o.digest == "" {
		return "", nil
	}
	all, firewall := now.digest()
	alone := len(o.options) == 0 && o.digest == firewall
	if !alone {
		if err := guest.CheckDigest(o.digest, all); err != nil {
			return "", err
		}
		config = now.config.Digest
	}
	o.firewall.Set.Digest = firewall
	return config, nil
}

// send makes the requests of an order.
func (s *Store) send(ctx context.Context, c *guest.Change, g *guest.Guest, o *order, digest string) error {
	if len(o.options) > 0 {
		change := hypervisor.ConfigChange{Digest: digest, Options: o.options}
		err := guest.SendTo(ctx, c, slices.Sorted(maps.Keys(o.options)),
			func(able hypervisor.ConfigEditor, ctx context.Context, ref hypervisor.GuestRef) error {
				return able.Reconfigure(ctx, ref, change)
			}, func(ctx context.Context) (bool, error) {
				now, err := s.Actor.ReadConfig(ctx, g)
				return o.inForce(now), err
			})
		if err != nil {
			return err
		}
	}
	if len(o.firewallKeys) == 0 {
		return nil
	}
	return c.Send(ctx, o.firewallKeys, func(ctx context.Context, sent func()) error {
		return s.Firewalls.ChangeGuestOptions(ctx, g, o.firewall, sent)
	}, func(ctx context.Context) (bool, error) {
		now, err := s.Firewalls.GuestOptions(ctx, g)
		return reflect.DeepEqual(o.firewallAfter(now), now), err
	})
}

// inForce reports whether a configuration has the options that are wanted, now or after a restart.
func (o *order) inForce(now hypervisor.Config) bool {
	for name, want := range o.options {
		is, set := now.Options[name]
		if later, waits := now.Pending[name]; waits {
			set = later != nil
			if set {
				is = *later
			}
		}
		if want == nil && set || want != nil && (!set || is != *want) {
			return false
		}
	}
	return true
}

// firewallAfter are the firewall's options after the change of those that are there now.
func (o *order) firewallAfter(now sdk.Options) sdk.Options {
	next := order{firewall: sdk.OptionsChange{Set: now}}
	for _, name := range o.firewallKeys {
		if flag := next.firewallFlag(name); flag != nil {
			*flag = *o.firewallFlag(name)
		} else {
			*next.firewallPolicy(name) = *o.firewallPolicy(name)
		}
	}
	return next.firewall.Set
}
