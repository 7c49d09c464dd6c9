package host

import (
	"context"
	"fmt"
	"time"

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
	h.created_at, h.ssh_port, ka.public_key, ka.verified_at, kp.public_key, kp.created_at, sc.user_email, sc.at, sc.version,
	(SELECT count(*) FROM nodes n WHERE n.host_id = h.id), COALESCE(g.vms, 0), COALESCE(g.containers, 0), (SELECT count(*) FROM apps a
	WHERE a.host_id = h.id)
FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id
LEFT JOIN host_ssh_keys ka ON ka.host_id = h.id AND ka.state = 'active'
LEFT JOIN host_ssh_keys kp ON kp.host_id = h.id AND kp.state = 'pending'
LEFT JOIN host_ssh_consents sc ON sc.host_id = h.id
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
	from, err := s.sshFrom(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Pool.Query(ctx, selectHosts, visible.All, visible.Teams, ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading hosts: %w", err))
	}
	hosts, err := db.CollectRows(rows, func(row pgx.CollectableRow) (Host, error) { return scanHost(row, from) })
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
	_, err = db.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
		var of int64
		var token Credential
		err = row.Scan(&of, &token.Key, &token.TokenID, &token.Form, &token.VerifiedAt, &token.Missing, &token.Extra, &token.Recommended,
			&token.ConsoleLimits)
		if h := byID[of]; h != nil {
			h.Tokens = append(h.Tokens, token)
		}
		return none, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading tokens: %w", err))
	}
	return hosts, nil
}

// scanHost reads a row; from are the addresses that SSH keys are for.
func scanHost(row pgx.CollectableRow, from []string) (Host, error) {
	h := Host{Tokens: []Credential{}}
	var key sshRow
	var cluster *int64
	var clusterName *string
	err := row.Scan(&h.ID, &h.Name, &h.Address, &h.TeamID, &h.Driver, &h.Status, &h.Reason, &h.Error, &h.Version, &cluster, &clusterName,
		&h.EntryNode, &h.Fingerprint, &h.VerifyTLS, &h.NodeShell, &h.SSHHostKey, &h.PolledAt, &h.OKAt, &h.CreatedAt,
		&key.port, &key.active, &key.verified, &key.pending, &key.made, &key.consentBy, &key.consentAt, &key.consentVersion,
		&h.Counts.Nodes, &h.Counts.VMs, &h.Counts.Containers, &h.Counts.Apps)
	if cluster != nil {
		h.Cluster = &Cluster{ID: *cluster, Name: *clusterName}
	}
	h.SSH = key.view(h.ID, h.SSHHostKey, from)
	return h, err
}

// sshRow is what a host's row says of SSH.
type sshRow struct {
	port                       int
	active, pending, consentBy *string
	verified, made, consentAt  *time.Time
	consentVersion             *int
}

func (r sshRow) view(id int64, hostKey *string, from []string) SSH {
	out := SSH{Enrolled: r.active != nil && r.consentBy != nil && hostKey != nil, VerifiedAt: r.verified, Fingerprint: hostKey,
		User: sshUser, Port: r.port}
	if r.active != nil {
		out.PublicKey = new(authorizedLine(*r.active, id, from))
	}
	if r.pending != nil {
		line := authorizedLine(*r.pending, id, from)
		out.Pending = &PendingSSHKey{PublicKey: line, InstallCommand: installCommand(line), CreatedAt: *r.made}
	}
	if r.consentBy != nil {
		out.Consent = &SSHConsent{By: *r.consentBy, At: *r.consentAt, Version: *r.consentVersion}
	}
	return out
}
