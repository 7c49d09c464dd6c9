package firewall

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// AtCurrent asks for the firewall as it is.
const AtCurrent = "current"

// Drafts returns the states that drafts would make. Package draft implements
// it.
type Drafts interface {
	// States are those that hold once the draft was committed, of the scopes
	// that it changes. A draft that is not there, is not the caller's to see,
	// or is of another cluster is problem not_found. The cluster is as of
	// clusterID.
	States(ctx context.Context, draft, cluster int64) ([]sdk.State, error)
}

// End is the source or destination of a packet: a guest, a node, an address, or
// the outside.
type End struct {
	// Guest and its NIC, which may be empty; AppID is the app that it is.
	Guest *guest.Guest
	AppID *int64
	NIC   string
	// HostID is the host of the cluster of a Node, and may be that of who is outside.
	HostID int64
	Node   string
	// Address is alone that of whoever has it, and with another end the one of
	// its addresses that is meant.
	Address string
	Outside bool
}

// Packet is the question of a packet test.
type Packet struct {
	From, To                    End
	Protocol                    string
	SourcePort, DestinationPort int
	ICMPType                    string
	// At is AtCurrent or the id of a draft.
	At string
}

// Test judges a packet and returns the reason. The caller must have the right
// to see both ends, because the answer shows rules of the ends, their nodes and
// their cluster. Problems: not_found for an unknown node or draft; invalid if
// the ends are not of one cluster, or for an unknown protocol or type;
// unsupported and unsupported_at_scope if the host's firewall cannot be
// evaluated; those of host.Call. If the verdict cannot be told, it is unknown,
// which is no problem.
func (s *Store) Test(ctx context.Context, p Packet) (*TestResult, error) {
	q, err := s.question(ctx, p.At, map[string]End{"from": p.From, "to": p.To})
	if err != nil {
		return nil, err
	}
	query := sdk.TestQuery{Trace: true, Assume: q.assume, Packets: []sdk.Packet{{From: q.ends["from"], To: q.ends["to"],
		Protocol: p.Protocol, SourcePort: p.SourcePort, DestinationPort: p.DestinationPort, ICMPType: p.ICMPType}}}
	answer, err := ask(ctx, s, q.on, func(ctx context.Context, able sdk.Evaluator, _ sdk.Scope) (sdk.Test, error) {
		test, err := able.Test(ctx, query)
		if err == nil && len(test.Verdicts) != 1 {
			err = plugin.Errorf(plugin.Protocol, "the backend returned %d verdicts for one packet", len(test.Verdicts))
		}
		return test, fieldOfBody(err)
	})
	if err != nil {
		return nil, err
	}
	shown, err := q.showVerdict(&answer.Verdicts[0])
	shown.AsOf, shown.At = answer.At.UTC().Truncate(time.Millisecond), p.At
	return shown, err
}

// Target is the question of a table of reach.
type Target struct {
	To End
	// At is as of Packet, and Limit the most rows.
	At    string
	Limit int
}

// Reach finds out which visible guests in the cluster, and whether the outside,
// can reach an end, and on which ports. Problems are those of Test.
func (s *Store) Reach(ctx context.Context, guests *guest.Store, t Target, visible identity.VisibleTeams) (*ReachResult, error) {
	q, err := s.question(ctx, t.At, map[string]End{"to": t.To})
	if err != nil {
		return nil, err
	}
	all, err := guests.List(ctx, guest.Filter{}, visible)
	if err != nil {
		return nil, err
	}
	from := []sdk.End{{Kind: sdk.OutsideEnd}}
	rows, rowOf, omitted := 1, []int{0}, 0
	for i := range all {
		g := &all[i]
		if g.ClusterID() != q.cluster || g.Template || t.To.Guest != nil && g.ID == t.To.Guest.ID {
			continue
		}
		if rows >= min(t.Limit, sdk.MaxReachFrom) {
			omitted++
			continue
		}
		for _, address := range sendersOf(g, t.To.Address) {
			from, rowOf = append(from, q.guest(End{Guest: g, Address: address})), append(rowOf, rows)
		}
		rows++
	}
	answer, err := ask(ctx, s, q.on, func(ctx context.Context, able sdk.Evaluator, _ sdk.Scope) (whole sdk.Reach, _ error) {
		for part := range slices.Chunk(from, sdk.MaxReachFrom) {
			reach, err := able.Reach(ctx, sdk.ReachQuery{To: q.ends["to"], Assume: q.assume, From: part})
			if err == nil && len(reach.Rows) != len(part) {
				err = plugin.Errorf(plugin.Protocol, "the backend returned %d rows for %d senders", len(reach.Rows), len(part))
			}
			if err != nil {
				return whole, fieldOfBody(err)
			}
			if whole.Rows == nil {
				whole.To, whole.At = reach.To, reach.At
			}
			whole.Rows = append(whole.Rows, reach.Rows...)
		}
		return whole, nil
	})
	if err != nil {
		return nil, err
	}
	answer.Rows = mergeReach(answer.Rows, rowOf, rows)
	shown := q.showReach(answer)
	shown.Omitted, shown.At = omitted, t.At
	return shown, nil
}

// sendersOf returns the first address of each version of IP at which the guest
// was last seen, or the one of the version of the address to which it sends. If
// no address is known there is an empty one; if none is of that version, the
// first one.
func sendersOf(g *guest.Guest, to string) []string {
	target, err := netip.ParseAddr(to)
	fixed := err == nil
	first, list, has := "", []string{}, map[bool]bool{}
	for _, text := range g.Addresses {
		a, err := netip.ParseAddr(text)
		if err != nil || !a.IsGlobalUnicast() {
			continue
		}
		first = cmp.Or(first, text)
		if is4 := a.Unmap().Is4(); !has[is4] && (!fixed || is4 == target.Unmap().Is4()) {
			list, has[is4] = append(list, text), true
		}
	}
	if len(list) == 0 {
		return []string{first}
	}
	return list
}

// mergeReach joins the rows of one sender: what is open from any of its
// addresses is open. A row for an unknown address is left out if there is
// another.
func mergeReach(rows []sdk.ReachRow, of []int, total int) []sdk.ReachRow {
	merged := make([]sdk.ReachRow, total)
	for i, row := range rows {
		to := &merged[of[i]]
		switch {
		case i == 0 || of[i-1] != of[i], to.Unknown != "" && row.Unknown == "":
			*to = row
		case row.Unknown == "":
			to.Open, to.Echo = sdk.JoinPorts(append(to.Open, row.Open...)), to.Echo || row.Echo
		}
	}
	return merged
}

// question is what the ends of one question have in common.
type question struct {
	on      Scope
	cluster int64
	ends    map[string]sdk.End
	// named are the guests of the ends, by what the backend calls them.
	named  map[string]*End
	assume []sdk.State
}

// question finds the cluster of the ends, and the states that are assumed
// there. The keys of ends are fields of the body, for faults.
func (s *Store) question(ctx context.Context, at string, ends map[string]End) (*question, error) {
	q := &question{ends: map[string]sdk.End{}, named: map[string]*End{}}
	for _, field := range []string{"from", "to"} {
		e, asked := ends[field]
		if !asked {
			continue
		}
		var cluster int64
		var err error
		switch {
		case e.Guest != nil:
			cluster, q.ends[field] = e.Guest.ClusterID(), q.guest(e)
			e.HostID = e.Guest.HostID
		case e.Node != "":
			cluster, err = s.clusterID(ctx, OfNode(e.HostID, e.Node))
			q.ends[field] = sdk.End{Kind: sdk.NodeEnd, Node: e.Node, Address: e.Address}
		default:
			q.ends[field] = sdk.End{Kind: sdk.OutsideEnd, Address: e.Address}
			if !e.Outside {
				q.ends[field] = sdk.End{Kind: sdk.AddressEnd, Address: e.Address}
			}
			continue
		}
		switch {
		case err != nil:
			return nil, err
		case q.cluster != 0 && q.cluster != cluster:
			return nil, problem.InvalidField("the guest is in another cluster: test from its address", "value_error", "body", field)
		}
		q.cluster, q.on = cluster, OfCluster(e.HostID)
	}
	if q.cluster == 0 {
		return nil, problem.InvalidField("one end must be a guest or a node, because nothing else has a firewall",
			"value_error", "body", "to")
	}
	if at == AtCurrent {
		return q, nil
	}
	draft, err := strconv.ParseInt(at, 10, 64)
	if err != nil || s.Drafts == nil {
		return nil, problem.InvalidField("must be current, or the ID of a draft", "value_error", "body", "at")
	}
	q.assume, err = s.Drafts.States(ctx, draft, q.cluster)
	return q, err
}

// guest returns the guest in the backend's form.
func (q *question) guest(e End) sdk.End {
	at := e.Guest.At()
	out := sdk.End{Kind: sdk.GuestEnd, NIC: e.NIC, Address: e.Address,
		Guest: &sdk.Guest{Kind: string(at.Kind), Node: at.Node, ID: string(at.ID), UID: at.UID}}
	q.named[guestKey(out.Guest)] = &e
	return out
}

// guestKey identifies a guest in the maps of a question.
func guestKey(g *sdk.Guest) string { return g.Kind + " " + g.ID }

// fieldOfBody turns the backend's error about a question into a fault of the
// body.
func fieldOfBody(err error) error {
	e, ok := errors.AsType[*plugin.Error](err)
	if !ok || e.Kind != plugin.Invalid {
		return err
	}
	loc := []any{"body"}
	for part := range strings.SplitSeq(strings.TrimPrefix(e.Field, "packets.0."), ".") {
		if part != "" {
			loc = append(loc, part)
		}
	}
	return problem.InvalidField(e.Message, "value_error", loc...).WithCause(err)
}
