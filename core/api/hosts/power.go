package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// registerPower declares the operation that reboots a node or shuts it down.
func registerPower(a *op.API, h handlers) {
	op.Post(a, "/api/v1/hosts/:host_id/nodes/:node/power", h.powerNode, op.Spec{
		ID: "power_node", Summary: "Reboot or shut down a node", Tag: tag, Calls: true, Role: identity.Owner, On: op.Host, Plan: true,
		Needs: endpoint.NodePower, Status: http.StatusAccepted, Unsupported: true, Replay: h.poweredAgain,
		Audit: op.Audit{Action: "node.power", Target: "node"}, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "node"},
		Description: "Starts a job. 409 `confirm_required`, or `self_target` if the service runs on the node, until " +
			"`confirm` is the name of the node. The job sends the command once and watches the node through other " +
			"enrolled nodes of its cluster, or else through the host. A reboot succeeds when the node is back with " +
			"a shorter uptime; a `shutdown` succeeds when the node has not responded for 15 s. The job fails if the " +
			"node is still up after 20 minutes, or is not back 20 minutes later. The command cannot be undone: " +
			"canceling the job only stops the watch.",
	})
}

type powerInput struct {
	op.PlanParams
	NodePath
	Body struct {
		Command string  `json:"command" enum:"reboot,shutdown" example:"reboot"`
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"253" doc:"Name of the node"`
	}
}

func (h handlers) powerNode(ctx context.Context, in *powerInput) (*op.Body[guest.StartResult], error) {
	started, err := h.power.Power(ctx, op.ResourceOf(ctx).ID, in.Node, hypervisor.PowerCommand(in.Body.Command), in.Body.Confirm)
	return &op.Body[guest.StartResult]{Body: started}, err
}

// poweredAgain rebuilds the answer of powerNode for a repeated Idempotency-Key.
func (h handlers) poweredAgain(ctx context.Context, made idempotency.Result) (any, error) {
	return h.power.Actor.ReplayStart(ctx, made)
}
