package plugin

import (
	"sync"

	"google.golang.org/grpc"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// registries has one registry for each kind. A new kind needs a field, a line
// in newRegistries and a typed method of the Manager.
type registries struct {
	hypervisors *registry[*hypervisor.Client]
	catalogs    *registry[*catalog.Client]
	firewalls   *registry[*firewall.Client]
	byKind      map[string]interface{ describe(sdk.Description) }
}

// newRegistries makes one registry for each kind of plugin.
func newRegistries(m *Manager) registries {
	r := registries{
		hypervisors: newRegistry(m, sdk.KindHypervisor, hypervisor.NewClient),
		catalogs:    newRegistry(m, sdk.KindCatalog, catalog.NewClient),
		firewalls:   newRegistry(m, sdk.KindFirewall, firewall.NewClient),
	}
	r.byKind = map[string]interface{ describe(sdk.Description) }{
		sdk.KindHypervisor: r.hypervisors, sdk.KindCatalog: r.catalogs, sdk.KindFirewall: r.firewalls,
	}
	return r
}

// Hypervisor returns the driver with a name. It may be kept for ever: it
// outlives restarts, and works as soon as a plugin with that name runs. While
// none runs, calls fail within CallWait with sdk/plugin.ErrGone; they are
// unsupported if the plugins with that name serve only other kinds.
func (m *Manager) Hypervisor(name string) hypervisor.Driver { return m.kinds.hypervisors.get(name) }

// Catalog returns the source with a name, like Hypervisor.
func (m *Manager) Catalog(name string) catalog.Source { return m.kinds.catalogs.get(name) }

// CatalogNames returns the names of the sources whose plugins are pinned.
func (m *Manager) CatalogNames() []string {
	names := []string{}
	for _, s := range m.Status() {
		if s.Kind == sdk.KindCatalog {
			names = append(names, s.Name)
		}
	}
	return names
}

// Firewall returns the backend with a name, like Hypervisor.
func (m *Manager) Firewall(name string) firewall.Backend { return m.kinds.firewalls.get(name) }

// client is implemented by the clients of all kinds.
type client interface{ SetDescription(sdk.Description) }

// registry has the clients of one kind by name. They are made at the first call
// and stay.
type registry[C client] struct {
	manager *Manager
	kind    string
	make    func(grpc.ClientConnInterface) C

	mu      sync.Mutex
	clients map[string]C
}

// newRegistry makes an empty registry.
func newRegistry[C client](m *Manager, kind string, make func(grpc.ClientConnInterface) C) *registry[C] {
	return &registry[C]{manager: m, kind: kind, make: make, clients: map[string]C{}}
}

// get gives the client of a plugin and makes it at the first call. All callers
// share it, and it lives as long as the manager: it leads to whichever process
// runs now.
func (r *registry[C]) get(name string) C {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.clients[name]
	if !ok {
		c = r.make(&conn{manager: r.manager, kind: r.kind, name: name})
		r.clients[name] = c
	}
	return c
}

// describe passes the description of the running process to the plugin's
// client.
func (r *registry[C]) describe(d sdk.Description) { r.get(d.Name).SetDescription(d) }
