package host

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// newSSHKey makes an Ed25519 key: the public half as a line of authorized_keys
// without a comment, and the private half in PEM.
func newSSHKey() (public string, private secret.String, err error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", private, fmt.Errorf("generating an SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return "", private, fmt.Errorf("generating an SSH key: %w", err)
	}
	half, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		return "", private, fmt.Errorf("generating an SSH key: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(half))), secret.New(string(pem.EncodeToMemory(block))), nil
}

// publicFingerprint returns the SHA-256 fingerprint of a public key, or an
// empty text if it cannot be read.
func publicFingerprint(public string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil {
		return ""
	}
	return endpoint.HostKeyFingerprint(key.Marshal())
}

// authorizedLine returns the line for authorized_keys. The option `restrict`
// (sshd(8), AUTHORIZED_KEYS FILE FORMAT) forbids forwarding, terminals and
// agents; the key can only run programs. `from` restricts it to the service's
// addresses if they are known.
func authorizedLine(public string, hostID int64, from []string) string {
	options := "restrict"
	if len(from) > 0 {
		options += `,from="` + strings.Join(from, ",") + `"`
	}
	return fmt.Sprintf("%s %s hostler-host-%d", options, public, hostID)
}

// authorizedKeys is the file with the keys of root.
const authorizedKeys = "/root/.ssh/authorized_keys"

// installCommand returns the shell command that adds a line. The line contains
// no single quote. The command begins with a line break, because the last line
// of the file may lack its end, and both lines would become one.
func installCommand(line string) string {
	return "mkdir -p -m 700 /root/.ssh && printf '\\n%s\\n' '" + line + "' >> " + authorizedKeys + " && chmod 600 " + authorizedKeys
}

// removeCommand returns the shell command that removes the lines with exactly
// that key. It overwrites the file instead of replacing it, because the file
// may be a link to one that several machines share. It is compared by the key's
// base64 text, because an administrator may have changed options and comment.
func removeCommand(public string) string {
	key := public
	if parts := strings.Fields(public); len(parts) > 1 {
		key = parts[1]
	}
	return "f=$(readlink -f " + authorizedKeys + ") && t=$(mktemp) && { grep -vF -e '" + key +
		"' \"$f\" > \"$t\" || [ $? -eq 1 ]; } && cat \"$t\" > \"$f\"; rm -f \"$t\""
}

// sshFrom returns the addresses from which keys may be used; an empty list
// allows all.
func (s *Store) sshFrom(ctx context.Context) ([]string, error) {
	return setting.Get(ctx, s.db, setting.SSHFrom)
}

// sshAble returns the problem unsupported if the driver cannot log in to
// machines. It makes no connection.
func (s *Store) sshAble(ctx context.Context, e connection) error {
	at, err := s.open(ctx, e.driver, s.targetOf(e, endpoint.Credential{Form: endpoint.FormSSHKey}))
	if err != nil {
		return plugin.Problem(err)
	}
	defer func() { _ = at.Close() }()
	_, err = AsAbility[hypervisor.NodeExecutor](at)
	return plugin.Problem(err)
}

// keepSSHKey makes a key and stores it as the pending one in place of an
// earlier pending one. The active one stays in use. The row is inserted before
// the key is sealed, because the seal is bound to the row's id.
func (s *Store) keepSSHKey(ctx context.Context, tx *db.Tx, id int64) (public string, err error) {
	public, private, err := newSSHKey()
	if err != nil {
		return "", err
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM host_ssh_keys WHERE host_id = $1 AND state = 'pending'", id); err != nil {
		return "", fmt.Errorf("deleting a pending SSH key: %w", err)
	}
	var key int64
	err = tx.Pgx.QueryRow(ctx, `INSERT INTO host_ssh_keys (host_id, state, public_key, private_key) VALUES ($1, 'pending', $2, '')
		RETURNING id`, id, public).Scan(&key)
	if err != nil {
		return "", fmt.Errorf("storing an SSH key: %w", err)
	}
	sealed, err := s.keys.Seal(private, sshPlace(key))
	if err != nil {
		return "", fmt.Errorf("encrypting an SSH key: %w", err)
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE host_ssh_keys SET private_key = $2 WHERE id = $1", key, sealed); err != nil {
		return "", fmt.Errorf("storing an SSH key: %w", err)
	}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Detail("ssh_key", publicFingerprint(public)) })
	return public, nil
}

// NewSSHKey is a key that was made and must be brought to the machine.
type NewSSHKey struct {
	// PublicKey is the line for authorized_keys, and InstallCommand what adds it there.
	PublicKey, InstallCommand string
}

// enrolSSH records the consent if it is given, and makes a key. It runs in the
// transaction of its caller, who holds the host's lock.
func (s *Store) enrolSSH(ctx context.Context, tx *db.Tx, id int64, consent bool, from []string) (NewSSHKey, error) {
	if consent {
		if err := keepConsent(ctx, tx, id); err != nil {
			return NewSSHKey{}, err
		}
	}
	public, err := s.keepSSHKey(ctx, tx, id)
	if err != nil {
		return NewSSHKey{}, err
	}
	line := authorizedLine(public, id, from)
	return NewSSHKey{line, installCommand(line)}, nil
}

// kindSSHKey stands for the keys in the path of the operation that deletes a
// credential.
const kindSSHKey = "ssh_key"

// removeSSHKey forgets the keys and the consent, and returns the commands that
// remove the keys on the machine. The service does not run them itself. The
// problem is not_found if there is no key.
func (s *Store) removeSSHKey(ctx context.Context, id int64) (RemoveCredentialResult, error) {
	r := RemoveCredentialResult{Removed: true, Commands: []string{}}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Details = map[string]any{"capability": kindSSHKey} })
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := lock(ctx, tx, id); err != nil {
			return err
		}
		rows, err := tx.Pgx.Query(ctx, "DELETE FROM host_ssh_keys WHERE host_id = $1 RETURNING public_key", id)
		if err != nil {
			return fmt.Errorf("deleting the SSH keys: %w", err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("deleting the SSH keys: %w", err)
		}
		if len(keys) == 0 {
			return problem.New(problem.CodeNotFound, "the host has no SSH key")
		}
		for _, public := range keys {
			r.Commands = append(r.Commands, removeCommand(public))
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM host_ssh_consents WHERE host_id = $1", id); err != nil {
			return fmt.Errorf("deleting the consent: %w", err)
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return RemoveCredentialResult{}, err
	}
	return r, nil
}
