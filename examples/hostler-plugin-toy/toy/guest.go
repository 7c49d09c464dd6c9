package toy

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// row is a guest in the toy's words.
type row struct {
	ID     int64
	Type   string
	Node   string
	Name   string
	State  string
	Lock   string
	Cores  float64
	Memory int64
	Used   int64
	Now    time.Time
}

var states = map[string]string{
	"up": hypervisor.GuestRunning, "down": hypervisor.GuestStopped, "frozen": hypervisor.GuestPaused,
}

// guest translates. What a later release may call a state is unknown and no error; a figure that the hypervisor does not
// give stays nil, since zero would be a figure.
func (r row) guest() hypervisor.Guest {
	g := hypervisor.Guest{
		GuestRef: hypervisor.GuestRef{Kind: hypervisor.VM, Node: r.Node, ID: r.ID},
		Name:     r.Name, Status: states[r.State], Lock: r.Lock,
		CPUs: &r.Cores, Memory: &r.Used, MemoryTotal: &r.Memory, At: r.Now,
	}
	if r.Type == "container" {
		g.Kind = hypervisor.Container
	}
	if g.Status == "" {
		g.Status = hypervisor.GuestUnknown
	}
	return g
}

// Guest implements hypervisor.Host. A guest that is there with another kind or on another node is not the one meant.
func (h *Host) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	var r row
	if _, err := h.client.get(ctx, guestPath(ref), nil, &r); err != nil {
		return hypervisor.Guest{}, err
	}
	guest := r.guest()
	if guest.GuestRef != ref {
		return hypervisor.Guest{}, plugin.Errorf(plugin.NotFound, "there is no %s %d on node %q", ref.Kind, ref.ID, ref.Node)
	}
	return guest, nil
}

func guestPath(ref hypervisor.GuestRef) string { return "/v1/guests/" + itoa(ref.ID) }
