package host

import (
	"context"
	"io"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Login gives access to a host's machine for callers that use it rarely and for
// long. Each call logs in separately and takes one of the host's login slots
// for as long as it lasts. Errors are those of OnNode.
type Login struct {
	Hosts *Store
	// HostID is the host. Limit bounds a call with a command that has no limit
	// of its own.
	HostID int64
	Limit  time.Duration
}

var _ hypervisor.NodeExecutor = Login{}

// slotTime is how long a call may wait for its slot and for the machine to
// answer, in addition to the run time of its command.
const slotTime = 30 * time.Second

// CheckLogin implements hypervisor.NodeExecutor.
func (l Login) CheckLogin(ctx context.Context) (hypervisor.NodeLogin, error) {
	return OnNode(ctx, l.Hosts, l.HostID, l.Limit, func(ctx context.Context, node hypervisor.NodeExecutor) (hypervisor.NodeLogin, error) {
		return node.CheckLogin(ctx)
	})
}

// RunOnNode implements hypervisor.NodeExecutor.
func (l Login) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult,
	error) {
	limit := l.Limit
	if command.Limit > 0 {
		limit = command.Limit + slotTime
	}
	return OnNode(ctx, l.Hosts, l.HostID, limit, func(ctx context.Context, node hypervisor.NodeExecutor) (hypervisor.NodeResult, error) {
		return node.RunOnNode(ctx, command, streams)
	})
}

// CopyToNode implements hypervisor.NodeExecutor.
func (l Login) CopyToNode(ctx context.Context, file hypervisor.NodeFile, content io.Reader) (string, error) {
	return OnNode(ctx, l.Hosts, l.HostID, l.Limit, func(ctx context.Context, node hypervisor.NodeExecutor) (string, error) {
		return node.CopyToNode(ctx, file, content)
	})
}

// CopyFromNode implements hypervisor.NodeExecutor.
func (l Login) CopyFromNode(ctx context.Context, path string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	return OnNode(ctx, l.Hosts, l.HostID, l.Limit, func(ctx context.Context, node hypervisor.NodeExecutor) (hypervisor.NodeFile, error) {
		return node.CopyFromNode(ctx, path, limit, content)
	})
}
