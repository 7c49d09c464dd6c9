package app

import (
	"context"
	"net/netip"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// portsLimit bounds a query of a container's sockets. It includes the SSH
// connection to the node.
const portsLimit = 40 * time.Second

// Port is one at which a program of an app listens.
type Port struct {
	Protocol string  `json:"protocol" enum:"tcp,udp"`
	Address  string  `json:"address" example:"0.0.0.0" doc:"Address that it listens on; 0.0.0.0 and :: mean all addresses, and :: usually accepts IPv4, too"`
	Port     int     `json:"port" example:"8080"`
	Local    bool    `json:"local" example:"false" doc:"true for a loopback address, which cannot be reached from outside the container"`
	Program  *string `json:"program" example:"nginx" doc:"Name of a process that listens; null if not known"`
	UserID   *int64  `json:"user_id" example:"33" doc:"Numeric ID of the owner in the container; null if the container has no such user"`
}

// Ports lists the sockets on which programs of an app listen. It asks the node
// on which the container runs, over SSH, because no API of a hypervisor reports
// sockets. It returns at most hypervisor.MaxSockets ports, and skips entries
// that a driver reports with an invalid address, port or protocol.
//
// Problems: those of Request, host.HostOfNode and host.OnNode, and
// invalid_state for a container that does not run or has left the node.
func (s *Store) Ports(ctx context.Context, id, team int64) ([]Port, error) {
	r, err := s.Request(ctx, id, team, nil)
	if err != nil {
		return nil, err
	}
	if err := s.Hosts.RequireSSH(ctx, r.Guest.HostID); problem.CodeOf(err) == problem.CodeUnsupported {
		return nil, err // nothing of what else is missing would help
	}
	at, err := host.HostOfNode(ctx, s.Guests.DB, r.Guest.HostID, r.Guest.Node)
	if err != nil {
		return nil, err
	}
	if err := s.Hosts.RequireSSH(ctx, at); err != nil {
		return nil, err
	}
	if err := runs(r.Guest); err != nil {
		return nil, err
	}
	list, err := host.OnNode(ctx, s.Hosts, at, portsLimit,
		func(ctx context.Context, node hypervisor.SocketLister) (hypervisor.SocketList, error) {
			return node.Sockets(ctx, r.Guest.At())
		})
	if problem.CodeOf(err) == problem.CodeNotFound {
		err = problem.New(problem.CodeInvalidState, "the container is no longer on the node %s", r.Guest.Node).WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	ports := []Port{}
	for _, socket := range list.Sockets[:min(len(list.Sockets), hypervisor.MaxSockets)] {
		address, err := netip.ParseAddr(socket.Address)
		if err != nil || socket.Port < 1 || socket.Port > 65535 || socket.Protocol != hypervisor.TCP && socket.Protocol != hypervisor.UDP {
			continue // it comes from a plugin
		}
		ports = append(ports, Port{Protocol: socket.Protocol, Address: address.Unmap().WithZone("").String(), Port: socket.Port,
			Local: address.Unmap().IsLoopback(), Program: host.CleanOrNil(socket.Program), UserID: socket.UserID})
	}
	return ports, nil
}

// runs refuses a container that does not run. It accepts the status pending and
// unknown, because the cached status may be out of date and the hypervisor's
// answer decides.
func runs(g *guest.Guest) error {
	if g.Status == "running" || g.Status == guest.StatusPending || g.Status == "unknown" {
		return nil // the hypervisor knows better
	}
	return problem.New(problem.CodeInvalidState, "the container of the app is %s: start it first", g.Status)
}
