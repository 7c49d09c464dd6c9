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

// deleteParams are the parameters of such a job.
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

// tokenFor returns the capability whose token deletes a volume.
func tokenFor(v hypervisor.Volume) endpoint.Capability {
	if v.Kind == hypervisor.VolumeBackup {
		return endpoint.Backup
	}
	return endpoint.Lifecycle
}

// present returns a volume together with everything on its storage, as a node
// sees it now; nil if it does not exist.
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

// DeleteVolume requests the deletion of a volume, confirmed by its name.
// Problems: not_found, capability_missing, unsupported, protected,
// volume_in_use with the guests that use it, confirm_required, plan_stale,
// guest_busy while another job writes or deletes it, invalid without a node if
// several nodes have such a storage, and those of host.Call.
func (s *Store) DeleteVolume(ctx context.Context, hostID int64, name, node, id string, confirm *string) (guest.StartResult, error) {
	p, err := s.find(ctx, hostID, name)
	if err == nil {
		err = p.require()
	}
	if err == nil {
		node, err = p.only(node)
	}
	if err != nil {
		return guest.StartResult{}, err
	}
	draft := plan.Begin(ctx)
	if err := draft.Refuse(s.able(ctx, hostID, endpoint.Lifecycle)); err != nil {
		return guest.StartResult{}, err
	}
	v, all, err := s.present(ctx, &p, node, id)
	switch {
	case err != nil:
		return guest.StartResult{}, err
	case v == nil:
		return guest.StartResult{}, problem.New(problem.CodeNotFound, "volume not found")
	}
	if token := tokenFor(*v); token != endpoint.Lifecycle {
		if err := draft.Refuse(s.able(ctx, hostID, token)); err != nil {
			return guest.StartResult{}, err
		}
	}
	used, refusal := s.deletable(ctx, &p, *v, all, readFresh)
	if err := draft.Refuse(refusal); err != nil {
		return guest.StartResult{}, err
	}
	shown := show(*v)
	err = draft.Finish(ctx, plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: shown.Name, Given: confirm != nil && *confirm == shown.Name,
		Why: fmt.Sprintf("the volume %s is deleted permanently; to proceed, send its name %s as confirm", shown.ID, shown.Name),
	}, func(_ context.Context, pl *plan.Plan) error {
		kind := plan.KindDisk
		if v.Kind == hypervisor.VolumeBackup {
			kind = plan.KindBackup
		}
		pl.AddSized(kind, shown.Name, v.SizeBytes, "The volume %s is deleted permanently.", shown.ID)
		used.tell(pl)
		if p.shared() {
			pl.Warn("Other clusters that also have this storage are not checked for use of the volume.")
		}
		return nil
	})
	if err != nil {
		return guest.StartResult{}, err
	}
	volume := v.Name
	if v.Kind == hypervisor.VolumeBackup {
		volume = v.ID // as jobs that delete backups name it
	}
	return s.enqueue(ctx, &p, node, volume, job.Spec{
		Kind: deleteKind, Params: deleteParams{HostID: hostID, Volume: *v},
		PublicParams: map[string]any{"name": name, "volid": shown.ID, "node": node},
	})
}

// able returns the problem capability_missing, or unsupported.
func (s *Store) able(ctx context.Context, hostID int64, token endpoint.Capability) error {
	return s.Hosts.Require(ctx, hostID, token, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.VolumeDeleter](at)
		return err
	})
}

// enqueue enqueues a job on a volume of a storage, with its audit entry. One
// job at a time works on a volume.
func (s *Store) enqueue(ctx context.Context, p *place, node, volume string, spec job.Spec) (_ guest.StartResult, err error) {
	spec.Target, spec.TeamID, spec.HostID = job.Target{Kind: "storage", ID: p.hostID, Name: p.name}, p.teamID, p.hostID
	if spec.Exclusive, err = (host.Volume{Node: node, Storage: p.name, Name: volume}).Exclusive(ctx, s.DB, p.hostID); err != nil {
		return guest.StartResult{}, err
	}
	made, err := s.Actor.Enqueue(ctx, spec)
	if err != nil {
		return guest.StartResult{}, err
	}
	return guest.StartResult{Job: made.View()}, nil
}

// deletable returns why a volume is not deleted, with its users if they are the
// reason.
func (s *Store) deletable(ctx context.Context, p *place, v hypervisor.Volume, all []hypervisor.Volume, fresh time.Duration) (uses, error) {
	if v.Protected {
		return uses{}, problem.New(problem.CodeProtected, "the volume is protected; remove the protection first")
	}
	err := s.free(ctx, p, v, all, fresh)
	var used *errInUse
	if errors.As(err, &used) {
		return s.inUse(ctx, used)
	}
	return uses{}, plugin.Problem(err)
}

// same reports whether a volume with an id is the one that the request was
// about. Disks of later guests may get the ids of earlier ones.
func same(a, b hypervisor.Volume) bool {
	return a.Kind == b.Kind && a.Guest == b.Guest && a.CreatedAt.Equal(b.CreatedAt)
}

// delete runs a job that deletes a volume. It checks everything again before
// the request. If the answer is lost, the volume itself tells: a missing one
// was deleted; about one that exists nobody knows, and the request is not
// repeated.
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
				run.Note("the volume no longer exists")
				return time.Now(), true, nil
			case !same(*now, v):
				return time.Time{}, false, job.Fail("another volume has this ID now; nothing was done")
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
			able, err := host.AsAbility[hypervisor.VolumeDeleter](at)
			if err != nil {
				return "", err
			}
			return able.DeleteVolume(ctx, v)
		},
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: v.Node} },
		// Tasks do not name the volume that they delete, so that none is taken
		// for this job's.
		IsOurs: func(hypervisor.Task) bool { return false },
		OnMissing: func(ctx context.Context, _ time.Time, _ bool) error {
			now, _, err := s.present(ctx, &p, v.Node, v.ID)
			switch {
			case err != nil:
				return err
			case now == nil || !same(*now, v):
				return nil
			}
			return job.Undetermined("the deletion was sent but its answer was lost; the volume still exists and may be about to be " +
				"deleted: nothing was sent again")
		},
	})
	if sdk.KindOf(err) == sdk.NotFound && err != nil {
		if _, verdict := job.Verdict(err); !verdict {
			run.Note("the volume is already deleted")
			err = nil
		}
	}
	if err != nil {
		return err
	}
	if v.Kind == hypervisor.VolumeBackup && s.Deleted != nil {
		if err := s.Deleted(context.WithoutCancel(ctx), params.HostID, v.Storage, v.Node); err != nil {
			run.Note("the backups on %s could not be listed (%s); the next listing will show the changes", v.Storage, job.Explain(err))
		}
	}
	return nil
}
