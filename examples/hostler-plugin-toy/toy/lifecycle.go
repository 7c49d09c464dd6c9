package toy

import (
	"context"
	"net/http"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// words are the toy's words for actions.
var words = map[hypervisor.Action]string{
	hypervisor.Start: "start", hypervisor.Stop: "kill", hypervisor.Shutdown: "stop", hypervisor.Restart: "restart",
	hypervisor.Pause: "freeze", hypervisor.Resume: "thaw", hypervisor.Reset: "reset",
}

// Act implements hypervisor.Lifecycler. The action is sent once, whatever happens: after a lost connection the service
// looks at the guest and the tasks and decides for itself.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	word, known := words[action]
	if !known || !slices.Contains(hypervisor.Actions(ref.Kind), action) {
		return "", invalid("action", "a "+string(ref.Kind)+" does not know this action")
	}
	// The toy knows guests by number alone, and must not stop another one than was meant.
	if _, err := h.Guest(ctx, ref); err != nil {
		return "", err
	}
	path, err := guestPath(ref.ID)
	if err != nil {
		return "", err
	}
	resp, err := h.client.send(ctx, http.MethodPost, path+"/"+word, nil)
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
