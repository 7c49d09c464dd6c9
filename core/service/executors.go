package service

import (
	"context"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
)

// executors tells the catalog whether the service has SSH access to the machine
// of a host. It reads only stored data and opens no connection.
type executors struct{ hosts *host.Store }

var _ catalog.Executors = executors{}

// Node implements catalog.Executors. What prevents SSH access becomes a blocker
// of the plan; only a failure of the service is an error. The architecture
// stays unknown, because reading it needs a connection.
func (e executors) Node(ctx context.Context, hostID int64) (catalog.Node, error) {
	err := e.hosts.RequireSSH(ctx, hostID)
	if err == nil {
		return catalog.Node{}, nil
	}
	refused := problem.From(err)
	if refused.Status() >= 500 && refused.Code != problem.CodeUnsupported {
		return catalog.Node{}, err
	}
	return catalog.Node{Blockers: []catalog.Blocker{{Code: string(refused.Code), Text: refused.Detail}}}, nil
}
