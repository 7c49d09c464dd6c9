// Package firewall reads and changes the firewalls of clusters, nodes, guests
// and groups of rules. Nothing of them is stored: the backend of the host's
// hypervisor is asked each time, with the host's token for monitoring, or with
// that for lifecycle to change something.
//
// A change is based on a list that was read before, and is sent with the digest
// of that list. So nobody's change is overwritten, and a caller who comes too
// late gets the present list; see listing.
//
// Store is the main type, and Scope names a firewall. Rule, Alias, IPSet, Group
// and Options are what the API shows. Package draft makes several changes
// together and can undo them.
package firewall

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Backends returns the firewall backends of the installed plugins.
type Backends interface {
	// Firewall is the backend for the hosts of the driver of that name; its
	// calls fail while its plugin is away.
	Firewall(name string) sdk.Backend
}

// Store reads and changes firewalls. It is safe for concurrent use.
type Store struct {
	DB       *db.DB
	Hosts    *host.Store
	Backends Backends
	// Drafts are nil where there are none.
	Drafts Drafts
}

// Scope names a firewall. It is made by OfCluster, OfNode, OfGroup or OfGuest.
type Scope struct {
	hostID int64
	sdk    sdk.Scope
	guest  *guest.Guest
}

// OfCluster returns the firewall of a host's cluster.
func OfCluster(hostID int64) Scope {
	return Scope{hostID: hostID, sdk: sdk.Scope{Kind: sdk.ClusterScope}}
}

// OfNode returns the firewall of one node of a host's cluster.
func OfNode(hostID int64, node string) Scope {
	return Scope{hostID: hostID, sdk: sdk.Scope{Kind: sdk.NodeScope, Node: node}}
}

// OfGroup returns a group of rules of a host's cluster.
func OfGroup(hostID int64, group string) Scope {
	return Scope{hostID: hostID, sdk: sdk.Scope{Kind: sdk.GroupScope, Group: group}}
}

// OfGuest returns the firewall of a VM or a container.
func OfGuest(g *guest.Guest) Scope {
	return Scope{hostID: g.HostID, sdk: sdk.Scope{Kind: sdk.GuestScope}, guest: g}
}

// Kind returns the kind of the scope.
func (on Scope) Kind() sdk.ScopeKind { return on.sdk.Kind }

// HostID returns the host through which the firewall is asked.
func (on Scope) HostID() int64 { return on.hostID }

// at returns the scope in the backend's form; a guest is at the given place.
func (on Scope) at(ref hypervisor.GuestRef) sdk.Scope {
	return sdk.Scope{
		Kind: sdk.GuestScope, Guest: &sdk.Guest{Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID), UID: ref.UID},
	}
}

// ask asks the backend of the scope's host, which must have the ability A at
// that kind of scope. Errors are problems, as of host.Call; an unknown node or
// guest is not_found, and an ability that the backend has only at other scopes
// is unsupported_at_scope.
func ask[A, T any](ctx context.Context, s *Store, on Scope, question func(ctx context.Context, able A, scope sdk.Scope) (T, error)) (T,
	error) {
	return askAs(ctx, s, endpoint.Monitoring, on, question)
}

// askAs is ask with the token of a capability.
func askAs[A, T any](ctx context.Context, s *Store, as endpoint.Capability, on Scope,
	question func(ctx context.Context, able A, scope sdk.Scope) (T, error)) (T, error) {
	answer, err := host.CallPlugin(ctx, s.Hosts, on.hostID, as, s.open, AsAbility[A](on.sdk.Kind),
		func(ctx context.Context, able A) (T, error) {
			if on.guest == nil {
				return question(ctx, able, on.sdk)
			}
			return guest.CallAtNode(ctx, s.Hosts, on.guest, func(ref hypervisor.GuestRef) (T, error) {
				return question(ctx, able, on.at(ref))
			})
		})
	return answer, atScope(host.UnknownNode(err), on)
}

// atScope turns unsupported into unsupported_at_scope, if the backend has the
// ability at other scopes.
func atScope(err error, on Scope) error {
	e, ok := errors.AsType[*plugin.Error](err)
	if !ok || e.Kind != plugin.Unsupported || e.Field != sdk.FieldScope {
		return err
	}
	return problem.New(problem.CodeUnsupportedAtScope, "%s", problem.From(err).Detail).With("scope", on.sdk.Kind).WithCause(err)
}

// require returns the problem capability_missing, unsupported or
// unsupported_at_scope if the firewall cannot be changed with the ability A. It
// does not ask the hypervisor.
func require[A any](ctx context.Context, s *Store, on Scope) error {
	_, err := host.CallPlugin(ctx, s.Hosts, on.hostID, endpoint.Lifecycle, s.open, AsAbility[A](on.sdk.Kind),
		func(context.Context, A) (struct{}, error) { return struct{}{}, nil })
	return err
}

// open opens the firewall of a driver at a target.
func (s *Store) open(ctx context.Context, driver string, target endpoint.Target) (sdk.Firewall, error) {
	return s.Backends.Firewall(driver).Open(ctx, target)
}

// AsAbility returns a function that converts a firewall to the ability A. The
// problem is unsupported if the backend does not have the ability, and
// unsupported_at_scope if it does not have it at that kind of scope.
func AsAbility[A any](kind sdk.ScopeKind) func(sdk.Firewall) (A, error) {
	return func(fw sdk.Firewall) (A, error) {
		as, ok := sdk.As[A](fw)
		if !ok {
			return as, host.MissingAbility("firewall backend", sdk.AbilityName[A]())
		}
		if as, ok = sdk.AsAt[A](fw, kind); !ok {
			return as, problem.New(problem.CodeUnsupportedAtScope, "the host's firewall supports this, but not at the scope %s", kind).
				With("scope", kind).With("ability", sdk.AbilityName[A]())
		}
		return as, nil
	}
}

// Exclusive returns the key that every change of the scope's firewall holds,
// for job.Spec.Exclusive. The problem is not_found for a node that the
// inventory does not have.
func (s *Store) Exclusive(ctx context.Context, on Scope) (string, error) {
	if on.guest != nil {
		return fmt.Sprintf("firewall:guest:%d", on.guest.ID), nil
	}
	cluster, err := s.clusterID(ctx, on)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("firewall:%d:%s:%s", cluster, on.sdk.Kind, on.sdk.Node+on.sdk.Group), nil
}

// clusterID returns the cluster to whose firewall a scope belongs.
func (s *Store) clusterID(ctx context.Context, on Scope) (int64, error) {
	if on.guest != nil {
		return on.guest.ClusterID(), nil
	}
	if on.sdk.Kind == sdk.NodeScope {
		p, err := host.FindNode(ctx, s.DB, on.hostID, on.sdk.Node)
		return p.ClusterID, err
	}
	var id int64
	err := s.DB.Pool.QueryRow(ctx, "SELECT coalesce(cluster_id, -id) FROM hosts WHERE id = $1", on.hostID).Scan(&id)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("reading the host's cluster: %w", err))
	}
	return id, nil
}
