package firewall

import (
	"cmp"
	"context"
	"net/netip"
	"strings"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
)

// reachRows is the maximum number of rows of a reach table if the body does not
// say.
const reachRows = 200

func (h handlers) registerEvaluation(a *op.API) {
	const ends = "An end is one of `{\"vm_id\":3}` or `{\"app_id\":4}`, each with `nic` if it has several NICs, " +
		"`{\"host_id\":1,\"node\":\"node1\"}`, `{\"address\":\"192.0.2.7\"}`, which is a node or an outside " +
		"address, and `{\"outside\":true}`. `address` together with one of the others selects one of its addresses. " +
		"At least one end is a guest or a node, and both belong to one cluster. "
	const truth = "The rules are evaluated for the first packet of a connection; routing and listening programs are " +
		"not considered. The firewall is read from the hypervisor; nothing is sent, changed or stored. Parts that " +
		"cannot be read are reported as unknown. `at` is `current`, or the ID of a draft. 501 `unsupported` if the " +
		"firewall of the host cannot be evaluated."
	op.Post(a, "/api/v1/firewall/test", h.test, op.Spec{
		ID: "test_firewall_packet", Summary: "Test whether a packet passes the firewall", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Calls: true, ReadOnly: true, Timeout: changeTime,
		Description: "Returns the verdict, the rule that decides, and every evaluated rule with the reason why it did " +
			"not match. " + ends + truth +
			" The response includes rules of the two ends, their nodes and their cluster, all of which the caller can " +
			"list.",
	})
	op.Post(a, "/api/v1/firewall/reach", h.reach, op.Spec{
		ID: "list_firewall_reach", Summary: "List who can reach a guest or node", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Calls: true, ReadOnly: true, Timeout: changeTime,
		Description: "Returns one row for the outside, represented by an address that no rule should contain, and " +
			"one row for each guest of the cluster that the caller can see, at most `limit` in total. Each row " +
			"lists the ports that the sender can reach, and whether a ping is accepted. " + ends + truth,
	})
}

// End is one end of a packet. A body sets exactly one of its fields.
type End struct {
	AppID   *int64 `json:"app_id,omitempty" nullable:"false" minimum:"1" example:"4"`
	VMID    *int64 `json:"vm_id,omitempty" nullable:"false" minimum:"1" example:"3"`
	NIC     string `json:"nic,omitempty" maxLength:"64" example:"net0" doc:"NIC of the guest; if absent, the first one, preferably on the network of the other end"`
	HostID  *int64 `json:"host_id,omitempty" nullable:"false" minimum:"1" example:"1" doc:"ID of any enrolled host of the node's cluster"`
	Node    string `json:"node,omitempty" maxLength:"253" example:"pve1"`
	Address string `json:"address,omitempty" maxLength:"64" example:"192.0.2.7"`
	Outside bool   `json:"outside,omitempty" example:"false" doc:"true for an address that belongs to no node and no guest"`
}

type testInput struct {
	Body struct {
		From     End    `json:"from" example:"{\"outside\":true,\"address\":\"198.51.100.7\"}"`
		To       End    `json:"to" example:"{\"vm_id\":3}"`
		Protocol string `json:"protocol" minLength:"1" maxLength:"64" example:"tcp" doc:"Name as used in rules, or number"`
		SPort    int    `json:"sport,omitempty" minimum:"0" maximum:"65535" example:"0" doc:"Source port; absent or 0 for an unspecified one"`
		DPort    int    `json:"dport,omitempty" minimum:"0" maximum:"65535" example:"5432" doc:"Destination port"`
		ICMPType string `json:"icmp_type,omitempty" maxLength:"64" example:"echo-request" doc:"Type for icmp and icmpv6: a name as used in rules, a number, or a number and a code such as 3/1; if absent, an echo request"`
		At       string `json:"at,omitempty" default:"current" pattern:"^(current|[1-9][0-9]{0,17})$" example:"current" doc:"current, or the ID of a draft"`
	}
}

func (h handlers) test(ctx context.Context, in *testInput) (*op.Body[*firewall.TestResult], error) {
	b := &in.Body
	if err := faultsOf(map[string]*End{"from": &b.From, "to": &b.To}); err != nil {
		return nil, err
	}
	p := firewall.Packet{Protocol: b.Protocol, SourcePort: b.SPort, DestinationPort: b.DPort, ICMPType: b.ICMPType,
		At: cmp.Or(b.At, firewall.AtCurrent)}
	var err error
	if p.From, err = h.end(ctx, &b.From); err != nil {
		return nil, err
	}
	if p.To, err = h.end(ctx, &b.To); err != nil {
		return nil, err
	}
	tested, err := h.Firewalls.Test(ctx, p)
	return &op.Body[*firewall.TestResult]{Body: tested}, err
}

type reachInput struct {
	Body struct {
		To    End    `json:"to" example:"{\"vm_id\":3}"`
		Limit int    `json:"limit,omitempty" default:"200" minimum:"1" maximum:"500" example:"200" doc:"Maximum number of rows"`
		At    string `json:"at,omitempty" default:"current" pattern:"^(current|[1-9][0-9]{0,17})$" example:"current" doc:"current, or the ID of a draft"`
	}
}

func (h handlers) reach(ctx context.Context, in *reachInput) (*op.Body[*firewall.ReachResult], error) {
	if err := faultsOf(map[string]*End{"to": &in.Body.To}); err != nil {
		return nil, err
	}
	to, err := h.end(ctx, &in.Body.To)
	if err != nil {
		return nil, err
	}
	reached, err := h.Firewalls.Reach(ctx, h.Guests, firewall.Target{To: to, At: cmp.Or(in.Body.At, firewall.AtCurrent),
		Limit: cmp.Or(in.Body.Limit, reachRows)},
		identity.FromContext(ctx).Visible())
	return &op.Body[*firewall.ReachResult]{Body: reached}, err
}

// faultsOf refuses ends that set no field or more than one.
func faultsOf(ends map[string]*End) error {
	var faults []problem.Fault
	for _, field := range []string{"from", "to"} {
		e := ends[field]
		if e == nil {
			continue
		}
		add := func(text string, loc ...any) {
			faults = append(faults, problem.Fault{Loc: append([]any{"body", field}, loc...), Type: "value_error", Msg: text})
		}
		named := 0
		for _, is := range []bool{e.AppID != nil, e.VMID != nil, e.Node != "", e.Outside} {
			if is {
				named++
			}
		}
		switch {
		case named > 1:
			add("must contain only one of app_id, vm_id, node and outside")
		case named == 0 && e.Address == "":
			add("must contain one of app_id, vm_id, node, address and outside")
		case (e.Node != "") != (e.HostID != nil):
			add("node and host_id must be set together")
		case e.NIC != "" && e.AppID == nil && e.VMID == nil:
			add("only allowed for a guest", "nic")
		}
		if strings.ContainsFunc(e.NIC+e.Node, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			add("must not contain control characters")
		}
		if a, err := netip.ParseAddr(e.Address); e.Address != "" && (err != nil || a.Zone() != "") {
			add("must be an address, such as 192.0.2.7 or 2001:db8::7", "address")
		}
	}
	if len(faults) > 0 {
		return problem.Invalid(faults...)
	}
	return nil
}

// end finds the thing that an end names, among those that the caller can see.
func (h handlers) end(ctx context.Context, e *End) (firewall.End, error) {
	out := firewall.End{NIC: e.NIC, Node: e.Node, Address: e.Address, Outside: e.Outside}
	kind, id, guests := scope.Host, e.HostID, Guests(nil)
	switch {
	case e.AppID != nil:
		kind, id, guests = scope.App, e.AppID, h.Apps
		out.AppID = e.AppID
	case e.VMID != nil:
		kind, id, guests = scope.VM, e.VMID, h.VMs
	}
	if id == nil {
		return out, nil
	}
	thing, err := schedule.Require(ctx, h.Firewalls.DB, kind, *id, identity.Viewer)
	if err != nil {
		return out, err
	}
	if guests == nil {
		out.HostID = *id
		return out, nil
	}
	r, err := guests.Request(ctx, *id, thing.TeamID, nil)
	out.Guest = r.Guest
	return out, err
}
