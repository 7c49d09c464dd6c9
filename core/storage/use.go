package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// VolumeUser is a guest that uses a volume.
type VolumeUser struct {
	ID       int64  `json:"id" example:"12" doc:"ID in Hostler"`
	Kind     string `json:"kind" enum:"vm,container"`
	Name     string `json:"name" example:"web1"`
	VMID     *int64 `json:"vmid" example:"101"`
	GuestRef string `json:"guest_ref" example:"101"`
	Node     string `json:"node" example:"pve1"`
}

// These bound the questions that are asked before a volume is deleted. Beyond
// them nobody can tell whether it is in use.
const (
	// maxAsked is how many guests are asked for their configurations before a
	// volume is deleted, and askedAtOnce how many at the same time. If more
	// would have to be asked, the volume counts as used.
	maxAsked    = 1000
	askedAtOnce = 4
	// askLimit bounds all these requests together.
	askLimit = 2 * time.Minute
	// freshVolume is the age below which a volume may belong to a guest that is
	// being created.
	freshVolume = time.Minute
	// readFresh is the age up to which a stored reading of a guest is trusted;
	// see unnamed.
	readFresh = time.Hour
)

// errInUse reports that a volume is used: by known guests, or for the reason
// why.
type errInUse struct {
	users []int64
	why   string
}

// Error says which guest uses the volume.
func (e *errInUse) Error() string { return e.why }

// free returns an errInUse if something uses a volume. all is everything else
// on its storage, and fresh as for unnamed. A disk counts as used while the
// guest exists to which it belongs by its name, whatever that guest's
// configuration contains: its snapshots may need the disk.
func (s *Store) free(ctx context.Context, p *place, v hypervisor.Volume, all []hypervisor.Volume, fresh time.Duration) error {
	if i := slices.IndexFunc(all, func(o hypervisor.Volume) bool { return o.Parent != "" && o.Parent == v.ID }); i >= 0 {
		return &errInUse{why: fmt.Sprintf("the volume %s is a linked clone of it", all[i].ID)}
	}
	switch v.Kind {
	case hypervisor.VolumeBackup, hypervisor.VolumeTemplate:
		return nil // nothing needs them afterwards
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if v.Guest != "" {
		if err := s.ownerGone(ctx, p, v); err != nil {
			return err
		}
	}
	return s.unnamed(ctx, p, v, fresh)
}

// ownerGone returns an errInUse while there is a guest with the id of a disk's
// owner.
func (s *Store) ownerGone(ctx context.Context, p *place, v hypervisor.Volume) error {
	var id int64
	err := s.DB.Pool.QueryRow(ctx, "SELECT id FROM guests WHERE cluster_id = $1 AND ref = $2 ORDER BY id LIMIT 1", p.clusterID,
		string(v.Guest)).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return db.Problem(fmt.Errorf("reading the guest of a volume: %w", err))
	}
	if err == nil {
		there, err := s.names(ctx, id, "")
		if err != nil {
			return err
		}
		if there {
			return &errInUse{users: []int64{id}, why: "it is a disk of an existing guest"}
		}
	}
	// The guest may be newer than the last poll, and than the hypervisor's
	// list.
	listed := false
	_, err = host.CallWithTimeout(ctx, s.Hosts, askLimit, p.hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (struct{}, error) {
			return struct{}{}, at.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
				listed = listed || slices.ContainsFunc(page.Guests, func(g hypervisor.Guest) bool { return g.ID == v.Guest })
				return nil
			})
		})
	switch {
	case err != nil:
		return err
	case listed && id == 0:
		return &errInUse{why: "it is a disk of a new guest"}
	case !v.CreatedAt.IsZero() && time.Since(v.CreatedAt) < freshVolume:
		return &errInUse{why: "it was created less than a minute ago, so a new guest may be about to use it"}
	}
	return nil
}

// unnamed returns an errInUse while the configuration of a guest names the
// volume. Only a present answer proves that one does. Guests are asked first if
// a stored reading says so; if one of these still does, the others need not be
// asked.
//
// That a guest does not name the volume is also taken from a reading younger
// than fresh, if neither a job nor a change in the list of guests came after
// it. A user who requests a deletion gets an answer by such readings
// (readFresh), because nothing is deleted then: an hour is what the reader in
// the background needs for a thousand guests. The job that deletes trusts no
// reading (0) and asks every guest that could use the volume, immediately
// before its request. A guest that cannot be asked is an error.
func (s *Store) unnamed(ctx context.Context, p *place, v hypervisor.Volume, fresh time.Duration) error {
	query := guest.VolumeQuery{ClusterID: p.clusterID, Volume: v.ID, VMs: v.Kind == hypervisor.VolumeImage, Fresh: fresh,
		Limit: maxAsked + 1}
	if !p.shared() {
		query.Node = v.Node
	}
	named, unclear, err := guest.FindVolumeUsers(ctx, s.DB, query)
	switch {
	case err != nil:
		return err
	case len(named)+len(unclear) > maxAsked:
		return &errInUse{why: fmt.Sprintf("more than %d guests would have to be checked to see whether they use it", maxAsked)}
	}
	for _, ids := range [][]int64{named, unclear} {
		users, err := s.naming(ctx, ids, v.ID)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return &errInUse{users: users, why: "guests have it in their configuration"}
		}
	}
	return nil
}

// naming asks guests whether their configurations name a volume, several at a
// time, and returns those that do.
func (s *Store) naming(ctx context.Context, ids []int64, volume string) (users []int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var asking sync.WaitGroup
	next := make(chan int64)
	for range min(askedAtOnce, len(ids)) {
		asking.Go(func() {
			for id := range next {
				named, err := s.names(ctx, id, volume)
				if err != nil {
					cancel(err) // the others need not go on
				}
				if named {
					mu.Lock()
					users = append(users, id)
					mu.Unlock()
				}
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	asking.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.Sort(users)
	return users, nil
}

// names asks a guest's hypervisor whether its configuration names a volume; for
// an empty volume it asks whether the guest exists.
func (s *Store) names(ctx context.Context, guestID int64, volume string) (bool, error) {
	g, err := s.Guests.ByID(ctx, guestID)
	if err != nil && problem.CodeOf(err) == problem.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	config, err := s.Actor.ReadConfig(ctx, g)
	switch {
	case err != nil && problem.CodeOf(err) == problem.CodeNotFound:
		return false, nil
	case err != nil:
		return false, err
	case volume == "":
		return true, nil
	}
	for _, waits := range config.Pending {
		if waits != nil && strings.Contains(*waits, volume) {
			return true, nil
		}
	}
	return slices.ContainsFunc(config.Disks, func(d hypervisor.Disk) bool { return d.Volume == volume }) ||
		slices.ContainsFunc(config.Files, func(f hypervisor.File) bool { return f.Volume == volume }), nil
}

// uses are the users of a volume, as the caller may see them.
type uses struct {
	guests []VolumeUser
	// others is the number of guests that use the volume and that the caller
	// cannot see.
	others int
}

// inUse returns the problem volume_in_use with the users that the caller may
// see.
func (s *Store) inUse(ctx context.Context, used *errInUse) (u uses, err error) {
	if u.guests, u.others, err = s.users(ctx, used.users); err != nil {
		return uses{}, err
	}
	return u, problem.New(problem.CodeVolumeInUse, "%s", used.why).With("guests", u.guests).With("others", u.others)
}

// tell writes the users of the volume into a plan.
func (u uses) tell(pl *plan.Plan) {
	for _, g := range u.guests {
		pl.Add(plan.KindGuest, g.Name, "%s uses it.", g.Name)
	}
	if u.others > 0 {
		pl.Add(plan.KindGuest, "", "%s it.", plan.Plural(u.others, "1 guest of another team uses", "%d guests of other teams use"))
	}
}

// users returns the guests that the caller may see, and the number of the
// others.
func (s *Store) users(ctx context.Context, ids []int64) (seen []VolumeUser, others int, err error) {
	visible := identity.VisibleTeams{All: true}
	if caller := identity.FromContext(ctx); caller != nil {
		visible = caller.Visible()
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT g.id, g.kind, g.name, g.vmid, g.ref, g.node FROM guests g JOIN hosts h ON h.id = g.host_id
		WHERE g.id = ANY ($1) AND ($2 OR h.team_id = ANY ($3)) ORDER BY g.name, g.id`, ids, visible.All, visible.Teams)
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("reading the users of a volume: %w", err))
	}
	seen, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u VolumeUser, err error) {
		return u, row.Scan(&u.ID, &u.Kind, &u.Name, &u.VMID, &u.GuestRef, &u.Node)
	})
	if seen == nil {
		seen = []VolumeUser{}
	}
	return seen, len(ids) - len(seen), db.Problem(err)
}
