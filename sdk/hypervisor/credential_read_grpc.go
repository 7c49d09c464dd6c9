package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// ReadCredential implements CredentialReader.
func (c *Client) ReadCredential(ctx context.Context, entered endpoint.Credential) (endpoint.Credential, error) {
	req := &hypervisorv1.ReadCredentialRequest{Entered: endpoint.CredentialToProto(entered)}
	answer, err := wire.Call(ctx, hypervisorv1.NewCredentialReadServiceClient(c.conn).ReadCredential, req)
	return endpoint.CredentialFromProto(answer.GetCredential()), err
}

type credentialReadServer struct {
	hypervisorv1.UnimplementedCredentialReadServiceServer
	reader CredentialReader
}

func (s *credentialReadServer) ReadCredential(ctx context.Context, req *hypervisorv1.ReadCredentialRequest) (
	*hypervisorv1.ReadCredentialResponse, error) {
	read, err := s.reader.ReadCredential(ctx, endpoint.CredentialFromProto(req.GetEntered()))
	return &hypervisorv1.ReadCredentialResponse{Credential: endpoint.CredentialToProto(read)}, err
}
