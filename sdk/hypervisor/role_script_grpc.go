package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// RoleScript implements RoleScriptWriter.
func (c *Client) RoleScript(ctx context.Context, query RoleScriptQuery) (string, error) {
	answer, err := wire.Call(ctx, hypervisorv1.NewRoleScriptServiceClient(c.conn).RoleScript, scriptQueryToProto(query))
	return answer.GetScript(), err
}

// RoleRemoval implements RoleScriptWriter.
func (c *Client) RoleRemoval(ctx context.Context, capability endpoint.Capability, credentialID string) ([]string, error) {
	req := &hypervisorv1.RoleRemovalRequest{Capability: wire.Text(string(capability)), CredentialId: wire.Text(credentialID)}
	answer, err := wire.Call(ctx, hypervisorv1.NewRoleScriptServiceClient(c.conn).RoleRemoval, req)
	return answer.GetCommands(), err
}

type roleScriptServer struct {
	hypervisorv1.UnimplementedRoleScriptServiceServer
	scripter RoleScriptWriter
}

func (s *roleScriptServer) RoleScript(ctx context.Context, req *hypervisorv1.RoleScriptRequest) (*hypervisorv1.RoleScriptResponse, error) {
	script, err := s.scripter.RoleScript(ctx, scriptQueryFromProto(req))
	return &hypervisorv1.RoleScriptResponse{Script: wire.Text(script)}, err
}

func (s *roleScriptServer) RoleRemoval(ctx context.Context, req *hypervisorv1.RoleRemovalRequest) (
	*hypervisorv1.RoleRemovalResponse, error) {
	commands, err := s.scripter.RoleRemoval(ctx, endpoint.Capability(req.GetCapability()), req.GetCredentialId())
	return &hypervisorv1.RoleRemovalResponse{Commands: wire.Texts(commands)}, err
}

func scriptQueryToProto(query RoleScriptQuery) *hypervisorv1.RoleScriptRequest {
	return &hypervisorv1.RoleScriptRequest{
		Path: wire.Text(query.Path), NodeShell: query.NodeShell, Recommended: query.Recommended,
		Capabilities: wire.Each(query.Capabilities, func(c endpoint.Capability) string { return wire.Text(string(c)) }),
	}
}

func scriptQueryFromProto(req *hypervisorv1.RoleScriptRequest) RoleScriptQuery {
	return RoleScriptQuery{
		Path: req.GetPath(), NodeShell: req.GetNodeShell(), Recommended: req.GetRecommended(),
		Capabilities: wire.Each(req.GetCapabilities(), func(c string) endpoint.Capability { return endpoint.Capability(c) }),
	}
}
