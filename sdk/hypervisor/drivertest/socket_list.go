package drivertest

import (
	"context"
	"net/netip"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// socketList tests SocketLister. A socket has a numeric address without a zone;
// an IPv4 address is never written as IPv6.
func (s *suite) socketList(t *testing.T) {
	need[hypervisor.SocketLister](t, s)
	s.run(t, "where a container listens", func(t *testing.T, ctx context.Context) {
		in, host := s.inside(t)
		at := as[hypervisor.SocketLister](t, host)
		list, err := at.Sockets(ctx, in.Running)
		must(t, "listing the sockets", err)
		found := false
		for _, socket := range list.Sockets {
			address, err := netip.ParseAddr(socket.Address)
			if err != nil || address.Zone() != "" || address.Is4In6() || socket.Port < 1 || socket.Port > 65535 ||
				socket.Protocol != hypervisor.TCP && socket.Protocol != hypervisor.UDP {
				t.Errorf("a socket is %+v", socket)
			}
			found = found || socket.Protocol == hypervisor.TCP && socket.Address == "127.0.0.1" && socket.Port == in.Port
		}
		if !found || list.More {
			t.Errorf("the sockets are %+v, want one of 127.0.0.1 and port %d", list, in.Port)
		}
		vm := in.Running
		vm.Kind = hypervisor.VM
		_, err = at.Sockets(ctx, vm)
		wantKind(t, err, plugin.Unsupported)
		_, err = at.Sockets(ctx, in.Stopped)
		wantKind(t, err, plugin.Conflict)
		_, err = at.Sockets(ctx, in.notThere())
		wantKind(t, err, plugin.NotFound)
	})
}
