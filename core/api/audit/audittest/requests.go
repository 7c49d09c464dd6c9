// Package audittest has valid requests to the audit log. The tests over all
// operations of the API send them; see package requesttest.
package audittest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		return map[string]string{"entry_id": fmt.Sprint(dbtest.Value[int64](f.T, f.DB, `INSERT INTO audit (actor_type, action, target_kind,
			target_id, target_name, team_id, host_id, result) SELECT 'system', 'host.sync', 'host', id, $2, team_id, id, 'ok' FROM hosts
			WHERE id = $1 RETURNING id`, f.Host, requesttest.Canary+"-host"))}
	},
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{{Operation: "clear_audit", Body: `{"confirm":"clear audit log"}`, Spoils: true}}
	},
	Reads: map[string]requesttest.Read{
		"verify_audit": {Teamless: "the audit log's chain, by numbers alone"},
	},
}
