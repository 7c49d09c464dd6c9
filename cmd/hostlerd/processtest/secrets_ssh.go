package processtest

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
)

// machineKey makes an SSH key for the host, which only the service knows: it is read where it is kept, to be looked for elsewhere. A login
// that fails has sent it to the plugin, and one whose plugin has no such machine has not.
func (r *secretRun) machineKey() {
	r.t.Helper()
	path := fmt.Sprintf("/hosts/%d", r.host)
	r.owner.must(r.t, http.StatusOK, http.MethodPatch, "/api/v1"+path, map[string]any{"ssh_port": 1}, nil)
	for range 2 {
		r.post(r.owner, http.StatusOK, path+"/credentials", map[string]any{"rotate_ssh": true, "ssh_consent": true})
		r.knowMachineKeys()
		r.post(r.owner, http.StatusBadGateway, path+"/ssh/verify", nil)
	}
	r.wrongTypes(r.owner, path+"/credentials", "rotate_ssh")
}

// knowMachineKeys makes the private keys known that are stored.
func (r *secretRun) knowMachineKeys() {
	r.t.Helper()
	box, err := secret.Load(r.t.Context(), filepath.Join(r.service.State, "keys", "secret.key"),
		func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		r.t.Fatal(err)
	}
	var id int64
	var sealed []byte
	err = dbtest.Open(r.t, r.database()).Pool.QueryRow(r.t.Context(), "SELECT id, private_key FROM host_ssh_keys").Scan(&id, &sealed)
	if err != nil {
		r.t.Fatal(err)
	}
	plain, err := box.Open(sealed, secret.Binding{Table: host.SealedSSH.Name, Column: host.SealedSSH.Column, Row: secret.Row(id)})
	if err != nil {
		r.t.Fatal(err)
	}
	parsed, err := ssh.ParseRawPrivateKey([]byte(plain.Reveal()))
	if err != nil {
		r.t.Fatal(err)
	}
	key, ok := parsed.(*ed25519.PrivateKey)
	if !ok {
		r.t.Fatalf("the key is a %T", parsed)
	}
	r.secretSearch.add(r.t, fmt.Sprintf("the seed of the SSH key %d", id), string(key.Seed()))
	lines := strings.Split(strings.TrimSpace(plain.Reveal()), "\n")
	for n, line := range lines[2 : len(lines)-1] { // the first says only that it is a key
		if len(line) > 30 {
			r.secretSearch.add(r.t, fmt.Sprintf("line %d of the SSH key %d", n, id), line)
		}
	}
}
