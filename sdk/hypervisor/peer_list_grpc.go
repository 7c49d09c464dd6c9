package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) Peers(ctx context.Context) ([]Peer, error) {
	answer, err := wire.Call(ctx, hypervisorv1.NewPeerListServiceClient(h.client.conn).Peers, &hypervisorv1.PeersRequest{Target: h.target})
	if err != nil {
		return nil, err
	}
	peers := make([]Peer, len(answer.GetPeers()))
	for i, p := range answer.GetPeers() {
		peers[i] = peerFromProto(p)
	}
	return peers, nil
}

type peerListServer struct {
	hypervisorv1.UnimplementedPeerListServiceServer
	*server
}

func (s *peerListServer) Peers(ctx context.Context, req *hypervisorv1.PeersRequest) (*hypervisorv1.PeersResponse, error) {
	return serve(ctx, s.server, req, func(host PeerLister) (*hypervisorv1.PeersResponse, error) {
		peers, err := host.Peers(ctx)
		answer := &hypervisorv1.PeersResponse{}
		for _, p := range peers {
			answer.Peers = append(answer.Peers, peerToProto(p))
		}
		return answer, err
	})
}

func peerToProto(p Peer) *hypervisorv1.Peer {
	return &hypervisorv1.Peer{Name: wire.Text(p.Name), Address: wire.Text(p.Address), Fingerprint: wire.Text(p.Fingerprint), Online: p.Online,
		Self: p.Self}
}

func peerFromProto(p *hypervisorv1.Peer) Peer {
	return Peer{Name: p.GetName(), Address: p.GetAddress(), Fingerprint: p.GetFingerprint(), Online: p.GetOnline(), Self: p.GetSelf()}
}
