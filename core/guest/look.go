package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Subject is the guest of a request, for checks that ask its hypervisor.
type Subject struct {
	Guest *Guest
	hosts host.Opener
}

// lookLimit bounds a question that a caller waits for.
const lookLimit = 20 * time.Second

// Look puts a question to the guest's hypervisor with the monitoring token while its caller waits, mostly a method of an
// optional interface: Look(ctx, on, hypervisor.Snapshotter.Snapshots). A guest that is not on the node where the last poll
// saw it is looked for once. Errors are problems, as of host.Ask.
func Look[A, T any](ctx context.Context, on Subject, question func(able A, ctx context.Context, ref hypervisor.GuestRef) (T, error)) (T,
	error) {
	ref := hypervisor.GuestRef{Kind: hypervisor.GuestKind(on.Guest.Kind), Node: on.Guest.Node, ID: on.Guest.VMID}
	answer, err := host.AskWithin(ctx, on.hosts, lookLimit, on.Guest.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (answer T, err error) {
			able, ok := host.Able[A](at)
			if !ok {
				return answer, host.Unsupported[A]()
			}
			if answer, err = question(able, ctx, ref); sdk.KindOf(err) != sdk.NotFound {
				return answer, err
			}
			node, failed := nodeOf(ctx, at, ref)
			if failed != nil || node == "" || node == ref.Node {
				return answer, err
			}
			ref.Node = node
			return question(able, ctx, ref)
		})
	return answer, plugin.Problem(err)
}
