package firewall

import (
	"github.com/hostler/hostler/sdk/plugin"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
	"google.golang.org/grpc"
)

// abilities lists the optional interfaces of firewall plugins. A new ability needs
// an interface, a gRPC service and an entry here.
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
	of[AliasManager]("aliases", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterAliasServiceServer(r, &aliasServer{server: s})
	}),
	of[IPSetManager]("ipsets", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterIPSetServiceServer(r, &ipSetServer{server: s})
	}),
	of[IPSetMemberEditor]("ipset_members", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterIPSetMemberServiceServer(r, &ipSetMemberServer{server: s})
	}),
	of[OptionsManager]("options", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterOptionsServiceServer(r, &optionsServer{server: s})
	}),
	of[LogReader]("log", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterLogServiceServer(r, &logServer{server: s})
	}),
	of[ReferenceLister]("references", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterReferenceServiceServer(r, &referenceServer{server: s})
	}),
	of[GroupManager]("groups", func(r grpc.ServiceRegistrar, s *server) {
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

// of declares an ability that the firewall's type implements.
func of[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.FirewallType }, register)
}

// As returns a Firewall as one of the optional interfaces, and true if it has that
// ability, in this process or behind a plugin: As[RuleLister](fw). Use it instead
// of a type assertion.
func As[Optional any](fw Firewall) (Optional, bool) { return plugin.As[Optional](abilities, fw) }

// AsAt is As for one kind of scope. It returns false for an ability that the
// firewall has only at other scopes.
func AsAt[Optional any](fw Firewall, kind ScopeKind) (Optional, bool) {
	as, ok := As[Optional](fw)
	if claimer, knows := fw.(ScopeAbilityReporter); ok && knows && !claimer.CanAt(kind, AbilityName[Optional]()) {
		var none Optional
		return none, false
	}
	return as, ok
}

// ScopeAbilityReporter is implemented by firewalls that know the abilities of each kind of
// scope, such as those of a Client. For other firewalls AsAt assumes that every
// ability exists at every scope.
type ScopeAbilityReporter interface {
	CanAt(kind ScopeKind, ability string) bool
}

// AbilityName returns the name of the ability of an optional interface:
// AbilityName[RuleLister]() is "rules".
func AbilityName[Optional any]() string { return plugin.NameOf[Optional](abilities) }
