package draft

import (
	"maps"
	"slices"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// isSet reports whether an option has a value.
func isSet(o sdk.Options, name string) bool {
	if flag := o.Flag(name); flag != nil {
		return *flag != nil
	}
	if text := o.Text(name); text != nil {
		return *text != ""
	}
	_, is := o.Other[name]
	return is
}

// setOptions sets the named options to their values in other, in place. The map
// Other must belong to the caller.
func setOptions(o *sdk.Options, other sdk.Options, names []string) {
	for _, name := range names {
		if flag := o.Flag(name); flag != nil {
			*flag = *other.Flag(name)
			continue
		}
		if text := o.Text(name); text != nil {
			*text = *other.Text(name)
			continue
		}
		if value, is := other.Other[name]; is {
			if o.Other == nil {
				o.Other = map[string]string{}
			}
			o.Other[name] = value
		} else {
			delete(o.Other, name)
		}
	}
	if len(o.Other) == 0 {
		o.Other = nil
	}
}

// changedOptions returns the names of the options that differ.
func changedOptions(a, b sdk.Options) (names []string) {
	for _, name := range sdk.OptionFlags() {
		was, is := *a.Flag(name), *b.Flag(name)
		if (was == nil) != (is == nil) || was != nil && *was != *is {
			names = append(names, name)
		}
	}
	for _, name := range sdk.OptionTexts() {
		if *a.Text(name) != *b.Text(name) {
			names = append(names, name)
		}
	}
	all := maps.Clone(a.Other)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b.Other)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, had := a.Other[name]
		is, has := b.Other[name]
		if had != has || was != is {
			names = append(names, name)
		}
	}
	return names
}
