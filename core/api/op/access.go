package op

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Authenticator identifies the caller of a request.
type Authenticator interface {
	// Authenticate returns the caller by session cookie or API key. Without a
	// valid one it returns the problem unauthenticated. The caller is never nil
	// without an error.
	Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error)
}

// Resource is the object that an operation acts on.
type Resource struct {
	// Kind is "host", "vm", "app" or "job".
	Kind string
	ID   int64
	Name string
	// TeamID is the team of the host that the object belongs to.
	TeamID int64
	// HostID is 0 if no host is concerned.
	HostID int64
	// Node is the node of the host, and Group the security group of its
	// cluster, for operations on one; "" for all others.
	Node, Group string
}

// Resolver finds the object that a path names, without regard to the caller.
type Resolver interface {
	// Resolve returns the problem not_found if the object does not exist.
	Resolve(ctx context.Context, on On, id int64) (Resource, error)
}

// Tokens tells for which capabilities hosts have tokens.
type Tokens interface {
	// Has reports whether the host has a token for the capability. It returns
	// the problem unsupported if the host's driver does not have the
	// capability. It does not contact the hypervisor.
	Has(ctx context.Context, hostID int64, capability endpoint.Capability) (bool, error)
}

// ResourceOf returns the object that the operation is On. It is zero for
// operations on no object and outside of requests.
func ResourceOf(ctx context.Context) Resource {
	if q := requestOf(ctx); q != nil {
		return q.found
	}
	return Resource{}
}

// NotFound returns the problem not_found for a kind of object. The text is the
// same for an object that does not exist and for one that the caller cannot
// see.
func NotFound(kind string) error { return problem.New(problem.CodeNotFound, "%s not found", kind) }

// RequireRole checks the caller's role on a team whose host the handler learned
// from the body. It returns not_found if the caller cannot see the team's
// objects, and forbidden if the role is too low.
func RequireRole(ctx context.Context, teamID int64, role identity.Role) error {
	caller := identity.FromContext(ctx)
	if caller == nil || caller.On(teamID) == identity.NoRole {
		return NotFound("host")
	}
	if caller.On(teamID) < role {
		return roleTooLow(role)
	}
	return nil
}

// roleTooLow returns the problem of a caller whose role is too low. It names
// the required role, so that the caller can ask an admin for it.
func roleTooLow(role identity.Role) *problem.Error {
	return problem.New(problem.CodeForbidden, "this requires the role %s", role).With("role", role.String())
}

// authenticate calls the Authenticator and never returns a nil caller without
// an error.
func (a *API) authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	caller, err := a.config.Authenticator.Authenticate(ctx, r)
	if err == nil && caller == nil {
		err = problem.New(problem.CodeUnauthenticated, "log in, or send an API key")
	}
	return caller, err
}

// admit makes all checks that come before the input: the caller, the origin,
// the role, the object and the entitlement. It returns the context with the
// caller.
func (a *API) admit(ctx context.Context, q *request, r *http.Request, params route.Params) (context.Context, error) {
	spec := &q.operation.Spec
	var caller *identity.Caller
	if !spec.Public {
		var err error
		if caller, err = a.authenticate(ctx, r); err != nil {
			return ctx, err
		}
		ctx = identity.WithCaller(ctx, caller)
	}
	ctx = q.begin(ctx, r, caller, params)
	// A public operation is checked without a cookie too: logging someone in
	// across sites is an attack as well.
	if spec.Public || q.operation.Socket || r.Header.Get("Cookie") != "" {
		if err := a.checkOrigin(q.operation, r); err != nil {
			return ctx, problem.New(problem.CodeCrossOrigin, "pages of another site cannot send this request").WithCause(err)
		}
	}
	if caller != nil {
		if err := a.authorize(ctx, q, caller, params); err != nil {
			return ctx, err
		}
	}
	return ctx, a.entitled(ctx, spec)
}

// checkOrigin refuses requests that a page of another site sends. The upgrade
// to a socket is a GET, which any page can send, so it is checked like a
// change. If the service has a base URL, a socket is accepted only from its
// pages: behind a proxy, the Host header may not be the one that the browser
// used.
func (a *API) checkOrigin(o *Operation, r *http.Request) error {
	if o.Socket {
		if base, origin := a.config.Proxy.BaseURL, r.Header.Get("Origin"); base != nil && origin != "" && origin != proxy.Origin(base) {
			return errForeignPage
		}
		changing := *r
		changing.Method = http.MethodPost
		r = &changing
	}
	return a.origins.Check(r)
}

// errForeignPage refuses a WebSocket or a form that another web site opened in
// the user's browser: the browser sends the cookie along.
var errForeignPage = errors.New("the page is not below the base URL")

// entitled refuses an operation whose feature is disabled.
func (a *API) entitled(ctx context.Context, spec *Spec) error {
	if spec.Entitlement != "" && a.config.Entitlements != nil && !a.config.Entitlements(ctx, spec.Entitlement) {
		return problem.New(problem.CodeEntitlementRequired, "the feature %s is disabled",
			spec.Entitlement).With("feature", spec.Entitlement)
	}
	return nil
}

// capable refuses an operation if the host has no token for the required
// capability. It lets requests for a plan pass, because a missing token is one
// of the blockers of a plan, and objects without a host, which the handler
// judges.
func (a *API) capable(ctx context.Context, q *request) error {
	needs := q.operation.Spec.Needs
	if needs == "" || a.config.Tokens == nil || q.found.HostID == 0 || plan.Begin(ctx).PlanOnly() {
		return nil
	}
	has, err := a.config.Tokens.Has(ctx, q.found.HostID, needs)
	if err == nil && !has {
		err = problem.New(problem.CodeCapabilityMissing, "the host has no token for %s; add one first", needs).With("capability", string(needs))
	}
	return err
}

// authorize checks the caller's roles and key scopes. An object that does not
// exist or cannot be seen is noted in q.missing: it is reported only after the
// input was found valid, so that the order of refusals does not depend on the
// object.
func (a *API) authorize(ctx context.Context, q *request, caller *identity.Caller, params route.Params) error {
	spec := &q.operation.Spec
	held := caller.Highest()
	if spec.On == Instance {
		held = caller.Instance()
	}
	if held < spec.Role {
		return roleTooLow(spec.Role)
	}
	if !q.operation.inScope(caller.Scopes) {
		return problem.New(problem.CodeForbidden, "the API key needs the scope %s", q.operation.scope()).With("scope", q.operation.scope())
	}
	if spec.On < Host {
		return nil
	}
	id, err := strconv.ParseInt(params.Get(spec.On.param()), 10, 64)
	if err != nil || id < 1 {
		return nil // the input check names the fault
	}
	found, err := a.config.Resolver.Resolve(ctx, spec.On.resolved(), id)
	if err != nil && problem.CodeOf(err) == problem.CodeNotFound {
		q.missing = problem.From(NotFound(spec.On.resolved().String()))
		return nil
	}
	if err != nil {
		return err
	}
	switch spec.On {
	case Node:
		found.Node = params.Get(nodeParam)
	case Group:
		found.Group = params.Get(groupParam)
	}
	q.describe(ctx, found)
	role := caller.On(found.TeamID)
	if role == identity.NoRole {
		q.missing = problem.From(NotFound(spec.On.resolved().String()))
		return nil
	}
	if role < spec.Role {
		return roleTooLow(spec.Role)
	}
	q.found = found
	return nil
}

// scope returns the required API key scope. An operation that makes the service
// connect to an address that the caller names is not covered by "read",
// although it changes nothing. Neither is a socket, which carries what its user
// types.
func (o *Operation) scope() string {
	if o.Method == http.MethodGet && !o.Socket && !o.Spec.Personal || (o.Spec.ReadOnly && !o.Spec.Calls) {
		return "read"
	}
	return o.resource() + ":write"
}

// resource returns the resource of the API key scopes that the operation needs.
func (o *Operation) resource() string {
	if o.Spec.Scope != "" {
		return o.Spec.Scope
	}
	return pathResource(o.Path)
}

// pathResource returns the first segment of a path after /api/v1.
func pathResource(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/api/v1"), "/"), "/")
	return first
}

// Scopes returns the possible scopes of an API key, sorted: read, and
// <resource>:write for every resource with an operation. Call it after all
// operations are registered.
func (a *API) Scopes() []string {
	scopes := []string{"read"}
	for _, o := range a.operations {
		if resource := o.resource(); resource != "" && !o.Spec.Public {
			scopes = append(scopes, resource+":write")
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// Scopes returns the scopes of the API that serves the request; nil outside of
// requests.
func Scopes(ctx context.Context) []string {
	if q := requestOf(ctx); q != nil {
		return q.api.Scopes()
	}
	return nil
}

// inScope reports whether scopes allow the operation. nil allows all, and write
// includes reading the same resource.
func (o *Operation) inScope(scopes []string) bool {
	return scopes == nil || slices.Contains(scopes, o.scope()) || slices.Contains(scopes, o.resource()+":write")
}
