package membackend

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.OptionsManager = (*Firewall)(nil)

// otherOptions are options that only this firewall has, to test the field
// Other.
var otherOptions = []string{"log_ratelimit", "nosmurfs"}

// Options implements firewall.OptionsManager. A guest that nobody knows has none.
func (f *Firewall) Options(ctx context.Context, scope firewall.Scope) (options firewall.Options, err error) {
	err = f.read(ctx, "Options", func(e *Endpoint) error {
		options, err = f.optionsOf(e, scope)
		return err
	})
	return options, err
}

// optionsOf returns a copy of the options of a scope with their digest. The
// node of a guest does not matter. The caller holds the lock.
func (f *Firewall) optionsOf(e *Endpoint, scope firewall.Scope) (now firewall.Options, err error) {
	switch err := f.claims(scope, "options"); {
	case err != nil:
		return now, err
	case scope.Kind != firewall.GuestScope:
		s, err := f.at(e, scope, "options")
		if err != nil {
			return now, err
		}
		now = s.options
	case scope.Guest.ID == "":
		return now, firewall.Invalid("guest", "a guest has an id")
	default:
		guest := *scope.Guest
		guest.Node = ""
		now = e.options[guest]
	}
	now.Digest = digest(now)
	now.Other = maps.Clone(now.Other)
	return now, nil
}

// ChangeOptions implements firewall.OptionsManager.
func (f *Firewall) ChangeOptions(ctx context.Context, scope firewall.Scope, change firewall.OptionsChange) error {
	return f.change(ctx, "ChangeOptions", func(e *Endpoint) error {
		now, err := f.optionsOf(e, scope)
		if err != nil {
			return err
		}
		if err := stale(change.Set.Digest, now.Digest); err != nil {
			return err
		}
		if now, err = changed(now, change); err != nil {
			return err
		}
		if now.Digest = ""; scope.Kind != firewall.GuestScope {
			e.scopes[key(scope)].options = now
			return nil
		}
		guest := *scope.Guest
		guest.Node = ""
		e.options[guest] = now
		return nil
	})
}

// changed returns the options after a change. It clears before it sets, so a
// name in both is set.
func changed(now firewall.Options, change firewall.OptionsChange) (firewall.Options, error) {
	for _, name := range change.Clear {
		if flag := now.Flag(name); flag != nil {
			*flag = nil
		} else if text := now.Text(name); text != nil {
			*text = ""
		} else if slices.Contains(otherOptions, name) {
			delete(now.Other, name)
		} else {
			return now, firewall.Invalid(name, "unknown option")
		}
	}
	for _, name := range firewall.OptionFlags() {
		if value := *change.Set.Flag(name); value != nil {
			*now.Flag(name) = value
		}
	}
	for _, name := range firewall.OptionTexts() {
		value := *change.Set.Text(name)
		if value == "" {
			continue
		}
		allowed := firewall.Policies()
		if !slices.Contains([]string{firewall.OptionPolicyIn, firewall.OptionPolicyOut, firewall.OptionPolicyForward}, name) {
			allowed = []string{"nolog", "info", "warning", "err"}
		}
		if !slices.Contains(allowed, value) {
			return now, firewall.Invalid(name, "it must be one of %s", strings.Join(allowed, ", "))
		}
		*now.Text(name) = value
	}
	for name, value := range change.Set.Other {
		if !slices.Contains(otherOptions, name) {
			return now, firewall.Invalid(name, "unknown option")
		}
		if err := firewall.CheckText(name, value, firewall.MaxText); err != nil {
			return now, err
		}
		if now.Other == nil {
			now.Other = map[string]string{}
		}
		now.Other[name] = value
	}
	if len(now.Other) == 0 {
		now.Other = nil
	}
	return now, nil
}
