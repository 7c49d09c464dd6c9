package pve

import (
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// firewallFields are our names of the hypervisor's parameters, where they are others.
var firewallFields = map[string]string{"icmp-type": firewall.FieldICMPType, "group": firewall.FieldName, "moveto": firewall.FieldTo}

// firewallError brings what the hypervisor says of a firewall into our words. It says much as a fault of a parameter, and the rest in a
// text that has not changed between releases.
func firewallError(err error) error {
	known, ok := asError(err)
	if !ok {
		return err
	}
	e := *known
	text := strings.ToLower(e.Message)
	has := func(part string) bool { return strings.Contains(text, part) }
	become := func(kind plugin.ErrorKind, field string) error {
		e.Kind, e.Field = kind, field
		return &e
	}
	if name, other := firewallFields[e.Field]; other {
		e.Field = name
	}
	switch {
	case e.Kind == plugin.Denied:
		return err
	case isStale(&e):
		return become(plugin.Conflict, firewall.FieldDigest)
	// The second is of a firewall that has no file yet, whose list of rules the hypervisor does not find.
	case has("no rule at position"), has("array reference") && has("/firewall/rules.pm"):
		return become(plugin.NotFound, firewall.FieldPosition)
	case has("no such ipset '") && e.Kind == plugin.NotFound:
		return become(plugin.NotFound, firewall.FieldName)
	case has("no such alias '") && e.Kind == plugin.NotFound: // of a member that names one
		wrongParameter(&e, firewall.FieldCIDR)
		return &e
	case has("no such security group"):
		return become(plugin.NotFound, firewall.FieldName)
	case has("security group '") && has("is not empty"):
		return become(plugin.Conflict, firewall.FieldRules)
	case has("ipset '") && has("is not empty"):
		return become(plugin.Conflict, firewall.FieldMembers)
	case e.Kind != plugin.Invalid:
		return err
	case has("already exist"): // "does already exist" of a new name
		return become(plugin.Conflict, e.Field)
	case e.Field == firewall.FieldName && (has("does not exist") || has(": no such alias")):
		return become(plugin.NotFound, e.Field)
	case has("no such ip/network"):
		return become(plugin.NotFound, firewall.FieldCIDR)
	}
	return &e
}

// freshAfter judges the answer to a request that the hypervisor can never carry out. The request is sent because the hypervisor compares
// the digest before anything else. Only another digest counts as a refusal: after any other one, in whatever words, the digest is the
// list's, or the hypervisor will refuse the change itself. Done says what a hypervisor did that carried the request out.
func freshAfter(err error, done string) error {
	if err == nil {
		return plugin.Errorf(plugin.Protocol, "the hypervisor %s instead of comparing the digest only", done)
	}
	e, refused := asError(firewallError(err))
	if refused && slices.Contains([]plugin.ErrorKind{plugin.Invalid, plugin.NotFound, plugin.Refused}, e.Kind) {
		return nil
	}
	return err
}
