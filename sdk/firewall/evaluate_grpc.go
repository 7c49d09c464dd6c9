package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) evaluation() firewallv1.EvaluateServiceClient {
	return firewallv1.NewEvaluateServiceClient(f.client.conn)
}

type evaluateServer struct {
	firewallv1.UnimplementedEvaluateServiceServer
	*server
}

func (f *remoteFirewall) Test(ctx context.Context, query TestQuery) (Test, error) {
	if err := refuse[Evaluator](f, Scope{Kind: ClusterScope}); err != nil {
		return Test{}, err
	}
	req := &firewallv1.TestRequest{Target: f.target, Query: testQueryToProto(query)}
	answer, err := wire.Call(ctx, f.evaluation().Test, req)
	return testFromProto(answer), err
}

func (s *evaluateServer) Test(ctx context.Context, req *firewallv1.TestRequest) (*firewallv1.TestResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw Evaluator) (*firewallv1.TestResponse, error) {
		answer, err := fw.Test(ctx, testQueryFromProto(req.GetQuery()))
		return testToProto(answer), err
	})
}

func (f *remoteFirewall) Reach(ctx context.Context, query ReachQuery) (Reach, error) {
	if err := refuse[Evaluator](f, Scope{Kind: ClusterScope}); err != nil {
		return Reach{}, err
	}
	req := &firewallv1.ReachRequest{Target: f.target, Query: reachQueryToProto(query)}
	answer, err := wire.Call(ctx, f.evaluation().Reach, req)
	return reachFromProto(answer), err
}

func (s *evaluateServer) Reach(ctx context.Context, req *firewallv1.ReachRequest) (*firewallv1.ReachResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw Evaluator) (*firewallv1.ReachResponse, error) {
		answer, err := fw.Reach(ctx, reachQueryFromProto(req.GetQuery()))
		return reachToProto(answer), err
	})
}

func (f *remoteFirewall) Compare(ctx context.Context, query CompareQuery) (Comparison, error) {
	if err := refuse[Evaluator](f, Scope{Kind: ClusterScope}); err != nil {
		return Comparison{}, err
	}
	req := &firewallv1.CompareRequest{Target: f.target, Query: compareQueryToProto(query)}
	answer, err := wire.Call(ctx, f.evaluation().Compare, req)
	return comparisonFromProto(answer), err
}

func (s *evaluateServer) Compare(ctx context.Context, req *firewallv1.CompareRequest) (*firewallv1.CompareResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw Evaluator) (*firewallv1.CompareResponse, error) {
		answer, err := fw.Compare(ctx, compareQueryFromProto(req.GetQuery()))
		return comparisonToProto(answer), err
	})
}

func testQueryToProto(q TestQuery) *firewallv1.TestQuery {
	return &firewallv1.TestQuery{
		Packets: wire.Each(q.Packets, packetToProto), Trace: q.Trace, Assume: wire.Each(q.Assume, stateToProto),
	}
}

func testQueryFromProto(q *firewallv1.TestQuery) TestQuery {
	return TestQuery{
		Packets: wire.Each(q.GetPackets(), packetFromProto), Trace: q.GetTrace(), Assume: wire.Each(q.GetAssume(), stateFromProto),
	}
}

func testToProto(t Test) *firewallv1.TestResponse {
	return &firewallv1.TestResponse{Verdicts: wire.Each(t.Verdicts, verdictToProto), At: wire.Timestamp(t.At)}
}

func testFromProto(t *firewallv1.TestResponse) Test {
	return Test{Verdicts: wire.Each(t.GetVerdicts(), verdictFromProto), At: wire.Time(t.GetAt())}
}

func reachQueryToProto(q ReachQuery) *firewallv1.ReachQuery {
	return &firewallv1.ReachQuery{
		To: endToProto(q.To), From: wire.Each(q.From, endToProto), Assume: wire.Each(q.Assume, stateToProto),
	}
}

func reachQueryFromProto(q *firewallv1.ReachQuery) ReachQuery {
	return ReachQuery{
		To: endFromProto(q.GetTo()), From: wire.Each(q.GetFrom(), endFromProto), Assume: wire.Each(q.GetAssume(), stateFromProto),
	}
}

func reachToProto(r Reach) *firewallv1.ReachResponse {
	return &firewallv1.ReachResponse{To: endToProto(r.To), Rows: wire.Each(r.Rows, reachRowToProto), At: wire.Timestamp(r.At)}
}

func reachFromProto(r *firewallv1.ReachResponse) Reach {
	return Reach{To: endFromProto(r.GetTo()), Rows: wire.Each(r.GetRows(), reachRowFromProto), At: wire.Time(r.GetAt())}
}

func reachRowToProto(r ReachRow) *firewallv1.ReachRow {
	return &firewallv1.ReachRow{
		From: endToProto(r.From), Open: wire.Each(r.Open, portsToProto), Echo: r.Echo, Unknown: wire.Text(r.Unknown),
	}
}

func reachRowFromProto(r *firewallv1.ReachRow) ReachRow {
	return ReachRow{From: endFromProto(r.GetFrom()), Open: wire.Each(r.GetOpen(), portsFromProto), Echo: r.GetEcho(), Unknown: r.GetUnknown()}
}

func portsToProto(p Ports) *firewallv1.Ports {
	return &firewallv1.Ports{Protocol: wire.Text(p.Protocol), First: int64(p.First), Last: int64(p.Last)}
}

func portsFromProto(p *firewallv1.Ports) Ports {
	return Ports{Protocol: p.GetProtocol(), First: int(p.GetFirst()), Last: int(p.GetLast())}
}

func compareQueryToProto(q CompareQuery) *firewallv1.CompareQuery {
	return &firewallv1.CompareQuery{
		Guests: wire.Each(q.Guests, guestToProto), Probes: wire.Each(q.Probes, packetToProto), Before: wire.Each(q.Before, stateToProto),
		After: wire.Each(q.After, stateToProto),
	}
}

func compareQueryFromProto(q *firewallv1.CompareQuery) CompareQuery {
	return CompareQuery{
		Guests: wire.Each(q.GetGuests(), guestFromProto), Probes: wire.Each(q.GetProbes(), packetFromProto),
		Before: wire.Each(q.GetBefore(), stateFromProto), After: wire.Each(q.GetAfter(), stateFromProto),
	}
}

func comparisonToProto(c Comparison) *firewallv1.CompareResponse {
	return &firewallv1.CompareResponse{
		Pairs: wire.Each(c.Pairs, pairChangeToProto), Omitted: int64(c.Omitted), Probes: wire.Each(c.Probes, probeChangeToProto),
		Cluster: wire.Each(c.Cluster, clusterChangeToProto), At: wire.Timestamp(c.At),
	}
}

func comparisonFromProto(c *firewallv1.CompareResponse) Comparison {
	return Comparison{
		Pairs: wire.Each(c.GetPairs(), pairChangeFromProto), Omitted: int(c.GetOmitted()),
		Probes: wire.Each(c.GetProbes(), probeChangeFromProto), Cluster: wire.Each(c.GetCluster(), clusterChangeFromProto),
		At: wire.Time(c.GetAt()),
	}
}

func clusterChangeToProto(c ClusterChange) *firewallv1.ClusterChange {
	return &firewallv1.ClusterChange{
		From: wire.Text(c.From), To: wire.Text(c.To), Traffic: wire.Text(c.Traffic), Change: probeChangeToProto(c.ProbeChange),
	}
}

func clusterChangeFromProto(c *firewallv1.ClusterChange) ClusterChange {
	return ClusterChange{From: c.GetFrom(), To: c.GetTo(), Traffic: c.GetTraffic(), ProbeChange: probeChangeFromProto(c.GetChange())}
}

func pairChangeToProto(c PairChange) *firewallv1.PairChange {
	return &firewallv1.PairChange{
		From: endToProto(c.From), To: endToProto(c.To), Gained: wire.Each(c.Gained, portsToProto), Lost: wire.Each(c.Lost, portsToProto),
		GainsEcho: c.GainsEcho, LosesEcho: c.LosesEcho, Unknown: wire.Text(c.Unknown),
	}
}

func pairChangeFromProto(c *firewallv1.PairChange) PairChange {
	return PairChange{
		From: endFromProto(c.GetFrom()), To: endFromProto(c.GetTo()), Gained: wire.Each(c.GetGained(), portsFromProto),
		Lost: wire.Each(c.GetLost(), portsFromProto), GainsEcho: c.GetGainsEcho(), LosesEcho: c.GetLosesEcho(), Unknown: c.GetUnknown(),
	}
}

func probeChangeToProto(c ProbeChange) *firewallv1.ProbeChange {
	return &firewallv1.ProbeChange{Before: verdictToProto(c.Before), After: verdictToProto(c.After)}
}

func probeChangeFromProto(c *firewallv1.ProbeChange) ProbeChange {
	return ProbeChange{Before: verdictFromProto(c.GetBefore()), After: verdictFromProto(c.GetAfter())}
}

func endToProto(e End) *firewallv1.End {
	out := &firewallv1.End{
		Kind: wire.Text(string(e.Kind)), Nic: wire.Text(e.NIC), Node: wire.Text(e.Node), Address: wire.Text(e.Address),
		Interface: wire.Text(e.Interface),
	}
	if e.Guest != nil {
		out.Guest = guestToProto(*e.Guest)
	}
	return out
}

func endFromProto(e *firewallv1.End) End {
	out := End{Kind: EndKind(e.GetKind()), NIC: e.GetNic(), Node: e.GetNode(), Address: e.GetAddress(), Interface: e.GetInterface()}
	if g := e.GetGuest(); g != nil {
		guest := guestFromProto(g)
		out.Guest = &guest
	}
	return out
}

func packetToProto(p Packet) *firewallv1.Packet {
	return &firewallv1.Packet{
		From: endToProto(p.From), To: endToProto(p.To), Protocol: wire.Text(p.Protocol), SourcePort: int64(p.SourcePort),
		DestinationPort: int64(p.DestinationPort), IcmpType: wire.Text(p.ICMPType),
	}
}

func packetFromProto(p *firewallv1.Packet) Packet {
	return Packet{
		From: endFromProto(p.GetFrom()), To: endFromProto(p.GetTo()), Protocol: p.GetProtocol(), SourcePort: int(p.GetSourcePort()),
		DestinationPort: int(p.GetDestinationPort()), ICMPType: p.GetIcmpType(),
	}
}

func verdictToProto(v Verdict) *firewallv1.Verdict {
	return &firewallv1.Verdict{
		Outcome: wire.Text(string(v.Outcome)), Reason: wire.Text(v.Reason), From: endToProto(v.From), To: endToProto(v.To),
		Hops: wire.Each(v.Hops, hopToProto),
	}
}

func verdictFromProto(v *firewallv1.Verdict) Verdict {
	return Verdict{
		Outcome: Outcome(v.GetOutcome()), Reason: v.GetReason(), From: endFromProto(v.GetFrom()), To: endFromProto(v.GetTo()),
		Hops: wire.Each(v.GetHops(), hopFromProto),
	}
}

func hopToProto(h Hop) *firewallv1.Hop {
	return &firewallv1.Hop{
		Scope: scopeToProto(h.Scope), Nic: wire.Text(h.NIC), Direction: wire.Text(h.Direction), Outcome: wire.Text(string(h.Outcome)),
		By: stepToProto(h.By), Steps: wire.Each(h.Steps, stepToProto), Omitted: int64(h.Omitted),
	}
}

func hopFromProto(h *firewallv1.Hop) Hop {
	return Hop{
		Scope: scopeFromProto(h.GetScope()), NIC: h.GetNic(), Direction: h.GetDirection(), Outcome: Outcome(h.GetOutcome()),
		By: stepFromProto(h.GetBy()), Steps: wire.Each(h.GetSteps(), stepFromProto), Omitted: int(h.GetOmitted()),
	}
}

func stepToProto(s Step) *firewallv1.Step {
	return &firewallv1.Step{
		Rule: ruleAtToProto(s.Rule), Via: ruleAtToProto(s.Via), Check: wire.Text(s.Check), Part: int64(s.Part), Why: wire.Text(string(s.Why)),
		Text: wire.Text(s.Text),
	}
}

func stepFromProto(s *firewallv1.Step) Step {
	return Step{
		Rule: ruleAtFromProto(s.GetRule()), Via: ruleAtFromProto(s.GetVia()), Check: s.GetCheck(), Part: int(s.GetPart()),
		Why: Reason(s.GetWhy()), Text: s.GetText(),
	}
}

func ruleAtToProto(r *RuleAt) *firewallv1.RuleAt {
	if r == nil {
		return nil
	}
	return &firewallv1.RuleAt{Scope: scopeToProto(r.Scope), Rule: ruleToProto(r.Rule)}
}

func ruleAtFromProto(r *firewallv1.RuleAt) *RuleAt {
	if r == nil {
		return nil
	}
	return &RuleAt{Scope: scopeFromProto(r.GetScope()), Rule: ruleFromProto(r.GetRule())}
}
