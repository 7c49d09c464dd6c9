package pve

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// nicModel matches the models that Proxmox VE has for VMs.
var nicModel = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

// AddNIC sends the value of a new interface. If the guest had an interface with
// the key, the request would replace it, so the digest of a configuration
// without the key is necessary.
func (h *Host) AddNIC(ctx context.Context, ref hypervisor.GuestRef, nic hypervisor.NIC, digest string) error {
	path, err := guestPath(ref, "config")
	if err != nil {
		return err
	}
	model := nic.Model
	if model == "" {
		model = "virtio"
	}
	switch {
	case !nicKey.MatchString(nic.Key):
		return invalid("key", "a %s cannot have a network interface %.80q", ref.Kind, nic.Key)
	case digest == "":
		return invalid("digest", "without a digest, another interface with this key could be replaced")
	case !nicModel.MatchString(model):
		return invalid("model", "%.80q is not a model of a network interface", nic.Model)
	}
	first := model
	if ref.Kind == hypervisor.Container {
		first = "name=eth" + strings.TrimPrefix(nic.Key, "net")
	}
	set, err := nicValues(ref.Kind, hypervisor.NICChange{Set: nic, Fields: nicFieldsOf(nic)})
	if err != nil {
		return err
	}
	form := url.Values{nic.Key: {withProperties(first, set, nil)}}
	return nicError(h.changeConfig(ctx, ref, path, digest, form))
}

// nicFieldsOf returns the fields of a NIC that have a value.
func nicFieldsOf(nic hypervisor.NIC) []string {
	fields := []string{hypervisor.NICBridge}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{hypervisor.NICVLAN, nic.VLAN != nil}, {hypervisor.NICRate, nic.Rate != nil}, {hypervisor.NICMTU, nic.MTU != nil},
		{hypervisor.NICFirewall, nic.Firewall}, {hypervisor.NICLinkDown, nic.LinkDown}, {hypervisor.NICIP, nic.IP != ""},
		{hypervisor.NICGateway, nic.Gateway != ""}, {hypervisor.NICIP6, nic.IP6 != ""}, {hypervisor.NICGateway6, nic.Gateway6 != ""},
	} {
		if field.set {
			fields = append(fields, field.name)
		}
	}
	return fields
}
