package draft

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// sameLimit bounds the question whether a guest is still the one that a draft was made for.
const sameLimit = 20 * time.Second

// otherName is problem not_found of a guest that has another name than the draft was made for. It may be the same one, renamed.
type otherName struct {
	name string
	err  error
}

// Error and Unwrap implement error.
func (e *otherName) Error() string { return e.err.Error() }

func (e *otherName) Unwrap() error { return e.err }

// same is problem not_found where another guest than the one that the draft was made for has its id by now, which the inventory knows
// after the next poll only: the rules of the one that is gone went with it, and those of the other are nobody's business here. Lasting
// identities tell where the hypervisor has them, and names elsewhere, as for jobs on guests: then it is an otherName. Other errors are
// those of host.AskWithin.
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
	why := asked.Another(now)
	if why == "" {
		return nil
	}
	err = problem.New(problem.CodeNotFound, "%s is not there any more: %s", of.title(), why)
	if ref.UID == "" || now.UID == "" {
		err = &otherName{now.Name, err}
	}
	return err
}

// renamed decides of guests that have other names by now, by scope, whether they are those that the draft was made for. Their firewalls
// tell: what the draft has made of one stands nowhere else. Those that are not are absent. The others are known by their new names from
// now on, also while their firewalls are put back.
func (w *work) renamed(ctx context.Context, others map[int]*otherName, read map[int]sdk.State, way *way) error {
	known := false
	for i, other := range others {
		now, is := read[i]
		switch {
		case is && w.wrote(i, now, way):
			if w.Renamed == nil {
				w.Renamed = map[int]string{}
			}
			w.Renamed[i], known = other.name, true
			w.run.Note("%s is called %q by now: it has what the draft has made of its firewall, so that it is the same one",
				w.r.Scopes[i].title(), other.name)
		case is || w.out[i] == nil:
			delete(read, i)
			w.out[i], w.absent[i] = other, true
		}
	}
	if !known {
		return nil
	}
	return w.run.SaveProgress(ctx, w.progress)
}

// wrote reports whether a firewall is one that the draft has made, wholly or half way: not the one that it was made for, of which nothing
// is to be put back, and not that of a new guest, which has nothing.
func (w *work) wrote(i int, now sdk.State, way *way) bool {
	nothing := sdk.State{Scope: now.Scope}
	if now.Equal(nothing) || now.Equal(w.r.Scopes[i].Before) {
		return false
	}
	return now.Equal(w.r.Scopes[i].After) || way.passes(i, now)
}
