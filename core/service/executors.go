package service

import (
	"context"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
)

// executors tell the catalog whether the machine of a host can be logged in to. Nothing is dialled for it.
type executors struct{ hosts *host.Store }

var _ catalog.Executors = executors{}

// Node implements catalog.Executors. The architecture is not known without a login.
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
