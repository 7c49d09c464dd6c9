package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// server answers HypervisorService with a driver. It opens a host for each call. Errors and panics are turned into
// statuses by plugin.NewServer.
type server struct {
	hypervisorv1.UnimplementedHypervisorServiceServer
	service Service
}

// withHost opens the target's host for one call.
func (s *server) withHost(ctx context.Context, target *pluginv1.Target, call func(Host) error) error {
	if target == nil {
		return plugin.Errorf(plugin.Invalid, "the request has no target")
	}
	host, err := s.service.open(ctx, endpoint.TargetFromProto(target))
	if err != nil {
		return err
	}
	defer func() { _ = host.Close() }()
	return call(host)
}

func (s *server) Info(ctx context.Context, _ *hypervisorv1.InfoRequest) (*hypervisorv1.InfoResponse, error) {
	info, err := s.service.info(ctx)
	if err != nil {
		return nil, err
	}
	return infoToProto(info), nil
}

func (s *server) Version(ctx context.Context, req *hypervisorv1.VersionRequest) (answer *hypervisorv1.VersionResponse, err error) {
	err = s.withHost(ctx, req.GetTarget(), func(host Host) error {
		version, err := host.Version(ctx)
		if err == nil {
			answer = versionToProto(version)
		}
		return err
	})
	return answer, err
}

func (s *server) Permissions(ctx context.Context, req *hypervisorv1.PermissionsRequest) (answer *hypervisorv1.PermissionsResponse, err error) {
	err = s.withHost(ctx, req.GetTarget(), func(host Host) error {
		p, err := host.Permissions(ctx)
		if err == nil {
			answer = &hypervisorv1.PermissionsResponse{
				Missing: wire.Texts(p.Missing), Extra: wire.Texts(p.Extra), Recommended: wire.Texts(p.Recommended), Paths: wire.Texts(p.Paths),
			}
		}
		return err
	})
	return answer, err
}

func (s *server) Inventory(req *hypervisorv1.InventoryRequest, stream grpc.ServerStreamingServer[hypervisorv1.InventoryResponse]) error {
	ctx := stream.Context()
	query := InventoryQuery{Detail: req.GetDetail(), Since: wire.Time(req.GetSince())}
	return s.withHost(ctx, req.GetTarget(), func(host Host) error {
		return host.Inventory(ctx, query, func(page Page) error {
			for part := range parts(page) {
				if err := stream.Send(pageToProto(part)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (s *server) Guest(ctx context.Context, req *hypervisorv1.GuestRequest) (answer *hypervisorv1.GuestResponse, err error) {
	err = s.withHost(ctx, req.GetTarget(), func(host Host) error {
		guest, err := host.Guest(ctx, refFromProto(req.GetGuest()))
		if err == nil {
			answer = &hypervisorv1.GuestResponse{Guest: guestToProto(&guest)}
		}
		return err
	})
	return answer, err
}

func (s *server) Tasks(ctx context.Context, req *hypervisorv1.TasksRequest) (answer *hypervisorv1.TasksResponse, err error) {
	query := TaskQuery{
		Limit: int(req.GetLimit()), Node: req.GetNode(), Since: wire.Time(req.GetSince()), Errors: req.GetErrors(),
	}
	if req.GetGuest() != nil {
		ref := refFromProto(req.GetGuest())
		query.Guest = &ref
	}
	err = s.withHost(ctx, req.GetTarget(), func(host Host) error {
		tasks, err := host.Tasks(ctx, query)
		if err == nil {
			answer = &hypervisorv1.TasksResponse{Tasks: tasksToProto(tasks)}
		}
		return err
	})
	return answer, err
}

func (s *server) TaskLog(req *hypervisorv1.TaskLogRequest, stream grpc.ServerStreamingServer[hypervisorv1.TaskLogResponse]) error {
	ctx := stream.Context()
	query := LogQuery{Start: int(req.GetStart()), Limit: int(req.GetLimit())}
	return s.withHost(ctx, req.GetTarget(), func(host Host) error {
		log, err := host.TaskLog(ctx, req.GetTaskId(), query)
		if err != nil {
			return err
		}
		for lines := range chunks(log.Lines) {
			chunk := &hypervisorv1.TaskLogResponse{Lines: linesToProto(lines), Total: int64(log.Total)}
			if err := stream.Send(chunk); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *server) WaitTask(req *hypervisorv1.WaitTaskRequest, stream grpc.ServerStreamingServer[hypervisorv1.WaitTaskResponse]) error {
	ctx := stream.Context()
	return s.withHost(ctx, req.GetTarget(), func(host Host) error {
		result, err := host.WaitTask(ctx, req.GetTaskId(), int(req.GetFrom()), func(line LogLine) error {
			return stream.Send(&hypervisorv1.WaitTaskResponse{Lines: linesToProto([]LogLine{line})})
		})
		if err != nil {
			return err
		}
		return stream.Send(&hypervisorv1.WaitTaskResponse{
			Result: &hypervisorv1.TaskResult{Status: wire.Text(result.Status), Message: wire.Text(result.Message)},
		})
	})
}

// lifecycleServer answers LifecycleService.
type lifecycleServer struct {
	hypervisorv1.UnimplementedLifecycleServiceServer
	server *server
}

func (s *lifecycleServer) Act(ctx context.Context, req *hypervisorv1.ActRequest) (answer *hypervisorv1.ActResponse, err error) {
	err = s.server.withHost(ctx, req.GetTarget(), func(host Host) error {
		taskID, err := host.(Lifecycler).Act(ctx, refFromProto(req.GetGuest()), Action(req.GetAction()))
		if err == nil {
			answer = &hypervisorv1.ActResponse{TaskId: wire.Text(taskID)}
		}
		return err
	})
	return answer, err
}

// taskStopServer answers TaskStopService.
type taskStopServer struct {
	hypervisorv1.UnimplementedTaskStopServiceServer
	server *server
}

func (s *taskStopServer) StopTask(ctx context.Context, req *hypervisorv1.StopTaskRequest) (*hypervisorv1.StopTaskResponse, error) {
	err := s.server.withHost(ctx, req.GetTarget(), func(host Host) error {
		return host.(TaskStopper).StopTask(ctx, req.GetTaskId())
	})
	if err != nil {
		return nil, err
	}
	return &hypervisorv1.StopTaskResponse{}, nil
}

// nodeReadServer answers NodeReadService.
type nodeReadServer struct {
	hypervisorv1.UnimplementedNodeReadServiceServer
	server *server
}

func (s *nodeReadServer) NodeStatus(ctx context.Context, req *hypervisorv1.NodeStatusRequest) (answer *hypervisorv1.NodeStatusResponse, err error) {
	err = s.server.withHost(ctx, req.GetTarget(), func(host Host) error {
		status, err := host.(NodeReader).NodeStatus(ctx, req.GetNode())
		if err == nil {
			answer = &hypervisorv1.NodeStatusResponse{Status: nodeStatusToProto(&status)}
		}
		return err
	})
	return answer, err
}

// roleScriptServer answers RoleScriptService.
type roleScriptServer struct {
	hypervisorv1.UnimplementedRoleScriptServiceServer
	scripter RoleScripter
}

func (s *roleScriptServer) RoleScript(ctx context.Context, req *hypervisorv1.RoleScriptRequest) (*hypervisorv1.RoleScriptResponse, error) {
	query := RoleScriptQuery{Path: req.GetPath(), NodeShell: req.GetNodeShell()}
	for _, c := range req.GetCapabilities() {
		query.Capabilities = append(query.Capabilities, endpoint.Capability(c))
	}
	script, err := s.scripter.RoleScript(ctx, query)
	if err != nil {
		return nil, err
	}
	return &hypervisorv1.RoleScriptResponse{Script: wire.Text(script)}, nil
}

func (s *roleScriptServer) RoleRemoval(ctx context.Context, req *hypervisorv1.RoleRemovalRequest) (*hypervisorv1.RoleRemovalResponse, error) {
	commands, err := s.scripter.RoleRemoval(ctx, endpoint.Capability(req.GetCapability()))
	if err != nil {
		return nil, err
	}
	return &hypervisorv1.RoleRemovalResponse{Commands: wire.Texts(commands)}, nil
}
