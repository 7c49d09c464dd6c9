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

// newSSHKey makes a key: the public half in the form of authorized_keys without a comment, and the private one in PEM.
func newSSHKey() (public string, private secret.String, err error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", private, fmt.Errorf("making an SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return "", private, fmt.Errorf("making an SSH key: %w", err)
	}
	half, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		return "", private, fmt.Errorf("making an SSH key: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(half))), secret.New(string(pem.EncodeToMemory(block))), nil
}

// publicFingerprint is how a public key is told apart; empty for what is none.
func publicFingerprint(public string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil {
		return ""
	}
	return endpoint.HostKeyFingerprint(key.Marshal())
}

// authorizedLine is the line of authorized_keys (sshd(8)): the key can run programs, and neither forward nor have a terminal or an agent.
func authorizedLine(public string, hostID int64, from []string) string {
	options := "restrict"
	if len(from) > 0 {
		options += `,from="` + strings.Join(from, ",") + `"`
	}
	return fmt.Sprintf("%s %s hostler-host-%d", options, public, hostID)
}

// authorizedKeys is where root's keys are.
const authorizedKeys = "/root/.ssh/authorized_keys"

// installCommand adds a line, which has no single quote in it. The line before may lack its end.
func installCommand(line string) string {
	return "mkdir -p -m 700 /root/.ssh && printf '\\n%s\\n' '" + line + "' >> " + authorizedKeys + " && chmod 600 " + authorizedKeys
}

// removeCommand removes the lines with exactly that key. The file is written over and not replaced: it may be a link to a file that
// several machines share.
func removeCommand(public string) string {
	key := public
	if parts := strings.Fields(public); len(parts) > 1 {
		key = parts[1]
	}
	return "f=$(readlink -f " + authorizedKeys + ") && t=$(mktemp) && { grep -vF -e '" + key +
		"' \"$f\" > \"$t\" || [ $? -eq 1 ]; } && cat \"$t\" > \"$f\"; rm -f \"$t\""
}

// sshFrom are the addresses from which keys may be used.
func (s *Store) sshFrom(ctx context.Context) ([]string, error) {
	return setting.Get(ctx, s.db, setting.SSHFrom)
}

// sshAble is unsupported for a driver that logs in to no machines. Nothing is dialled.
func (s *Store) sshAble(ctx context.Context, e connection) error {
	at, err := s.open(ctx, e.driver, s.targetOf(e, endpoint.Credential{Form: endpoint.FormSSHKey}))
	if err != nil {
		return plugin.Problem(err)
	}
	defer func() { _ = at.Close() }()
	_, err = Able[hypervisor.NodeExecutor](at)
	return plugin.Problem(err)
}

// keepSSHKey makes a key and stores it as the pending one, in place of one that was pending. An active one stays.
func (s *Store) keepSSHKey(ctx context.Context, tx *db.Tx, id int64) (public string, err error) {
	public, private, err := newSSHKey()
	if err != nil {
		return "", err
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM host_ssh_keys WHERE host_id = $1 AND state = 'pending'", id); err != nil {
		return "", fmt.Errorf("forgetting a pending SSH key: %w", err)
	}
	var key int64
	err = tx.Pgx.QueryRow(ctx, `INSERT INTO host_ssh_keys (host_id, state, public_key, private_key) VALUES ($1, 'pending', $2, '')
		RETURNING id`, id, public).Scan(&key)
	if err != nil {
		return "", fmt.Errorf("storing an SSH key: %w", err)
	}
	sealed, err := s.keys.Seal(private, sshPlace(key))
	if err != nil {
		return "", fmt.Errorf("sealing an SSH key: %w", err)
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE host_ssh_keys SET private_key = $2 WHERE id = $1", key, sealed); err != nil {
		return "", fmt.Errorf("storing an SSH key: %w", err)
	}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Detail("ssh_key", publicFingerprint(public)) })
	return public, nil
}

// NewSSHKey is a key that was made, and waits to be brought to the machine.
type NewSSHKey struct {
	// PublicKey is the line for authorized_keys, and InstallCommand what adds it there.
	PublicKey, InstallCommand string
}

// enrolSSH records consent where it is given, and makes a key, in the transaction of its caller, who holds the host.
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

// kindSSHKey is the word of the keys in the path of a credential that is deleted.
const kindSSHKey = "ssh_key"

// removeSSHKey forgets the keys and the consent, and gives the commands that remove the keys on the machine; not_found without any.
func (s *Store) removeSSHKey(ctx context.Context, id int64) (Removal, error) {
	r := Removal{Removed: true, Commands: []string{}}
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
			return fmt.Errorf("forgetting consent: %w", err)
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return Removal{}, err
	}
	return r, nil
}
