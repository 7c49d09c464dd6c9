package catalog

import (
	"github.com/hostler/hostler/sdk/plugin"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
	"google.golang.org/grpc"
)

// abilities lists the optional interfaces of catalog plugins. A new ability needs
// an interface, a gRPC service and an entry here.
var abilities = plugin.Abilities[*server]{
	of[IconFetcher]("icons", func(r grpc.ServiceRegistrar, s *server) {
		catalogv1.RegisterIconServiceServer(r, &iconServer{server: s})
	}),
	of[Ranker]("popularity", func(r grpc.ServiceRegistrar, s *server) {
		catalogv1.RegisterPopularityServiceServer(r, &popularityServer{server: s})
	}),
}

// of declares an ability that the catalog's type implements.
func of[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.CatalogType }, register)
}

// As returns a Catalog as one of the optional interfaces, and true if it has that
// ability, in this process or behind a plugin: As[IconFetcher](c). Use it instead
// of a type assertion.
func As[Optional any](c Catalog) (Optional, bool) { return plugin.As[Optional](abilities, c) }
