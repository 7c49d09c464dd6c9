package pvesim

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// formats are the named formats of the schema that are checked. A check returns
// what is wrong with a value, or "". A format that is not here takes
// everything. NAME-list and NAME-opt need no entry of their own.
var formats = map[string]func(string) string{
	"pve-vmid":             checkVMID,
	"pve-node":             textUnless(nodeNamePattern, "value does not look like a valid node name"),
	"pve-configid":         quotedUnless(configIDPattern, "invalid configuration ID '%s'"),
	"pve-storage-id":       checkStorageID,
	"pve-userid":           quotedUnless(userIDPattern, "value '%s' does not look like a valid user name"),
	"pve-tokenid":          quotedUnless(tokenIDPattern, "value '%s' does not look like a valid token ID"),
	"pve-groupid":          quotedUnless(groupIDPattern, "group name '%s' contains invalid characters"),
	"pve-roleid":           quotedUnless(groupIDPattern, "role name '%s' contains invalid characters"),
	"pve-poolid":           quotedUnless(poolIDPattern, "pool name '%s' contains invalid characters"),
	"pve-realm":            quotedUnless(realmPattern, "value '%s' does not look like a valid realm name"),
	"pve-iface":            quotedUnless(ifacePattern, "invalid network interface name '%s'"),
	"pve-task-status-type": checkTaskStatus,
	"email":                textUnless(emailPattern, "value does not look like a valid email address"),
	"pve-ipv4-config":      textUnlessAny(isCIDRv4, "value does not look like a valid ipv4 network configuration", "dhcp", "manual"),
	"pve-ipv6-config":      textUnlessAny(isCIDRv6, "value does not look like a valid ipv6 network configuration", "auto", "dhcp", "manual"),
	"pve-storage-path":     textUnless(absolutePathPattern, "value does not look like a valid absolute path"),
	"pve-tag":              textUnless(tagPattern, "invalid characters in tag"),
	"CIDRv4":               textUnlessAny(isCIDRv4, "value does not look like a valid IPv4 CIDR network"),
	"CIDRv6":               textUnlessAny(isCIDRv6, "value does not look like a valid IPv6 CIDR network"),
	"CIDR": textUnlessAny(func(s string) bool { return isCIDRv4(s) || isCIDRv6(s) },
		"value does not look like a valid CIDR network"),
	"IPorCIDR":            textUnlessAny(isIPorCIDR, textIPorCIDR),
	"IPorCIDRorAlias":     textUnlessAny(func(s string) bool { return aliasPattern.MatchString(s) || isIPorCIDR(s) }, textIPorCIDR),
	"ipv4mask":            textUnless(netmaskPattern, "value does not look like a valid IP netmask"),
	"pve-storage-content": quotedUnless(contentPattern, "invalid content type '%s'"),
	"urlencoded":          quotedUnless(urlencodedPattern, "invalid urlencoded string: %s"),
	"dns-name":            textUnless(dnsNamePattern, "value does not look like a valid DNS name"),
	"ip":                  textUnlessAddress(func(netip.Addr) bool { return true }, "value does not look like a valid IP address"),
	"ipv4":                textUnlessAddress(netip.Addr.Is4, "value does not look like a valid IPv4 address"),
	"ipv6":                textUnlessAddress(netip.Addr.Is6, "value does not look like a valid IPv6 address"),
}

var (
	nodeNamePattern     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	configIDPattern     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
	storageIDPattern    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]$`)
	poolIDPattern       = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,2}$`)
	realmPattern        = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.\-_]+$`)
	ifacePattern        = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{1,20}([:.]\d+)?$`)
	absolutePathPattern = regexp.MustCompile(`^/[^\x00-\x1f]*$`)
	netmaskPattern      = regexp.MustCompile(`^(\d{1,3}\.){3}\d{1,3}$`)
	contentPattern      = regexp.MustCompile(`^(backup|images|import|iso|none|rootdir|snippets|vztmpl)$`)
	urlencodedPattern   = regexp.MustCompile(`^[-%A-Za-z0-9_.!~*'()]*$`)
	tagPattern          = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_+.-]*$`)
	emailPattern        = regexp.MustCompile(`^[^\s@]+@[^\s@]+$`)
	dnsNamePattern      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)
)

// checkFormat returns what is wrong with a value of a named format, or "".
func checkFormat(name, value string, rel release) string {
	if check := formats[name]; check != nil {
		return check(value)
	}
	if check := firewallFormats[name]; check != nil {
		return check(value)
	}
	if name == "pve-priv" && !slices.Contains(rel.privileges(), value) {
		return "invalid privilege '" + value + "'"
	}
	if single, isList := strings.CutSuffix(name, "-list"); isList {
		for _, element := range splitList(value) {
			if text := checkFormat(single, element, rel); text != "" {
				return text
			}
		}
	}
	if full, optional := strings.CutSuffix(name, "-opt"); optional && value != "" {
		return checkFormat(full, value, rel)
	}
	return ""
}

// textUnless returns a check that fails with text unless the pattern matches.
func textUnless(pattern *regexp.Regexp, text string) func(string) string {
	return func(s string) string {
		if pattern.MatchString(s) {
			return ""
		}
		return text
	}
}

// quotedUnless puts the value into the text.
func quotedUnless(pattern *regexp.Regexp, text string) func(string) string {
	return func(s string) string {
		if pattern.MatchString(s) {
			return ""
		}
		return strings.Replace(text, "%s", s, 1)
	}
}

// textUnlessAddress returns a check that fails with text unless is accepts the
// address.
func textUnlessAddress(is func(netip.Addr) bool, text string) func(string) string {
	return func(s string) string {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" && is(a) {
			return ""
		}
		return text
	}
}

// textUnlessAny lets some words pass besides what a check lets pass.
func textUnlessAny(fits func(string) bool, text string, words ...string) func(string) string {
	return func(s string) string {
		if slices.Contains(words, s) || fits(s) {
			return ""
		}
		return text
	}
}

// isCIDRv4 reports whether s is an IPv4 network.
func isCIDRv4(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Addr().Is4()
}

// isCIDRv6 reports whether s is an IPv6 network.
func isCIDRv6(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Addr().Is6()
}

// textIPorCIDR is the text for neither.
const textIPorCIDR = "value does not look like a valid IP address or CIDR network"

// isIPorCIDR reports whether s is an address or a network.
func isIPorCIDR(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Zone() == "" || isCIDRv4(s) || isCIDRv6(s)
}

// checkVMID checks the form of a guest's ID.
func checkVMID(s string) string {
	if n, err := strconv.Atoi(s); err != nil || n < 100 || n > 999_999_999 || s != strconv.Itoa(n) {
		return "value does not look like a valid VM ID"
	}
	return ""
}

// checkStorageID checks the form of a storage's name.
func checkStorageID(s string) string {
	switch {
	case len(s) < 2:
		return "storage ID '" + s + "' cannot be shorter than 2 characters"
	case !storageIDPattern.MatchString(s):
		return "storage ID '" + s + "' contains illegal characters"
	}
	return ""
}

// checkTaskStatus checks a filter of task lists.
func checkTaskStatus(s string) string {
	switch s {
	case "ok", "error", "warning", "unknown":
		return ""
	}
	return "unknown task status '" + s + "'"
}
