// Package firewall reads the firewalls of clusters, nodes and guests, and changes the options of those of guests. Nothing of them is
// kept: the backend of the host's hypervisor is asked each time, with the host's monitoring token, or with that for lifecycle to change.
package firewall

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Backends gives the firewall backends of the installed plugins.
type Backends interface {
	// Firewall is the backend for the hosts of the driver of that name; its calls fail while its plugin is away.
	Firewall(name string) sdk.Backend
}

// Store reads firewalls. Its methods may be called at the same time.
type Store struct {
	Hosts    *host.Store
	Backends Backends
}

// Scope says whose firewall is meant. Make one with OfCluster, OfNode or OfGuest.
type Scope struct {
	hostID int64
	sdk    sdk.Scope
	guest  *guest.Guest
}

// OfCluster is the firewall of the cluster that a host belongs to.
func OfCluster(hostID int64) Scope {
	return Scope{hostID: hostID, sdk: sdk.Scope{Kind: sdk.ClusterScope}}
}

// OfNode is the firewall of one node of a host's cluster.
func OfNode(hostID int64, node string) Scope {
	return Scope{hostID: hostID, sdk: sdk.Scope{Kind: sdk.NodeScope, Node: node}}
}

// OfGuest is the firewall of a VM or a container.
func OfGuest(g *guest.Guest) Scope { return Scope{hostID: g.HostID, guest: g} }

// ask puts a question to the backend of the scope's host, which must have the ability A. Errors are problems, as of host.Ask; an
// unknown node or guest is not_found.
func ask[A, T any](ctx context.Context, s *Store, on Scope, question func(ctx context.Context, able A, scope sdk.Scope) (T, error)) (T,
	error) {
	return askAs(ctx, s, endpoint.Monitoring, on, question)
}

// askAs is ask with the token of a capability.
func askAs[A, T any](ctx context.Context, s *Store, as endpoint.Capability, on Scope,
	question func(ctx context.Context, able A, scope sdk.Scope) (T, error)) (T, error) {
	answer, err := host.AskThrough(ctx, s.Hosts, on.hostID, as, s.open, able[A],
		func(ctx context.Context, able A) (T, error) {
			if on.guest == nil {
				return question(ctx, able, on.sdk)
			}
			return guest.Follow(ctx, s.Hosts, on.guest, func(ref hypervisor.GuestRef) (T, error) {
				return question(ctx, able, sdk.Scope{
					Kind: sdk.GuestScope, Guest: &sdk.Guest{Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID), UID: ref.UID},
				})
			})
		})
	return answer, host.UnknownNode(err)
}

func (s *Store) open(ctx context.Context, driver string, target endpoint.Target) (sdk.Firewall, error) {
	return s.Backends.Firewall(driver).Open(ctx, target)
}

// able gives a firewall as A, or the error of a backend that has not that ability.
func able[A any](fw sdk.Firewall) (A, error) {
	as, ok := sdk.As[A](fw)
	if !ok {
		return as, host.Lacking("firewall backend", sdk.AbilityName[A]())
	}
	return as, nil
}
