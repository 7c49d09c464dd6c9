// Package ssotest has valid requests to identity providers. The tests over all
// operations of the API send them; see package requesttest.
package ssotest

import (
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource. What they make is the instance's and no team's.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		var made struct{ ID int64 }
		answer := f.Expect("POST", "/api/v1/identity-providers", Provider("the values"), 201)
		if err := json.Unmarshal(answer.Body, &made); err != nil {
			f.T.Fatal(err)
		}
		return map[string]string{"provider_id": fmt.Sprint(made.ID)}
	},
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "create_identity_provider", Body: Provider("another")},
			{Operation: "update_identity_provider", Body: `{"client_secret":"another","accounts":"create","enabled":false,` +
				`"rules":[{"group":"*","team_id":1,"role":"viewer"}]}`},
			{Operation: "test_identity_provider"},
			{Operation: "delete_identity_provider", Spoils: true},
		}
	},
	Reads: map[string]requesttest.Read{
		"list_identity_providers": {Teamless: "the instance's own, for its owners only"},
	},
}

// Provider is the body of a provider at an address that is found nowhere (RFC 6761).
func Provider(name string) string {
	return fmt.Sprintf(`{"name":%q,"issuer":"https://id.invalid","client_id":"hostler","client_secret":"text",`+
		`"rules":[{"group":"staff","team_id":1,"role":"operator"}]}`, name)
}
