package hypervisor

import (
	"context"
	"errors"
	"github.com/hostler/hostler/sdk/plugin"
	"io"
	"math"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
)

// remoteHost is a host behind a plugin. It holds nothing: each call carries the target.
type remoteHost struct {
	client *Client
	target *pluginv1.Target
}

var (
	_ Host        = (*remoteHost)(nil)
	_ Lifecycler  = (*remoteHost)(nil)
	_ TaskStopper = (*remoteHost)(nil)
	_ NodeReader  = (*remoteHost)(nil)
)

func (h *remoteHost) Version(ctx context.Context) (Version, error) {
	v, err := h.client.base.Version(ctx, &hypervisorv1.VersionRequest{Target: h.target})
	if err != nil {
		return Version{}, plugin.CallError(ctx, err)
	}
	return Version{
		Version: v.GetVersion(), Release: v.GetRelease(), Fingerprint: v.GetFingerprint(),
		NotAfter: wire.Time(v.GetNotAfter()), Node: v.GetNode(),
	}, nil
}

func (h *remoteHost) Permissions(ctx context.Context) (Permissions, error) {
	p, err := h.client.base.Permissions(ctx, &hypervisorv1.PermissionsRequest{Target: h.target})
	if err != nil {
		return Permissions{}, plugin.CallError(ctx, err)
	}
	return Permissions{
		Missing: p.GetMissing(), Extra: p.GetExtra(), Recommended: p.GetRecommended(), Paths: p.GetPaths(),
	}, nil
}

func (h *remoteHost) Inventory(ctx context.Context, query InventoryQuery, page func(Page) error) error {
	// The derived context ends the plugin's half of the stream whichever way this returns.
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.client.base.Inventory(streamCtx, &hypervisorv1.InventoryRequest{
		Target: h.target, Detail: query.Detail, Since: wire.Timestamp(query.Since),
	})
	if err != nil {
		return plugin.CallError(ctx, err)
	}
	for {
		in, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return plugin.CallError(ctx, err)
		}
		if err := page(pageFromProto(in)); err != nil {
			return err
		}
	}
}

func (h *remoteHost) Guest(ctx context.Context, ref GuestRef) (Guest, error) {
	answer, err := h.client.base.Guest(ctx, &hypervisorv1.GuestRequest{Target: h.target, Guest: refToProto(ref)})
	if err != nil {
		return Guest{}, plugin.CallError(ctx, err)
	}
	if answer.GetGuest() == nil {
		return Guest{}, errBadAnswer("guest")
	}
	return guestFromProto(answer.GetGuest()), nil
}

func (h *remoteHost) Tasks(ctx context.Context, query TaskQuery) ([]Task, error) {
	req := &hypervisorv1.TasksRequest{
		Target: h.target, Limit: int32(max(math.MinInt32, min(query.Limit, math.MaxInt32))), Node: wire.Text(query.Node), Since: wire.Timestamp(query.Since), Errors: query.Errors,
	}
	if query.Guest != nil {
		req.Guest = refToProto(*query.Guest)
	}
	answer, err := h.client.base.Tasks(ctx, req)
	if err != nil {
		return nil, plugin.CallError(ctx, err)
	}
	tasks := make([]Task, len(answer.GetTasks()))
	for i, t := range answer.GetTasks() {
		tasks[i] = taskFromProto(t)
	}
	return tasks, nil
}

func (h *remoteHost) TaskLog(ctx context.Context, taskID string, query LogQuery) (Log, error) {
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.client.base.TaskLog(streamCtx, &hypervisorv1.TaskLogRequest{
		Target: h.target, TaskId: wire.Text(taskID), Start: int64(query.Start), Limit: int64(query.Limit),
	})
	if err != nil {
		return Log{}, plugin.CallError(ctx, err)
	}
	var log Log
	most := query.Limit
	if most <= 0 {
		most = mostLines
	}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return log, nil
		}
		if err != nil {
			return Log{}, plugin.CallError(ctx, err)
		}
		log.Total = max(0, int(chunk.GetTotal()))
		for _, l := range chunk.GetLines() {
			// A plugin gone wrong must not fill the service's memory with what nobody asked for.
			if len(log.Lines) == most {
				return log, nil
			}
			log.Lines = append(log.Lines, lineFromProto(l))
		}
	}
}

// mostLines is what is taken of a log that was asked for as a whole.
const mostLines = 100_000

func (h *remoteHost) WaitTask(ctx context.Context, taskID string, from int, line func(LogLine) error) (TaskResult, error) {
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.client.base.WaitTask(streamCtx, &hypervisorv1.WaitTaskRequest{
		Target: h.target, TaskId: wire.Text(taskID), From: int64(from),
	})
	if err != nil {
		return TaskResult{}, plugin.CallError(ctx, err)
	}
	for {
		in, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return TaskResult{}, errNoResult(taskID)
		}
		if err != nil {
			return TaskResult{}, plugin.CallError(ctx, err)
		}
		for _, l := range in.GetLines() {
			if err := line(lineFromProto(l)); err != nil {
				return TaskResult{}, err
			}
		}
		if r := in.GetResult(); r != nil {
			return TaskResult{Status: r.GetStatus(), Message: r.GetMessage()}, nil
		}
	}
}

func (h *remoteHost) Act(ctx context.Context, ref GuestRef, action Action) (string, error) {
	answer, err := hypervisorv1.NewLifecycleServiceClient(h.client.conn).Act(ctx, &hypervisorv1.ActRequest{
		Target: h.target, Guest: refToProto(ref), Action: wire.Text(string(action)),
	})
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	return answer.GetTaskId(), nil
}

func (h *remoteHost) StopTask(ctx context.Context, taskID string) error {
	_, err := hypervisorv1.NewTaskStopServiceClient(h.client.conn).StopTask(ctx, &hypervisorv1.StopTaskRequest{
		Target: h.target, TaskId: wire.Text(taskID),
	})
	return plugin.CallError(ctx, err)
}

func (h *remoteHost) NodeStatus(ctx context.Context, node string) (NodeStatus, error) {
	answer, err := hypervisorv1.NewNodeReadServiceClient(h.client.conn).NodeStatus(ctx, &hypervisorv1.NodeStatusRequest{
		Target: h.target, Node: wire.Text(node),
	})
	if err != nil {
		return NodeStatus{}, plugin.CallError(ctx, err)
	}
	if answer.GetStatus() == nil {
		return NodeStatus{}, errBadAnswer("status")
	}
	return nodeStatusFromProto(answer.GetStatus()), nil
}

// Close implements Host; there is nothing to release.
func (h *remoteHost) Close() error { return nil }
