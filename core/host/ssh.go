package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// sshUser is the user of all logins. The programs that run on machines need the
// rights of root.
const sshUser = "root"

// SSH describes the login to a host's machine, for the API. It contains no
// private key.
type SSH struct {
	Enrolled    bool           `json:"enrolled" example:"true" doc:"true if the key was verified, the host key is pinned and consent is recorded"`
	VerifiedAt  *time.Time     `json:"verified_at" example:"2026-01-31T12:00:00Z" doc:"When the key last worked; null if never"`
	Fingerprint *string        `json:"fingerprint" example:"SHA256:2gq3w1cXyBNkuTmTzVFNrQ4yHRZyQdVfQJyGn2mHhH8" doc:"Fingerprint of the pinned host key in the format of ssh-keygen -l; null until the first POST ssh/verify"`
	User        string         `json:"user" example:"root"`
	Port        int            `json:"port" example:"22"`
	PublicKey   *string        `json:"public_key" doc:"Line for authorized_keys on the host; null without a verified key"`
	Pending     *PendingSSHKey `json:"pending" doc:"New key that replaces the current one after POST ssh/verify succeeds; null for none"`
	Consent     *SSHConsent    `json:"consent" doc:"Consent to SSH access; null for none, which prevents every log-in"`
}

// PendingSSHKey is a key with which nobody has logged in yet.
type PendingSSHKey struct {
	PublicKey      string    `json:"public_key" doc:"Line for authorized_keys on the host"`
	InstallCommand string    `json:"install_command" doc:"Command that adds the line; run it as root on the host"`
	CreatedAt      time.Time `json:"created_at" example:"2026-01-31T12:00:00Z"`
}

// SSHConsent records who agreed, when, and to which version of the text, that
// programs run as root on a machine.
type SSHConsent struct {
	By      string    `json:"by" example:"ada@example.com"`
	At      time.Time `json:"at" example:"2026-01-31T12:00:00Z"`
	Version int       `json:"version" example:"1" doc:"Version of the text that was consented to"`
}

// sshKey is a stored key; the private half is sealed.
type sshKey struct {
	id        int64
	pending   bool
	publicKey string
	sealed    []byte
}

// sshAccess is everything that is stored about the login to a host's machine.
type sshAccess struct {
	connection
	port    int
	hostKey string
	consent bool
	// active and pending are nil where there is none.
	active, pending *sshKey
}

// sshAccess reads it. There is at most one active and one pending key.
func (s *Store) sshAccess(ctx context.Context, id int64) (sshAccess, error) {
	var a sshAccess
	rows, err := s.db.Pool.Query(ctx, `SELECT h.driver, h.address, COALESCE(h.tls_fingerprint, ''), h.verify_tls, h.ssh_port,
			COALESCE(h.ssh_host_key_fingerprint, ''), EXISTS (SELECT FROM host_ssh_consents c WHERE c.host_id = h.id),
			k.id, k.state = 'pending', k.public_key, k.private_key
		FROM hosts h LEFT JOIN host_ssh_keys k ON k.host_id = h.id WHERE h.id = $1`, id)
	if err != nil {
		return a, db.Problem(fmt.Errorf("reading the host: %w", err))
	}
	found := false
	var key struct {
		id        *int64
		pending   *bool
		publicKey *string
		sealed    []byte
	}
	_, err = pgx.ForEachRow(rows, []any{&a.driver, &a.address, &a.fingerprint, &a.verifyTLS, &a.port, &a.hostKey, &a.consent,
		&key.id, &key.pending, &key.publicKey, &key.sealed}, func() error {
		found = true
		if key.id == nil {
			return nil
		}
		k := &sshKey{*key.id, *key.pending, *key.publicKey, append([]byte(nil), key.sealed...)}
		if k.pending {
			a.pending = k
		} else {
			a.active = k
		}
		return nil
	})
	switch {
	case err != nil:
		return a, db.Problem(fmt.Errorf("reading the host's SSH keys: %w", err))
	case !found:
		return a, noSuchHost()
	}
	return a, nil
}

// usable returns the problem of a machine that cannot be logged in to, before
// any connection. consent_required comes first. ssh_not_enrolled means that
// there is no key; unless check is set it also means that no key was verified
// or no host key is pinned. check is set for the verification itself, which
// must work without those.
func (a sshAccess) usable(check bool) error {
	switch {
	case !a.consent:
		return consentRequired("nobody has consented to running programs as root on this host's machine")
	case a.active == nil && a.pending == nil:
		return problem.New(problem.CodeSSHNotEnrolled, "the host has no SSH key; create one first").
			With("remedy", "POST /api/v1/hosts/{host_id}/credentials with rotate_ssh")
	case a.active == nil && !check:
		return problem.New(problem.CodeSSHNotEnrolled, "the host's SSH key has not been verified yet: install it on the machine and "+
			"verify it").
			With("remedy", "POST /api/v1/hosts/{host_id}/ssh/verify")
	case a.hostKey == "" && !check:
		return problem.New(problem.CodeSSHNotEnrolled, "the SSH host key of the host's machine is not pinned: verify it").
			With("remedy", "POST /api/v1/hosts/{host_id}/ssh/verify")
	}
	return nil
}

// sshTarget makes the target of a login with one of the keys, and decrypts the
// key.
func (s *Store) sshTarget(a sshAccess, key *sshKey) (endpoint.Target, error) {
	plain, err := s.keys.Open(key.sealed, sshPlace(key.id))
	if err != nil {
		return endpoint.Target{}, fmt.Errorf("decrypting an SSH key: %w", err)
	}
	t := s.targetOf(a.connection, endpoint.Credential{
		Form: endpoint.FormSSHKey, ID: publicFingerprint(key.publicKey), Secret: sdk.Secret(plain.Reveal()),
	})
	t.SSH = endpoint.SSH{User: sshUser, Port: a.port, HostKey: a.hostKey}
	return t, nil
}

// SealedSSHTable is the column of the private keys, for rotating the key.
var SealedSSHTable = secret.Table{Name: "host_ssh_keys", Column: "private_key", Key: []string{"id"}}

// sshPlace is the binding of a sealed private key.
func sshPlace(id int64) secret.Binding {
	return secret.Binding{Table: "host_ssh_keys", Column: "private_key", Row: secret.Row(id)}
}

// logins is how many logins to one machine this instance holds at the same
// time. sshd begins to drop connections that are not authenticated yet at ten
// (sshd_config(5), MaxStartups 10:30:100), and other clients need some of them.
const logins = 4

// loginSlot waits for one of the host's slots. The caller calls release. The
// error is sdk.Timeout if the deadline of ctx passes first, and else that of
// ctx.
func (s *Store) loginSlot(ctx context.Context, id int64) (release func(), err error) {
	made, _ := s.logins.LoadOrStore(id, make(chan struct{}, logins))
	slots := made.(chan struct{})
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, sdk.Errorf(sdk.Timeout, "all %d SSH login slots of the machine stayed in use", logins)
		}
		return nil, ctx.Err()
	}
}

// executor opens the machine for running programs. The caller calls the
// returned function.
func (s *Store) executor(ctx context.Context, a sshAccess, key *sshKey) (hypervisor.NodeExecutor, func(), error) {
	return loggedIn[hypervisor.NodeExecutor](ctx, s, a, key)
}

// loggedIn opens the machine with one of the keys, as the ability A. It makes
// no connection yet. The caller calls end.
func loggedIn[A any](ctx context.Context, s *Store, a sshAccess, key *sshKey) (able A, end func(), err error) {
	target, err := s.sshTarget(a, key)
	if err != nil {
		return able, nil, err
	}
	at, err := s.open(ctx, a.driver, target)
	if err != nil {
		return able, nil, err
	}
	able, err = AsAbility[A](at)
	if err != nil {
		_ = at.Close()
		return able, nil, err
	}
	return able, func() { _ = at.Close() }, nil
}
