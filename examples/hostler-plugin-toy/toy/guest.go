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

// guestID is the number of a guest as the service knows it: a text, for other hypervisors' guests have names. Numbers are never
// used again, so that a UID beside them would say nothing more.
func guestID(n int64) hypervisor.GuestID { return hypervisor.GuestID(itoa(n)) }

// guest translates. What a later release may call a state is unknown and no error; a figure that the hypervisor does not
// give stays nil, since zero would be a figure.
func (r row) guest() hypervisor.Guest {
	g := hypervisor.Guest{
		GuestRef: hypervisor.GuestRef{Kind: hypervisor.VM, Node: r.Node, ID: guestID(r.ID)},
		Number:   &r.ID, Name: r.Name, Status: states[r.State], Lock: r.Lock,
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
	path, err := guestPath(ref.ID)
	if err != nil {
		return hypervisor.Guest{}, err
	}
	var r row
	if _, err := h.client.get(ctx, path, nil, &r); err != nil {
		return hypervisor.Guest{}, err
	}
	guest := r.guest()
	if guest.Kind != ref.Kind || guest.Node != ref.Node || guest.ID != ref.ID {
		return hypervisor.Guest{}, plugin.Errorf(plugin.NotFound, "there is no %s %s on node %q", ref.Kind, ref.ID, ref.Node)
	}
	return guest, nil
}

// number is the form of a guest's id. Ids come from the service's users: what has another form must not become a part of a path.
var number = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)

func guestPath(id hypervisor.GuestID) (string, error) {
	if !number.MatchString(string(id)) {
		return "", plugin.Errorf(plugin.NotFound, "there is no guest %.40q", id)
	}
	return "/v1/guests/" + string(id), nil
}
