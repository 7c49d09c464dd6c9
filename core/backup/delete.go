package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// deleteKind is the kind of jobs that delete backups.
const deleteKind = "backup.delete"

// deleteParams are the stored parameters of a job that deletes a backup. They
// contain the whole backup, so that the job can compare it with what it finds
// and notices a reused ID.
type deleteParams struct {
	HostID int64             `json:"host_id"`
	Backup hypervisor.Backup `json:"backup"`
}

// Register makes the store the worker of jobs that delete backups. Call it
// before the queue starts.
func (s *Store) Register(q *job.Queue) { q.Register(deleteKind, job.WorkerFunc(s.delete)) }

// deletion returns the job that deletes a backup. Its exclusive key is the
// volume, so that no two jobs work on the same file.
func (s *Store) deletion(ctx context.Context, b stored) (job.Spec, error) {
	exclusive, err := host.Volume{Node: b.at.Node, Storage: b.at.Storage, Name: b.at.ID}.Exclusive(ctx, s.DB, b.HostID)
	return job.Spec{
		Kind: deleteKind, Target: job.Target{Kind: "backup", ID: b.ID, Name: b.phrase()}, TeamID: b.teamID, HostID: b.HostID,
		Exclusive: exclusive, Params: deleteParams{HostID: b.HostID, Backup: b.at},
	}, err
}

// Delete requests a job that deletes a backup, or returns only the plan.
// confirm must be the name of the guest, or the guest's ID on the hypervisor if
// the name is unknown.
//
// It asks the hypervisor first: a backup that no longer exists, or that is
// protected, is refused before a job is made. The job checks both again.
//
// Problems: not_found, capability_missing, unsupported, protected,
// confirm_required, plan_stale, guest_busy while another job deletes the
// backup, and those of host.Call.
func (s *Store) Delete(ctx context.Context, id int64, confirm *string) (guest.StartResult, error) {
	b, err := s.read(ctx, id)
	if err != nil {
		return guest.StartResult{}, err
	}
	phrase := b.phrase()
	draft, confirmation := plan.Begin(ctx), plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: phrase, Given: confirm != nil && *confirm == phrase,
		Why: fmt.Sprintf("the backup of %s is deleted permanently; to proceed, send the name %s as confirm", phrase, phrase),
	}
	if err := draft.RefuseAndStop(ctx, s.require(ctx, b.HostID), confirmation); err != nil {
		return guest.StartResult{}, err
	}
	present, err := s.present(ctx, b)
	switch {
	case err != nil:
		err = draft.Refuse(err)
	case present == nil:
		return guest.StartResult{}, problem.New(problem.CodeNotFound, "the backup no longer exists")
	case present.Protected:
		err = draft.Refuse(problem.New(problem.CodeProtected, "the backup is protected; remove the protection first"))
	}
	if err != nil {
		return guest.StartResult{}, err
	}
	if err := draft.Finish(ctx, confirmation, func(ctx context.Context, p *plan.Plan) error { return s.tell(ctx, b, p) }); err != nil {
		return guest.StartResult{}, err
	}
	spec, err := s.deletion(ctx, b)
	if err != nil {
		return guest.StartResult{}, err
	}
	made, err := s.Actor.Enqueue(ctx, spec)
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View()}, nil
}

// tokenID returns the ID of the host's token for backups, empty if there is
// none. The job uses it to recognize its own task in the task list.
func (s *Store) tokenID(ctx context.Context, hostID int64) (id string, err error) {
	err = s.DB.Pool.QueryRow(ctx, `SELECT COALESCE((SELECT token_id FROM host_credentials WHERE host_id = $1 AND capability = $2), '')`,
		hostID, endpoint.Backup).Scan(&id)
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading the token's id: %w", err))
	}
	return id, nil
}

// gone checks after a successful task that the backup no longer exists. If it
// still exists, the task that was followed belonged to another deletion, and
// the result is undetermined.
func (s *Store) gone(ctx context.Context, run *job.Run, params deleteParams) error {
	var present *hypervisor.Backup
	err := run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
		present, err = s.find(ctx, params.HostID, params.Backup, listLimit)
		return err
	})
	if err == nil && present != nil {
		err = job.Undetermined("the deletion succeeded, but the backup still exists; it is unknown whether it is about to be deleted")
	}
	return err
}

// present asks the hypervisor for the current state of the backup; nil if it no
// longer exists.
func (s *Store) present(ctx context.Context, b stored) (*hypervisor.Backup, error) {
	found, err := s.find(ctx, b.HostID, b.at, changeLimit)
	return found, plugin.Problem(err)
}

// find lists the storage and returns the backup with the same ID; nil if it
// does not exist. Drivers cannot query one backup.
func (s *Store) find(ctx context.Context, hostID int64, wanted hypervisor.Backup, limit time.Duration) (*hypervisor.Backup, error) {
	return host.CallWithTimeout(ctx, s.Actor.Hosts, limit, hostID, endpoint.Backup,
		func(ctx context.Context, at hypervisor.BackupManager) (*hypervisor.Backup, error) {
			all, err := at.Backups(ctx, hypervisor.BackupQuery{Storage: wanted.Storage, Node: wanted.Node})
			for i := range all {
				if all[i].ID == wanted.ID {
					return &all[i], err
				}
			}
			return nil, err
		})
}

// tell adds to the plan the backup that would be deleted, and the good backups
// of the guest that would remain. It warns if there would be none.
func (s *Store) tell(ctx context.Context, b stored, p *plan.Plan) error {
	p.AddSince(plan.KindBackup, b.Storage, b.at.TakenAt, "The backup of %s on %s is deleted.", b.phrase(), b.Storage)
	p.Effects[len(p.Effects)-1].SizeBytes = b.SizeBytes
	var others int
	var newest *time.Time
	err := s.DB.Pool.QueryRow(ctx, `SELECT count(*), max(taken_at) FROM backups b WHERE id <> $1 AND `+guest.GoodBackup+`
		AND cluster_id = $2 AND kind = $3 AND guest_ref = $4 AND COALESCE(uid, '') = $5`, b.ID, b.clusterID, b.Kind, b.GuestRef, b.at.UID).
		Scan(&others, &newest)
	if err != nil {
		return db.Problem(fmt.Errorf("counting the backups of a guest: %w", err))
	}
	switch {
	case others == 0:
		p.Warn("This is the last known good backup of %s.", b.phrase())
	case newest != nil:
		p.AddSince(plan.KindBackup, "", *newest, "%s.", plan.Plural(others, "1 good backup of the guest remains",
			"%d good backups of the guest remain"))
	}
	return nil
}

// delete runs a job that deletes a backup. A backup that no longer exists is a
// success.
//
// The task list of a hypervisor does not say which backup a task deletes. If
// the response to the request is lost, every deletion by the same token since
// then may be the one of this job. The job follows such a task, and the list of
// the storage decides. Without such a task the request had not arrived.
//
// At the end the job lists the storage again. If that fails, it deletes the row
// from the cache, so that users do not see a deleted backup.
func (s *Store) delete(ctx context.Context, run *job.Run) error {
	var params deleteParams
	if err := run.Params(&params); err != nil {
		return err
	}
	b := params.Backup
	token, err := s.tokenID(ctx, params.HostID)
	if err != nil {
		return err
	}
	_, err = run.Do(ctx, job.Step{
		Name: "delete",
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Actor.Hosts.Open(ctx, params.HostID, endpoint.Backup)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Actor.Hosts.Open(ctx, params.HostID, endpoint.Monitoring)
		},
		Before: func(ctx context.Context) (clock time.Time, done bool, err error) {
			present, err := s.find(ctx, params.HostID, b, listLimit)
			switch {
			case err != nil:
				return time.Time{}, false, err
			case present == nil:
				run.Note("nothing to do: the backup no longer exists")
				return time.Now(), true, nil
			case present.Kind != b.Kind || present.Guest != b.Guest || !present.TakenAt.Equal(b.TakenAt):
				return time.Time{}, false, job.Fail("the ID %s now belongs to another backup; nothing was done", b.ID)
			case present.Protected:
				return time.Time{}, false, job.Fail("the backup is protected; nothing was done")
			}
			run.Note("deleting the backup %s", b.ID)
			return time.Now(), false, nil
		},
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.BackupManager](at)
			if err != nil {
				return "", err
			}
			return able.DeleteBackup(ctx, b)
		},
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: b.Node} },
		IsOurs: func(task hypervisor.Task) bool {
			return task.Operation == hypervisor.OperationVolumeDelete && guest.SentBy(task, token)
		},
		OnMissing: func(ctx context.Context, _ time.Time, reaches bool) error {
			present, err := s.find(ctx, params.HostID, b, listLimit)
			if err != nil || reaches || present == nil {
				return err
			}
			return job.Undetermined("the deletion was sent but its answer was lost; the hypervisor's task list does not reach back " +
				"that far, and the backup still exists: it may be about to be deleted")
		},
	})
	if err == nil {
		err = s.gone(ctx, run, params)
	}
	if kind := sdk.KindOf(err); err != nil && kind == sdk.NotFound {
		if _, verdict := job.Verdict(err); !verdict {
			run.Note("the backup is already deleted")
			err = nil
		}
	}
	if err != nil {
		return err
	}
	if err := s.Refresh(context.WithoutCancel(ctx), params.HostID, b.Storage, b.Node); err != nil {
		run.Note("the backups on %s could not be listed (%s); the next listing will show the changes", b.Storage, job.Explain(err))
		if _, err := s.DB.Pool.Exec(context.WithoutCancel(ctx), "DELETE FROM backups WHERE id = $1", run.Job().Target.ID); err != nil {
			return db.Problem(fmt.Errorf("removing a backup from the list: %w", err))
		}
	}
	return nil
}
