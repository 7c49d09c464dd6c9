package firewall

import (
	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func stateToProto(s State) *firewallv1.State {
	return &firewallv1.State{
		Scope: scopeToProto(s.Scope), Absent: s.Absent, Comment: wire.Text(s.Comment), Rules: wire.Each(s.Rules, ruleToProto),
		Aliases: wire.Each(s.Aliases, aliasToProto), Ipsets: wire.Each(s.IPSets, ipSetStateToProto), Options: optionsToProto(s.Options),
		RulesDigest: wire.Text(s.Digests.Rules), AliasesDigest: wire.Text(s.Digests.Aliases), IpsetsDigest: wire.Text(s.Digests.IPSets),
	}
}

func stateFromProto(s *firewallv1.State) State {
	return State{
		Scope: scopeFromProto(s.GetScope()), Absent: s.GetAbsent(), Comment: s.GetComment(), Rules: wire.Each(s.GetRules(), ruleFromProto),
		Aliases: wire.Each(s.GetAliases(), aliasFromProto), IPSets: wire.Each(s.GetIpsets(), ipSetStateFromProto),
		Options: optionsFromProto(s.GetOptions()),
		Digests: Digests{Rules: s.GetRulesDigest(), Aliases: s.GetAliasesDigest(), IPSets: s.GetIpsetsDigest()},
	}
}

func ipSetStateToProto(s IPSetState) *firewallv1.IPSetState {
	return &firewallv1.IPSetState{
		Set: ipSetToProto(s.IPSet), Members: wire.Each(s.Members, memberToProto), Digest: wire.Text(s.Digest),
	}
}

func ipSetStateFromProto(s *firewallv1.IPSetState) IPSetState {
	return IPSetState{IPSet: ipSetFromProto(s.GetSet()), Members: wire.Each(s.GetMembers(), memberFromProto), Digest: s.GetDigest()}
}
