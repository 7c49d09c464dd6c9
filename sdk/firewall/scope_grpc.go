package firewall

import (
	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func scopeToProto(s Scope) *firewallv1.Scope {
	out := &firewallv1.Scope{Kind: wire.Text(string(s.Kind)), Node: wire.Text(s.Node), Group: wire.Text(s.Group)}
	if s.Guest != nil {
		out.Guest = guestToProto(*s.Guest)
	}
	return out
}

func scopeFromProto(s *firewallv1.Scope) Scope {
	out := Scope{Kind: ScopeKind(s.GetKind()), Node: s.GetNode(), Group: s.GetGroup()}
	if g := s.GetGuest(); g != nil {
		guest := guestFromProto(g)
		out.Guest = &guest
	}
	return out
}

func guestToProto(g Guest) *firewallv1.Guest {
	return &firewallv1.Guest{Kind: wire.Text(g.Kind), Node: wire.Text(g.Node), Ref: wire.Text(g.ID), Uid: wire.Text(g.UID)}
}

func guestFromProto(g *firewallv1.Guest) Guest {
	return Guest{Kind: g.GetKind(), Node: g.GetNode(), ID: g.GetRef(), UID: g.GetUid()}
}
