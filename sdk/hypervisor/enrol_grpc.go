package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// Inspect implements Enroller.
func (c *Client) Inspect(ctx context.Context, code plugin.Secret) (Code, error) {
	req := &hypervisorv1.InspectRequest{Code: wire.Text(string(code))}
	answer, err := wire.Call(ctx, hypervisorv1.NewEnrolServiceClient(c.conn).Inspect, req)
	return codeFromProto(answer), err
}

// NewCredential implements Enroller.
func (c *Client) NewCredential(ctx context.Context, capability endpoint.Capability) (endpoint.Credential, error) {
	req := &hypervisorv1.NewCredentialRequest{Capability: wire.Text(string(capability))}
	answer, err := wire.Call(ctx, hypervisorv1.NewEnrolServiceClient(c.conn).NewCredential, req)
	return endpoint.CredentialFromProto(answer.GetCredential()), err
}

// Redeem implements Enroller.
func (c *Client) Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error {
	req := &hypervisorv1.RedeemRequest{Target: endpoint.TargetToProto(target), Code: wire.Text(string(code))}
	_, err := wire.Call(ctx, hypervisorv1.NewEnrolServiceClient(c.conn).Redeem, req)
	return err
}

type enrolServer struct {
	hypervisorv1.UnimplementedEnrolServiceServer
	enroller Enroller
}

func (s *enrolServer) Inspect(ctx context.Context, req *hypervisorv1.InspectRequest) (*hypervisorv1.InspectResponse, error) {
	code, err := s.enroller.Inspect(ctx, plugin.Secret(req.GetCode()))
	return codeToProto(code), err
}

func (s *enrolServer) NewCredential(ctx context.Context, req *hypervisorv1.NewCredentialRequest) (
	*hypervisorv1.NewCredentialResponse, error) {
	made, err := s.enroller.NewCredential(ctx, endpoint.Capability(req.GetCapability()))
	return &hypervisorv1.NewCredentialResponse{Credential: endpoint.CredentialToProto(made)}, err
}

func (s *enrolServer) Redeem(ctx context.Context, req *hypervisorv1.RedeemRequest) (*hypervisorv1.RedeemResponse, error) {
	if req.GetTarget() == nil {
		return nil, plugin.Errorf(plugin.Invalid, "the request has no target")
	}
	return &hypervisorv1.RedeemResponse{}, s.enroller.Redeem(ctx, endpoint.TargetFromProto(req.GetTarget()), plugin.Secret(req.GetCode()))
}

func codeToProto(c Code) *hypervisorv1.InspectResponse {
	return &hypervisorv1.InspectResponse{
		Addresses: wire.Texts(c.Addresses), Fingerprint: wire.Text(c.Fingerprint), Expires: wire.Timestamp(c.Expires),
	}
}

func codeFromProto(c *hypervisorv1.InspectResponse) Code {
	return Code{Addresses: c.GetAddresses(), Fingerprint: c.GetFingerprint(), Expires: wire.Time(c.GetExpires())}
}
