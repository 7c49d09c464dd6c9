// Package keystest has valid requests to API keys. The tests over all
// operations of the API send them; see package requesttest.
package keystest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		_, key := newKey(f)
		return map[string]string{"key_id": key}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		owner, key := newKey(f)
		return []requesttest.Change{
			{Operation: "create_api_key", Body: `{"name":"backup"}`},
			{Operation: "revoke_api_key", As: owner, Path: map[string]string{"key_id": key}},
		}
	},
	Reads: map[string]requesttest.Read{"list_api_keys": {Teamless: "the caller's own keys"}},
}

// newKey makes an owner with a key.
func newKey(f *requesttest.Fixture) (owner *identitytest.Account, id string) {
	f.T.Helper()
	owner = identitytest.As(f.T, f.Users, identity.Owner)
	return owner, fmt.Sprint(identitytest.Key(f.T, f.Users, owner, identitytest.KeySpec{}).ID)
}
