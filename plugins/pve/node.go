package pve

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// nodeName is the form of node names: host names without dots, so at most 63
// characters.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// nodePath returns a path on a node.
func nodePath(node string, rest ...string) (string, error) {
	if !nodeName.MatchString(node) {
		e := plugin.Errorf(plugin.Invalid, "%.80q is not a valid node name", node)
		e.Field = "node"
		return "", e
	}
	return pveapi.Path(append([]string{"nodes", node}, rest...)...)
}

// nodeRow is one row of /nodes, which every token may read.
type nodeRow struct {
	Node   pveapi.Text `json:"node"`
	Status pveapi.Text `json:"status"`
}

// nodes reads the list of nodes.
func (h *Host) nodes(ctx context.Context) ([]nodeRow, error) {
	var rows []nodeRow
	_, err := h.api.Get(ctx, "/nodes", nil, &rows)
	return rows, err
}

// explain checks whether a call failed because the node does not exist. Proxmox
// VE then looks the name up elsewhere, and reports a wrong certificate.
func (h *Host) explain(ctx context.Context, node string, err error) error {
	if !errors.Is(err, pveapi.ErrNodeName) || plugin.IsOnce(ctx) {
		return err
	}
	rows, listErr := h.nodes(ctx)
	if listErr != nil || slices.ContainsFunc(rows, func(r nodeRow) bool { return string(r.Node) == node }) {
		return err
	}
	return noNode(node)
}

// noNode returns the NotFound error for a node.
func noNode(node string) error {
	return plugin.Errorf(plugin.NotFound, "node %s does not exist", node)
}
