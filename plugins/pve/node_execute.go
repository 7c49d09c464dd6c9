package pve

import (
	"context"
	"io"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// CheckLogin implements hypervisor.NodeExecutor. It does not use the API; it
// logs in to the node at the address by SSH.
func (h *Host) CheckLogin(ctx context.Context) (hypervisor.NodeLogin, error) {
	return h.machine.CheckLogin(ctx)
}

// RunOnNode implements hypervisor.NodeExecutor.
func (h *Host) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	return h.machine.RunOnNode(ctx, command, streams)
}

// CopyToNode implements hypervisor.NodeExecutor.
func (h *Host) CopyToNode(ctx context.Context, file hypervisor.NodeFile, content io.Reader) (string, error) {
	return h.machine.CopyToNode(ctx, file, content)
}

// CopyFromNode implements hypervisor.NodeExecutor.
func (h *Host) CopyFromNode(ctx context.Context, path string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	return h.machine.CopyFromNode(ctx, path, limit, content)
}
