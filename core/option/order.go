package option

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// The keys of a body that are no options.
const (
	keyDigest = "digest"
	keyDelete = "delete"
)

// optionName is the form of the keys of all hypervisors.
var optionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// maxDelete bounds the list of options that are to be removed.
const maxDelete = 4096

// order is what a body asks for, and what is wrong with it.
type order struct {
	digest string
	// options are the new values of the VM's own options in the hypervisor's words; nil removes one.
	options  map[string]*string
	firewall sdk.OptionsChange
	// firewallKeys are the firewall's options that are named.
	firewallKeys []string
	faults       []problem.Fault
}

// firewallFlag is where the value of one of the firewall's options goes that is 0 or 1; nil for other names.
func (o *order) firewallFlag(name string) **bool {
	set := &o.firewall.Set
	switch name {
	case sdk.OptionEnable:
		return &set.Enable
	case sdk.OptionDHCP:
		return &set.DHCP
	case sdk.OptionNDP:
		return &set.NDP
	case sdk.OptionRADV:
		return &set.RADV
	case sdk.OptionMACFilter:
		return &set.MACFilter
	case sdk.OptionIPFilter:
		return &set.IPFilter
	}
	return nil
}

// firewallPolicy is where the value of one of the firewall's policies goes; nil for other names.
func (o *order) firewallPolicy(name string) *string {
	switch name {
	case sdk.OptionPolicyIn:
		return &o.firewall.Set.PolicyIn
	case sdk.OptionPolicyOut:
		return &o.firewall.Set.PolicyOut
	}
	return nil
}

// refuse notes what is wrong with a key of the body.
func (o *order) refuse(key, kind, format string, args ...any) {
	o.faults = append(o.faults, problem.Fault{Loc: []any{"body", key}, Msg: fmt.Sprintf(format, args...), Type: kind})
}

// names reports whether something is to be changed by a body.
func names(body map[string]json.RawMessage) bool {
	for key, value := range body {
		if key != keyDigest && (key != keyDelete || string(value) != "null") {
			return true
		}
	}
	return false
}

// read makes an order of a body for a VM that may have these options.
func read(body map[string]json.RawMessage, keys []hypervisor.OptionKey) *order {
	o := &order{options: map[string]*string{}}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		value := body[name]
		null := string(value) == "null"
		switch {
		case name == keyDigest && null, name == keyDelete && null:
		case name == keyDigest:
			o.digest, _ = o.text(name, value, 200)
		case name == keyDelete:
			if list, ok := o.text(name, value, maxDelete); ok {
				o.remove(name, body, strings.Split(list, ","), keys)
			}
		case null:
			o.remove(name, nil, []string{name}, keys)
		default:
			o.set(name, value, keys)
		}
	}
	return o
}

// remove takes options away; at is the key of the body that names them, and body the keys that are set.
func (o *order) remove(at string, body map[string]json.RawMessage, list []string, keys []hypervisor.OptionKey) {
	for _, name := range list {
		name = strings.TrimSpace(name)
		_, set := body[name]
		switch {
		case set:
			o.refuse(at, "value_error", "contains an option that the body also sets")
		case o.firewallFlag(name) != nil || o.firewallPolicy(name) != nil:
			if !slices.Contains(o.firewall.Clear, name) {
				o.firewall.Clear, o.firewallKeys = append(o.firewall.Clear, name), append(o.firewallKeys, name)
			}
		case keyNamed(keys, name) != nil:
			o.options[name] = nil
		case at == keyDelete:
			o.refuse(at, "value_error", "contains an unknown option; known options: %s", known(keys))
		default:
			o.unknown(at, keys)
		}
	}
}

func (o *order) unknown(name string, keys []hypervisor.OptionKey) {
	o.refuse(name, "extra_forbidden", "unknown option; known options: %s", known(keys))
}

// known lists all options that a body can name.
func known(keys []hypervisor.OptionKey) string {
	all := []string{sdk.OptionEnable, sdk.OptionDHCP, sdk.OptionNDP, sdk.OptionRADV, sdk.OptionMACFilter, sdk.OptionIPFilter,
		sdk.OptionPolicyIn, sdk.OptionPolicyOut}
	for _, key := range keys {
		all = append(all, key.Name)
	}
	return strings.Join(all, ", ")
}

func keyNamed(keys []hypervisor.OptionKey, name string) *hypervisor.OptionKey {
	if i := slices.IndexFunc(keys, func(k hypervisor.OptionKey) bool { return k.Name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// set gives an option a value.
func (o *order) set(name string, value json.RawMessage, keys []hypervisor.OptionKey) {
	if flag := o.firewallFlag(name); flag != nil {
		if string(value) != "0" && string(value) != "1" {
			o.refuse(name, "value_error", "must be 0 or 1")
			return
		}
		on := string(value) == "1"
		*flag, o.firewallKeys = &on, append(o.firewallKeys, name)
		return
	}
	if policy := o.firewallPolicy(name); policy != nil {
		text, ok := o.text(name, value, 64)
		if ok && !slices.Contains(sdk.Policies(), text) {
			o.refuse(name, "enum", "must be one of %s", strings.Join(sdk.Policies(), ", "))
			return
		}
		*policy, o.firewallKeys = text, append(o.firewallKeys, name)
		return
	}
	key := keyNamed(keys, name)
	if key == nil {
		o.unknown(name, keys)
		return
	}
	if text, ok := o.value(*key, value); ok {
		o.options[name] = &text
	}
}

// value is a value of an option in the hypervisor's words; false when it does not do.
func (o *order) value(key hypervisor.OptionKey, value json.RawMessage) (text string, ok bool) {
	switch key.Type {
	case "boolean":
		switch string(value) {
		case "true", "1":
			return "1", true
		case "false", "0":
			return "0", true
		}
		o.refuse(key.Name, "bool_type", "expected true or false")
		return "", false
	case "integer", "number":
		return o.number(key, value)
	}
	longest := int64(maxText)
	if key.MaxLength > 0 {
		longest = key.MaxLength
	}
	if text, ok = o.text(key.Name, value, longest); ok && key.Values != nil && !slices.Contains(key.Values, text) {
		o.refuse(key.Name, "enum", "must be one of %s", strings.Join(key.Values, ", "))
		return "", false
	}
	return text, ok
}

// number reads a number within the bounds of its option.
func (o *order) number(key hypervisor.OptionKey, value json.RawMessage) (text string, ok bool) {
	n, err := strconv.ParseFloat(string(value), 64)
	whole := math.Trunc(n) == n && math.Abs(n) < 1<<53
	switch {
	case err != nil || key.Type == "integer" && !whole:
		o.refuse(key.Name, "int_type", "expected %s", map[string]string{"integer": "an integer", "number": "a number"}[key.Type])
	case key.Min != nil && n < *key.Min:
		o.refuse(key.Name, "greater_than_equal", "must be at least %s", strconv.FormatFloat(*key.Min, 'f', -1, 64))
	case key.Max != nil && n > *key.Max:
		o.refuse(key.Name, "less_than_equal", "must be at most %s", strconv.FormatFloat(*key.Max, 'f', -1, 64))
	default:
		return strconv.FormatFloat(n, 'f', -1, 64), true
	}
	return "", false
}

// text reads a text of one line. An empty one is no value: null removes.
func (o *order) text(name string, value json.RawMessage, longest int64) (text string, ok bool) {
	switch err := json.Unmarshal(value, &text); {
	case err != nil || len(value) == 0 || value[0] != '"':
		o.refuse(name, "string_type", "expected string")
	case text == "":
		o.refuse(name, "too_short", "must not be empty; null removes an option")
	case int64(utf8.RuneCountInString(text)) > longest:
		o.refuse(name, "too_long", "must have at most %d characters", longest)
	case strings.ContainsFunc(text, unicode.IsControl):
		o.refuse(name, "value_error", "must be one line without control characters")
	default:
		return text, true
	}
	return "", false
}

// Faults is what is wrong with a body whatever the VM: what of it needs no question to the hypervisor.
func Faults(body []byte) []problem.Fault {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return nil // told already
	}
	if !names(all) {
		return []problem.Fault{{Loc: []any{"body"}, Msg: "nothing to change", Type: "nothing_to_change"}}
	}
	var o order
	if list, given := all[keyDelete]; given && string(list) != "null" {
		o.text(keyDelete, list, maxDelete)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !optionName.MatchString(name) {
			o.refuse(name, "extra_forbidden", "unknown option")
		}
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return name != keyDigest && o.firewallFlag(name) == nil && o.firewallPolicy(name) == nil
	})
	return append(o.faults, read(all, nil).faults...)
}
