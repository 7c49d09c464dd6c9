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
	of[GuestOptioner]("guest_options", func(r grpc.ServiceRegistrar, s *server) {
		firewallv1.RegisterGuestOptionsServiceServer(r, &guestOptionsServer{server: s})
	}),
}

func of[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.FirewallType }, register)
}

// As gives a Firewall as one of the optional interfaces when it has that ability, in this process or behind a plugin:
// As[RuleLister](fw). Use it in place of a type assertion.
func As[Optional any](fw Firewall) (Optional, bool) { return plugin.As[Optional](abilities, fw) }

// AbilityName is the name of the ability that one of the optional interfaces is: AbilityName[RuleLister]() is "rules".
func AbilityName[Optional any]() string { return plugin.NameOf[Optional](abilities) }
