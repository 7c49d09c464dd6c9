package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) Member(ctx context.Context, node string) (Member, error) {
	req := &hypervisorv1.MemberRequest{Target: h.target, Node: wire.Text(node)}
	answer, err := wire.Call(ctx, hypervisorv1.NewMemberReadServiceClient(h.client.conn).Member, req)
	if err != nil {
		return Member{}, err
	}
	return memberFromProto(answer), nil
}

type memberReadServer struct {
	hypervisorv1.UnimplementedMemberReadServiceServer
	*server
}

func (s *memberReadServer) Member(ctx context.Context, req *hypervisorv1.MemberRequest) (*hypervisorv1.MemberResponse, error) {
	return serve(ctx, s.server, req, func(host MemberReader) (*hypervisorv1.MemberResponse, error) {
		member, err := host.Member(ctx, req.GetNode())
		return memberToProto(member), err
	})
}

func memberToProto(m Member) *hypervisorv1.MemberResponse {
	return &hypervisorv1.MemberResponse{Version: wire.Text(m.Version), Fingerprint: wire.Text(m.Fingerprint),
		NotAfter: wire.Timestamp(m.NotAfter), Subscription: subscriptionToProto(m.Subscription)}
}

func memberFromProto(m *hypervisorv1.MemberResponse) Member {
	return Member{Version: m.GetVersion(), Fingerprint: m.GetFingerprint(), NotAfter: wire.Time(m.GetNotAfter()),
		Subscription: subscriptionFromProto(m.GetSubscription())}
}
