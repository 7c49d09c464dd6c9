package memdriver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// transition is the states in which an action is possible, and the state to
// which it leads.
type transition struct {
	from []string
	to   string
}

// transitions maps actions to their transitions. An action in another state is
// a Conflict, except for the shutdown of a paused guest; see Act.
var transitions = map[hypervisor.Action]transition{
	hypervisor.Start:    {[]string{hypervisor.GuestStopped, hypervisor.GuestSuspended}, hypervisor.GuestRunning},
	hypervisor.Stop:     {[]string{hypervisor.GuestRunning, hypervisor.GuestPaused}, hypervisor.GuestStopped},
	hypervisor.Shutdown: {[]string{hypervisor.GuestRunning, hypervisor.GuestPaused}, hypervisor.GuestStopped},
	hypervisor.Restart:  {[]string{hypervisor.GuestRunning}, hypervisor.GuestRunning},
	hypervisor.Pause:    {[]string{hypervisor.GuestRunning}, hypervisor.GuestPaused},
	hypervisor.Resume:   {[]string{hypervisor.GuestPaused, hypervisor.GuestSuspended}, hypervisor.GuestRunning},
	hypervisor.Reset:    {[]string{hypervisor.GuestRunning}, hypervisor.GuestRunning},
}

// guestPath returns the path of a guest for privileges.
func guestPath(id hypervisor.GuestID) string { return "/guests/" + string(id) }

// Act implements hypervisor.LifecycleManager. The shutdown of a paused guest is
// accepted and fails in its task, as at a hypervisor whose guest does not
// react.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	return h.change(ctx, "act", GuestPower, ref, func(guest *guest) (work, error) {
		wanted, ok := transitions[action]
		switch {
		case !ok || !h.driver.knows(ref.Kind, action):
			return work{}, invalid("action", "a %s has no action %q", ref.Kind, action)
		case !slices.Contains(wanted.from, guest.Status):
			return work{}, plugin.Errorf(plugin.Conflict, "guest %s is %s", ref.ID, guest.Status)
		}
		return work{action.Operation(), func() error {
			if action == hypervisor.Shutdown && guest.Status == hypervisor.GuestPaused {
				return errors.New("the guest is paused and cannot shut down")
			}
			// A pause does not restart a guest, nor does a reset.
			if action == hypervisor.Start || action == hypervisor.Restart || guest.Status == hypervisor.GuestSuspended {
				guest.began = time.Now()
				guest.enforce()
			}
			guest.setStatus(wanted.to)
			return nil
		}}, nil
	})
}
