package pve

import (
	"context"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.OptionsManager = (*Firewall)(nil)

// Options implements firewall.OptionsManager. Proxmox VE returns empty options for
// guests that do not exist. If the cluster's firewall is enabled for a minute
// only, it counts as enabled until then.
func (f *Firewall) Options(ctx context.Context, scope firewall.Scope) (firewall.Options, error) {
	at, err := placeOf(scope, "options")
	if err != nil {
		return firewall.Options{}, err
	}
	var row map[string]pveapi.Text
	if err := f.read(ctx, at, &row); err != nil {
		return firewall.Options{}, err
	}
	options := firewall.Options{Digest: string(row["digest"])}
	for name, value := range row {
		switch flag, text := options.Flag(name), options.Text(name); {
		case name == "digest":
		case flag != nil:
			on := isOn(string(value))
			*flag = &on
		case text != nil:
			*text = string(value)
		default:
			if options.Other == nil {
				options.Other = map[string]string{}
			}
			options.Other[name] = string(value)
		}
	}
	return options, nil
}

// ChangeOptions implements firewall.OptionsManager. Which options a scope has is
// decided by Proxmox VE, because the releases differ.
func (f *Firewall) ChangeOptions(ctx context.Context, scope firewall.Scope, change firewall.OptionsChange) error {
	at, err := placeOf(scope, "options")
	if err != nil {
		return err
	}
	form, err := optionsForm(change)
	if err != nil {
		return err
	}
	return f.change(ctx, at, func() error {
		_, err := f.host.api.Put(ctx, at.path, form, nil)
		return err
	})
}

// optionName is the form of option names.
var optionName = regexp.MustCompile(`^[a-z][a-z0-9_-]{1,63}$`)

// optionParameters are the parameters of the request that are no options.
var optionParameters = []string{"digest", "delete", "node", "vmid"}

// optionsForm returns the parameters that change options. Options without a
// field of their own are passed through under their names, as long as they look
// like one and are not parameters of the request ("digest", "delete", ...). An
// option in both Set and Clear is an error, because Proxmox VE would accept it
// and only do one of the two.
func optionsForm(change firewall.OptionsChange) (url.Values, error) {
	form, set := url.Values{}, change.Set
	for _, name := range firewall.OptionFlags() {
		if value := *set.Flag(name); value != nil {
			form.Set(name, oneOrZero(*value))
		}
	}
	for _, name := range firewall.OptionTexts() {
		value := *set.Text(name)
		if strings.HasPrefix(name, "policy_") && value != "" && !slices.Contains(firewall.Policies(), value) {
			return nil, firewall.Invalid(name, "must be one of %s", strings.Join(firewall.Policies(), ", "))
		}
		if err := optionInto(form, name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set.Other)) {
		known := set.Flag(name) != nil || set.Text(name) != nil // which have a place of their own
		if known || !optionName.MatchString(name) || slices.Contains(optionParameters, name) {
			return nil, noSuchOption(name)
		}
		if err := optionInto(form, name, set.Other[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range change.Clear {
		switch {
		case !optionName.MatchString(name) || slices.Contains(optionParameters, name):
			return nil, noSuchOption(name)
		case form.Has(name):
			return nil, firewall.Invalid(name, "the request both sets and clears this option")
		}
	}
	if len(change.Clear) > 0 {
		form.Set("delete", strings.Join(change.Clear, ","))
	}
	return withDigest(form, set.Digest), nil
}

// optionInto adds an option to a form after checking its text.
func optionInto(form url.Values, name, value string) error {
	if err := firewall.CheckText(name, value, firewall.MaxText); err != nil {
		return err
	}
	if value != "" {
		form.Set(name, value)
	}
	return nil
}

// noSuchOption returns the Invalid error for an option that the scope does not
// have.
func noSuchOption(name string) error {
	return firewall.Invalid(name, "unknown option")
}
