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

// sameLimit limits the question whether a guest is still the one of the draft.
const sameLimit = 20 * time.Second

// otherName is the problem not_found of a guest with another name than the
// draft has. It may be the same guest, renamed.
type otherName struct {
	name string
	err  error
}

// Error returns the text of the problem.
func (e *otherName) Error() string { return e.err.Error() }

// Unwrap returns the problem.
func (e *otherName) Unwrap() error { return e.err }

// same returns the problem not_found if another guest has the id of the draft's
// guest now; the inventory learns that only with the next poll. The rules of
// the old guest went with it, and those of the new one must not be touched.
// Lasting identities decide if the hypervisor has them; names decide otherwise,
// as for jobs on guests, and the error is an otherName then. Other errors are
// those of host.CallWithTimeout.
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
	now, err := host.CallWithTimeout(ctx, s.Hosts, sameLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, h hypervisor.Host) (hypervisor.Guest, error) { return h.Guest(ctx, ref) })
	switch {
	case plugin.KindOf(err) == plugin.NotFound: // what reads its rules finds out whether it is gone or elsewhere
		return nil
	case err != nil:
		return err
	}
	asked := guest.RequestedGuest{Kind: ref.Kind, Ref: ref.ID, UID: ref.UID, Name: of.GuestName}
	why := asked.Another(now)
	if why == "" {
		return nil
	}
	err = problem.New(problem.CodeNotFound, "%s no longer exists: %s", of.title(), why)
	if ref.UID == "" || now.UID == "" {
		err = &otherName{now.Name, err}
	}
	return err
}

// renamed decides whether guests with other names are still those of the draft.
// The firewall of a guest tells: nobody else has what the draft made. Guests
// that are not the draft's are absent from now on; the others are known by
// their new names, also while their firewalls are restored.
func (w *work) renamed(ctx context.Context, others map[int]*otherName, read map[int]sdk.State, way *route) error {
	known := false
	for i, other := range others {
		now, is := read[i]
		switch {
		case is && w.wrote(i, now, way):
			if w.Renamed == nil {
				w.Renamed = map[int]string{}
			}
			w.Renamed[i], known = other.name, true
			w.run.Note("%s is now called %q: its firewall has what the draft created, so it is the same guest",
				w.r.Scopes[i].title(), other.name)
		case is || w.out[i] == nil:
			delete(read, i)
			w.out[i], w.absent[i] = other, true
		}
	}
	if !known {
		return nil
	}
	return w.run.SaveCheckpoint(ctx, w.progress)
}

// wrote reports whether a state is one that the draft made, completely or in
// part. The state before does not prove that, and an empty firewall is that of
// any new guest.
func (w *work) wrote(i int, now sdk.State, way *route) bool {
	nothing := sdk.State{Scope: now.Scope}
	if now.Equal(nothing) || now.Equal(w.r.Scopes[i].Before) {
		return false
	}
	return now.Equal(w.r.Scopes[i].After) || way.passes(i, now)
}
