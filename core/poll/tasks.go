package poll

import (
	"context"

	"github.com/hostler/hostler/core/task"
)

// readTasks asks a host for the newest tasks of its cluster while somebody
// looks at them, after the list was written. A host that does not answer is no
// error.
func (p *Poller) readTasks(ctx context.Context, id, cluster int64) error {
	store := &task.Store{DB: p.db}
	watched, err := store.Watched(ctx)
	if err != nil || !watched {
		return err
	}
	hostErr, err := store.Read(ctx, p.hosts, id, cluster)
	if ctx.Err() != nil {
		return nil // the service stops
	}
	if hostErr != nil {
		p.log.Debug("a host does not report its tasks", "host", id, "error", hostErr)
	}
	return err
}
