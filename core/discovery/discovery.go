// Package discovery tells programs that watch others where there is something to watch, as the service knows it: guests, the pages of
// apps, nodes, and the service itself.
package discovery

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/outbound"
)

// Role is what targets are asked for.
type Role string

// The roles.
const (
	Guests   Role = "guest"
	Apps     Role = "app"
	Nodes    Role = "node"
	Services Role = "service"
)

// NodeExporter is the port of Prometheus's node exporter, at which guests and nodes are looked for where nobody says another.
const NodeExporter = 9100

// Group is targets with the same labels, as Prometheus reads them from http_sd_configs
// (https://prometheus.io/docs/prometheus/latest/http_sd/).
type Group struct {
	Targets []string          `json:"targets" nullable:"false" example:"[\"192.0.2.5:9100\"]"`
	Labels  map[string]string `json:"labels" nullable:"false" example:"{\"__meta_hostler_name\":\"web-1\"}"`
}

// Store reads the inventory.
type Store struct {
	DB     *db.DB
	Guests *guest.Store
	Apps   *app.Store
	// Rules say which addresses are told.
	Rules outbound.Rules
}

// prefix is what labels begin with, as those of Prometheus's own discoveries do. They end with relabelling unless a rule keeps them.
const prefix = "__meta_hostler_"

// labels are those of a target in the making.
type labels map[string]string

// set adds a label, unless nothing is known of it.
func (l labels) set(name, value string) {
	if value != "" {
		l[prefix+name] = value
	}
}

// list adds a label of several values with a comma before, between and behind them, so that a regular expression finds each alike.
func (l labels) list(name string, values []string) {
	if len(values) > 0 {
		l[prefix+name] = "," + strings.Join(values, ",") + ","
	}
}

// Find gives the targets of a role but Services, with a query for each table and none for each target. What has no address that may be
// dialled is left out, and so are templates. The port is that of guests and nodes.
func (s *Store) Find(ctx context.Context, role Role, port int, visible identity.VisibleTeams) ([]Group, error) {
	switch role {
	case Apps:
		return s.apps(ctx, visible)
	case Nodes:
		return s.nodes(ctx, port, visible)
	default:
		return s.guests(ctx, port, visible)
	}
}

func (s *Store) guests(ctx context.Context, port int, visible identity.VisibleTeams) ([]Group, error) {
	all, err := s.Guests.Entries(ctx, guest.Filter{}, visible)
	if err != nil {
		return nil, err
	}
	groups := []Group{}
	for i := range all {
		addresses := app.DialableAddresses(all[i].Addresses, s.Rules)
		if all[i].Template || len(addresses) == 0 {
			continue
		}
		groups = append(groups, Group{Targets: []string{join(addresses[0].String(), port)}, Labels: ofGuest(&all[i])})
	}
	return groups, nil
}

// ofGuest are the labels of a guest.
func ofGuest(g *guest.Entry) labels {
	l := labels{}
	l.set("id", strconv.FormatInt(g.ID, 10))
	l.set("kind", g.Kind)
	l.set("name", g.Name)
	l.set("status", g.Status)
	l.set("host", g.Host)
	l.set("node", g.Node)
	l.set("cluster", g.Cluster)
	l.set("team", g.Team)
	l.set("pool", g.Pool)
	l.set("ref", g.Ref)
	l.list("tags", g.Tags)
	l.list("addresses", g.Addresses)
	if g.AppID != nil && g.App != nil {
		l.set("app_id", strconv.FormatInt(*g.AppID, 10))
		l.set("app", *g.App)
	}
	return l
}

func (s *Store) apps(ctx context.Context, visible identity.VisibleTeams) ([]Group, error) {
	places, err := s.Apps.WebAddresses(ctx, visible)
	if err != nil {
		return nil, err
	}
	entries, err := s.Guests.Entries(ctx, guest.Filter{Kind: guest.App}, visible)
	if err != nil {
		return nil, err
	}
	guests := map[int64]*guest.Entry{}
	for i := range entries {
		guests[*entries[i].AppID] = &entries[i]
	}
	groups := []Group{}
	for i := range places {
		p := &places[i]
		g := guests[p.App.ID]
		if g == nil {
			continue // its container has gone meanwhile
		}
		l := ofGuest(g)
		l.set("web_url", p.URL)
		l.set("web_scheme", p.Scheme)
		if p.App.Slug != nil {
			l.set("catalog_entry", *p.App.Slug)
		}
		groups = append(groups, Group{Targets: []string{join(p.Address.String(), p.Port)}, Labels: l})
	}
	return groups, nil
}

func (s *Store) nodes(ctx context.Context, port int, visible identity.VisibleTeams) ([]Group, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT n.name, n.status, n.address, n.version, h.name, c.name, t.name
		FROM nodes n JOIN hosts h ON h.id = n.host_id JOIN clusters c ON c.id = n.cluster_id JOIN teams t ON t.id = h.team_id
		WHERE ($1 OR h.team_id = ANY($2)) AND n.address <> '' ORDER BY c.id, n.name`, visible.All, visible.Teams)
	groups := []Group{}
	if err == nil {
		_, err = db.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
			var name, status, address, version, host, cluster, team string
			if err := row.Scan(&name, &status, &address, &version, &host, &cluster, &team); err != nil {
				return none, err
			}
			addresses := app.DialableAddresses([]string{address}, s.Rules)
			if len(addresses) == 0 {
				return none, nil
			}
			l := labels{}
			for label, value := range map[string]string{"name": name, "node": name, "kind": string(Nodes), "status": status,
				"version": version, "host": host, "cluster": cluster, "team": team} {
				l.set(label, value)
			}
			groups = append(groups, Group{Targets: []string{join(addresses[0].String(), port)}, Labels: l})
			return none, nil
		})
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading nodes: %w", err))
	}
	return groups, nil
}

// ServiceTargets gives the pages of figures that the service has, each with the path and scheme to read it by. The address is that by
// which it was asked, with its port, and below the path under which the service is, "/" for none.
func ServiceTargets(address string, secure bool, below string) []Group {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	below = strings.TrimSuffix(below, "/")
	groups := []Group{}
	for _, page := range [][2]string{{"service", "/metrics"}, {"guests", "/api/v1/metrics/guests"}} {
		// Two pages of one address need a label that stays, or their series would be the same.
		l := labels{"__scheme__": scheme, "__metrics_path__": below + page[1], "figures": page[0]}
		l.set("kind", string(Services))
		groups = append(groups, Group{Targets: []string{address}, Labels: l})
	}
	return groups
}

func join(address string, port int) string { return net.JoinHostPort(address, strconv.Itoa(port)) }
