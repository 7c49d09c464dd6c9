package firewall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Place is where an alias, an IP set or a group is used, in the API's words. A
// field that does not apply is null.
type Place struct {
	// Scope is cluster, node, vm, app, container or group.
	Scope string  `json:"scope"`
	Node  *string `json:"node"`
	Group *string `json:"group"`
	VMID  *int64  `json:"vm_id"`
	AppID *int64  `json:"app_id"`
	// Guest is the guest's name.
	Guest *string `json:"guest"`
	// Kind is rule, ipset_member or other.
	Kind     string  `json:"kind"`
	Position *int    `json:"pos"`
	IPSet    *string `json:"ipset"`
	Text     *string `json:"text"`
}

// maxPlaces limits the places in an answer.
const maxPlaces = 100

// inUse returns the problem in_use if something names an object, or may do so,
// or if a set has members, unless confirm is the object's name. A firewall that
// cannot find usages refuses a used object itself.
func (s *Store) inUse(ctx context.Context, on Scope, kind sdk.ObjectKind, name, confirm string, members int) error {
	if confirm == name {
		return nil
	}
	usage, err := ask(ctx, s, on, func(ctx context.Context, able sdk.UsageFinder, scope sdk.Scope) (sdk.Usage, error) {
		return able.Usage(ctx, scope, kind, name)
	})
	if err != nil && !lacks(err) {
		return err
	}
	if len(usage.Places) == 0 && usage.Incomplete == "" && members == 0 {
		return nil
	}
	places, others, err := s.places(ctx, on, usage.Places)
	if err != nil {
		return err
	}
	var why []string
	if n := len(usage.Places); n > 0 {
		why = append(why, fmt.Sprintf("it is used in %d places, which would lose it", n))
	}
	if members > 0 {
		why = append(why, fmt.Sprintf("it has %d members, which would be deleted with it", members))
	}
	if usage.Incomplete != "" {
		why = append(why, "not every place could be checked: "+host.Clean(usage.Incomplete))
	}
	return problem.Confirm(problem.CodeInUse, name, "%s; to proceed, send its name as confirm", strings.Join(why, "; ")).
		With("places", places).With("others", others).With("members", members).With("incomplete", host.CleanOrNil(usage.Incomplete))
}

// known is a guest in the database.
type known struct {
	name      string
	team      int64
	vmID, app *int64
}

// places returns the places that the caller may see, and the number of the
// others.
func (s *Store) places(ctx context.Context, on Scope, found []sdk.Place) (places []Place, others int, err error) {
	visible := identity.VisibleTeams{All: true}
	if caller := identity.FromContext(ctx); caller != nil {
		visible = caller.Visible()
	}
	var guests map[string]known
	if slices.ContainsFunc(found, func(p sdk.Place) bool { return p.Scope.Guest != nil }) {
		if guests, err = s.guests(ctx, on); err != nil {
			return nil, 0, err
		}
	}
	places = []Place{}
	for _, p := range found {
		shown := Place{Scope: string(p.Scope.Kind), Node: host.CleanOrNil(p.Scope.Node), Group: host.CleanOrNil(p.Scope.Group),
			Kind: string(p.Kind), IPSet: host.CleanOrNil(p.IPSet), Text: host.CleanOrNil(p.Text)}
		if p.Kind == sdk.RulePlace {
			shown.Position = &p.Position
		}
		if at := p.Scope.Guest; at != nil {
			g, is := guests[at.Kind+":"+at.ID]
			if is && !visible.Includes(g.team) || !is && !visible.All {
				others++
				continue
			}
			shown.Scope = at.Kind
			if shown.Guest = host.CleanOrNil(at.ID); is {
				shown.Guest, shown.VMID, shown.AppID = &g.name, g.vmID, g.app
			}
			if shown.AppID != nil {
				shown.Scope = "app"
			}
		}
		if len(places) == maxPlaces {
			others++
			continue
		}
		places = append(places, shown)
	}
	return places, others, nil
}

// guests returns the guests of the scope's cluster, by kind and id at the
// hypervisor.
func (s *Store) guests(ctx context.Context, on Scope) (map[string]known, error) {
	cluster, err := s.clusterID(ctx, on)
	if err != nil {
		return nil, err
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT g.kind || ':' || g.ref, g.name, h.team_id, CASE g.kind WHEN 'vm' THEN g.id END, a.id
		FROM guests g JOIN hosts h ON h.id = g.host_id LEFT JOIN apps a ON a.guest_id = g.id WHERE g.cluster_id = $1`, cluster)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the cluster's guests: %w", err))
	}
	defer rows.Close()
	all := map[string]known{}
	for rows.Next() {
		var ref string
		var g known
		if err := rows.Scan(&ref, &g.name, &g.team, &g.vmID, &g.app); err != nil {
			return nil, fmt.Errorf("reading a guest: %w", err)
		}
		all[ref] = g
	}
	if err := rows.Err(); err != nil {
		return nil, db.Problem(fmt.Errorf("reading the cluster's guests: %w", err))
	}
	return all, nil
}
