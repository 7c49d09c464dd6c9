package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Request describes a new draft: a list of changes, or a filling from which the
// changes are made.
type Request struct {
	HostID  int64
	Name    string
	Changes []Change
	Filling *Filling
}

// named is a scope in a request, with its path there.
type named struct {
	On ScopeRef
	In where
}

// scopes returns the scopes that a request names, in its order.
func (q *Request) scopes() (all []named) {
	if q.Filling != nil {
		for i, on := range q.Filling.Scopes {
			all = append(all, named{on, where{"body", "scopes", i}})
		}
	}
	for n := range q.Changes {
		all = append(all, named{q.Changes[n].On, append(change(n), "scope")})
	}
	return all
}

// maxScopes limits the scopes of a draft, and so what is read for it.
const maxScopes = 20

// compose finds the scopes of a request, reads their states, and makes the
// states after the changes. All faults of the changes are the problem invalid;
// the caller's right is checked for each scope.
func (s *Store) compose(ctx context.Context, q Request) (*record, error) {
	thing, err := schedule.Require(ctx, s.DB, scope.Host, q.HostID, identity.Operator)
	if err != nil {
		return nil, err
	}
	r := &record{HostID: q.HostID, TeamID: thing.TeamID, Name: q.Name, Changes: q.Changes, Role: identity.Operator.String()}
	var cluster *int64
	err = s.DB.Pool.QueryRow(ctx, "SELECT c.id, coalesce(c.name, '') FROM hosts h JOIN clusters c ON c.id = h.cluster_id WHERE h.id = $1",
		q.HostID).Scan(&cluster, &r.Cluster)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeInvalidState, "the host's cluster has not been read yet")
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the host's cluster: %w", err))
	}
	r.ClusterID = *cluster
	place := map[ScopeRef]int{}
	for _, one := range q.scopes() {
		on := one.On
		if _, known := place[on]; known {
			continue
		}
		if len(place) == maxScopes {
			return nil, at(one.In, fmt.Sprintf("a draft can have at most %d scopes", maxScopes))
		}
		found, role, err := s.resolve(ctx, r, one.In, on)
		if err != nil {
			return nil, err
		}
		if role == identity.Admin {
			r.Role = role.String()
		}
		place[on] = -1
		for i := range r.Scopes { // an app may be named as such and by its container
			if r.Scopes[i].key() == found.key() {
				place[on] = i
			}
		}
		if place[on] < 0 {
			place[on] = len(r.Scopes)
			r.Scopes = append(r.Scopes, found)
		}
	}
	if err := s.Hosts.Require(ctx, q.HostID, endpoint.Lifecycle, anyHost); err != nil {
		return nil, err
	}
	scopes := make([]sdk.Scope, len(r.Scopes))
	for i := range r.Scopes {
		scopes[i] = r.Scopes[i].Before.Scope
	}
	now, err := s.read(ctx, q.HostID, scopes)
	if err != nil {
		return nil, err
	}
	for i := range now {
		if n := len(now[i].Rules); n > maxListed {
			return nil, problem.New(problem.CodeInvalidState, "cannot create a draft of %s: it has %d rules, and a draft can have at "+
				"most %d",
				r.Scopes[i].title(), n, maxListed)
		}
		r.Scopes[i].Before, r.Scopes[i].After = now[i], owned(now[i])
	}
	if q.Filling != nil {
		if r.Changes, err = q.Filling.fill(r.Scopes, place); err != nil {
			return nil, err
		}
	}
	for n := range q.Changes {
		if err := q.Changes[n].apply(change(n), &r.Scopes[place[q.Changes[n].On]].After); err != nil {
			return nil, err
		}
	}
	if err := s.macros(ctx, r, &q); err != nil {
		return nil, err
	}
	if err := s.checkRules(ctx, r, &q, place); err != nil {
		return nil, err
	}
	for i := range r.Scopes {
		r.Scopes[i].After.Digests = sdk.Digests{}
		if err := r.Scopes[i].After.Check(); err != nil {
			return nil, problem.New(problem.CodeInvalidState, "cannot create a draft of %s: %v", r.Scopes[i].title(), err)
		}
	}
	return r, s.able(ctx, r)
}

// able refuses changes that the firewall cannot make in their scope: the
// problem is unsupported or unsupported_at_scope. Better now than by a job that
// must undo its first half.
func (s *Store) able(ctx context.Context, r *record) error {
	_, err := firewall.WithFirewall(ctx, s.Firewalls, r.HostID, endpoint.Lifecycle, func(_ context.Context, fw sdk.Firewall) (struct{},
		error) {
		for i := range r.Scopes {
			a, b := r.Scopes[i].Before, r.Scopes[i].After
			kind := a.Scope.Kind
			var errs []error
			if !sameRules(a.Rules, b.Rules) {
				_, edit := have[sdk.RuleEditor](fw, a.Scope)
				_, move := have[sdk.RuleMover](fw, a.Scope) // without an order nothing says which rule decides
				errs = append(errs, edit, move)
			}
			if !a.Options.Equal(b.Options) {
				_, options := have[sdk.OptionsManager](fw, a.Scope)
				errs = append(errs, options)
			}
			bare := func(x sdk.State) sdk.State { x.Rules, x.Options, x.IPSets = nil, sdk.Options{}, nil; return x }
			if !slices.Equal(a.Aliases, b.Aliases) {
				_, aliases := have[sdk.AliasManager](fw, a.Scope)
				errs = append(errs, aliases)
			}
			x, y := bare(a), bare(b)
			x.IPSets, y.IPSets = a.IPSets, b.IPSets
			if x.Aliases, y.Aliases = nil, nil; !x.Equal(y) && kind != sdk.GroupScope {
				_, sets := have[sdk.IPSetManager](fw, a.Scope)
				_, members := have[sdk.IPSetMemberEditor](fw, a.Scope)
				errs = append(errs, sets, members)
			}
			if kind == sdk.GroupScope && (a.Absent != b.Absent || a.Comment != b.Comment) {
				_, groups := have[sdk.GroupManager](fw, sdk.Scope{Kind: sdk.ClusterScope})
				errs = append(errs, groups)
			}
			if err := errors.Join(errs...); err != nil {
				return struct{}{}, slices.DeleteFunc(errs, func(e error) bool { return e == nil })[0]
			}
		}
		return struct{}{}, nil
	})
	return err
}

// resolve finds the scope that a change names, and the role that it needs:
// Operator for a guest, Admin for everything that concerns the cluster.
func (s *Store) resolve(ctx context.Context, r *record, in where, on ScopeRef) (stored, identity.Role, error) {
	none := func(field, msg string) (stored, identity.Role, error) {
		return stored{}, identity.NoRole, at(in, msg, field)
	}
	guestIs := on.Kind == "vm" || on.Kind == "app"
	switch {
	case guestIs != (on.ID != 0):
		return none("id", "required for VMs and apps, and only allowed for them")
	case (on.Kind == "node") != (on.Node != ""):
		return none("node", "required for nodes, and only allowed for them")
	case (on.Kind == "group") != (on.Group != ""):
		return none("group", "required for groups, and only allowed for them")
	}
	out := stored{Kind: on.Kind}
	switch on.Kind {
	case "cluster":
		out.Name, out.Before.Scope = r.Cluster, sdk.Scope{Kind: sdk.ClusterScope}
	case "node":
		if _, err := host.FindNode(ctx, s.DB, r.HostID, on.Node); err != nil {
			return stored{}, identity.NoRole, err
		}
		out.Name, out.Before.Scope = on.Node, sdk.Scope{Kind: sdk.NodeScope, Node: on.Node}
	case "group":
		if err := sdk.CheckName("group", on.Group); err != nil {
			return stored{}, identity.NoRole, inBody(in, err)
		}
		out.Name, out.Before.Scope = on.Group, sdk.Scope{Kind: sdk.GroupScope, Group: on.Group}
	default:
		if _, err := schedule.Require(ctx, s.DB, on.Kind, on.ID, identity.Operator); err != nil {
			return stored{}, identity.NoRole, err
		}
		query := "SELECT g.id, g.name, g.cluster_id, g.name FROM guests g WHERE g.id = $1"
		if on.Kind == "app" {
			query = "SELECT g.id, a.name, g.cluster_id, g.name FROM apps a JOIN guests g ON g.id = a.guest_id WHERE a.id = $1"
		}
		var cluster int64
		err := s.DB.Pool.QueryRow(ctx, query, on.ID).Scan(&out.GuestID, &out.Name, &cluster, &out.GuestName)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return stored{}, identity.NoRole, problem.New(problem.CodeNotFound, "the hypervisor no longer has this %s", on.Kind)
		case err != nil:
			return stored{}, identity.NoRole, db.Problem(fmt.Errorf("reading a guest: %w", err))
		case cluster != r.ClusterID:
			return none("id", "is not in the cluster of the host: a draft covers one cluster")
		}
		out.ID = on.ID
		out.Before.Scope, err = s.guestScope(ctx, out.GuestID)
		return out, identity.Operator, err
	}
	_, err := schedule.Require(ctx, s.DB, scope.Host, r.HostID, identity.Admin)
	return out, identity.Admin, err
}

// guestScope returns the scope of a guest at the place where the last poll saw
// it.
func (s *Store) guestScope(ctx context.Context, id int64) (sdk.Scope, error) {
	var g sdk.Guest
	err := s.DB.Pool.QueryRow(ctx, "SELECT kind, node, ref, coalesce(uid, '') FROM guests WHERE id = $1", id).Scan(&g.Kind, &g.Node, &g.ID,
		&g.UID)
	if errors.Is(err, pgx.ErrNoRows) {
		return sdk.Scope{}, problem.New(problem.CodeNotFound, "the guest no longer exists")
	}
	return sdk.Scope{Kind: sdk.GuestScope, Guest: &g}, db.Problem(err)
}
