package storage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// DetachResult is the result of detaching a storage.
type DetachResult struct {
	HostID   int64  `json:"host_id" example:"1"`
	Storage  string `json:"storage" example:"nas"`
	Detached bool   `json:"detached"`
}

// maxLooked limits the nodes that are asked what would become unreachable.
const maxLooked = 4

// Detach makes the hypervisor of a host forget a storage, confirmed by the
// storage's name, with one request that is sent once. The content of the
// storage stays. Problems: not_found, confirm_required, plan_stale,
// invalid_state if another storage is based on it, and those of Attach.
func (s *Store) Detach(ctx context.Context, hostID int64, name string, confirm *string) (DetachResult, error) {
	p, err := s.find(ctx, hostID, name)
	if err != nil {
		return DetachResult{}, err
	}
	draft := plan.Begin(ctx)
	if err := draft.Refuse(s.mayManage(ctx, hostID)); err != nil {
		return DetachResult{}, err
	}
	if _, err := s.definition(ctx, hostID, name); err != nil {
		if err := draft.Refuse(err); err != nil {
			return DetachResult{}, err
		}
	}
	err = draft.Finish(ctx, plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: name, Given: confirm != nil && *confirm == name,
		Why: fmt.Sprintf("the storage %s is detached, and its contents become inaccessible; to proceed, send its name as confirm", name),
	}, func(ctx context.Context, pl *plan.Plan) error { return s.tellStranded(ctx, &p, pl) })
	if err != nil {
		return DetachResult{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "storage", name
		e.Detail("storage", name)
	})
	err = s.change(ctx, &p, func(ctx context.Context, m hypervisor.StorageManager) error { return m.DetachStorage(ctx, name) },
		func(now *hypervisor.StorageDefinition) bool { return now == nil })
	if err != nil {
		return DetachResult{}, err
	}
	// The next poll would do this too.
	if _, err := s.DB.Pool.Exec(context.WithoutCancel(ctx), "DELETE FROM storages WHERE cluster_id = $1 AND name = $2",
		p.clusterID, name); err != nil {
		return DetachResult{}, db.Problem(fmt.Errorf("deleting a storage: %w", err))
	}
	return DetachResult{hostID, name, true}, nil
}

// tellStranded writes into the plan what would become unreachable.
func (s *Store) tellStranded(ctx context.Context, p *place, pl *plan.Plan) error {
	pl.Add(plan.KindHost, p.name, "The storage %s is removed from the hypervisor's configuration. Its contents stay on it.", p.name)
	counts := map[hypervisor.VolumeKind]int{}
	sizes := map[hypervisor.VolumeKind]int64{}
	owners, backups := map[hypervisor.GuestID]int{}, map[hypervisor.GuestID]int{}
	names := map[hypervisor.VolumeKind][]string{}
	for i, node := range p.looked() {
		if i >= maxLooked {
			pl.Warn("Its contents on further nodes were not checked.")
			break
		}
		list, err := s.list(ctx, p, hypervisor.ContentQuery{Node: node})
		if err != nil {
			pl.Warn("Its contents on %s could not be read: %s", node, problem.From(err).Detail)
			continue
		}
		if len(list.Hidden) > 0 {
			pl.Warn("Not all of its contents are shown: %v.", list.Hidden)
		}
		for _, v := range list.Volumes {
			counts[v.Kind]++
			if v.SizeBytes != nil {
				sizes[v.Kind] += *v.SizeBytes
			}
			switch {
			case v.Kind == hypervisor.VolumeDisk && v.Guest != "":
				owners[v.Guest]++
			case v.Kind == hypervisor.VolumeBackup && v.Guest != "":
				backups[v.Guest]++
			case v.Kind != hypervisor.VolumeDisk && v.Kind != hypervisor.VolumeBackup:
				names[v.Kind] = append(names[v.Kind], host.Clean(v.Name))
			}
		}
	}
	if err := s.tellOwners(ctx, p, owners, pl); err != nil {
		return err
	}
	if err := s.tellBackups(ctx, p, backups, pl); err != nil {
		return err
	}
	for _, k := range []struct {
		of              hypervisor.VolumeKind
		kind, one, many string
	}{
		{hypervisor.VolumeDisk, plan.KindDisk, "1 disk becomes", "%d disks become"},
		{hypervisor.VolumeBackup, plan.KindBackup, "1 backup becomes", "%d backups become"},
		{hypervisor.VolumeImage, plan.KindData, "1 image becomes", "%d images become"},
		{hypervisor.VolumeTemplate, plan.KindData, "1 template becomes", "%d templates become"},
		{hypervisor.VolumeOther, plan.KindData, "1 other file becomes", "%d other files become"},
	} {
		if n := counts[k.of]; n > 0 {
			size := sizes[k.of]
			pl.AddSized(k.kind, "", &size, "%s inaccessible%s.", plan.Plural(n, k.one, k.many), naming(names[k.of]))
		}
	}
	return nil
}

// maxNamed limits the files that a plan names.
const maxNamed = 10

// naming lists files after a colon, each once.
func naming(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) == 0 {
		return ""
	}
	text := ": " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tellBackups describes whose backups would become unreachable, as far as the
// caller may see the guests. A guest may not exist any more.
func (s *Store) tellBackups(ctx context.Context, p *place, backups map[hypervisor.GuestID]int, pl *plan.Plan) error {
	found, err := s.guestsOf(ctx, p.clusterID, slices.Collect(maps.Keys(backups)))
	if err != nil {
		return err
	}
	seen, others, err := s.users(ctx, slices.Sorted(maps.Keys(found)))
	if err != nil {
		return err
	}
	for _, u := range seen {
		what := "VM"
		if u.Kind == guest.Container {
			what = "container"
		}
		if n := backups[found[u.ID]]; n == 1 {
			pl.Add(plan.KindBackup, u.Name, "1 backup of the %s %s becomes inaccessible.", what, u.Name)
		} else {
			pl.Add(plan.KindBackup, u.Name, "%d backups of the %s %s become inaccessible.", n, what, u.Name)
		}
	}
	if others > 0 {
		pl.Add(plan.KindBackup, "", "Backups of %s become inaccessible.",
			plan.Plural(others, "1 guest of another team", "%d guests of other teams"))
	}
	gone := 0
	for _, ref := range found {
		backups[ref] = 0
	}
	for _, n := range backups {
		gone += n
	}
	if gone > 0 {
		pl.Add(plan.KindBackup, "", "%s inaccessible.",
			plan.Plural(gone, "1 backup of a guest that no longer exists becomes", "%d backups of guests that no longer exist become"))
	}
	return nil
}

// looked returns the nodes that must be asked for the whole content of the
// storage.
func (p *place) looked() (nodes []string) {
	if p.known == nil || p.shared() {
		if node, err := p.on(""); err == nil {
			return []string{node}
		}
		return nil
	}
	for _, n := range p.known.Nodes {
		nodes = append(nodes, n.Node)
	}
	return nodes
}

// tellOwners names the guests whose disks are on the storage, by the present
// list, and those that use a volume of it, by the last reading of their
// configurations, as far as the caller may see them.
func (s *Store) tellOwners(ctx context.Context, p *place, owners map[hypervisor.GuestID]int, pl *plan.Plan) error {
	uses, unknown, err := guest.VolumesOn(ctx, s.DB, p.clusterID, p.name)
	if err != nil {
		return err
	}
	disks, drives, files, asOf := map[int64]int{}, map[int64]int{}, map[int64]int{}, map[int64]time.Time{}
	ids := []int64{}
	for _, u := range uses {
		asOf[u.GuestID] = u.AsOf
		switch {
		case u.File:
			files[u.GuestID]++
		case u.Removable:
			drives[u.GuestID]++
		default:
			disks[u.GuestID]++
		}
		ids = append(ids, u.GuestID)
	}
	listed, err := s.guestsOf(ctx, p.clusterID, slices.Collect(maps.Keys(owners)))
	if err != nil {
		return err
	}
	for id, ref := range listed {
		// The present list is newer than the readings.
		disks[id] = owners[ref]
		ids = append(ids, id)
	}
	slices.Sort(ids)
	seen, others, err := s.users(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	for _, u := range seen {
		what := "The VM"
		if u.Kind == guest.Container {
			what = "The container"
		}
		at := asOf[u.ID] // zero where it was only listed
		switch _, now := listed[u.ID]; {
		case now:
			pl.Add(plan.KindGuest, u.Name, "%s %s loses %d of its disks.", what, u.Name, disks[u.ID])
		case disks[u.ID] > 0:
			pl.AddSince(plan.KindGuest, u.Name, at, "%s %s loses %d of its disks, as of its last read configuration.",
				what, u.Name, disks[u.ID])
		}
		if n := drives[u.ID]; n > 0 {
			pl.AddSince(plan.KindGuest, u.Name, at, "%s %s loses the media in %d of its drives, as of its last read configuration.",
				what, u.Name, n)
		}
		if n := files[u.ID]; n > 0 {
			pl.AddSince(plan.KindGuest, u.Name, at, "%s %s loses %d of the scripts and snippets in its configuration, as last read, "+
				"and may not start without them.", what, u.Name, n)
		}
	}
	if others > 0 {
		pl.Add(plan.KindGuest, "", "%s disks, media in drives, or scripts and snippets.",
			plan.Plural(others, "1 guest of another team loses", "%d guests of other teams lose"))
	}
	if unknown > 0 {
		pl.Warn("%s the storage is only known for listed disks.",
			plan.Plural(unknown, "The configuration of 1 guest was not read yet: whether it uses",
				"The configurations of %d guests were not read yet: whether they use"))
	}
	return nil
}

// guestsOf returns the guests of a cluster that have certain ids at the
// hypervisor.
func (s *Store) guestsOf(ctx context.Context, clusterID int64, refs []hypervisor.GuestID) (map[int64]hypervisor.GuestID, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT id, ref FROM guests WHERE cluster_id = $1 AND ref = ANY ($2)", clusterID, refs)
	found := map[int64]hypervisor.GuestID{}
	var id int64
	var ref hypervisor.GuestID
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&id, &ref}, func() error {
			found[id] = ref
			return nil
		})
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the guests on a storage: %w", err))
	}
	return found, nil
}
