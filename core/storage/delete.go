package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// deleteKind is the kind of jobs that delete volumes.
const deleteKind = "storage.delete_volume"

// deleteParams are those of such a job.
type deleteParams struct {
	HostID int64             `json:"host_id"`
	Volume hypervisor.Volume `json:"volume"`
}

// Register makes the store the worker of its jobs.
func (s *Store) Register(q *job.Queue) {
	q.Register(deleteKind, job.WorkerFunc(s.delete))
	q.Register(downloadKind, job.WorkerFunc(s.download))
	q.Register(templateKind, job.WorkerFunc(s.fetch))
}

// tokenFor is the capability whose token deletes a volume.
func tokenFor(v hypervisor.Volume) endpoint.Capability {
	if v.Kind == hypervisor.VolumeBackup {
		return endpoint.Backup
	}
	return endpoint.Lifecycle
}

// present is a volume with all that is on its storage, as a node sees it now; nil when it is not there.
func (s *Store) present(ctx context.Context, p *place, node, id string) (*hypervisor.Volume, []hypervisor.Volume, error) {
	list, err := s.list(ctx, p, hypervisor.ContentQuery{Node: node})
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(list.Volumes, func(v hypervisor.Volume) bool { return v.ID == id }); i >= 0 {
		return &list.Volumes[i], list.Volumes, nil
	}
	return nil, list.Volumes, nil
}

// DeleteVolume asks for a volume to be deleted, confirmed by its name. Problems: not_found, capability_missing, unsupported, protected,
// volume_in_use with the guests that use it, confirm_required, plan_stale, guest_busy while another job deletes it, invalid without a
// node where several have such a storage, and those of host.Ask.
func (s *Store) DeleteVolume(ctx context.Context, hostID int64, name, node, id string, confirm *string) (guest.Started, error) {
	p, err := s.find(ctx, hostID, name)
	if err == nil {
		err = p.require()
	}
	if err == nil {
		node, err = p.only(node)
	}
	if err != nil {
		return guest.Started{}, err
	}
	draft := plan.Begin(ctx)
	if err := draft.Refuse(s.able(ctx, hostID, endpoint.Lifecycle)); err != nil {
		return guest.Started{}, err
	}
	v, all, err := s.present(ctx, &p, node, id)
	switch {
	case err != nil:
		return guest.Started{}, err
	case v == nil:
		return guest.Started{}, problem.New(problem.CodeNotFound, "there is no such volume")
	}
	if token := tokenFor(*v); token != endpoint.Lifecycle {
		if err := draft.Refuse(s.able(ctx, hostID, token)); err != nil {
			return guest.Started{}, err
		}
	}
	used, refusal := s.deletable(ctx, &p, *v, all, readFresh)
	if err := draft.Refuse(refusal); err != nil {
		return guest.Started{}, err
	}
	shown := show(*v)
	err = draft.Decide(ctx, plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: shown.Name, Given: confirm != nil && *confirm == shown.Name,
		Why: fmt.Sprintf("the volume %s is deleted for good; send its name %s as confirm to go on", shown.ID, shown.Name),
	}, func(_ context.Context, pl *plan.Plan) error {
		kind := plan.KindDisk
		if v.Kind == hypervisor.VolumeBackup {
			kind = plan.KindBackup
		}
		pl.AddSized(kind, shown.Name, v.SizeBytes, "The volume %s is deleted for good.", shown.ID)
		used.tell(pl)
		if p.shared() {
			pl.Warn("Other clusters that have this storage too are not asked whether they use the volume.")
		}
		return nil
	})
	if err != nil {
		return guest.Started{}, err
	}
	return s.enqueue(ctx, &p, job.Spec{
		Kind: deleteKind, Exclusive: p.volume(node, id), Params: deleteParams{HostID: hostID, Volume: *v},
		Asked: map[string]any{"name": name, "volid": shown.ID, "node": node},
	})
}

// able is problem capability_missing, or unsupported.
func (s *Store) able(ctx context.Context, hostID int64, token endpoint.Capability) error {
	return s.Hosts.Require(ctx, hostID, token, func(at hypervisor.Host) error {
		_, err := host.Able[hypervisor.VolumeDeleter](at)
		return err
	})
}

// volume is what only one job on a volume may hold.
func (p *place) volume(node, id string) string {
	if p.shared() {
		node = ""
	}
	return fmt.Sprintf("volume:%d:%s:%s", p.clusterID, node, id)
}

// enqueue writes a job on a storage, with its audit row.
func (s *Store) enqueue(ctx context.Context, p *place, spec job.Spec) (guest.Started, error) {
	spec.Target, spec.TeamID, spec.HostID = job.Target{Kind: "storage", ID: p.hostID, Name: p.name}, p.teamID, p.hostID
	made, err := s.Actor.Enqueue(ctx, spec)
	if err != nil {
		return guest.Started{}, err
	}
	return guest.Started{Job: made.View()}, nil
}

// deletable is why a volume is not deleted, with who uses it where that is why.
func (s *Store) deletable(ctx context.Context, p *place, v hypervisor.Volume, all []hypervisor.Volume, fresh time.Duration) (uses, error) {
	if v.Protected {
		return uses{}, problem.New(problem.CodeProtected, "the volume is protected; end that first")
	}
	err := s.free(ctx, p, v, all, fresh)
	var used *errInUse
	if errors.As(err, &used) {
		return s.inUse(ctx, used)
	}
	return uses{}, plugin.Problem(err)
}

// same reports whether a volume of an id is the one that was asked about: disks of later guests may have the ids of earlier ones.
func same(a, b hypervisor.Volume) bool {
	return a.Kind == b.Kind && a.Guest == b.Guest && a.CreatedAt.Equal(b.CreatedAt)
}

// delete does a job that deletes a volume. Everything is looked at again before the request. One whose answer is lost is judged by what
// is there: what is gone is deleted, and of what is still there nobody knows; it is not sent for again.
func (s *Store) delete(ctx context.Context, run *job.Run) error {
	var params deleteParams
	if err := run.Params(&params); err != nil {
		return err
	}
	v := params.Volume
	p, err := s.find(ctx, params.HostID, v.Storage)
	if err != nil {
		return err
	}
	_, err = run.Do(ctx, job.Step{
		Name: "delete",
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, params.HostID, tokenFor(v))
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, params.HostID, endpoint.Monitoring)
		},
		Before: func(ctx context.Context) (clock time.Time, done bool, err error) {
			now, all, err := s.present(ctx, &p, v.Node, v.ID)
			switch {
			case err != nil:
				return time.Time{}, false, err
			case now == nil:
				run.Note("the volume is not there any more")
				return time.Now(), true, nil
			case !same(*now, v):
				return time.Time{}, false, job.Fail("there is another volume of this id by now; nothing was done")
			}
			if _, err := s.deletable(ctx, &p, *now, all, 0); err != nil {
				if known := problem.From(err); known.Code == problem.CodeProtected || known.Code == problem.CodeVolumeInUse {
					return time.Time{}, false, job.Fail("nothing was done: %s", known.Detail)
				}
				return time.Time{}, false, err
			}
			run.Note("deleting the volume %s", v.ID)
			return time.Now(), false, nil
		},
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.Able[hypervisor.VolumeDeleter](at)
			if err != nil {
				return "", err
			}
			return able.DeleteVolume(ctx, v)
		},
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: v.Node} },
		// Tasks do not tell which volume they delete, so that none is taken for this job's.
		Ours: func(hypervisor.Task) bool { return false },
		Absent: func(ctx context.Context, _ time.Time, _ bool) error {
			now, _, err := s.present(ctx, &p, v.Node, v.ID)
			switch {
			case err != nil:
				return err
			case now == nil || !same(*now, v):
				return nil
			}
			return job.Undetermined("the deletion was sent and its answer was lost; the volume is still there, and may just be being " +
				"deleted: nothing was sent again")
		},
	})
	if sdk.KindOf(err) == sdk.NotFound && err != nil {
		if _, verdict := job.Verdict(err); !verdict {
			run.Note("the volume is gone already")
			err = nil
		}
	}
	if err != nil {
		return err
	}
	if v.Kind == hypervisor.VolumeBackup && s.Deleted != nil {
		if err := s.Deleted(context.WithoutCancel(ctx), params.HostID, v.Storage, v.Node); err != nil {
			run.Note("the backups on %s could not be listed (%s); the next listing shows what has changed", v.Storage, job.Explain(err))
		}
	}
	return nil
}
