package firewall

import (
	"github.com/hostler/hostler/sdk/plugin"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
	"google.golang.org/grpc"
)

// abilities are the optional interfaces of the kind. A new one is its interface, its gRPC service and a line here.
var abilities = plugin.Abilities[*server]{
	of[RuleLister]("rules", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterRuleServiceServer(r, &ruleServer{server: s})
	}),
	of[RuleEditor]("rule_edit", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterRuleEditServiceServer(r, &ruleEditServer{server: s})
	}),
	of[RuleMover]("rule_move", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterRuleMoveServiceServer(r, &ruleMoveServer{server: s})
	}),
	of[RuleChecker]("rule_check", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterRuleCheckServiceServer(r, &ruleCheckServer{server: s})
	}),
	of[Aliaser]("aliases", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterAliasServiceServer(r, &aliasServer{server: s})
	}),
	of[IPSetter]("ipsets", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterIPSetServiceServer(r, &ipSetServer{server: s})
	}),
	of[IPSetMemberEditor]("ipset_members", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterIPSetMemberServiceServer(r, &ipSetMemberServer{server: s})
	}),
	of[Optioner]("options", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterOptionsServiceServer(r, &optionsServer{server: s})
	}),
	of[LogReader]("log", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterLogServiceServer(r, &logServer{server: s})
	}),
	of[Referencer]("references", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterReferenceServiceServer(r, &referenceServer{server: s})
	}),
	of[Grouper]("groups", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterGroupServiceServer(r, &groupServer{server: s})
	}),
	of[MacroLister]("macros", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterMacroServiceServer(r, &macroServer{server: s})
	}),
	of[UsageFinder]("usage", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterUsageServiceServer(r, &usageServer{server: s})
	}),
	of[Evaluator]("evaluate", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterEvaluateServiceServer(r, &evaluateServer{server: s})
	}),
}

func of[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.FirewallType }, register)
}

// As gives a Firewall as one of the optional interfaces when it has that ability, in this process or behind a plugin:
// As[RuleLister](fw). Use it in place of a type assertion.
func As[Optional any](fw Firewall) (Optional, bool) { return plugin.As[Optional](abilities, fw) }

// AsAt is As for one kind of scope: it also tells of abilities that the firewall has at other scopes only.
func AsAt[Optional any](fw Firewall, kind ScopeKind) (Optional, bool) {
	as, ok := As[Optional](fw)
	if claimer, knows := fw.(ScopeClaimer); ok && knows && !claimer.CanAt(kind, AbilityName[Optional]()) {
		var none Optional
		return none, false
	}
	return as, ok
}

// ScopeClaimer is satisfied by firewalls that know which abilities a kind of scope has, such as those of a Client. Of others each ability
// is taken to be at every scope.
type ScopeClaimer interface {
	CanAt(kind ScopeKind, ability string) bool
}

// AbilityName is the name of the ability that one of the optional interfaces is: AbilityName[RuleLister]() is "rules".
func AbilityName[Optional any]() string { return plugin.NameOf[Optional](abilities) }
