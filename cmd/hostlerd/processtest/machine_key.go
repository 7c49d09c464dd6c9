package processtest

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
)

// machineKeySecrets are what is secret of the one SSH key that a service keeps, by what it is: the service has made it, and tells nobody.
func machineKeySecrets(t *testing.T, s *service, database string) map[string]string {
	t.Helper()
	box, err := secret.Load(t.Context(), filepath.Join(s.State, "keys", "secret.key"),
		func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	var sealed []byte
	err = dbtest.Open(t, database).Pool.QueryRow(t.Context(), "SELECT id, private_key FROM host_ssh_keys").Scan(&id, &sealed)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := box.Open(sealed, secret.Binding{Table: host.SealedSSHTable.Name, Column: host.SealedSSHTable.Column, Row: secret.Row(id)})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ssh.ParseRawPrivateKey([]byte(plain.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	key, ok := parsed.(*ed25519.PrivateKey)
	if !ok {
		t.Fatalf("the key is a %T", parsed)
	}
	secrets := map[string]string{fmt.Sprintf("the seed of the SSH key %d", id): string(key.Seed())}
	lines := strings.Split(strings.TrimSpace(plain.Reveal()), "\n")
	for n, line := range lines[2 : len(lines)-1] { // the first says only that it is a key
		if len(line) > 30 {
			secrets[fmt.Sprintf("line %d of the SSH key %d", n, id)] = line
		}
	}
	return secrets
}
