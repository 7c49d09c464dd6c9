package lxd

import (
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// operations maps the server's descriptions to operations of the SDK. A stop
// may have been a shutdown and a restart a reset; the server does not say, so
// neither is in the map.
var operations = map[string]hypervisor.Operation{
	"Starting instance":     hypervisor.Start.Operation(),
	"Freezing instance":     hypervisor.Pause.Operation(),
	"Unfreezing instance":   hypervisor.Resume.Operation(),
	"Snapshotting instance": hypervisor.OperationSnapshotCreate,
	"Deleting snapshot":     hypervisor.OperationSnapshotDelete,
	"Restoring snapshot":    hypervisor.OperationSnapshotRollback,
}

// operationOf is our word for what an operation does; empty where there is none.
func operationOf(op *lxdapi.Operation) hypervisor.Operation { return operations[op.Description] }

// task converts an operation. The server reports neither who started it nor
// when it ended. It keeps an operation for 5 s after its end, so the time of
// the response is a good approximation of the end.
func (p place) task(op *lxdapi.Operation, now time.Time) hypervisor.Task {
	t := hypervisor.Task{
		ID: op.ID, Node: p.nodeOf(&lxdapi.Instance{Location: op.Location}), Type: op.Description, Operation: operationOf(op),
		Status: hypervisor.TaskRunning, Started: op.Created.UTC(),
	}
	if len(op.Instances) > 0 {
		t.GuestID = guestID(op.Instances[0].Project, op.Instances[0].Name)
	}
	if op.Ended() {
		result := resultOf(op)
		t.Status, t.Ended = result.Status, now.UTC()
		if t.Ended.Before(t.Started) {
			t.Ended = t.Started
		}
		if !result.OK() {
			t.Error = result.Message
		}
	}
	return t
}

// resultOf returns how an operation that is over ended.
func resultOf(op *lxdapi.Operation) hypervisor.TaskResult {
	err := op.Failure()
	if err == nil {
		return hypervisor.TaskResult{Status: hypervisor.TaskOK, Message: "Success"}
	}
	result := hypervisor.TaskResult{Status: hypervisor.TaskFailed, Message: err.Error()}
	if e, ok := asError(err); ok {
		result.Message = e.Message
	}
	return result
}

// noTask is the error for an operation that there is not.
func noTask(id string) error {
	return plugin.Errorf(plugin.NotFound, "operation %.80q does not exist", id)
}
