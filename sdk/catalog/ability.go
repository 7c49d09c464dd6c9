package catalog

import (
	"github.com/hostler/hostler/sdk/plugin"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
	"google.golang.org/grpc"
)

// abilities are the optional interfaces of the kind. A new one is its interface, its gRPC service and a line here.
var abilities = plugin.Abilities[*server]{
	of[IconFetcher]("icons", func(r grpc.ServiceRegistrar, s *server) {
		catalogv1.RegisterIconServiceServer(r, &iconServer{server: s})
	}),
	of[Ranker]("popularity", func(r grpc.ServiceRegistrar, s *server) {
		catalogv1.RegisterPopularityServiceServer(r, &popularityServer{server: s})
	}),
}

func of[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.CatalogType }, register)
}

// As gives a Catalog as one of the optional interfaces when it has that ability, in this process or behind a plugin:
// As[IconFetcher](c). Use it in place of a type assertion.
func As[Optional any](c Catalog) (Optional, bool) { return plugin.As[Optional](abilities, c) }
