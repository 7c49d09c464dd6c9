// Package notificationstest has valid requests to channels of notifications.
// The tests over all operations of the API send them; see package requesttest.
package notificationstest

import (
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		var made struct{ ID int64 }
		answer := f.Expect("POST", "/api/v1/notification-channels", Webhook(requesttest.Canary+"-channel"), 201)
		if err := json.Unmarshal(answer.Body, &made); err != nil {
			f.T.Fatal(err)
		}
		f.Expect("POST", fmt.Sprintf("/api/v1/notification-channels/%d/test", made.ID), "", 200) // which is in the log
		return map[string]string{"channel_id": fmt.Sprint(made.ID)}
	},
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "create_notification_channel", Body: Webhook(requesttest.Canary)},
			{Operation: "update_notification_channel", Body: `{"enabled":false,"secrets":{"secret":"another"},"hourly_cap":5,` +
				`"quiet_hours":{"from":"22:00","to":"07:00","timezone":"Europe/Berlin","critical_passes":true},` +
				`"routes":[],"audit_actions":["vm.*","host.patch"]}`,
				// A channel that gets entries of the audit log needs its
				// secret.
				Nulls: `{"enabled":false,"secrets":{"secret":"another"},"hourly_cap":5,` +
					`"quiet_hours":{"from":"22:00","to":"07:00","timezone":"Europe/Berlin","critical_passes":true},"routes":[]}`},
			{Operation: "test_notification_channel"},
			{Operation: "delete_notification_channel", Spoils: true},
		}
	},
}

// Webhook is the body of a channel at an address that is found nowhere (RFC 6761).
func Webhook(name string) string {
	return fmt.Sprintf(`{"name":%q,"kind":"webhook","settings":{"url":"https://notify.invalid/in"},"secrets":{"secret":"text"},`+
		`"routes":[{"severity":"warning","kinds":["alert"],"teams":[],"tags":["prod"],"rules":[]}]}`, name)
}
