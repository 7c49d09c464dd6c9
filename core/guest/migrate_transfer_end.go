package guest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// deletionLimit is for how long a backup that is deleted is waited for to be gone.
const deletionLimit = 2 * time.Minute

// removeCopies deletes the backups that the move has made on both sides, and no others. What is left is said, in sentences without their
// stop. An error means that the run must end; it may be done again.
func (a *act) removeCopies(ctx context.Context, x *across) (left []string, err error) {
	t := x.Transfer
	if t.Made == nil && a.run.Begun(stepBackup) {
		if t.Made, err = a.newBackup(ctx, x); err != nil {
			left = append(left, fmt.Sprintf("whether a backup was left on the storage %s could not be found out", x.SourceStorage))
		}
		if t.Made == nil && err == nil && x.Failure != nil && x.Failure.Status == job.Unknown {
			left = append(left, fmt.Sprintf("a backup may still come to be on the storage %s", x.SourceStorage))
		}
	}
	if t.Made != nil {
		if text := a.removeBackup(ctx, a.hostID, *t.Made); text != "" {
			left = append(left, text)
		}
	}
	switch {
	case t.To == nil:
	case x.Failure != nil && x.Failure.Status == job.Unknown && a.run.Begun(x.restoring()):
		left = append(left, fmt.Sprintf("the backup %s is left on %s, since it may still be restored from", t.To.ID, x.HostName))
	default:
		if text := a.removeBackup(ctx, x.HostID, x.copyAt(*t.To, a.asked)); text != "" {
			left = append(left, text)
		}
	}
	select {
	case <-a.run.Stopping():
		return nil, job.ErrStopping
	default:
		return left, nil
	}
}

// removeBackup deletes a backup, unless it is gone, and waits until it is. It says what is left. If another job writes or deletes the
// backup, removeBackup waits for that job first.
func (a *act) removeBackup(ctx context.Context, hostID int64, b hypervisor.Backup) (left string) {
	held := false
	for ends, sent, seen := time.Now().Add(deletionLimit), false, false; ; seen = true {
		list, err := a.backups(ctx, hostID, b.Node, b.Storage)
		if err == nil && !slices.ContainsFunc(list, func(other hypervisor.Backup) bool { return other.ID == b.ID }) {
			if seen {
				a.run.Note("the backup %s is deleted", b.ID)
				a.relist(ctx, a.run, hostID, b.Storage, b.Node)
			}
			return ""
		}
		if err == nil && !held {
			release, busy := a.holdBackup(ctx, hostID, b, deletionLimit)
			if held = busy == nil; held {
				defer release()
			} else if problem.CodeOf(busy) != problem.CodeGuestBusy {
				err = busy
			}
		}
		if err == nil && held && !sent {
			_, err = host.AskWithin(ctx, a.Hosts, a.readLimit(), hostID, endpoint.Backup,
				func(ctx context.Context, at hypervisor.Backuper) (string, error) { return at.DeleteBackup(ctx, b) })
			sent = err == nil
			if kind := sdk.KindOf(err); kind == sdk.NotFound || kind == sdk.Timeout || kind == sdk.Unreachable {
				err = nil // the list tells, and asking twice does no harm
			}
		}
		if err != nil {
			return fmt.Sprintf("the backup %s is left on the storage %s: %s", b.ID, b.Storage, job.Explain(err))
		}
		if time.Now().After(ends) {
			return fmt.Sprintf("the backup %s is left on the storage %s, which does not delete it", b.ID, b.Storage)
		}
		select {
		case <-a.run.Stopping():
			return "the service stops"
		case <-time.After(200 * time.Millisecond):
		}
	}
}
