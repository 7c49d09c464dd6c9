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

// selectHosts reads hosts with cluster, SSH keys, consent and the numbers of
// objects. $1 and $2 restrict it to visible teams, $3 to ids unless empty.
// Guests are counted in one lateral subquery, because two would read the table
// twice.
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

// List returns the hosts that the caller may see, by name.
func (s *Store) List(ctx context.Context, visible identity.VisibleTeams) ([]Host, error) {
	return s.read(ctx, visible, []int64{})
}

// Get returns one host. It does not check the caller, who was admitted to the
// host before. The problem is not_found.
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

// ByIDs returns the hosts with these ids and leaves out those that are gone. It
// does not check the caller.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]Host, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.read(ctx, identity.VisibleTeams{All: true, Teams: []int64{}}, ids)
}

// noSuchHost is the problem of a host that is not there.
func noSuchHost() error { return problem.New(problem.CodeNotFound, "host not found") }

// read returns the visible hosts with their tokens; an empty list of ids stands
// for all. Tokens are read in a second statement, because a join would repeat
// the columns of a host for each of them.
func (s *Store) read(ctx context.Context, visible identity.VisibleTeams, ids []int64) ([]Host, error) {
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

// scanHost reads one row of selectHosts. from are the addresses that the line
// of an SSH key allows.
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

// sshRow holds the columns of a host that concern SSH.
type sshRow struct {
	port                       int
	active, pending, consentBy *string
	verified, made, consentAt  *time.Time
	consentVersion             *int
}

// view makes the API's form. A host counts as enrolled only if a key works, a
// user has agreed, and the host key is pinned: OnNode refuses it if one of
// these is missing.
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
