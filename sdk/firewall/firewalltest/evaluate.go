package firewalltest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// EvaluationSetup is where packets are evaluated: two guests of one endpoint.
// Each has a network interface and an address, both of the same IP version, to
// which the guest's rules apply as soon as the firewall is on. The cases change
// nothing; they pass assumed states instead.
type EvaluationSetup struct {
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// From and To are the guests, and Node is a node with an address.
	From, To firewall.Guest
	Node     string
}

// evaluate tests Evaluator, which computes what a firewall would do with a
// packet. Nothing is sent. Assumed states replace the rules of a scope, so the
// plan of a change can be evaluated before it is made. A verdict names the rule
// or check that decided; what the backend cannot evaluate is Unknown with a
// reason, never a guess.
func (s *suite) evaluate(t *testing.T) {
	lacks[firewall.Evaluator](t, s)
	s.evaluated(t, "a rule decides, or a policy", func(t *testing.T, ctx context.Context, e evaluated) {
		packets := []firewall.Packet{e.tcp(443), e.tcp(80)}
		test, err := e.fw.Test(ctx, firewall.TestQuery{Packets: packets, Trace: true, Assume: e.assume(e.rules())})
		must(t, "testing", err)
		if len(test.Verdicts) != 2 || test.At.IsZero() {
			t.Fatalf("the answer is %+v", test)
		}
		accepted, dropped := test.Verdicts[0], test.Verdicts[1]
		if by := accepted.By(); accepted.Outcome != firewall.Accepted || by == nil || by.Rule == nil || by.Rule.Rule.Position != 1 ||
			!by.Rule.Scope.Same(scopeOf(e.To)) || by.Why != firewall.Matched || by.Rule.Rule.DestinationPort != "443" {
			t.Errorf("a packet that a rule accepts is %+v", accepted)
		}
		if by := dropped.By(); dropped.Outcome != firewall.Dropped || by == nil || by.Rule != nil || by.Check == "" || by.Text == "" {
			t.Errorf("a packet that the policy drops is %+v", dropped)
		}
		for _, v := range test.Verdicts {
			wellFormed(t, v, true)
			if v.From.NIC == "" || v.To.NIC == "" || v.From.Address == "" || v.To.Address == "" || v.To.Node == "" {
				t.Errorf("ends are %+v, %+v", v.From, v.To)
			}
			hop := v.Hops[len(v.Hops)-1]
			looked := func(position int, why firewall.Reason) bool {
				return slices.ContainsFunc(hop.Steps, func(s firewall.Step) bool {
					return s.Rule != nil && s.Rule.Rule.Position == position && s.Why == why
				})
			}
			if !looked(0, firewall.NotEnabled) || hop.Direction != firewall.DirectionIn || !hop.Scope.Same(scopeOf(e.To)) {
				t.Errorf("the last hop is %+v", hop)
			}
			if v.Outcome == firewall.Dropped && !looked(1, firewall.OtherDestPort) {
				t.Errorf("the reason why the rule does not match is missing: %+v", hop.Steps)
			}
		}
		test, err = e.fw.Test(ctx, firewall.TestQuery{Packets: packets, Assume: e.assume(e.rules())})
		must(t, "testing without the paths", err)
		for i, v := range test.Verdicts {
			wellFormed(t, v, false)
			if by := v.By(); v.Outcome != []firewall.Outcome{firewall.Accepted, firewall.Dropped}[i] || by == nil {
				t.Errorf("without the path it is %+v", v)
			}
		}
	})
	s.evaluated(t, "the sender's rules come first", func(t *testing.T, ctx context.Context, e evaluated) {
		assume := e.assume(e.rules())
		assume[1].Rules = []firewall.Rule{{Direction: firewall.DirectionOut, Action: "REJECT", Enabled: true, Protocol: "tcp",
			DestinationPort: "443"}}
		test, err := e.fw.Test(ctx, firewall.TestQuery{Packets: []firewall.Packet{e.tcp(443)}, Assume: assume})
		must(t, "testing", err)
		v := test.Verdicts[0]
		if by := v.By(); v.Outcome != firewall.Rejected || by.Rule == nil || !by.Rule.Scope.Same(scopeOf(e.From)) || len(v.Hops) != 1 {
			t.Errorf("the verdict is %+v", v)
		}
	})
	s.evaluated(t, "switched off, everything passes", func(t *testing.T, ctx context.Context, e evaluated) {
		no, assume := false, e.assume(e.rules())
		assume[0].Options.Enable = &no
		test, err := e.fw.Test(ctx, firewall.TestQuery{Packets: []firewall.Packet{e.tcp(80)}, Assume: assume})
		must(t, "testing", err)
		if test.Verdicts[0].Outcome != firewall.Accepted {
			t.Errorf("the verdict is %+v", test.Verdicts[0])
		}
	})
	s.evaluated(t, "groups", func(t *testing.T, ctx context.Context, e evaluated) {
		if !has[firewall.RuleLister](s, firewall.GroupScope) {
			t.Skip("there are no groups")
		}
		assume := e.assume([]firewall.Rule{{Direction: firewall.DirectionGroup, Action: "evaluated", Enabled: true}})
		group := firewall.State{Scope: firewall.Scope{Kind: firewall.GroupScope, Group: "evaluated"}, Rules: []firewall.Rule{
			{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "80"}}}
		absent := firewall.State{Scope: group.Scope, Absent: true}
		for _, one := range []struct {
			state firewall.State
			want  firewall.Outcome
		}{{group, firewall.Accepted}, {absent, firewall.Dropped}} {
			query := firewall.TestQuery{Packets: []firewall.Packet{e.tcp(80)}, Trace: true, Assume: append(slices.Clone(assume), one.state)}
			test, err := e.fw.Test(ctx, query)
			must(t, "testing", err)
			v := test.Verdicts[0]
			wellFormed(t, v, true)
			if by := v.By(); v.Outcome != one.want || v.Outcome == firewall.Accepted && (by.Via == nil || by.Rule.Scope != group.Scope) {
				t.Errorf("with %+v it is %+v", one.state, v)
			}
		}
	})
	s.evaluated(t, "reach", func(t *testing.T, ctx context.Context, e evaluated) {
		query := firewall.ReachQuery{To: e.to(), From: []firewall.End{e.from(), {Kind: firewall.OutsideEnd}}, Assume: e.assume(e.rules())}
		reach, err := e.fw.Reach(ctx, query)
		must(t, "asking who gets through", err)
		if len(reach.Rows) != 2 || reach.At.IsZero() || reach.To.NIC == "" || reach.To.Address == "" {
			t.Fatalf("the answer is %+v", reach)
		}
		for i, row := range reach.Rows {
			if want := []firewall.Ports{{Protocol: "tcp", First: 443, Last: 443}}; row.Unknown != "" || !reflect.DeepEqual(row.Open, want) ||
				row.Echo || row.From.Kind != query.From[i].Kind || row.From.Address == "" {
				t.Errorf("row %d is %+v", i, row)
			}
		}
	})
	s.evaluated(t, "compare", func(t *testing.T, ctx context.Context, e evaluated) {
		query := firewall.CompareQuery{Guests: []firewall.Guest{e.From, e.To}, Probes: []firewall.Packet{e.tcp(443)},
			Before: e.assume(nil), After: e.assume(e.rules())}
		change, err := e.fw.Compare(ctx, query)
		must(t, "comparing", err)
		want := []firewall.Ports{{Protocol: "tcp", First: 443, Last: 443}}
		from := map[firewall.EndKind]int{}
		for _, pair := range change.Pairs {
			from[pair.From.Kind]++
			if pair.Unknown != "" || !reflect.DeepEqual(pair.Gained, want) || len(pair.Lost) > 0 || pair.GainsEcho || pair.LosesEcho ||
				pair.To.Guest == nil || pair.To.Guest.ID != e.To.ID {
				t.Errorf("a changed pair is %+v", pair)
			}
		}
		if from[firewall.GuestEnd] != 1 || from[firewall.OutsideEnd] != 1 || len(change.Pairs) != 2 || change.Omitted != 0 {
			t.Errorf("the changed pairs are %+v", change.Pairs)
		}
		if p := change.Probes; len(p) != 1 || p[0].Before.Outcome != firewall.Dropped || p[0].After.Outcome != firewall.Accepted {
			t.Errorf("the probe is %+v", p)
		}
		query.Before, query.After = query.After, query.Before
		change, err = e.fw.Compare(ctx, query)
		must(t, "comparing the other way round", err)
		if len(change.Pairs) != 2 || !reflect.DeepEqual(change.Pairs[0].Lost, want) || len(change.Pairs[0].Gained) > 0 {
			t.Errorf("in the other direction it is %+v", change.Pairs)
		}
	})
	s.evaluated(t, "as it is", func(t *testing.T, ctx context.Context, e evaluated) {
		packet := e.tcp(22)
		packet.To = firewall.End{Kind: firewall.NodeEnd, Node: e.Node}
		test, err := e.fw.Test(ctx, firewall.TestQuery{Packets: []firewall.Packet{e.tcp(22), packet}, Trace: true})
		must(t, "testing", err)
		for _, v := range test.Verdicts {
			wellFormed(t, v, true)
			if v.Outcome == firewall.Unknown {
				t.Errorf("the verdict is %+v", v)
			}
		}
	})
	s.evaluated(t, "what is not there", func(t *testing.T, ctx context.Context, e evaluated) {
		gone, nowhere, noNIC := e.tcp(22), e.tcp(22), e.tcp(22)
		gone.From.Guest = &firewall.Guest{Kind: e.From.Kind, Node: e.From.Node, ID: "987654321"}
		nowhere.To = firewall.End{Kind: firewall.NodeEnd, Node: absentNode}
		noNIC.To.NIC = "net99"
		packets := []firewall.Packet{gone, e.tcp(443), nowhere, noNIC}
		test, err := e.fw.Test(ctx, firewall.TestQuery{Packets: packets, Assume: e.assume(e.rules())})
		must(t, "testing", err)
		for i, v := range test.Verdicts {
			if unknown := i != 1; (v.Outcome == firewall.Unknown) != unknown || (v.Reason != "") != unknown {
				t.Errorf("verdict %d is %+v", i, v)
			}
		}
	})
	s.evaluated(t, "questions that are none", func(t *testing.T, ctx context.Context, e evaluated) {
		for field, query := range map[string]firewall.TestQuery{
			"packets":                {},
			"packets.0.from":         {Packets: []firewall.Packet{{To: e.to(), Protocol: "tcp"}}},
			"packets.0.to":           {Packets: []firewall.Packet{{From: e.to(), To: firewall.End{Kind: "planet"}, Protocol: "tcp"}}},
			"packets.0.protocol":     {Packets: []firewall.Packet{{From: e.from(), To: e.to()}}},
			"packets.0.dport":        {Packets: []firewall.Packet{{From: e.from(), To: e.to(), Protocol: "tcp", DestinationPort: 65536}}},
			"packets.0.from.address": {Packets: []firewall.Packet{{From: firewall.End{Kind: firewall.AddressEnd, Address: "x"}, To: e.to()}}},
			"assume.0":               {Packets: []firewall.Packet{e.tcp(1)}, Assume: []firewall.State{{}}},
			"assume.1": {Packets: []firewall.Packet{e.tcp(1)}, Assume: []firewall.State{
				{Scope: firewall.Scope{Kind: firewall.ClusterScope}}, {Scope: firewall.Scope{Kind: firewall.ClusterScope}}}},
		} {
			_, err := e.fw.Test(ctx, query)
			wantField(t, field, err, plugin.Invalid, field)
		}
		many := make([]firewall.Packet, firewall.MaxTraced+1)
		_, err := e.fw.Test(ctx, firewall.TestQuery{Packets: many, Trace: true})
		wantField(t, "too many", err, plugin.Invalid, "packets")
		_, err = e.fw.Reach(ctx, firewall.ReachQuery{To: e.to(), From: []firewall.End{{}}})
		wantField(t, "no sender", err, plugin.Invalid, "from.0")
		_, err = e.fw.Compare(ctx, firewall.CompareQuery{Guests: []firewall.Guest{e.From, e.From}})
		wantField(t, "a guest twice", err, plugin.Invalid, "guests.1")
	})
	s.evaluated(t, "a context that has ended", func(t *testing.T, ctx context.Context, e evaluated) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := e.fw.Test(ctx, firewall.TestQuery{Packets: []firewall.Packet{e.tcp(1)}}); err == nil {
			t.Error("it answers")
		}
	})
}

// evaluated is an EvaluationSetup with its opened firewall.
type evaluated struct {
	EvaluationSetup
	fw firewall.Evaluator
}

// evaluated runs a case with the hook Evaluated, or skips it.
func (s *suite) evaluated(t *testing.T, name string, body func(t *testing.T, ctx context.Context, e evaluated)) {
	t.Helper()
	s.run(t, name, func(t *testing.T, ctx context.Context) {
		if s.Evaluated == nil {
			t.Skip("no hook Evaluated")
		}
		e := s.Evaluated(t)
		body(t, ctx, evaluated{e, open[firewall.Evaluator](t, s, e.Target(t, endpoint.Monitoring))})
	})
}

// from and to return the sender and the receiver as ends of a packet.
func (e evaluated) from() firewall.End { return firewall.End{Kind: firewall.GuestEnd, Guest: &e.From} }
func (e evaluated) to() firewall.End   { return firewall.End{Kind: firewall.GuestEnd, Guest: &e.To} }

// tcp returns a packet from the sender to a TCP port of the receiver.
func (e evaluated) tcp(port int) firewall.Packet {
	return firewall.Packet{From: e.from(), To: e.to(), Protocol: "tcp", DestinationPort: port}
}

// rules returns a disabled rule that accepts port 80, and an enabled one that
// accepts port 443.
func (e evaluated) rules() []firewall.Rule {
	return []firewall.Rule{
		{Direction: firewall.DirectionIn, Action: "ACCEPT", Protocol: "tcp", DestinationPort: "80"},
		{Position: 1, Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "443"},
	}
}

// assume returns states of the cluster, the sender and the receiver with their
// firewalls on. The receiver has the given rules and drops everything else.
func (e evaluated) assume(rules []firewall.Rule) []firewall.State {
	yes := true
	on := firewall.Options{Enable: &yes, PolicyIn: "DROP", PolicyOut: "ACCEPT"}
	return []firewall.State{
		{Scope: firewall.Scope{Kind: firewall.ClusterScope}, Options: on}, {Scope: scopeOf(e.From), Options: on},
		{Scope: scopeOf(e.To), Options: on, Rules: rules},
	}
}

// wellFormed checks a verdict for contradictions: a reason if and only if it is
// Unknown, every hop but the last one accepted, and steps only if a trace was
// requested. The last step of a hop is the one that decided.
func wellFormed(t *testing.T, v firewall.Verdict, traced bool) {
	t.Helper()
	ok := slices.Contains(firewall.Outcomes(), v.Outcome) && (v.Outcome == firewall.Unknown) == (v.Reason != "")
	for i, hop := range v.Hops {
		last := i == len(v.Hops)-1
		ok = ok && firewall.ValidScope(hop.Scope) && (last || hop.Outcome == firewall.Accepted) && hop.By.Why == firewall.Matched
		ok = ok && (!last || v.Outcome == firewall.Unknown || hop.Outcome == v.Outcome) && (len(hop.Steps) > 0) == traced
		for _, step := range hop.Steps {
			ok = ok && slices.Contains(firewall.Reasons(), step.Why) && (step.Rule == nil) == (step.Check != "")
		}
		if traced && ok {
			ok = reflect.DeepEqual(hop.Steps[len(hop.Steps)-1], hop.By)
		}
	}
	if !ok {
		t.Errorf("the verdict is malformed: %+v", v)
	}
}
