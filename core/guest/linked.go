package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// unlinked returns the problem volume_in_use for a template whose disks are
// used by linked clones. A storage that cannot be listed is skipped: the
// hypervisor itself refuses the deletion then.
func unlinked(ctx context.Context, on Subject) error {
	if !on.Guest.Template {
		return nil
	}
	config, err := on.config(ctx)
	if err != nil {
		return err
	}
	var storages, clones []string
	own := map[string]bool{}
	for _, d := range config.Disks {
		if d.Volume == "" || d.Removable || d.Kept {
			continue
		}
		if own[d.Volume] = true; !slices.Contains(storages, d.Storage) {
			storages = append(storages, d.Storage)
		}
	}
	for _, storage := range storages {
		list, err := host.CallWithTimeout(ctx, on.hosts, callLimit, on.Guest.HostID, endpoint.Lifecycle,
			func(ctx context.Context, at hypervisor.ContentLister) (hypervisor.ContentList, error) {
				return at.Content(ctx, hypervisor.ContentQuery{Storage: storage, Node: on.Guest.Node, Kind: hypervisor.VolumeDisk})
			})
		if err != nil {
			continue
		}
		for _, v := range list.Volumes {
			if ref := string(v.Guest); own[v.Parent] && ref != on.Guest.Ref && !slices.Contains(clones, ref) {
				clones = append(clones, ref)
			}
		}
	}
	// If the context has ended, the missing listings prove nothing.
	if len(clones) == 0 {
		return ctx.Err()
	}
	names, err := on.named(ctx, clones)
	if err != nil {
		return err
	}
	return problem.New(problem.CodeVolumeInUse, "cannot delete %s: linked clones need its disks: %s; delete them first", on.Guest.Name, names)
}

// named returns the names of the guests with these references that the caller
// may see, and counts the others. Names of other teams must not appear in an
// error.
func (on Subject) named(ctx context.Context, refs []string) (string, error) {
	visible := identity.VisibleTeams{All: true}
	if caller := identity.FromContext(ctx); caller != nil {
		visible = caller.Visible()
	}
	rows, err := on.db.Pool.Query(ctx, `SELECT g.name FROM guests g JOIN hosts h ON h.id = g.host_id
		WHERE g.cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1) AND g.ref = ANY ($2) AND ($3 OR h.team_id = ANY ($4))
		ORDER BY g.name, g.id LIMIT 20`, on.Guest.HostID, refs, visible.All, visible.Teams)
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading the linked clones of a template: %w", err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading the linked clones of a template: %w", err))
	}
	if others := len(refs) - len(names); others > 0 {
		names = append(names, plan.Plural(others, "1 other guest", "%d other guests"))
	}
	return strings.Join(names, ", "), nil
}
