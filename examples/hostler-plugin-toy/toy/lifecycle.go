package toy

import (
	"context"
	"net/http"
	"net/url"

	"github.com/hostler/hostler/sdk/hypervisor"
)

var _ hypervisor.LifecycleManager = (*Host)(nil)

// Act implements hypervisor.LifecycleManager. The action is sent once, whatever happens: after a lost connection the service
// looks at the guest and the tasks and decides for itself.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if !info.HasAction(ref.Kind, action) {
		return "", invalid("action", "a "+string(ref.Kind)+" does not support this action")
	}
	return h.change(ctx, ref, http.MethodPost, "/"+words[action.Operation()], url.Values{})
}

// change sends a request that changes a guest, and gives the id of its task.
func (h *Host) change(ctx context.Context, ref hypervisor.GuestRef, method, path string, query url.Values) (string, error) {
	// The toy does not compare kind and node, and must not change another guest than was meant.
	guest, err := h.Guest(ctx, ref)
	if err != nil {
		return "", err
	}
	guestPath, err := guestPath(ref.ID)
	if err != nil {
		return "", err
	}
	// Renamed since then, the guest is not found: the toy looks at the UUID in the moment in which it acts.
	query.Set("uuid", guest.UID)
	resp, err := h.client.send(ctx, method, guestPath+path, query, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var t task
	if err := decode(ctx, resp.Body, &t); err != nil {
		return "", err
	}
	return t.ID, nil
}
