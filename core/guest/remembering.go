package guest

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// remembered are hosts that are asked once what they can do, for one request of one kind of work. It serves one goroutine.
type remembered struct {
	Hosts
	answers map[string]error
}

func remembering(hosts Hosts) *remembered {
	return &remembered{Hosts: hosts, answers: map[string]error{}}
}

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
