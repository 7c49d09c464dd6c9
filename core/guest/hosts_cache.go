package guest

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// hostsCache caches what hosts can do for one request, which may concern 500
// guests of a few hosts. It is not safe for concurrent use.
type hostsCache struct {
	Hosts
	answers map[string]error
}

// newHostsCache returns hosts with an empty cache.
func newHostsCache(hosts Hosts) *hostsCache {
	return &hostsCache{Hosts: hosts, answers: map[string]error{}}
}

// cached returns the cached answer for a key, or asks and caches it. Errors are
// cached too.
func (r *hostsCache) cached(ask func() error, key ...any) error {
	of := fmt.Sprintln(key...)
	answer, known := r.answers[of]
	if !known {
		answer = ask()
		r.answers[of] = answer
	}
	return answer
}

// Require implements Hosts.
func (r *hostsCache) Require(ctx context.Context, hostID int64, capability endpoint.Capability, able func(hypervisor.Host) error) error {
	return r.cached(func() error { return r.Hosts.Require(ctx, hostID, capability, able) }, hostID, capability)
}

// RequireAction implements Hosts.
func (r *hostsCache) RequireAction(ctx context.Context, hostID int64, kind hypervisor.GuestKind, action hypervisor.Action) error {
	return r.cached(func() error { return r.Hosts.RequireAction(ctx, hostID, kind, action) }, hostID, kind, action)
}
