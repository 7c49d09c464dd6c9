package host

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
)

const selectHosts = `
SELECT h.id, h.name, h.address, h.team_id, h.driver, h.status, NULLIF(h.error_reason, ''), NULLIF(h.error, ''), NULLIF(h.version, ''),
	c.id, c.name,
	NULLIF(h.entry_node, ''), h.tls_fingerprint, h.verify_tls, h.node_shell_enabled, h.ssh_host_key_fingerprint, h.polled_at, h.ok_at,
	h.created_at,
	(SELECT count(*) FROM nodes n WHERE n.host_id = h.id), COALESCE(g.vms, 0), COALESCE(g.containers, 0), (SELECT count(*) FROM apps a
	WHERE a.host_id = h.id)
FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id
LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE kind = 'vm') AS vms, count(*) FILTER (WHERE kind = 'container') AS containers
	FROM guests WHERE host_id = h.id) g ON true
WHERE ($1 OR h.team_id = ANY ($2)) AND (cardinality($3::bigint[]) = 0 OR h.id = ANY ($3)) ORDER BY lower(h.name), h.id`

// List gives the hosts that may be seen, by name.
func (s *Store) List(ctx context.Context, visible identity.Visible) ([]Host, error) {
	return s.read(ctx, visible, []int64{})
}

// Get gives one host, whoever asks: the caller was admitted to it before.
func (s *Store) Get(ctx context.Context, id int64) (Host, error) {
	found, err := s.ByIDs(ctx, []int64{id})
	if err != nil {
		return Host{}, err
	}
	if len(found) == 0 {
		return Host{}, noSuchHost()
	}
	return found[0], nil
}

// ByIDs gives these hosts; those that are not there are left out. Whether they may be seen is the caller's to check.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]Host, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.read(ctx, identity.Visible{All: true, Teams: []int64{}}, ids)
}

func noSuchHost() error { return problem.New(problem.CodeNotFound, "there is no such host") }

// read gives the hosts that may be seen, all of them when there are no ids.
func (s *Store) read(ctx context.Context, visible identity.Visible, ids []int64) ([]Host, error) {
	self, err := setting.Get(ctx, s.db, setting.SelfHost)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Pool.Query(ctx, selectHosts, visible.All, visible.Teams, ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading hosts: %w", err))
	}
	hosts, err := pgx.CollectRows(rows, scanHost)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading hosts: %w", err))
	}
	byID := make(map[int64]*Host, len(hosts))
	for i := range hosts {
		hosts[i].IsSelf = self != nil && *self == hosts[i].ID
		byID[hosts[i].ID] = &hosts[i]
	}
	rows, err = s.db.Pool.Query(ctx, `SELECT host_id, capability, token_id, form, verified_at, missing, extra, recommended, console_limits
		FROM host_credentials WHERE cardinality($1::bigint[]) = 0 OR host_id = ANY ($1)
		ORDER BY host_id, array_position($2::text[], capability)`, ids, keys())
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading tokens: %w", err))
	}
	var of int64
	var token Credential
	_, err = pgx.ForEachRow(rows,
		[]any{&of, &token.Key, &token.TokenID, &token.Form, &token.VerifiedAt, &token.Missing, &token.Extra, &token.Recommended,
			&token.ConsoleLimits}, func() error {
			if h := byID[of]; h != nil {
				h.Tokens = append(h.Tokens, token)
			}
			token = Credential{}
			return nil
		})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading tokens: %w", err))
	}
	return hosts, nil
}

func scanHost(row pgx.CollectableRow) (Host, error) {
	h := Host{Tokens: []Credential{}}
	var cluster *int64
	var clusterName *string
	err := row.Scan(&h.ID, &h.Name, &h.Address, &h.TeamID, &h.Driver, &h.Status, &h.Reason, &h.Error, &h.Version, &cluster, &clusterName,
		&h.EntryNode, &h.Fingerprint, &h.VerifyTLS, &h.NodeShell, &h.SSHHostKey, &h.PolledAt, &h.OKAt, &h.CreatedAt,
		&h.Counts.Nodes, &h.Counts.VMs, &h.Counts.Containers, &h.Counts.Apps)
	if cluster != nil {
		h.Cluster = &Cluster{ID: *cluster, Name: *clusterName}
	}
	return h, err
}
