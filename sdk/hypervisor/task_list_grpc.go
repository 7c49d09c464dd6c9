package hypervisor

import (
	"context"
	"math"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) Tasks(ctx context.Context, query TaskQuery) (TaskList, error) {
	req := taskQueryToProto(query)
	req.Target = h.target
	answer, err := wire.Call(ctx, h.client.base.Tasks, req)
	return TaskList{Tasks: wire.Each(answer.GetTasks(), taskFromProto), CompleteSince: wire.Time(answer.GetCompleteSince())}, err
}

func (s *server) Tasks(ctx context.Context, req *hypervisorv1.TasksRequest) (*hypervisorv1.TasksResponse, error) {
	return serve(ctx, s, req, func(host Host) (*hypervisorv1.TasksResponse, error) {
		list, err := host.Tasks(ctx, taskQueryFromProto(req))
		return &hypervisorv1.TasksResponse{
			Tasks: wire.Each(list.Tasks, taskToProto), CompleteSince: wire.Timestamp(list.CompleteSince),
		}, err
	})
}

// taskQueryToProto leaves the target out.
func taskQueryToProto(query TaskQuery) *hypervisorv1.TasksRequest {
	req := &hypervisorv1.TasksRequest{
		Limit: int32(max(math.MinInt32, min(query.Limit, math.MaxInt32))), Node: wire.Text(query.Node),
		Since: wire.Timestamp(query.Since), Errors: query.Errors,
	}
	if query.Guest != nil {
		req.Guest = refToProto(*query.Guest)
	}
	return req
}

func taskQueryFromProto(req *hypervisorv1.TasksRequest) TaskQuery {
	query := TaskQuery{Limit: int(req.GetLimit()), Node: req.GetNode(), Since: wire.Time(req.GetSince()), Errors: req.GetErrors()}
	if req.GetGuest() != nil {
		ref := refFromProto(req.GetGuest())
		query.Guest = &ref
	}
	return query
}

func taskToProto(t Task) *hypervisorv1.Task {
	return &hypervisorv1.Task{
		Id: wire.Text(t.ID), Node: wire.Text(t.Node), Type: wire.Text(t.Type), Operation: wire.Text(string(t.Operation)),
		GuestRef: wire.Text(string(t.GuestID)), User: wire.Text(t.User), TokenId: wire.Text(t.TokenID), Status: wire.Text(t.Status),
		Error:   wire.Text(t.Error),
		Started: wire.Timestamp(t.Started), Ended: wire.Timestamp(t.Ended),
	}
}

func taskFromProto(t *hypervisorv1.Task) Task {
	return Task{
		ID: t.GetId(), Node: t.GetNode(), Type: t.GetType(), Operation: Operation(t.GetOperation()),
		GuestID: GuestID(t.GetGuestRef()), User: t.GetUser(), TokenID: t.GetTokenId(), Status: t.GetStatus(), Error: t.GetError(),
		Started: wire.Time(t.GetStarted()), Ended: wire.Time(t.GetEnded()),
	}
}
