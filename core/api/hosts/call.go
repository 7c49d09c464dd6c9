package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// registerCalls declares what asks the hypervisor while the caller waits.
func registerCalls(a *op.API, h handlers) {
	op.Post(a, "/api/v1/hosts/:host_id/sync", h.sync, op.Spec{
		ID: "sync_host", Summary: "Poll a host now", Tag: tag, Calls: true, Role: identity.Operator, On: op.Host, Status: http.StatusOK,
		Audit:       op.Audit{Action: "host.sync"},
		Needs:       endpoint.Monitoring,
		Description: "Answers when what was found is written. Failures are 502 `hypervisor_error` and 504 `timeout`.",
	})
	op.Post(a, "/api/v1/hosts/:host_id/test", h.test, op.Spec{
		ID: "test_host", Summary: "Check a host and all its tokens again", Tag: tag, Role: identity.Admin, On: op.Host, Status: http.StatusOK,
		Audit: op.Audit{Action: "host.test"},
		Description: "A host that fails is an answer and no error. `reachable` means that its inventory could be read as a poll reads it. A " +
			"changed certificate is shown in `seen_fingerprint`; accept it with PATCH `tls_fingerprint`.",
	})
	op.Post(a, "/api/v1/hosts/:host_id/ssh/verify", h.verifySSH, op.Spec{
		ID: "verify_host_ssh", Summary: "Log in to a host's machine by SSH", Tag: tag, Calls: true, Role: identity.Admin, On: op.Host,
		Status: http.StatusOK, Audit: op.Audit{Action: "host.verify_ssh"},
		Description: "Logs in as root with the host's SSH key, runs `true` and tells what it saw. A pending key that works takes the place of " +
			"the present one. The first time the host key is pinned: compare `fingerprint` with what `ssh-keygen -lf " +
			"/etc/ssh/ssh_host_ed25519_key.pub` prints on the machine. Another host key is 409 `ssh_host_key_changed` with `fingerprint` and " +
			"`pinned_fingerprint`; PATCH `ssh_host_key_fingerprint` accepts it. Without consent it is 409 `consent_required`, without a key 409 " +
			"`ssh_not_enrolled`, and a machine that does not take the key is 502 `hypervisor_error` with the reason `auth`. No token is needed.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/nodes/:node/status", h.nodeStatus, op.Spec{
		ID: "get_node_status", Summary: "Read the present state of a node", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs: endpoint.Monitoring,
		Description: "Asked of the node itself, through the host; nothing of it is kept, and figures that the hypervisor does not give are " +
			"null. `is_self` says whether the service runs on the node. The name is the exact one: a node that is not there is 404. A node that " +
			"is off is 502 `hypervisor_error` with the reason `unreachable`, and one that does not answer in time 504 `timeout`.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/nodes/:node/hardware", h.nodeHardware, op.Spec{
		ID: "get_node_hardware", Summary: "Read the hardware of a node", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs: endpoint.Monitoring, Never504: true,
		Description: "Six sections, asked of the node at once, each with a time limit of its own. One that cannot be read is null and named " +
			"in `unreadable` with the reason: `permission` (with the privilege and the command that grants it), `unsupported`, `timeout` or " +
			"another. When none can be read, that is 502 `hypervisor_error` with the reason of one of them. Disks are listed without asking " +
			"them, so that none is woken: `wakes` says which may sleep, and `health=true` asks for health and wear all the same. The key of a " +
			"subscription is masked.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/tasks", h.tasks, op.Spec{
		ID: "list_host_tasks", Summary: "List the hypervisor's tasks", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs:       endpoint.Monitoring,
		Description: "Asked of the hypervisor, newest first, with those that others started.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/tasks/:upid/log", h.taskLog, op.Spec{
		ID: "get_host_task_log", Summary: "Read the log of a hypervisor's task", Tag: tag, Calls: true, Role: identity.Viewer, On: op.Host,
		Needs:       endpoint.Monitoring,
		Description: "Asked of the hypervisor: up to `limit` lines from line `start` on. A task that is not there is 404.",
	})
}

func (h handlers) sync(ctx context.Context, _ *struct{}) (*op.Body[host.Host], error) {
	if err := h.poller.Sync(ctx, op.Found(ctx).ID); err != nil {
		return nil, err
	}
	found, err := h.hosts.Synced(ctx, op.Found(ctx).ID)
	return &op.Body[host.Host]{Body: found}, err
}

func (h handlers) test(ctx context.Context, _ *struct{}) (*op.Body[host.Check], error) {
	check, err := h.hosts.Test(ctx, op.Found(ctx).ID)
	return &op.Body[host.Check]{Body: check}, err
}

func (h handlers) verifySSH(ctx context.Context, _ *struct{}) (*op.Body[host.SSHCheck], error) {
	check, err := h.hosts.VerifySSH(ctx, op.Found(ctx).ID)
	return &op.Body[host.SSHCheck]{Body: check}, err
}

// OnNode is a node in a path.
type OnNode struct {
	Node string `path:"node" minLength:"1" maxLength:"253" example:"pve1" doc:"Name of a node of the host's cluster"`
}

func (h handlers) nodeStatus(ctx context.Context, in *OnNode) (*op.Body[host.NodeStatus], error) {
	status, err := h.hosts.NodeStatus(ctx, op.Found(ctx).ID, in.Node)
	return &op.Body[host.NodeStatus]{Body: status}, err
}

type hardwareInput struct {
	OnNode
	Health bool `query:"health" default:"false" doc:"Ask the disks for health and wear, which wakes those that sleep"`
}

func (h handlers) nodeHardware(ctx context.Context, in *hardwareInput) (*op.Body[host.NodeHardware], error) {
	hardware, err := h.hosts.NodeHardware(ctx, op.Found(ctx).ID, in.Node, in.Health)
	return &op.Body[host.NodeHardware]{Body: hardware}, err
}

type tasksInput struct {
	Limit int `query:"limit" default:"50" minimum:"1" maximum:"500"`
}

func (h handlers) tasks(ctx context.Context, in *tasksInput) (*op.List[host.Task], error) {
	all, err := h.hosts.Tasks(ctx, op.Found(ctx).ID, in.Limit)
	return &op.List[host.Task]{Total: len(all), Body: all}, err
}

type logInput struct {
	UPID  string `path:"upid" minLength:"1" maxLength:"300"`
	Start int    `query:"start" default:"0" minimum:"0" maximum:"100000000" doc:"First line, from 0"`
	Limit int    `query:"limit" default:"500" minimum:"1" maximum:"5000"`
}

func (h handlers) taskLog(ctx context.Context, in *logInput) (*op.Body[host.Log], error) {
	log, err := h.hosts.TaskLog(ctx, op.Found(ctx).ID, in.UPID, in.Start, in.Limit)
	return &op.Body[host.Log]{Body: log}, err
}
