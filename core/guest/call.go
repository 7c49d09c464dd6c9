package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Subject is the guest of a request, for checks that read from its hypervisor.
type Subject struct {
	Guest *Guest
	hosts host.Opener
	// target is the VM or app in the words of the API. It is empty outside of a
	// request.
	target job.Target
	// db gives access to what is stored about the guest. It is nil if nothing
	// is needed from there and nothing that is read should be stored.
	db *db.DB
	// read caches what was read for this request. Nil disables the cache.
	read *readCache
}

// Subject returns the subject for a guest.
func (a *Actor) Subject(g *Guest) Subject { return Subject{Guest: g, hosts: a.Hosts, db: a.DB} }

// readCache caches what a request has read of its guest, so that the check and
// the plan send one request.
type readCache struct {
	config *hypervisor.Config
	// content is the content of a backup. The inner pointer is nil if the
	// driver cannot report it.
	content **hypervisor.BackupContent
}

// callLimit bounds one read while a caller waits.
const callLimit = 20 * time.Second

// Call calls the guest's hypervisor with the monitoring token while the caller
// waits. The question is mostly a method of an optional interface: Look(ctx,
// on, hypervisor.Snapshotter.Snapshots). If the guest is not on the node where
// the last poll saw it, Call searches for it once. Errors are problems, as
// those of host.Call.
func Call[A, T any](ctx context.Context, on Subject, question func(able A, ctx context.Context, ref hypervisor.GuestRef) (T, error)) (T,
	error) {
	answer, err := host.CallWithTimeout(ctx, on.hosts, callLimit, on.Guest.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (answer T, err error) {
			able, err := host.AsAbility[A](at)
			if err != nil {
				return answer, err
			}
			return follow(on.Guest, func(ref hypervisor.GuestRef) (T, error) { return question(able, ctx, ref) },
				func(ref hypervisor.GuestRef) (hypervisor.GuestRef, error) { return find(ctx, at, ref) })
		})
	return answer, plugin.Problem(err)
}

// CallAtNode asks something other than the hypervisor about a guest, such as its
// firewall, while a caller waits. If the guest is NotFound where the last poll
// saw it, CallAtNode searches for it once, with the monitoring token.
func CallAtNode[T any](ctx context.Context, hosts host.Opener, g *Guest, question func(ref hypervisor.GuestRef) (T, error)) (T, error) {
	return follow(g, question, func(ref hypervisor.GuestRef) (hypervisor.GuestRef, error) {
		return host.CallWithTimeout(ctx, hosts, callLimit, g.HostID, endpoint.Monitoring,
			func(ctx context.Context, at hypervisor.Host) (hypervisor.GuestRef, error) { return find(ctx, at, ref) })
	})
}

// follow asks on the guest's last known node, and again where find locates the
// guest if it is not there. An error of find is dropped: the caller asked
// another question, whose error is more useful.
func follow[T any](g *Guest, question func(hypervisor.GuestRef) (T, error),
	find func(hypervisor.GuestRef) (hypervisor.GuestRef, error)) (T, error) {
	ref := g.At()
	answer, err := question(ref)
	if sdk.KindOf(err) != sdk.NotFound {
		return answer, err
	}
	found, failed := find(ref)
	if failed != nil || found.Node == "" || found.Node == ref.Node && found.ID == ref.ID {
		return answer, err
	}
	return question(found)
}

// readConfig reads the guest's configuration from the hypervisor, and stores
// its NICs and volumes for the views that must not ask.
func (on Subject) readConfig(ctx context.Context) (hypervisor.Config, error) {
	began := time.Now()
	found, err := Call(ctx, on, hypervisor.ConfigReader.Config)
	if err == nil && on.db != nil {
		storeReading(ctx, on.db, on.Guest.ID, time.Since(began), found)
	}
	return found, err
}
