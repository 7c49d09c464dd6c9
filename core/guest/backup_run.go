package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// BackupRequest describes a requested backup. A nil field leaves the choice to
// the hypervisor or the service.
type BackupRequest struct {
	Storage   *string `json:"storage,omitempty"`
	Mode      *string `json:"mode,omitempty"`
	Compress  *string `json:"compress,omitempty"`
	Notes     *string `json:"notes,omitempty"`
	Protected bool    `json:"protected,omitempty"`
}

// spec returns the backup to take on a storage. Notes lose the white space at
// their ends, because the driver's contract requires that.
func (o BackupRequest) spec(storage string) hypervisor.BackupSpec {
	spec := hypervisor.BackupSpec{Storage: storage, Protected: o.Protected}
	for field, given := range map[*string]*string{&spec.Mode: o.Mode, &spec.Compress: o.Compress, &spec.Notes: o.Notes} {
		if given != nil {
			*field = *given
		}
	}
	spec.Notes = strings.TrimSpace(spec.Notes)
	return spec
}

// backupSpec is the backup of a job, with the order and target that the API
// shows.
type backupSpec struct {
	hypervisor.BackupSpec
	Order  BackupRequest
	Target BulkTarget
}

// RunBackup is the work that backs up a guest. In the mode "stop" it interrupts
// a running guest.
var RunBackup = Work[backupSpec]{
	Kind: "backup.run", Needs: endpoint.Backup, Templates: true,
	Stops: func(spec backupSpec) bool { return spec.Mode == "stop" },
	PublicParams: func(spec backupSpec) any {
		return struct {
			Targets []map[string]int64 `json:"targets"`
			BackupRequest
		}{[]map[string]int64{spec.Target.named()}, spec.Order}
	},
	Plan: func(ctx context.Context, on Subject, spec backupSpec, p *plan.Plan) error {
		p.Add(plan.KindBackup, "", "%s is backed up to %s.", on.Guest.Name, spec.Storage)
		return on.warnLeftOut(ctx, p)
	},
	Steps: []Step[backupSpec]{{
		Name: "backup", Operation: hypervisor.OperationBackup, Reads: endpoint.Backup,
		Note: func(spec backupSpec) string { return "backing up to " + spec.Storage },
		Send: Using(func(b hypervisor.BackupManager, ctx context.Context, ref hypervisor.GuestRef, spec backupSpec) (string, error) {
			return b.RunBackup(ctx, ref, spec.BackupSpec)
		}),
		// Without the time of the request every older backup would count as the
		// result of this one.
		Since: func(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, spec backupSpec, sent time.Time) (s State,
			err error) {
			if sent.IsZero() {
				return s, nil
			}
			made, err := backupsSince(ctx, at, guest.GuestRef, spec.BackupSpec, sent)
			if err == nil && len(made) > 0 {
				s.Created = fmt.Sprintf("a backup of %s exists", made[0].TakenAt.UTC().Format("2006-01-02 15:04:05 UTC"))
			}
			return s, err
		},
	}},
	End: func(ctx context.Context, e *CompletedJob[backupSpec]) error {
		e.relist(ctx, e.Spec.Storage)
		return e.keepBackup(ctx, e.Spec.BackupSpec)
	},
}

// backupsSince returns the guest's backups that match the spec and were not
// taken before a time, oldest first. All times are those of the hypervisor. The
// time of a backup has no fraction of a second, so since is cut to seconds as
// well.
func backupsSince(ctx context.Context, at hypervisor.Host, ref hypervisor.GuestRef, spec hypervisor.BackupSpec,
	since time.Time) ([]hypervisor.Backup, error) {
	able, err := host.AsAbility[hypervisor.BackupManager](at)
	if err != nil {
		return nil, err
	}
	all, err := able.Backups(ctx, hypervisor.BackupQuery{Storage: spec.Storage, Node: ref.Node})
	if err != nil {
		return nil, err
	}
	// The ID may have belonged to another guest before. Where both sides have a
	// UID, that decides; otherwise the ID does.
	all = slices.DeleteFunc(all, func(b hypervisor.Backup) bool {
		same := b.Kind == ref.Kind && (b.Guest == ref.ID || b.UID != "" && b.UID == ref.UID) &&
			(b.UID == "" || ref.UID == "" || b.UID == ref.UID)
		return !same || !spec.NotesMatch(b) || b.TakenAt.Before(since.Truncate(time.Second))
	})
	slices.SortStableFunc(all, func(a, b hypervisor.Backup) int { return a.TakenAt.Compare(b.TakenAt) })
	return all, nil
}

// backupStorages caches the storages of backups of each cluster, as the last
// polls found them. A request for 500 guests then reads each cluster once.
type backupStorages struct {
	db    *db.DB
	known map[int64][]backupStorage
}

// backupStorage is a storage as one node sees it.
type backupStorage struct {
	Node, Name string
	Available  bool
}

// choose returns the storage for the backup of a guest: the wanted one, or the
// only one of its node. A problem is invalid with the field "storage", and says
// whether the storage is missing, ambiguous or unavailable.
func (s *backupStorages) choose(ctx context.Context, g *Guest, wanted *string) (string, error) {
	if s.known == nil {
		s.known = map[int64][]backupStorage{}
	}
	all, read := s.known[g.clusterID]
	if !read {
		rows, err := s.db.Pool.Query(ctx, `SELECT node, name, status = 'available' FROM storages
			WHERE cluster_id = $1 AND 'backup' = ANY(content) ORDER BY name`, g.clusterID)
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[backupStorage])
		}
		if err != nil {
			return "", db.Problem(fmt.Errorf("reading the backup storages: %w", err))
		}
		s.known[g.clusterID] = all
	}
	refuse := func(format string, args ...any) (string, error) {
		return "", problem.InvalidField(fmt.Sprintf(format, args...), "value_error", "body", "storage")
	}
	var here []backupStorage
	for _, at := range all {
		if at.Node == g.Node && (wanted == nil || at.Name == *wanted) {
			here = append(here, at)
		}
	}
	switch {
	case len(here) == 0 && wanted != nil:
		return refuse("node %s does not have this storage, or the storage does not accept backups", g.Node)
	case len(here) == 0:
		return refuse("no known storage of node %s accepts backups", g.Node)
	case len(here) > 1:
		return refuse("node %s has %d storages that accept backups; specify one", g.Node, len(here))
	case !here[0].Available:
		return refuse("the storage %s is not available", here[0].Name)
	}
	return here[0].Name, nil
}

// BackUpAll enqueues a backup of each of several guests; see ActOnAll. If the
// storage cannot be used for any of them, the problem of the request is
// invalid.
func (s *Store) BackUpAll(ctx context.Context, a *Actor, order BackupRequest, all []BulkTarget, confirm *string) (BulkResult, error) {
	storages := &backupStorages{db: a.DB}
	return workOnAll(ctx, s, a, RunBackup, func(ctx context.Context, r Request) (backupSpec, error) {
		return storages.order(ctx, r, order)
	}, all, confirm)
}

// order returns the spec of RunBackup for one guest.
func (s *backupStorages) order(ctx context.Context, r Request, order BackupRequest) (backupSpec, error) {
	storage, err := s.choose(ctx, r.Guest, order.Storage)
	return backupSpec{BackupSpec: order.spec(storage), Order: order, Target: targetOf(r)}, err
}

// PrepareBackup is RunBackup's Prepare for the run of a schedule, where no
// caller waits.
func PrepareBackup(ctx context.Context, a *Actor, r Request, order BackupRequest) (schedule.Enqueue, error) {
	spec, err := (&backupStorages{db: a.DB}).order(ctx, r, order)
	if err != nil {
		return nil, err
	}
	return RunBackup.Prepare(ctx, a, r, spec)
}
