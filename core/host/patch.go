package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Change lists the new values of a host; nil leaves a value unchanged. A
// pointer to an empty text clears a fingerprint.
type Change struct {
	Name        *string
	Address     *string
	Fingerprint *string
	SSHHostKey  *string
	SSHPort     *int
	NodeShell   *bool
	TeamID      *int64
}

// Patch changes a host and returns it. If the address or the certificate
// changes, the new endpoint is checked with the monitoring token first, and a
// failure of that check changes nothing.
//
// Problems: already_enrolled if another host leads to the same server,
// forbidden if the tokens would go to an unverified server without an owner's
// word (see mayMove), conflict if somebody changed the host at the same time. A
// host that changes its team leaves the objects that other hosts of its cluster
// also see to them.
func (s *Store) Patch(ctx context.Context, id int64, in Change) (Host, error) {
	if in == (Change{}) {
		return Host{}, problem.InvalidField("nothing to change", "nothing_to_change", "body")
	}
	now, err := s.Get(ctx, id)
	if err != nil {
		return Host{}, err
	}
	next := now
	if err := s.apply(ctx, &next, in); err != nil {
		return Host{}, err
	}
	if err := s.free(ctx, next.Name, next.Address, id); err != nil {
		return Host{}, err
	}
	if err := mayMove(ctx, now, next); err != nil {
		return Host{}, err
	}
	var seen *reverified
	if in.Fingerprint != nil || next.Address != now.Address {
		if seen, err = s.reverify(ctx, id, &next); err != nil {
			return Host{}, err
		}
	}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Details = map[string]any{"changed": changed(in)} })
	err = s.db.Tx(ctx, func(tx *db.Tx) error { return s.writePatch(ctx, tx, now, next, seen) })
	if err != nil {
		return Host{}, err
	}
	return s.Get(ctx, id)
}

// apply puts the change into next and checks each value without the network.
// All faults are returned together.
func (s *Store) apply(ctx context.Context, next *Host, in Change) error {
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	if in.Name != nil {
		text, err := name(*in.Name)
		next.Name = text
		keep(err)
	}
	if in.Address != nil {
		d, err := s.describe(ctx, next.Driver)
		if err != nil {
			return err
		}
		text, err := s.address(*in.Address, d.info.DefaultPort)
		next.Address = text
		keep(err)
	}
	if in.Fingerprint != nil {
		text, err := fingerprint(*in.Fingerprint)
		next.Fingerprint = orNil(text)
		keep(err)
	}
	if in.SSHHostKey != nil {
		text, err := hostKey(*in.SSHHostKey)
		next.SSHHostKey = orNil(text)
		keep(err)
	}
	if in.SSHPort != nil {
		next.SSH.Port = *in.SSHPort
	}
	if in.NodeShell != nil {
		next.NodeShell = *in.NodeShell
	}
	if in.TeamID != nil && *in.TeamID != next.TeamID {
		next.TeamID = *in.TeamID
		keep(s.mayGive(ctx, *in.TeamID))
	}
	return faults(errs...)
}

// hostKey reads the fingerprint of a host key in the form of ssh-keygen -l; an
// empty text clears it.
func hostKey(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	parsed, err := endpoint.ParseHostKey(text)
	if err != nil {
		return "", problem.InvalidField("must be the SHA-256 fingerprint of a host key as ssh-keygen -l prints it, such as SHA256:…",
			"fingerprint",
			"body", "ssh_host_key_fingerprint")
	}
	return parsed, nil
}

// mayMove protects the stored tokens, which no user may read: a new address
// would receive them. It allows the change if the new address must show the
// pinned certificate, because then the same server receives them, and otherwise
// only to an owner.
func mayMove(ctx context.Context, now, next Host) error {
	caller := identity.FromContext(ctx)
	same := now.Fingerprint != nil && next.Fingerprint != nil && *now.Fingerprint == *next.Fingerprint
	if next.Address == now.Address || same || caller == nil || caller.On(now.TeamID) >= identity.Owner {
		return nil
	}
	return problem.New(problem.CodeForbidden,
		"changing the address together with the certificate, or without a pinned certificate, requires the role owner: the stored "+
			"tokens are sent there").With("role",
		"owner")
}

// mayGive allows a change of the team to admins of the new team. A team that
// the caller does not belong to is reported as unknown, so that ids of teams
// cannot be found out by trying.
func (s *Store) mayGive(ctx context.Context, team int64) error {
	var there bool
	if err := s.db.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM teams WHERE id = $1)", team).Scan(&there); err != nil {
		return db.Problem(fmt.Errorf("reading the team: %w", err))
	}
	caller := identity.FromContext(ctx)
	if !there || caller != nil && caller.On(team) == identity.NoRole {
		return noSuchTeam()
	}
	if caller != nil && caller.On(team) < identity.Admin {
		return problem.New(problem.CodeForbidden, "this also requires the role admin in the new team").With("role", "admin")
	}
	return nil
}

// reverified is the result of the check of a changed endpoint.
type reverified struct {
	Verification
	server server
	// now are the present certificates of other hosts, see renewed.
	now map[int64]string
}

// reverify checks the endpoint that the host is to have. It pins the
// certificate that it saw if neither a fingerprint nor an authority decides
// about it.
func (s *Store) reverify(ctx context.Context, id int64, next *Host) (*reverified, error) {
	driver, target, err := s.target(ctx, id, endpoint.Monitoring)
	if err != nil {
		return nil, err
	}
	target.Address, target.Fingerprint = next.Address, ""
	if next.Fingerprint != nil {
		target.Fingerprint = *next.Fingerprint
	}
	v, err := s.verify(ctx, driver, target)
	if err != nil {
		return nil, rejected(err)
	}
	found, err := s.identify(ctx, driver, target, v)
	if err != nil {
		return nil, rejected(err)
	}
	others, err := s.renewed(ctx, found, id)
	if err != nil {
		return nil, err
	}
	if next.Fingerprint == nil && !next.VerifyTLS {
		next.Fingerprint = orNil(v.Fingerprint)
	}
	return &reverified{v, found, others}, nil
}

// writePatch stores the change and its audit entry in one transaction. The
// UPDATE repeats all values that were checked in its condition: the check took
// seconds, and the row may have changed since; then no row matches and the
// problem is conflict.
func (s *Store) writePatch(ctx context.Context, tx *db.Tx, now, next Host, seen *reverified) error {
	if seen != nil {
		if err := refuseDuplicate(ctx, tx, seen.server, now.ID, seen.now); err != nil {
			return err
		}
	}
	if err := lock(ctx, tx, now.ID); err != nil {
		return err
	}
	if next.TeamID != now.TeamID {
		if err := keepTeam(ctx, tx, next.TeamID); err != nil {
			return err
		}
	}
	// What was checked, the caller's rights and the endpoint, was checked on
	// the host as it was read.
	tag, err := tx.Pgx.Exec(ctx, `UPDATE hosts SET name = $2, address = $3, tls_fingerprint = $4, ssh_host_key_fingerprint = $5,
		node_shell_enabled = $6, team_id = $7, ssh_port = $14,
		updated_at = now() WHERE id = $1 AND name = $8 AND address = $9 AND tls_fingerprint IS NOT DISTINCT FROM $10
			AND ssh_host_key_fingerprint IS NOT DISTINCT FROM $11 AND node_shell_enabled = $12 AND team_id = $13 AND ssh_port = $15`,
		now.ID, next.Name, next.Address, next.Fingerprint, next.SSHHostKey, next.NodeShell, next.TeamID,
		now.Name, now.Address, now.Fingerprint, now.SSHHostKey, now.NodeShell, now.TeamID,
		next.SSH.Port, now.SSH.Port)
	if err != nil {
		return taken(err)
	}
	if tag.RowsAffected() == 0 {
		return changedMeanwhile()
	}
	if next.TeamID != now.TeamID {
		if err := changeTeam(ctx, tx, now.ID, next.TeamID); err != nil {
			return err
		}
	}
	if seen != nil {
		if err := seen.facts.Save(ctx, tx.Pgx, now.ID); err != nil {
			return err
		}
		if err := keepServer(ctx, tx, now.ID, seen.server); err != nil {
			return err
		}
	}
	if err := pollNow(ctx, tx, now.ID); err != nil {
		return err
	}
	return audit.Write(ctx, tx)
}

// changedMeanwhile is the problem of a host that changed between the check and
// the write.
func changedMeanwhile() error {
	return problem.New(problem.CodeConflict, "the host was changed at the same time; reload it and try again")
}

// keepTeam locks the row of a team against deletion until the transaction ends.
// The problem is the same as for an unknown team.
func keepTeam(ctx context.Context, tx *db.Tx, team int64) error {
	tag, err := tx.Pgx.Exec(ctx, "SELECT FROM teams WHERE id = $1 FOR KEY SHARE", team)
	if err != nil {
		return fmt.Errorf("reading the team: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return noSuchTeam()
	}
	return nil
}

// noSuchTeam is the fault of an unknown team, and of one that the caller may
// not know.
func noSuchTeam() error {
	return problem.InvalidField("team not found", "value_error", "body", "team_id")
}

// changeTeam moves the host's cluster to the new team if the host is its only
// one. Otherwise the host leaves the cluster, because a cluster belongs to one
// team: its objects go to another host of the cluster, and the next poll makes
// a new cluster in the new team.
func changeTeam(ctx context.Context, tx *db.Tx, id, team int64) error {
	var cluster *int64
	var others bool
	err := tx.Pgx.QueryRow(ctx, "SELECT cluster_id, EXISTS (SELECT FROM hosts o WHERE o.cluster_id = h.cluster_id AND o.id <> h.id) FROM "+
		"hosts h WHERE id = $1", id).Scan(&cluster, &others)
	if err != nil {
		return fmt.Errorf("reading the host's cluster: %w", err)
	}
	if cluster == nil {
		return nil
	}
	if !others {
		if _, err := tx.Pgx.Exec(ctx, "UPDATE clusters SET team_id = $2 WHERE id = $1", *cluster, team); err != nil {
			return fmt.Errorf("moving the cluster to a team: %w", err)
		}
		return nil
	}
	if err := Reattribute(ctx, tx.Pgx, id, *cluster); err != nil {
		return err
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE hosts SET cluster_id = NULL, status = 'pending' WHERE id = $1", id); err != nil {
		return fmt.Errorf("removing the host from its cluster: %w", err)
	}
	return nil
}

// changed lists the names of the changed fields for the audit log.
func changed(in Change) []any {
	var names []any
	for name, given := range map[string]bool{
		"name": in.Name != nil, "address": in.Address != nil, "tls_fingerprint": in.Fingerprint != nil,
		"ssh_host_key_fingerprint": in.SSHHostKey != nil, "node_shell_enabled": in.NodeShell != nil, "team_id": in.TeamID != nil,
		"ssh_port": in.SSHPort != nil,
	} {
		if given {
			names = append(names, name)
		}
	}
	return names
}

// orNil returns nil for an empty text.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
