package hypervisor

import (
	"context"
	"iter"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// maxLogLines is what is taken of a log that was asked for as a whole.
const maxLogLines = 100_000

func (h *remoteHost) TaskLog(ctx context.Context, taskID string, query LogQuery) (Log, error) {
	most := query.Limit
	if most <= 0 {
		most = maxLogLines
	}
	var log Log
	req := &hypervisorv1.TaskLogRequest{Target: h.target, TaskId: wire.Text(taskID), Start: int64(query.Start), Limit: int64(query.Limit)}
	err := wire.Receive(ctx, h.client.base.TaskLog, req, func(chunk *hypervisorv1.TaskLogResponse) error {
		log.Total = max(0, int(chunk.GetTotal()))
		for _, l := range chunk.GetLines() {
			// A plugin gone wrong must not fill the service's memory with what nobody asked for.
			if len(log.Lines) == most {
				return wire.ErrEnough
			}
			log.Lines = append(log.Lines, lineFromProto(l))
		}
		return nil
	})
	if err != nil {
		return Log{}, err
	}
	return log, nil
}

func (s *server) TaskLog(req *hypervisorv1.TaskLogRequest, stream grpc.ServerStreamingServer[hypervisorv1.TaskLogResponse]) error {
	ctx := stream.Context()
	query := LogQuery{Start: int(req.GetStart()), Limit: int(req.GetLimit())}
	return endpoint.With(ctx, s.opener(), req, func(host Host) error {
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

func (h *remoteHost) WaitTask(ctx context.Context, taskID string, from int, line func(LogLine) error) (result TaskResult, err error) {
	ended := false
	req := &hypervisorv1.WaitTaskRequest{Target: h.target, TaskId: wire.Text(taskID), From: int64(from)}
	err = wire.Receive(ctx, h.client.base.WaitTask, req, func(in *hypervisorv1.WaitTaskResponse) error {
		for _, l := range in.GetLines() {
			if err := line(lineFromProto(l)); err != nil {
				return err
			}
		}
		if r := in.GetResult(); r != nil {
			ended, result = true, resultFromProto(r)
			return wire.ErrEnough
		}
		return nil
	})
	if err == nil && !ended {
		err = plugin.Errorf(plugin.Internal, "the plugin stopped waiting for task %s without a result", taskID)
	}
	return result, err
}

func (s *server) WaitTask(req *hypervisorv1.WaitTaskRequest, stream grpc.ServerStreamingServer[hypervisorv1.WaitTaskResponse]) error {
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), req, func(host Host) error {
		result, err := host.WaitTask(ctx, req.GetTaskId(), int(req.GetFrom()), func(line LogLine) error {
			return stream.Send(&hypervisorv1.WaitTaskResponse{Lines: linesToProto([]LogLine{line})})
		})
		if err != nil {
			return err
		}
		return stream.Send(&hypervisorv1.WaitTaskResponse{Result: resultToProto(result)})
	})
}

func resultToProto(r TaskResult) *hypervisorv1.TaskResult {
	return &hypervisorv1.TaskResult{Status: wire.Text(r.Status), Message: wire.Text(r.Message), Missing: wire.Texts(r.Missing),
		Path: wire.Text(r.Path), Remedy: wire.Text(r.Remedy), Backup: wire.Text(r.Backup)}
}

func resultFromProto(r *hypervisorv1.TaskResult) TaskResult {
	return TaskResult{Status: r.GetStatus(), Message: r.GetMessage(), Missing: r.GetMissing(), Path: r.GetPath(), Remedy: r.GetRemedy(),
		Backup: r.GetBackup()}
}

// What one message of a log carries at most, and what of one line: nobody reads
// a line of a megabyte, and it would be a message that cannot be sent.
const (
	chunkLines = 1000
	chunkBytes = 1 << 20
	lineBytes  = 1 << 20
)

// chunks cuts a log into messages of bearable size; an empty log is one empty chunk.
func chunks(lines []LogLine) iter.Seq[[]LogLine] {
	return func(yield func([]LogLine) bool) {
		for {
			n, size := 0, 0
			for n < len(lines) && n < chunkLines && (n == 0 || size+len(lines[n].Text) <= chunkBytes) {
				size += len(lines[n].Text)
				n++
			}
			if !yield(lines[:n]) || n == len(lines) {
				return
			}
			lines = lines[n:]
		}
	}
}

func linesToProto(lines []LogLine) []*hypervisorv1.LogLine {
	out := make([]*hypervisorv1.LogLine, len(lines))
	for i, l := range lines {
		if len(l.Text) > lineBytes {
			l.Text = l.Text[:lineBytes] + "…"
		}
		out[i] = &hypervisorv1.LogLine{Number: int64(l.N), Text: wire.Text(l.Text), Share: l.Share}
	}
	return out
}

func lineFromProto(l *hypervisorv1.LogLine) LogLine {
	return LogLine{N: int(l.GetNumber()), Text: l.GetText(), Share: l.GetShare()}
}
