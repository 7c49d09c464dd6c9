package pve

import (
	"context"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These limit what is taken from a guest. Its answers are chosen by the guest's
// owner and not by the host.
const (
	maxInterfaces    = 256
	maxAddresses     = 64 // of one interface
	maxInterfaceName = 64 // characters
)

// interfaceRow is one interface, as the agent of a VM or the node of a
// container reports it. Older releases report a container's addresses only as
// inet and inet6.
type interfaceRow struct {
	Name      pveapi.Text `json:"name"`
	MAC       pveapi.Text `json:"hardware-address"`
	HWAddr    pveapi.Text `json:"hwaddr"`
	Inet      pveapi.Text `json:"inet"`
	Inet6     pveapi.Text `json:"inet6"`
	Addresses []struct {
		Address pveapi.Text `json:"ip-address"`
		Prefix  pveapi.Int  `json:"prefix"`
	} `json:"ip-addresses"`
}

// Addresses implements hypervisor.NICEditor. For a VM it asks the QEMU guest
// agent, and for a container its node, which looks into the container's network
// namespace. For a container that does not run or does not exist, Proxmox VE
// returns null, which is a Conflict here. The guest chooses what it reports, so
// the number of interfaces is limited.
func (h *Host) Addresses(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.NICAddresses, error) {
	rest := []string{"agent", "network-get-interfaces"}
	if ref.Kind == hypervisor.Container {
		rest = []string{"interfaces"}
	}
	path, err := guestPath(ref, rest...)
	if err != nil {
		return nil, err
	}
	var data json.RawMessage
	if _, err := h.api.Get(ctx, path, nil, &data); err != nil {
		return nil, h.explain(ctx, ref.Node, agentError(absence(err)))
	}
	if ref.Kind == hypervisor.VM {
		if data, err = agentResult(data); err != nil {
			return nil, err
		}
	}
	var rows []interfaceRow
	if err := json.Unmarshal(orNull(data), &rows); err != nil {
		return nil, plugin.Errorf(plugin.Protocol, "the guest's interfaces are not a list: %w", err)
	}
	if rows == nil {
		return nil, plugin.Errorf(plugin.Conflict, "guest %s reports no interfaces; it is probably not running", ref.ID)
	}
	var told []hypervisor.NICAddresses
	for _, row := range rows[:min(len(rows), maxInterfaces)] {
		told = append(told, row.addresses())
	}
	return told, nil
}

// agentResult returns the result of an agent. An agent that does not know a
// command returns an error object in its place.
func agentResult(data json.RawMessage) (json.RawMessage, error) {
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(orNull(data), &answer); err != nil {
		return nil, plugin.Errorf(plugin.Protocol, "the agent's answer is not an object: %w", err)
	}
	var refusal struct {
		Error *struct {
			Text pveapi.Text `json:"desc"`
		} `json:"error"`
	}
	if json.Unmarshal(orNull(answer.Result), &refusal) == nil && refusal.Error != nil {
		return nil, plugin.Errorf(plugin.Unsupported, "the guest agent cannot report the "+
			"addresses: %s", plain(string(refusal.Error.Text), 200))
	}
	return answer.Result, nil
}

// orNull returns the JSON null for a missing value.
func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// agentError distinguishes a VM without an agent from one whose agent does not
// answer.
func agentError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	if strings.Contains(strings.ToLower(e.Message), "no qemu guest agent configured") {
		e.Kind = plugin.Unsupported
	}
	return e
}

// addresses converts an interface that a guest reports. The guest chooses the
// texts, so each is validated.
func (row interfaceRow) addresses() hypervisor.NICAddresses {
	told := hypervisor.NICAddresses{Name: plain(string(row.Name), maxInterfaceName)}
	for _, mac := range []string{string(row.MAC), string(row.HWAddr)} {
		if told.MAC == "" && macAddress.MatchString(mac) {
			told.MAC = mac
		}
	}
	texts := []string{string(row.Inet), string(row.Inet6)}
	if row.Addresses != nil {
		texts = nil
		for _, a := range row.Addresses[:min(len(row.Addresses), maxAddresses)] {
			text := string(a.Address)
			if a.Prefix.Set {
				text += "/" + strconv.FormatInt(a.Prefix.N, 10)
			}
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		if prefix, ok := prefixOf(text); ok {
			told.Addresses = append(told.Addresses, prefix.String())
		}
	}
	return told
}

// prefixOf reads an address with its prefix length. Without one it is taken for
// a single address.
func prefixOf(text string) (netip.Prefix, bool) {
	text, bits, given := strings.Cut(text, "/")
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	length := address.BitLen()
	if given {
		length, err = strconv.Atoi(bits)
	}
	prefix := netip.PrefixFrom(address.WithZone(""), length)
	return prefix, err == nil && prefix.IsValid()
}

// plain returns a text of a guest without unprintable characters, up to a
// length.
func plain(text string, limit int) string {
	var out []rune
	for _, r := range text {
		if unicode.IsPrint(r) && len(out) < limit {
			out = append(out, r)
		}
	}
	return string(out)
}
