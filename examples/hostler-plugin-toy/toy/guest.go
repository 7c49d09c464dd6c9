package toy

import (
	"context"
	"regexp"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// row is a guest in the toy's words.
type row struct {
	Name   string
	UUID   string
	Type   string
	Node   string
	State  string
	Lock   string
	Cores  float64
	Memory int64
	Used   *int64
	CPU    *float64 `json:"cpu_seconds"`
	Now    time.Time
}

var states = map[string]string{
	"up": hypervisor.GuestRunning, "down": hypervisor.GuestStopped, "frozen": hypervisor.GuestPaused,
}

// guest translates. What a later release may call a state is unknown and no error; a figure that the hypervisor does not
// give stays nil, since zero would be a figure. The toy counts CPU time: the service makes the used part of two readings.
func (r row) guest() hypervisor.Guest {
	g := hypervisor.Guest{
		// The name is the id, for that is how the toy is asked; the UUID beside it tells a guest that was renamed from a new one.
		GuestRef: hypervisor.GuestRef{Kind: hypervisor.VM, Node: r.Node, ID: hypervisor.GuestID(r.Name), UID: r.UUID},
		Name:     r.Name, Status: states[r.State], Lock: r.Lock,
		CPUs: &r.Cores, CPUSeconds: r.CPU, Memory: r.Used, MemoryTotal: &r.Memory, At: r.Now,
	}
	if r.Type == "container" {
		g.Kind = hypervisor.Container
	}
	if g.Status == "" {
		g.Status = hypervisor.GuestUnknown
	}
	return g
}

// Guest implements hypervisor.Host. A guest that is there with another kind, on another node or with another UID is not the one
// meant: its name may be another guest's by now.
func (h *Host) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	path, err := guestPath(ref.ID)
	if err != nil {
		return hypervisor.Guest{}, err
	}
	var r row
	if _, err := h.client.get(ctx, path, nil, &r); err != nil {
		return hypervisor.Guest{}, err
	}
	guest := r.guest()
	if guest.ID != ref.ID || guest.Kind != ref.Kind || guest.Node != ref.Node || !guest.Same(ref) {
		return hypervisor.Guest{}, plugin.Errorf(plugin.NotFound, "%s %s does not exist on node %q", ref.Kind, ref.ID, ref.Node)
	}
	return guest, nil
}

// guestName is the form of a guest's id. Ids come from the service's users: what has another form must not become a part of a path.
var guestName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

func guestPath(id hypervisor.GuestID) (string, error) {
	if !guestName.MatchString(string(id)) {
		return "", plugin.Errorf(plugin.NotFound, "guest %.40q does not exist", id)
	}
	return "/v1/guests/" + string(id), nil
}
