package pve

import (
	"context"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NICs reads the NICs in force and the pending changes with one request.
func (h *Host) NICs(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.NICList, error) {
	config, err := h.Config(ctx, ref)
	return hypervisor.NICList{Digest: config.Digest, NICs: config.NICs}, err
}

// ChangeNIC changes only the named fields within the NIC's present value, and
// sends it with the digest of the configuration that was read. So the token
// that changes need not be the one that reads.
func (h *Host) ChangeNIC(ctx context.Context, ref hypervisor.GuestRef, key string, change hypervisor.NICChange) error {
	path, err := guestPath(ref, "config")
	if err != nil {
		return err
	}
	set, err := nicValues(ref.Kind, change)
	if err != nil {
		return err
	}
	if change.Raw == "" || !nicKey.MatchString(key) {
		return plugin.Errorf(plugin.NotFound, "guest %s has no NIC %.40q", ref.ID, key)
	}
	form := url.Values{key: {withProperties(change.Raw, set, change.Clear)}}
	return nicError(h.changeConfig(ctx, ref, path, change.Digest, form))
}

// withProperties changes a property string. Changed keys stay at their places,
// new ones go to the end, cleared ones are removed. Everything else keeps every
// byte: it may contain keys that this driver does not know.
func withProperties(value string, set []property, clear []string) string {
	var parts []string
	done := map[string]bool{}
	for part := range strings.SplitSeq(value, ",") {
		key, _, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(set, func(p property) bool { return p.key == key })
		switch {
		case i >= 0 && done[key]:
		case i >= 0:
			parts, done[key] = append(parts, key+"="+set[i].value), true
		case !slices.Contains(clear, key):
			parts = append(parts, part)
		}
	}
	for _, p := range set {
		if !done[p.key] && !p.usual {
			parts = append(parts, p.key+"="+p.value)
		}
	}
	return strings.Join(parts, ",")
}

// property is one key of a property string with its new value. A value that is
// the default is not written if the key was absent.
type property struct {
	key, value string
	usual      bool
}

// nicValues returns the fields that get values. A field without a value belongs
// to the cleared ones.
func nicValues(kind hypervisor.GuestKind, change hypervisor.NICChange) ([]property, error) {
	for _, field := range change.Clear {
		if _, err := nicValue(kind, hypervisor.NIC{}, field); err != nil {
			return nil, err
		}
	}
	var set []property
	for _, field := range change.Fields {
		value, err := nicValue(kind, change.Set, field)
		if err != nil {
			return nil, err
		}
		if value == "" {
			return nil, invalid(field, "the field needs a value")
		}
		usual := value == "0" && (field == hypervisor.NICFirewall || field == hypervisor.NICLinkDown)
		if !slices.ContainsFunc(set, func(p property) bool { return p.key == field }) {
			set = append(set, property{key: field, value: value, usual: usual})
		}
	}
	return set, nil
}

// nicValue returns a field in the notation of Proxmox VE; empty if the NIC has
// no value. Texts are checked so that they cannot end the property and begin
// another.
func nicValue(kind hypervisor.GuestKind, n hypervisor.NIC, field string) (string, error) {
	addresses := map[string]string{
		hypervisor.NICIP: n.IP, hypervisor.NICGateway: n.Gateway, hypervisor.NICIP6: n.IP6, hypervisor.NICGateway6: n.Gateway6,
	}
	switch text, isAddress := addresses[field]; {
	case isAddress && kind != hypervisor.Container:
		return "", invalid(field, "the addresses of a VM are configured inside the VM")
	case isAddress && text != "" && !nicAddress(field, text):
		return "", invalid(field, "%.80q is not a valid address for this field", text)
	case isAddress:
		return text, nil
	}
	switch field {
	case hypervisor.NICBridge:
		if n.Bridge != "" && !bridgeName.MatchString(n.Bridge) {
			return "", invalid(field, "%.80q is not a valid bridge name", n.Bridge)
		}
		return n.Bridge, nil
	case hypervisor.NICVLAN:
		return decimalOf(n.VLAN), nil
	case hypervisor.NICMTU:
		return decimalOf(n.MTU), nil
	case hypervisor.NICRate:
		if n.Rate == nil {
			return "", nil
		}
		return strconv.FormatFloat(*n.Rate, 'f', -1, 64), nil
	case hypervisor.NICFirewall:
		return oneOrZero(n.Firewall), nil
	case hypervisor.NICLinkDown:
		return oneOrZero(n.LinkDown), nil
	}
	return "", invalid(field, "a NIC has no field %.40q", field)
}

// nicAddress reports whether a text is valid for an address field of a
// container's NIC.
func nicAddress(field, text string) bool {
	words := map[string][]string{hypervisor.NICIP: {"dhcp", "manual"}, hypervisor.NICIP6: {"auto", "dhcp", "manual"}}
	if slices.Contains(words[field], text) {
		return true
	}
	address, err := netip.ParseAddr(text)
	if field == hypervisor.NICIP || field == hypervisor.NICIP6 {
		var prefix netip.Prefix
		prefix, err = netip.ParsePrefix(text)
		address = prefix.Addr()
	}
	wants6 := field == hypervisor.NICIP6 || field == hypervisor.NICGateway6
	return err == nil && address.Zone() == "" && address.Is6() == wants6
}

// decimalOf formats a number, or returns an empty string for nil.
func decimalOf(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// oneOrZero formats a flag as the API expects it.
func oneOrZero(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

var (
	// wrongProperty finds the property in an error such as "net0: invalid
	// format - format error net0.tag: value must have …".
	wrongProperty = regexp.MustCompile(`net\d+\.([a-z0-9_]+): `)
	noBridge      = regexp.MustCompile(`(?i)bridge( '[^']*')? does not exist|no such bridge`)
)

// nicError names the field of a NIC in an error, where Proxmox VE names the
// NIC.
func nicError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	switch m := wrongProperty.FindStringSubmatch(e.Message); {
	case e.Kind == plugin.Invalid && m != nil:
		e.Field = m[1]
	case noBridge.MatchString(e.Message):
		e.Field = hypervisor.NICBridge
	}
	return e
}
