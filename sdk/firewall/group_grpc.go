package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) groups() firewallv1.GroupServiceClient {
	return firewallv1.NewGroupServiceClient(f.client.conn)
}

type groupServer struct {
	firewallv1.UnimplementedGroupServiceServer
	*server
}

func (f *remoteFirewall) Groups(ctx context.Context) ([]Group, string, error) {
	if err := refuse[GroupManager](f, Scope{Kind: ClusterScope}); err != nil {
		return nil, "", err
	}
	req := &firewallv1.GroupsRequest{Target: f.target}
	answer, err := wire.Call(ctx, f.groups().Groups, req)
	return wire.Each(answer.GetGroups(), groupFromProto), answer.GetDigest(), err
}

func (s *groupServer) Groups(ctx context.Context, req *firewallv1.GroupsRequest) (*firewallv1.GroupsResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw GroupManager) (*firewallv1.GroupsResponse, error) {
		groups, digest, err := fw.Groups(ctx)
		return &firewallv1.GroupsResponse{Groups: wire.Each(groups, groupToProto), Digest: wire.Text(digest)}, err
	})
}

func (f *remoteFirewall) CreateGroup(ctx context.Context, group Group, digest string) error {
	if err := refuse[GroupManager](f, Scope{Kind: ClusterScope}); err != nil {
		return err
	}
	req := &firewallv1.CreateGroupRequest{Target: f.target, Group: groupToProto(group), Digest: wire.Text(digest)}
	_, err := wire.Call(ctx, f.groups().CreateGroup, req)
	return err
}

func (s *groupServer) CreateGroup(ctx context.Context, req *firewallv1.CreateGroupRequest) (*firewallv1.CreateGroupResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw GroupManager) (*firewallv1.CreateGroupResponse, error) {
		return &firewallv1.CreateGroupResponse{}, fw.CreateGroup(ctx, groupFromProto(req.GetGroup()), req.GetDigest())
	})
}

func (f *remoteFirewall) ChangeGroup(ctx context.Context, name string, change GroupChange) error {
	if err := refuse[GroupManager](f, Scope{Kind: ClusterScope}); err != nil {
		return err
	}
	req := &firewallv1.ChangeGroupRequest{Target: f.target, Name: wire.Text(name), Change: groupChangeToProto(change)}
	_, err := wire.Call(ctx, f.groups().ChangeGroup, req)
	return err
}

func (s *groupServer) ChangeGroup(ctx context.Context, req *firewallv1.ChangeGroupRequest) (*firewallv1.ChangeGroupResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw GroupManager) (*firewallv1.ChangeGroupResponse, error) {
		return &firewallv1.ChangeGroupResponse{}, fw.ChangeGroup(ctx, req.GetName(), groupChangeFromProto(req.GetChange()))
	})
}

func (f *remoteFirewall) DeleteGroup(ctx context.Context, name, digest string) error {
	if err := refuse[GroupManager](f, Scope{Kind: ClusterScope}); err != nil {
		return err
	}
	req := &firewallv1.DeleteGroupRequest{Target: f.target, Name: wire.Text(name), Digest: wire.Text(digest)}
	_, err := wire.Call(ctx, f.groups().DeleteGroup, req)
	return err
}

func (s *groupServer) DeleteGroup(ctx context.Context, req *firewallv1.DeleteGroupRequest) (*firewallv1.DeleteGroupResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw GroupManager) (*firewallv1.DeleteGroupResponse, error) {
		return &firewallv1.DeleteGroupResponse{}, fw.DeleteGroup(ctx, req.GetName(), req.GetDigest())
	})
}

func groupToProto(g Group) *firewallv1.Group {
	return &firewallv1.Group{Name: wire.Text(g.Name), Comment: wire.Text(g.Comment)}
}

func groupFromProto(g *firewallv1.Group) Group {
	return Group{Name: g.GetName(), Comment: g.GetComment()}
}

func groupChangeToProto(c GroupChange) *firewallv1.GroupChange {
	return &firewallv1.GroupChange{Rename: wire.Text(c.Rename), Comment: textOrNil(c.Comment), Digest: wire.Text(c.Digest)}
}

func groupChangeFromProto(c *firewallv1.GroupChange) GroupChange {
	if c == nil {
		return GroupChange{}
	}
	return GroupChange{Rename: c.GetRename(), Comment: c.Comment, Digest: c.GetDigest()}
}
