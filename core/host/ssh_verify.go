package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// SSHCheck is the result of a login to a host's machine.
type SSHCheck struct {
	User        string  `json:"user" example:"root"`
	Fingerprint string  `json:"fingerprint" example:"SHA256:2gq3w1cXyBNkuTmTzVFNrQ4yHRZyQdVfQJyGn2mHhH8" doc:"Fingerprint of the verified host key in the format of ssh-keygen -l"`
	KeyType     string  `json:"host_key_type" example:"ssh-ed25519"`
	Server      string  `json:"server" example:"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7" doc:"Version string of the SSH server"`
	Seconds     float64 `json:"seconds" example:"0.42" doc:"Seconds that it took to log in and run the command true"`
	// Pinned and Activated say what the check has changed.
	Pinned    bool    `json:"pinned" example:"false" doc:"true if no host key was pinned before and this one is now: compare it with the output of ssh-keygen -lf on the host"`
	Activated bool    `json:"activated" example:"false" doc:"true if the pending key works and is now in use"`
	Remove    *string `json:"remove_command" doc:"Command that removes the old key on the host; null if no key was replaced"`
}

// VerifySSH logs in to the host's machine, checks for root and returns what it
// saw. It uses the pending key if there is one, and on success makes it the
// active one; else it uses the active key. It pins the host key if none is
// pinned.
//
// Problems: consent_required and ssh_not_enrolled before any connection,
// unsupported, ssh_host_key_changed if the machine shows another host key than
// the pinned one, hypervisor_error with the reason auth if the machine does not
// accept the key, and those of plugin.Problem.
func (s *Store) VerifySSH(ctx context.Context, id int64) (SSHCheck, error) {
	a, err := s.sshAccess(ctx, id)
	if err != nil {
		return SSHCheck{}, err
	}
	if err := a.usable(true); err != nil {
		return SSHCheck{}, err
	}
	key := a.pending
	if key == nil {
		key = a.active
	}
	began := time.Now()
	login, err := s.logIn(ctx, id, a, key)
	if err != nil {
		return SSHCheck{}, s.sshProblem(ctx, id, a, key, err)
	}
	check := SSHCheck{User: Clean(login.User), Fingerprint: login.HostKey, KeyType: Clean(login.HostKeyType), Server: Clean(login.Server),
		Seconds: float64(time.Since(began).Milliseconds()) / 1000, Pinned: a.hostKey == "", Activated: key.pending}
	if key.pending && a.active != nil {
		check.Remove = new(removeCommand(a.active.publicKey))
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		entry.Detail("fingerprint", check.Fingerprint)
		entry.Detail("pinned", check.Pinned)
		entry.Detail("activated", check.Activated)
	})
	return check, s.db.Tx(ctx, func(tx *db.Tx) error { return keepSSHCheck(ctx, tx, id, a, key, check) })
}

// logIn checks a login, within the store's time for a call. A key that opens
// another user's shell is refused here: later commands would fail one by one
// for lack of rights.
func (s *Store) logIn(ctx context.Context, id int64, a sshAccess, key *sshKey) (hypervisor.NodeLogin, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	release, err := s.loginSlot(ctx, id)
	if err != nil {
		return hypervisor.NodeLogin{}, err
	}
	defer release()
	node, end, err := s.executor(ctx, a, key)
	if err != nil {
		return hypervisor.NodeLogin{}, err
	}
	defer end()
	login, err := node.CheckLogin(ctx)
	if err != nil {
		return hypervisor.NodeLogin{}, err
	}
	if login.HostKey, err = endpoint.ParseHostKey(login.HostKey); err != nil {
		return hypervisor.NodeLogin{}, sdk.Errorf(sdk.Protocol, "the host's driver reported no host key")
	}
	if login.UserID != 0 {
		return hypervisor.NodeLogin{}, sdk.Errorf(sdk.Refused, "the key logs in as user ID %d, not as root", login.UserID)
	}
	return login, nil
}

// sshProblem returns the problem of a failed login. If the machine rejects the
// key, the problem contains the line and the command that would add it.
func (s *Store) sshProblem(ctx context.Context, id int64, a sshAccess, key *sshKey, err error) error {
	if p := hostKeyProblem(a, err); p != nil {
		return p
	}
	var e *sdk.Error
	if !errors.As(err, &e) || e.Kind != sdk.TokenRejected {
		return plugin.Problem(err)
	}
	p := problem.New(problem.CodeHypervisorError, "the machine rejects the key for %s: its line is missing in %s, or does not allow %s",
		sshUser, authorizedKeys, "the address from which the service connects").With("reason", plugin.ReasonAuth).WithCause(err)
	from, failed := s.sshFrom(ctx)
	if failed != nil {
		return p
	}
	line := authorizedLine(key.publicKey, id, from)
	return p.With("public_key", line).With("install_command", installCommand(line))
}

// hostKeyProblem returns the problem of a changed host key, and nil for every
// other error.
func hostKeyProblem(a sshAccess, err error) error {
	var e *sdk.Error
	if !errors.As(err, &e) || e.Kind != sdk.Untrusted || e.Field != endpoint.FieldHostKey {
		return nil
	}
	seen, unread := endpoint.ParseHostKey(e.Fingerprint)
	if unread != nil {
		return plugin.Problem(sdk.Errorf(sdk.Protocol, "the host's driver reported no host key"))
	}
	return problem.New(problem.CodeSSHHostKeyChanged, "the machine's SSH host key differs from the pinned one: it was reinstalled, or "+
		"it is another machine; to accept the new key, PATCH ssh_host_key_fingerprint").
		With("fingerprint", seen).With("pinned_fingerprint", a.hostKey).WithCause(err)
}

// keepSSHCheck pins the host key and makes the working key the active one.
// Everything that was checked is compared again in the statement: address,
// port, host key and consent; the problem is conflict if one of them changed.
func keepSSHCheck(ctx context.Context, tx *db.Tx, id int64, a sshAccess, key *sshKey, check SSHCheck) error {
	if err := lock(ctx, tx, id); err != nil {
		return err
	}
	tag, err := tx.Pgx.Exec(ctx, `UPDATE hosts SET ssh_host_key_fingerprint = $5 WHERE id = $1 AND address = $2 AND ssh_port = $3
		AND COALESCE(ssh_host_key_fingerprint, '') = $4 AND EXISTS (SELECT FROM host_ssh_consents WHERE host_id = $1)`,
		id, a.address, a.port, a.hostKey, check.Fingerprint)
	if err != nil {
		return fmt.Errorf("pinning the host key: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return changedMeanwhile()
	}
	if key.pending {
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM host_ssh_keys WHERE host_id = $1 AND state = 'active'", id); err != nil {
			return fmt.Errorf("deleting the old SSH key: %w", err)
		}
	}
	tag, err = tx.Pgx.Exec(ctx, "UPDATE host_ssh_keys SET state = 'active', verified_at = now() WHERE id = $1 AND host_id = $2", key.id, id)
	if err != nil {
		return fmt.Errorf("storing the SSH key: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return changedMeanwhile()
	}
	return audit.Write(ctx, tx)
}
