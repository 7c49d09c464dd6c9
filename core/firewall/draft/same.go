package draft

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// sameLimit bounds the question whether a guest is still the one that a draft was made for.
const sameLimit = 20 * time.Second

// same is problem not_found where another guest than the one that the draft was made for has its id by now, which the inventory knows
// after the next poll only: the rules of the one that is gone went with it, and those of the other are nobody's business here. Lasting
// identities tell where the hypervisor has them, and names elsewhere, as for jobs on guests. Other errors are those of host.AskWithin.
func (s *Store) same(ctx context.Context, hostID int64, of *stored) error {
	if of.GuestID == 0 || of.GuestName == "" {
		return nil
	}
	at, err := s.located(ctx, of)
	if err != nil {
		return err
	}
	ref := hypervisor.GuestRef{Kind: hypervisor.GuestKind(at.Guest.Kind), Node: at.Guest.Node, ID: hypervisor.GuestID(at.Guest.ID),
		UID: at.Guest.UID}
	now, err := host.AskWithin(ctx, s.Hosts, sameLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, h hypervisor.Host) (hypervisor.Guest, error) { return h.Guest(ctx, ref) })
	switch {
	case plugin.KindOf(err) == plugin.NotFound: // what reads its rules finds out whether it is gone or elsewhere
		return nil
	case err != nil:
		return err
	}
	asked := guest.Asked{Kind: ref.Kind, Ref: ref.ID, UID: ref.UID, Name: of.GuestName}
	if why := asked.Another(now); why != "" {
		return problem.New(problem.CodeNotFound, "%s is not there any more: %s", of.title(), why)
	}
	return nil
}
