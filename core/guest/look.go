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

// Subject is the guest of a request, for checks that ask its hypervisor.
type Subject struct {
	Guest *Guest
	hosts host.Opener
	// target is the VM or app in the words of the API; empty where there is no request.
	target job.Target
	// db knows what is stored of the guest; nil where that is not asked for, and where nothing of what is read is to be kept.
	db *db.DB
	// read is what was read of the guest for the request; nil keeps nothing.
	read *readings
}

// Subject is a guest for questions to its hypervisor.
func (a *Actor) Subject(g *Guest) Subject { return Subject{Guest: g, hosts: a.Hosts, db: a.DB} }

// readings are what a request has read of its guest, so that check and plan ask once.
type readings struct {
	config *hypervisor.Config
	// content is what a backup has, itself nil where the driver cannot tell.
	content **hypervisor.BackupContent
}

// lookLimit bounds a question that a caller waits for.
const lookLimit = 20 * time.Second

// Look puts a question to the guest's hypervisor with the monitoring token while its caller waits, mostly a method of an
// optional interface: Look(ctx, on, hypervisor.Snapshotter.Snapshots). A guest that is not on the node where the last poll
// saw it is looked for once. Errors are problems, as of host.Ask.
func Look[A, T any](ctx context.Context, on Subject, question func(able A, ctx context.Context, ref hypervisor.GuestRef) (T, error)) (T,
	error) {
	answer, err := host.AskWithin(ctx, on.hosts, lookLimit, on.Guest.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (answer T, err error) {
			able, err := host.Able[A](at)
			if err != nil {
				return answer, err
			}
			return follow(on.Guest, func(ref hypervisor.GuestRef) (T, error) { return question(able, ctx, ref) },
				func(ref hypervisor.GuestRef) (hypervisor.GuestRef, error) { return find(ctx, at, ref) })
		})
	return answer, plugin.Problem(err)
}

// Follow puts a question about a guest to somebody else than its hypervisor, such as its firewall, while a caller waits. A
// guest that is NotFound where the last poll saw it is looked for once, with the monitoring token.
func Follow[T any](ctx context.Context, hosts host.Opener, g *Guest, question func(ref hypervisor.GuestRef) (T, error)) (T, error) {
	return follow(g, question, func(ref hypervisor.GuestRef) (hypervisor.GuestRef, error) {
		return host.AskWithin(ctx, hosts, lookLimit, g.HostID, endpoint.Monitoring,
			func(ctx context.Context, at hypervisor.Host) (hypervisor.GuestRef, error) { return find(ctx, at, ref) })
	})
}

// follow asks on the guest's node, and again where find finds the guest when it is not there. What find fails with is of no use to
// who asked the question.
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

// readConfig asks the hypervisor for the guest's configuration, and keeps what it tells of NICs and volumes.
func (on Subject) readConfig(ctx context.Context) (hypervisor.Config, error) {
	began := time.Now()
	found, err := Look(ctx, on, hypervisor.ConfigReader.Config)
	if err == nil && on.db != nil {
		learn(ctx, on.db, on.Guest.ID, time.Since(began), found)
	}
	return found, err
}
