package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type socketListServer struct {
	hypervisorv1.UnimplementedSocketListServiceServer
	*server
}

func (h *remoteHost) Sockets(ctx context.Context, guest GuestRef) (SocketList, error) {
	if err := CheckContainer(guest); err != nil {
		return SocketList{}, err
	}
	answer, err := wire.Call(ctx, hypervisorv1.NewSocketListServiceClient(h.client.conn).Sockets,
		&hypervisorv1.SocketsRequest{Target: h.target, Guest: refToProto(guest)})
	if err != nil {
		return SocketList{}, err
	}
	return socketListFromProto(answer), nil
}

func (s *socketListServer) Sockets(ctx context.Context, req *hypervisorv1.SocketsRequest) (*hypervisorv1.SocketsResponse, error) {
	return serve(ctx, s.server, req, func(host SocketLister) (*hypervisorv1.SocketsResponse, error) {
		guest := refFromProto(req.GetGuest())
		if err := CheckContainer(guest); err != nil {
			return nil, err
		}
		list, err := host.Sockets(ctx, guest)
		return socketListToProto(list), err
	})
}

func socketListToProto(l SocketList) *hypervisorv1.SocketsResponse {
	return &hypervisorv1.SocketsResponse{More: l.More, Sockets: wire.Each(l.Sockets, socketToProto)}
}

func socketToProto(s Socket) *hypervisorv1.Socket {
	return &hypervisorv1.Socket{Protocol: wire.Text(s.Protocol), Address: wire.Text(s.Address), Port: int32(s.Port),
		Program: wire.Text(s.Program), UserId: s.UserID}
}

// socketListFromProto leaves out what is more than was agreed: a plugin gone
// wrong must not fill the service's memory.
func socketListFromProto(l *hypervisorv1.SocketsResponse) SocketList {
	sockets := l.GetSockets()
	most := min(len(sockets), MaxSockets)
	return SocketList{More: l.GetMore() || len(sockets) > most, Sockets: wire.Each(sockets[:most], socketFromProto)}
}

func socketFromProto(s *hypervisorv1.Socket) Socket {
	return Socket{Protocol: s.GetProtocol(), Address: s.GetAddress(), Port: int(s.GetPort()), Program: s.GetProgram(), UserID: s.UserId}
}
