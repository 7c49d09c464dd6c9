package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// registerCalls declares the operations that ask the hypervisor while the
// caller waits.
func registerCalls(a *op.API, h handlers) {
	op.Post(a, "/api/v1/hosts/:host_id/sync", h.sync, op.Spec{
		ID: "sync_host", Summary: "Poll a host now", Tag: tag, Calls: true, Role: identity.Operator, On: op.Host, Status: http.StatusOK,
		Audit: op.Audit{Action: "host.sync"},
		Needs: endpoint.Monitoring,
		Description: "Polls the host and responds when the result is stored. Failures are 502 `hypervisor_error` and " +
			"504 `timeout`.",
	})
	op.Post(a, "/api/v1/hosts/:host_id/test", h.test, op.Spec{
		ID: "test_host", Summary: "Check a host and all its tokens", Tag: tag, Role: identity.Admin, On: op.Host, Status: http.StatusOK,
		Audit: op.Audit{Action: "host.test"},
		Description: "Checks the host and returns the result; a host that fails is a result, not an error. `reachable` " +
			"is true if its inventory could be read as in a poll. `seen_fingerprint` shows a changed certificate; " +
			"accept it with PATCH `tls_fingerprint`.",
	})
	op.Post(a, "/api/v1/hosts/:host_id/ssh/verify", h.verifySSH, op.Spec{
		ID: "verify_host_ssh", Summary: "Verify SSH access to a host", Tag: tag, Calls: true, Role: identity.Admin, On: op.Host,
		Status: http.StatusOK, Audit: op.Audit{Action: "host.verify_ssh"},
		Description: "Logs in as root with the SSH key of the host, runs `true` and returns the result. A pending key " +
			"that works replaces the current one. The first log-in pins the host key: compare `fingerprint` with the " +
			"output of `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the host. A different host key is 409 " +
			"`ssh_host_key_changed` with `fingerprint` and `pinned_fingerprint`; PATCH `ssh_host_key_fingerprint` " +
			"accepts it. Without consent it is 409 `consent_required`, without a key 409 `ssh_not_enrolled`; if the " +
			"host rejects the key, it is 502 `hypervisor_error` with the reason `auth`. No token is required.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/nodes/:node/status", h.nodeStatus, op.Spec{
		ID: "get_node_status", Summary: "Get the current status of a node", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs: endpoint.Monitoring,
		Description: "Reads the status from the node, through the host; it is not stored, and values that the " +
			"hypervisor does not report are null. `is_self` is true if the service runs on the node. The name must " +
			"match exactly: a node that does not exist is 404. A node that is off is 502 `hypervisor_error` with the " +
			"reason `unreachable`, and one that does not respond in time is 504 `timeout`.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/nodes/:node/hardware", h.nodeHardware, op.Spec{
		ID: "get_node_hardware", Summary: "Get the hardware of a node", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs: endpoint.Monitoring, Never504: true,
		Description: "Reads six sections from the node at once, each with a separate time limit. A section that " +
			"cannot be read is null and is listed in `unreadable` with the reason: `permission` (with the privilege " +
			"and the command that grants it), `unsupported`, `timeout` or another. If none can be read, the " +
			"response is 502 `hypervisor_error` with the reason of one of them. Disks are listed without waking " +
			"them up. `wakes` marks the disks that may be in standby; `health=true` also reads the health and wear " +
			"of disks, which may wake these up. The key of a subscription is masked.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/tasks", h.tasks, op.Spec{
		ID: "list_host_tasks", Summary: "List the tasks of a host", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs:       endpoint.Monitoring,
		Description: "Lists the tasks on the hypervisor, newest first, including those that other users started.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/tasks/:upid/log", h.taskLog, op.Spec{
		ID: "get_host_task_log", Summary: "Get the log of a task", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs: endpoint.Monitoring,
		Description: "Reads up to `limit` lines from line `start` from the hypervisor. A task that does not exist is " +
			"404.",
	})
}

func (h handlers) sync(ctx context.Context, _ *struct{}) (*op.Body[host.Host], error) {
	if err := h.poller.Sync(ctx, op.ResourceOf(ctx).ID); err != nil {
		return nil, err
	}
	found, err := h.hosts.RecordSync(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[host.Host]{Body: found}, err
}

func (h handlers) test(ctx context.Context, _ *struct{}) (*op.Body[host.Check], error) {
	check, err := h.hosts.Test(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[host.Check]{Body: check}, err
}

func (h handlers) verifySSH(ctx context.Context, _ *struct{}) (*op.Body[host.SSHCheck], error) {
	check, err := h.hosts.VerifySSH(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[host.SSHCheck]{Body: check}, err
}

// NodePath has the path parameter of a node.
type NodePath struct {
	Node string `path:"node" minLength:"1" maxLength:"253" example:"pve1" doc:"Name of a node of the host's cluster"`
}

func (h handlers) nodeStatus(ctx context.Context, in *NodePath) (*op.Body[host.NodeStatus], error) {
	status, err := h.hosts.NodeStatus(ctx, op.ResourceOf(ctx).ID, in.Node)
	return &op.Body[host.NodeStatus]{Body: status}, err
}

type hardwareInput struct {
	NodePath
	Health bool `query:"health" default:"false" doc:"Read health and wear of the disks, which wakes up those in standby"`
}

func (h handlers) nodeHardware(ctx context.Context, in *hardwareInput) (*op.Body[host.NodeHardware], error) {
	hardware, err := h.hosts.NodeHardware(ctx, op.ResourceOf(ctx).ID, in.Node, in.Health)
	return &op.Body[host.NodeHardware]{Body: hardware}, err
}

type tasksInput struct {
	Limit int `query:"limit" default:"50" minimum:"1" maximum:"500"`
}

func (h handlers) tasks(ctx context.Context, in *tasksInput) (*op.List[host.Task], error) {
	all, err := h.hosts.Tasks(ctx, op.ResourceOf(ctx).ID, in.Limit)
	return &op.List[host.Task]{Total: len(all), Body: all}, err
}

type logInput struct {
	UPID  string `path:"upid" minLength:"1" maxLength:"300"`
	Start int    `query:"start" default:"0" minimum:"0" maximum:"100000000" doc:"First line, from 0"`
	Limit int    `query:"limit" default:"500" minimum:"1" maximum:"5000"`
}

func (h handlers) taskLog(ctx context.Context, in *logInput) (*op.Body[host.Log], error) {
	log, err := h.hosts.TaskLog(ctx, op.ResourceOf(ctx).ID, in.UPID, in.Start, in.Limit)
	return &op.Body[host.Log]{Body: log}, err
}
