package guest

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// remembered caches what hosts can do for one request, which may concern 500
// guests of a few hosts. It is not safe for concurrent use.
type remembered struct {
	Hosts
	answers map[string]error
}

// remembering returns hosts with an empty cache.
func remembering(hosts Hosts) *remembered {
	return &remembered{Hosts: hosts, answers: map[string]error{}}
}

// once returns the cached answer for a key, or asks and caches it. Errors are
// cached too.
func (r *remembered) once(ask func() error, key ...any) error {
	of := fmt.Sprintln(key...)
	answer, known := r.answers[of]
	if !known {
		answer = ask()
		r.answers[of] = answer
	}
	return answer
}

// Require implements Hosts.
func (r *remembered) Require(ctx context.Context, hostID int64, capability endpoint.Capability, able func(hypervisor.Host) error) error {
	return r.once(func() error { return r.Hosts.Require(ctx, hostID, capability, able) }, hostID, capability)
}

// RequireAction implements Hosts.
func (r *remembered) RequireAction(ctx context.Context, hostID int64, kind hypervisor.GuestKind, action hypervisor.Action) error {
	return r.once(func() error { return r.Hosts.RequireAction(ctx, hostID, kind, action) }, hostID, kind, action)
}
