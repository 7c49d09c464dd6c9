package pve

import (
	"context"
	"net/url"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// PowerNode needs Sys.PowerMgmt on the node. The node answers at once. systemd
// then shuts the guests down, and pveproxy answers until they are down.
func (h *Host) PowerNode(ctx context.Context, node string, command hypervisor.PowerCommand) error {
	if !slices.Contains(hypervisor.PowerCommands(), command) {
		return plugin.Errorf(plugin.Unsupported, "unknown command %.80q", command)
	}
	path, err := nodePath(node, "status")
	if err != nil {
		return err
	}
	if node == "localhost" { // the API's own word for the node that is called
		return noNode(node)
	}
	if _, err := h.api.Post(ctx, path, url.Values{"command": {string(command)}}, nil); err != nil {
		return h.explainAway(ctx, node, err)
	}
	h.log.Debug("node command sent: "+string(command), "node", node)
	return nil
}
