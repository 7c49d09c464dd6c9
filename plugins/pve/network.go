package pve

import (
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// interfaceTypes maps the types of interfaces.
var interfaceTypes = map[string]string{
	"eth": hypervisor.InterfaceNIC, "bridge": hypervisor.InterfaceBridge, "bond": hypervisor.InterfaceBond, "vlan": hypervisor.InterfaceVLAN,
	"alias": hypervisor.InterfaceAlias, "OVSBridge": hypervisor.InterfaceOVS, "OVSBond": hypervisor.InterfaceOVSBond,
	"OVSPort": hypervisor.InterfaceOVSPort, "OVSIntPort": hypervisor.InterfaceOVSInternal,
}

// These limit what is read of a node's network.
const (
	// maxNodeInterfaces is how many interfaces of a node are read, maxDiff the
	// length in bytes of a diff.
	maxNodeInterfaces = 4096
	maxDiff           = 256 << 10
)

// NodeNetwork implements hypervisor.NetworkManager. Proxmox VE lists the staged
// configuration, with a diff to the one in force. This driver computes the
// configuration in force from both.
func (h *Host) NodeNetwork(ctx context.Context, node string) (hypervisor.NodeNetwork, error) {
	var rows []map[string]json.RawMessage
	meta, err := h.askNode(ctx, &rows, nil, node, "network")
	if err != nil {
		return hypervisor.NodeNetwork{}, err
	}
	if len(rows) > maxNodeInterfaces || len(meta.Changes) > maxDiff {
		return hypervisor.NodeNetwork{}, plugin.Errorf(plugin.Protocol, "the node has %d interfaces and a diff of %d bytes, which "+
			"exceeds the limits",
			len(rows), len(meta.Changes))
	}
	n := hypervisor.NodeNetwork{Diff: meta.Changes}
	var pending []configured
	for _, row := range rows {
		if i := interfaceOf(row); i.Name != "" {
			n.Interfaces, pending = append(n.Interfaces, i.Interface), append(pending, i)
		}
	}
	slices.SortFunc(n.Interfaces, func(a, b hypervisor.Interface) int { return strings.Compare(a.Name, b.Name) })
	if !slices.ContainsFunc(n.Interfaces, func(i hypervisor.Interface) bool { return i.Type == hypervisor.InterfaceBridge }) {
		// Without the privilege bridges are left out, also the one with the
		// node's address, and the list looks complete.
		if err := h.hiddenBridges(ctx); err != nil {
			return hypervisor.NodeNetwork{}, err
		}
	}
	n.Current, n.Unclear = n.Interfaces, false
	if n.Diff != "" {
		n.Current, n.Unclear = inForce(pending, n.Diff)
		n.Restore, n.Undo = restoring(n.Diff), undo
	}
	return n, nil
}

// hiddenBridges returns the refusal for a list without bridges if the token has
// none of the privileges of which one is needed.
func (h *Host) hiddenBridges(ctx context.Context) error {
	version, err := h.Version(ctx)
	if err != nil {
		return err
	}
	if major, _, _ := strings.Cut(version.Release, "."); len(major) == 1 && major < "8" {
		return nil
	}
	var have grants
	if _, err := h.api.Get(ctx, "/access/permissions", nil, &have); err != nil {
		return err
	}
	if have.anywhere("SDN.Use") {
		return nil
	}
	return h.hidden(ctx, need{"SDN.Audit", "/sdn/zones/localnetwork"})
}

// restoring returns the commands that bring the present file back after it was
// replaced. Nobody keeps the old file, but the diff can be applied backwards.
// Hunks of comments are left out, and there are no tabs, because a shell would
// complete words at them.
func restoring(diff string) string {
	var head, kept strings.Builder
	var hunk []string
	keep := func() {
		if slices.ContainsFunc(hunk, func(line string) bool {
			return (line[0] == '-' || line[0] == '+') && strings.TrimSpace(line[1:]) != "" && !strings.HasPrefix(strings.TrimSpace(line[1:]), "#")
		}) {
			_, _ = kept.WriteString(strings.Join(hunk, "\n") + "\n")
		}
		hunk = nil
	}
	for line := range strings.Lines(strings.ReplaceAll(diff, "\t", "    ")) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			keep()
			hunk = []string{line}
		case hunk == nil:
			_, _ = head.WriteString(line + "\n")
		case line == "":
			hunk = append(hunk, " ")
		default:
			hunk = append(hunk, line)
		}
	}
	keep()
	return "patch -R -l /etc/network/interfaces <<'EOF-OF-DIFF'\n" + head.String() + kept.String() + "EOF-OF-DIFF\nifreload -a\n" +
		"# without patch: in /etc/network/interfaces, remove the lines that begin with + above, restore those that begin with -, " +
		"then run ifreload -a"
}

// interfaceOf converts one row of the API. It takes each member that it
// understands out of the row; whatever is left at the end becomes an option
// under its own name, so that settings which the SDK does not know are shown
// and survive a change. The API returns some values as numbers or lists
// depending on their content, so all are read leniently. Members that Proxmox
// VE derives, such as "broadcast", are dropped.
func interfaceOf(row map[string]json.RawMessage) configured {
	text := func(key string) string {
		raw, there := row[key]
		delete(row, key)
		var list []pveapi.Text
		if there && len(raw) > 0 && raw[0] == '[' {
			_ = json.Unmarshal(raw, &list) // what is no list of texts is empty
			words := make([]string, len(list))
			for i, t := range list {
				words[i] = string(t)
			}
			return strings.Join(words, " ")
		}
		var t pveapi.Text
		if there {
			_ = json.Unmarshal(raw, &t)
		}
		return string(t)
	}
	on := func(key string) bool {
		var f pveapi.Flag
		raw, there := row[key]
		delete(row, key)
		return there && f.UnmarshalJSON(raw) == nil && bool(f)
	}
	var texts []pveapi.Text
	list := func(key string) []string {
		texts = nil
		raw, there := row[key]
		if delete(row, key); !there || json.Unmarshal(raw, &texts) != nil {
			return nil
		}
		words := make([]string, len(texts))
		for n, t := range texts {
			words[n] = string(t)
		}
		return words
	}
	kind := text("type")
	c := configured{families: list("families")}
	if place := number(text("priority")); place != nil {
		c.place = int(*place)
	}
	i := hypervisor.Interface{
		Name: text("iface"), Type: interfaceTypes[kind], Active: on("active"), Autostart: on("autostart"),
		Gateway: text("gateway"), Gateway6: text("gateway6"), VLANAware: on("bridge_vlan_aware"), VLANs: text("bridge_vids"),
		BondMode: text("bond_mode"), BondPrimary: text("bond-primary"), BondHash: text("bond_xmit_hash_policy"),
		MTU: number(text("mtu")), Comment: strings.TrimRight(text("comments"), "\n"), AltNames: strings.Fields(text("altnames")),
		CIDR:  withPrefix(text("cidr"), text("address"), text("netmask")),
		CIDR6: withPrefix(text("cidr6"), text("address6"), text("netmask6")), Dynamic: dynamic(text("method")),
		Dynamic6: dynamic(text("method6")),
	}
	if i.VLANAware && i.VLANs == "" {
		i.VLANs = allTags
	}
	if i.Type == "" {
		i.Type = hypervisor.InterfaceOther
	}
	for _, key := range []string{"bridge_ports", "slaves", "ovs_ports", "ovs_bonds"} {
		i.Ports = append(i.Ports, strings.Fields(text(key))...)
	}
	for _, key := range []string{"vlan-raw-device", "ovs_bridge"} {
		if v := text(key); v != "" {
			i.Device = v
		}
	}
	for _, key := range []string{"vlan-id", "ovs_tag"} {
		if v := number(text(key)); v != nil {
			i.VLAN = v
		}
	}
	byName(&i)
	for _, derived := range []string{"exists", "broadcast", "broadcast6"} {
		delete(row, derived)
	}
	for _, line := range slices.Concat(list("options"), list("options6")) {
		if l, says := lineOf(line, "inet"); says {
			setOption(&i, l.key, l.value)
		}
	}
	for key := range row {
		if value := text(key); value != "" {
			if i.Options == nil {
				i.Options = map[string]string{}
			}
			i.Options[key] = value
		}
	}
	c.Interface = i
	return c
}

// byName derives the fields that the name of a VLAN or an alias contains:
// eno1.5, eno1:1.
func byName(i *hypervisor.Interface) {
	sign := map[string]string{hypervisor.InterfaceVLAN: ".", hypervisor.InterfaceAlias: ":"}[i.Type]
	at := strings.LastIndex(i.Name, sign)
	if sign == "" || at <= 0 {
		return
	}
	if i.Device == "" {
		i.Device = i.Name[:at]
	}
	if i.VLAN == nil && sign == "." {
		i.VLAN = number(i.Name[at+1:])
	}
}

// withPrefix joins an address and its mask, which older releases report
// separately.
func withPrefix(cidr, address, mask string) string {
	if cidr != "" || address == "" || mask == "" {
		return cidr
	}
	if m, err := netip.ParseAddr(mask); err == nil && m.Is4() {
		bits := 0
		for _, b := range m.As4() {
			for ; b&0x80 != 0; b <<= 1 {
				bits++
			}
		}
		mask = strconv.Itoa(bits)
	}
	return address + "/" + mask
}

// interfaceForm returns the parameters for an interface. Proxmox VE has a
// different parameter for the same setting in each type of interface, and
// refuses those of other types.
func interfaceForm(i *hypervisor.Interface) url.Values {
	form := url.Values{}
	set := func(key, value string) {
		if value != "" {
			form.Set(key, value)
		}
	}
	flag := func(key string, on bool) {
		if on {
			form.Set(key, "1")
		}
	}
	set("cidr", i.CIDR)
	set("gateway", i.Gateway)
	set("cidr6", i.CIDR6)
	set("gateway6", i.Gateway6)
	flag("autostart", i.Autostart)
	set("comments", i.Comment)
	if i.MTU != nil {
		set("mtu", strconv.FormatInt(*i.MTU, 10))
	}
	ports := strings.Join(i.Ports, " ")
	switch i.Type {
	case hypervisor.InterfaceBridge:
		set("bridge_ports", ports)
		flag("bridge_vlan_aware", i.VLANAware)
		if i.VLANAware {
			set("bridge_vids", i.VLANs)
		}
	case hypervisor.InterfaceBond, hypervisor.InterfaceOVSBond:
		set(map[bool]string{true: "slaves", false: "ovs_bonds"}[i.Type == hypervisor.InterfaceBond], ports)
		set("bond_mode", i.BondMode)
		set("bond-primary", i.BondPrimary)
		set("bond_xmit_hash_policy", i.BondHash)
	case hypervisor.InterfaceOVS:
		set("ovs_ports", ports)
	case hypervisor.InterfaceVLAN:
		if !strings.Contains(i.Name, ".") {
			set("vlan-raw-device", i.Device)
			if i.VLAN != nil {
				set("vlan-id", strconv.FormatInt(*i.VLAN, 10))
			}
		}
	}
	switch i.Type {
	case hypervisor.InterfaceOVSBond, hypervisor.InterfaceOVSPort, hypervisor.InterfaceOVSInternal:
		set("ovs_bridge", i.Device)
		if i.VLAN != nil {
			set("ovs_tag", strconv.FormatInt(*i.VLAN, 10))
		}
	}
	return form
}

// interfaceName is the form of interface names that Proxmox VE accepts.
var interfaceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{1,20}([:.][0-9]+)?$`)

// interfacePath returns the path of an interface.
func interfacePath(node, name string) (string, error) {
	if !interfaceName.MatchString(name) {
		return "", invalid("name", "%.40q is not a valid interface name", name)
	}
	return nodePath(node, "network", name)
}

// StageInterface implements hypervisor.NetworkManager. A change contains all
// fields of the interface: Proxmox VE removes addresses that are not sent, and
// keeps all other fields that are not listed in `delete`.
func (h *Host) StageInterface(ctx context.Context, change hypervisor.InterfaceChange) error {
	path, err := nodePath(change.Node, "network")
	if err != nil {
		return err
	}
	form, kind := interfaceForm(&change.Want), ""
	for theirs, ours := range interfaceTypes {
		if ours == change.Want.Type {
			kind = theirs
		}
	}
	if kind == "" {
		return invalid("type", "interfaces of this type cannot be staged")
	}
	form.Set("type", kind)
	if change.Was == nil {
		form.Set("iface", change.Want.Name)
		_, err = h.api.Post(ctx, path, form, nil)
	} else {
		var gone []string
		for key := range interfaceForm(change.Was) {
			if !form.Has(key) {
				gone = append(gone, key)
			}
		}
		if len(gone) > 0 {
			slices.Sort(gone)
			form.Set("delete", strings.Join(gone, ","))
		}
		if path, err = interfacePath(change.Node, change.Want.Name); err != nil {
			return err
		}
		_, err = h.api.Put(ctx, path, form, nil)
	}
	if err != nil {
		return h.networkError(ctx, change.Node, err)
	}
	h.log.Debug("interface staged", "node", change.Node, "interface", change.Want.Name)
	return nil
}

// StageRemoval implements hypervisor.NetworkManager.
func (h *Host) StageRemoval(ctx context.Context, node, name string) error {
	path, err := interfacePath(node, name)
	if err != nil {
		return err
	}
	if _, err := h.api.Delete(ctx, path, nil, nil); err != nil {
		return h.networkError(ctx, node, err)
	}
	h.log.Debug("removal of an interface staged", "node", node, "interface", name)
	return nil
}

// RevertNetwork implements hypervisor.NetworkManager.
func (h *Host) RevertNetwork(ctx context.Context, node string) error {
	path, err := nodePath(node, "network")
	if err != nil {
		return err
	}
	if _, err := h.api.Delete(ctx, path, nil, nil); err != nil {
		return h.networkError(ctx, node, err)
	}
	h.log.Debug("staged changes of the network dropped", "node", node)
	return nil
}

// ApplyNetwork implements hypervisor.NetworkManager.
func (h *Host) ApplyNetwork(ctx context.Context, node string) (string, error) {
	path, err := nodePath(node, "network")
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	if _, err := h.api.Put(ctx, path, url.Values{}, &answer); err != nil {
		return "", h.networkError(ctx, node, err)
	}
	h.log.Debug("network applied", "node", node, "task", string(answer))
	return taskIn(string(answer)), nil
}

// fieldsOfNetwork maps parameters to fields of the SDK.
var fieldsOfNetwork = map[string]string{
	"iface": "name", "bridge_ports": "ports", "slaves": "ports", "ovs_ports": "ports", "ovs_bonds": "ports", "vlan-raw-device": "device",
	"ovs_bridge": "device", "vlan-id": "vlan", "ovs_tag": "vlan", "bridge_vlan_aware": "vlan_aware", "bridge_vids": "vlans",
	"bond-primary": "bond_primary", "bond_xmit_hash_policy": "bond_hash", "comments": "comment", "address": "cidr", "netmask": "cidr",
	"address6": "cidr6", "netmask6": "cidr6",
}

// familyFields are the parameters that exist once for each version of IP.
var familyFields = []string{"address", "netmask", "cidr", "gateway"}

// networkError turns an error about a change of a network into one of the SDK,
// with the field that the user must correct. Proxmox VE reports many of them
// only as a text, so the texts are compared.
func (h *Host) networkError(ctx context.Context, node string, err error) error {
	err = h.explainAway(ctx, node, err)
	e, ok := asError(err)
	if !ok {
		return err
	}
	switch text := strings.ToLower(e.Message); {
	case strings.Contains(text, "interface already exists"):
		e.Kind, e.Field = plugin.Conflict, ""
	case strings.Contains(text, "interface does not exist"):
		e.Kind, e.Field = plugin.NotFound, ""
	case strings.Contains(text, "unable to find bridge port"), strings.Contains(text, "unable to find slave"),
		strings.Contains(text, "unable to find port"), strings.Contains(text, "wrong interface type on slave"),
		strings.Contains(text, "is already used on interface"), strings.Contains(text, "if bridged in"),
		strings.Contains(text, "is not defined as ovs port"):
		wrongParameter(e, "ports")
	case strings.Contains(text, "is not a slave"):
		wrongParameter(e, "bond_primary")
	case strings.Contains(text, "vlan-raw-device"), strings.Contains(text, "unable to find parent"),
		strings.Contains(text, "wrong interface type on parent"):
		wrongParameter(e, "device")
	case strings.Contains(text, " - mtu "):
		wrongParameter(e, "mtu")
	case e.Kind == plugin.Invalid:
		// Proxmox VE names the parameter of IPv4 in errors about either
		// version.
		if other := e.Field + "6"; strings.Contains(text, "ipv6") && slices.Contains(familyFields, e.Field) {
			e.Field = other
		}
		if ours := fieldsOfNetwork[e.Field]; ours != "" {
			e.Field = ours
		}
	}
	return e
}
