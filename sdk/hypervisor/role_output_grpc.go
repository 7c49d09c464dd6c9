package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// ReadRoleOutput implements RoleOutputReader.
func (c *Client) ReadRoleOutput(ctx context.Context, output plugin.Secret) (RoleOutput, error) {
	req := &hypervisorv1.ReadRoleOutputRequest{Output: wire.Text(string(output))}
	answer, err := wire.Call(ctx, hypervisorv1.NewRoleOutputServiceClient(c.conn).ReadRoleOutput, req)
	return roleOutputFromProto(answer), err
}

type roleOutputServer struct {
	hypervisorv1.UnimplementedRoleOutputServiceServer
	reader RoleOutputReader
}

func (s *roleOutputServer) ReadRoleOutput(ctx context.Context, req *hypervisorv1.ReadRoleOutputRequest) (
	*hypervisorv1.ReadRoleOutputResponse, error) {
	read, err := s.reader.ReadRoleOutput(ctx, plugin.Secret(req.GetOutput()))
	return roleOutputToProto(read), err
}

func roleOutputToProto(o RoleOutput) *hypervisorv1.ReadRoleOutputResponse {
	return &hypervisorv1.ReadRoleOutputResponse{
		Made: wire.Each(o.Created, endpoint.CredentialToProto),
		Kept: wire.Each(o.Kept, func(c endpoint.Capability) string { return wire.Text(string(c)) }),
	}
}

func roleOutputFromProto(o *hypervisorv1.ReadRoleOutputResponse) RoleOutput {
	return RoleOutput{
		Created: wire.Each(o.GetMade(), endpoint.CredentialFromProto),
		Kept:    wire.Each(o.GetKept(), func(c string) endpoint.Capability { return endpoint.Capability(c) }),
	}
}
