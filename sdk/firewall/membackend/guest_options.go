package membackend

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ firewall.GuestOptioner = (*Firewall)(nil)

// GuestOptions implements firewall.GuestOptioner. A guest that nobody knows has none.
func (f *Firewall) GuestOptions(ctx context.Context, guest firewall.Guest) (firewall.GuestOptions, error) {
	if err := ctx.Err(); err != nil {
		return firewall.GuestOptions{}, err
	}
	e, err := f.enter()
	if err != nil {
		return firewall.GuestOptions{}, err
	}
	defer e.mu.Unlock()
	if guest.ID == "" {
		return firewall.GuestOptions{}, invalid("guest", "a guest has an id")
	}
	return e.optionsOf(guest), nil
}

// optionsOf are the options of a guest on whatever node; it needs the lock.
func (e *Endpoint) optionsOf(guest firewall.Guest) firewall.GuestOptions {
	guest.Node = ""
	now := e.options[guest]
	text, err := json.Marshal(now)
	if err != nil {
		panic(err) // plain values
	}
	now.Digest = fmt.Sprintf("%x", sha256.Sum256(text))[:40]
	return now
}

// ChangeGuestOptions implements firewall.GuestOptioner.
func (f *Firewall) ChangeGuestOptions(ctx context.Context, guest firewall.Guest, change firewall.GuestOptionsChange) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := f.enter()
	if err != nil {
		return err
	}
	defer e.mu.Unlock()
	now := e.optionsOf(guest)
	set := change.Set
	switch {
	case f.target.Credential.Capability != endpoint.Lifecycle:
		return plugin.Errorf(plugin.Denied, "the token may not change options")
	case guest.ID == "":
		return invalid("guest", "a guest has an id")
	case set.Digest != "" && set.Digest != now.Digest:
		e := plugin.Errorf(plugin.Conflict, "the options were changed meanwhile")
		e.Field = "digest"
		return e
	}
	for field, policy := range map[string]string{firewall.OptionPolicyIn: set.PolicyIn, firewall.OptionPolicyOut: set.PolicyOut} {
		if policy != "" && !slices.Contains(firewall.Policies(), policy) {
			return invalid(field, "there is no such policy")
		}
	}
	for _, name := range change.Clear {
		if !unset(&now, name) {
			return invalid(name, "there is no such option")
		}
	}
	take(&now.Enable, set.Enable)
	take(&now.DHCP, set.DHCP)
	take(&now.NDP, set.NDP)
	take(&now.RADV, set.RADV)
	take(&now.MACFilter, set.MACFilter)
	take(&now.IPFilter, set.IPFilter)
	if set.PolicyIn != "" {
		now.PolicyIn = set.PolicyIn
	}
	if set.PolicyOut != "" {
		now.PolicyOut = set.PolicyOut
	}
	guest.Node, now.Digest = "", ""
	e.options[guest] = now
	return nil
}

func take(to **bool, value *bool) {
	if value != nil {
		*to = value
	}
}

// unset takes away an option, and reports whether there is one of that name.
func unset(o *firewall.GuestOptions, name string) bool {
	switch name {
	case firewall.OptionEnable:
		o.Enable = nil
	case firewall.OptionDHCP:
		o.DHCP = nil
	case firewall.OptionNDP:
		o.NDP = nil
	case firewall.OptionRADV:
		o.RADV = nil
	case firewall.OptionMACFilter:
		o.MACFilter = nil
	case firewall.OptionIPFilter:
		o.IPFilter = nil
	case firewall.OptionPolicyIn:
		o.PolicyIn = ""
	case firewall.OptionPolicyOut:
		o.PolicyOut = ""
	default:
		return false
	}
	return true
}

func invalid(field, format string, args ...any) error {
	e := plugin.Errorf(plugin.Invalid, format, args...)
	e.Field = field
	return e
}
