package pve

import (
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// firewallFields maps parameters of Proxmox VE to fields of the SDK, where the
// names differ.
var firewallFields = map[string]string{"icmp-type": firewall.FieldICMPType, "group": firewall.FieldName, "moveto": firewall.FieldTo}

// firewallError turns an error about a firewall into one of the SDK. Proxmox VE
// reports most as a fault of a parameter, and the rest in texts that have not
// changed between releases.
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
	// The second text is that of a firewall without a file: Proxmox VE does not
	// find the list of rules then.
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

// freshAfter judges the answer to a request that Proxmox VE can never carry
// out, which is sent because the digest is compared before everything else.
// Only a refusal of the digest counts. After every other answer the digest is
// valid, or the change itself will be refused. done describes the effect if the
// request was carried out after all.
func freshAfter(err error, done string) error {
	if err == nil {
		return plugin.Errorf(plugin.Protocol, "the hypervisor %s instead of only comparing the digest", done)
	}
	e, refused := asError(firewallError(err))
	if refused && slices.Contains([]plugin.ErrorKind{plugin.Invalid, plugin.NotFound, plugin.Refused}, e.Kind) {
		return nil
	}
	return err
}
