package scenarios

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/notifications"
	"github.com/hostler/hostler/core/api/notifications/notificationstest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
)

func newChannels(t *testing.T) *servicetest.Resource {
	t.Helper()
	b := servicetest.NewResource(t, func(a *op.API, d api.Deps) { notifications.Register(a, d.Channels) },
		func(c *service.Config) { c.AllowLocal = true })
	inventorytest.Team(t, b.DB, 2)
	return b
}

func TestNotificationChannels(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/notification-channels"
	b := newChannels(t)
	var got atomic.Int64
	answers := http.StatusNoContent
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && strings.Contains(string(body), `"kind":"test"`) &&
			r.Header.Get("Webhook-Signature") != "" {
			got.Add(1)
		}
		w.WriteHeader(answers)
		_, _ = io.WriteString(w, strings.Repeat("no canary-secret ", answers/400))
	}))
	t.Cleanup(receiver.Close)
	hook := fmt.Sprintf(`{"name":" on call ","kind":"webhook","settings":{"url":%q},"secrets":{"secret":"canary-secret"}`, receiver.URL)
	team := apitest.In(2, identity.Admin)
	b.Run(t,
		do("nobody", "POST", path, hook+`}`, nil, 401, "unauthenticated"),
		do("operator", "POST", path, hook+`}`, apitest.Operator, 403, "forbidden"),
		do("admin", "POST", path, hook+`}`, apitest.Admin, 201, "", `"id":1`, `"name":"on call"`, `"team_id":1`, `"enabled":true`,
			`"secrets_set":["secret"]`, `"hourly_cap":60`, `"quiet_hours":null`, `"routes":[]`, `"queue":{"pending":0,"held":0`),
		do("of another team", "POST", path, hook+`,"team_id":2}`, apitest.In(2, identity.Operator), 403, "forbidden"),
		do("of no team", "POST", path, hook+`,"team_id":9}`, apitest.Admin, 404, "not_found"),
		do("of a team", "POST", path, hook+`,"team_id":2,"enabled":false,"hourly_cap":3,"quiet_hours":{"from":"22:00","to":"07:00",`+
			`"timezone":"Europe/Berlin","critical_passes":true},"routes":[{"severity":"warning","kinds":["alert"]}]}`, team, 201, "", `"id":2`,
			`"enabled":false`, `"routes":[{"severity":"warning","kinds":["alert"],"teams":[],"tags":[],"rules":[]}]`, `"critical_passes":true`),
		do("privately", "POST", path, hook+`,"team_id":2,"allow_private":true}`, team, 403, "forbidden", "owner"),
		do("list of the team", "GET", path, "", team, 200, "", `[{"id":2`),
		do("list of all", "GET", path, "", apitest.Admin, 200, "", `"id":1`, `"id":2`),
		do("list as an operator", "GET", path, "", apitest.Operator, 403, "forbidden"),
		do("get", "GET", path+"/1", "", apitest.Admin, 200, "", `"url":"http://127`),
		do("get another team's", "GET", path+"/1", "", team, 404, "not_found"),
		do("rename", "PATCH", path+"/1", `{"name":"night watch"}`, apitest.Admin, 200, "", `"name":"night watch"`, `"secrets_set":["secret"]`),
		do("clear", "PATCH", path+"/1", `{"secrets":{"secret":null}}`, apitest.Admin, 200, "", `"secrets_set":[]`),
		do("set", "PATCH", path+"/1", `{"secrets":{"secret":"canary-secret"},"quiet_hours":null}`, apitest.Admin, 200, "",
			`"secrets_set":["secret"]`),
		do("nothing", "PATCH", path+"/1", `{}`, apitest.Admin, 422, "invalid", "nothing_to_change"),
		do("a kind", "PATCH", path+"/1", `{"kind":"slack"}`, apitest.Admin, 422, "invalid", "extra_forbidden"),
		do("test", "POST", path+"/1/test", "", apitest.Admin, 200, "", `"state":"sent"`, `"kind":"test"`, `"error":null`,
			`"notice":"Messages have no links, because `),
		do("test another team's", "POST", path+"/1/test", "", team, 404, "not_found"),
	)
	answers = http.StatusUnauthorized
	b.Run(t,
		do("test that fails", "POST", path+"/1/test", "", apitest.Admin, 200, "", `"state":"failed"`,
			`"error":"the receiver answered 401`),
		do("deliveries", "GET", "/api/v1/notification-deliveries?channel_id=1&state=failed", "", apitest.Admin, 200, "", `[{"id":2`,
			`"title":"Test of`),
		do("deliveries of the team", "GET", "/api/v1/notification-deliveries", "", team, 200, "", `[]`),
		do("deliveries of one matter", "GET", "/api/v1/notification-deliveries?incident=alert:5", "", apitest.Admin, 200, "", `[]`),
		do("deliveries in no state", "GET", "/api/v1/notification-deliveries?state=x", "", apitest.Admin, 422, "invalid"),
		do("delete another team's", "DELETE", path+"/1", "", team, 404, "not_found"),
		do("delete", "DELETE", path+"/1", "", apitest.Admin, 204, ""),
		do("again", "DELETE", path+"/1", "", apitest.Admin, 404, "not_found"),
	)
	if got.Load() != 2 {
		t.Errorf("%d tests arrived", got.Load())
	}
	trail := b.Value("SELECT string_agg(action || ' ' || result, ',' ORDER BY id) FROM audit WHERE target_id = '1' AND result = 'ok'")
	if trail !=
		"notification_channel.create ok,notification_channel.update ok,notification_channel.update ok,notification_channel.update ok,"+
			"notification_channel.test ok,notification_channel.test ok,notification_channel.delete ok" {
		t.Error(trail)
	}
	if text := b.Value("SELECT string_agg(row_to_json(a)::text, '') FROM audit a"); strings.Contains(text, "canary") {
		t.Errorf("in the audit log: %s", text)
	}
}

func TestNotificationChannelsThatAreWrong(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/notification-channels"
	b := newChannels(t)
	b.Run(t, do("a good one", "POST", path, notificationstest.Webhook("web"), apitest.Admin, 201, ""))
	with := func(rest string) string {
		return `{"name":"x","kind":"webhook","settings":{"url":"https://example.com/"}` + rest + `}`
	}
	for _, test := range []struct{ name, body, says string }{
		{"nothing", ``, `body`},
		{"no JSON", `{`, `body`},
		{"no kind", `{"name":"x"}`, `"kind"`},
		{"another kind", `{"name":"x","kind":"pigeon"}`, `"kind"`},
		{"no URL", `{"name":"x","kind":"webhook"}`, `"settings","url"`},
		{"a long name", `{"kind":"webhook","name":"` + strings.Repeat("x", 101) + `"}`, `"name"`},
		{"NUL", `{"kind":"webhook","name":"a\u0000"}`, `"name"`},
		{"NUL in a secret", with(`,"secrets":{"secret":"\u0000"}`), `"secrets","secret"`},
		{"no cap", with(`,"hourly_cap":0`), `"hourly_cap"`},
		{"a huge cap", with(`,"hourly_cap":99999999999999999999`), `"hourly_cap"`},
		{"a huge team", with(`,"team_id":99999999999999999999`), `"team_id"`},
		{"an unknown secret", with(`,"secrets":{"key":"x"}`), `"secrets","key"`},
		{"no clock", with(`,"quiet_hours":{"from":"25:00","to":"07:00","timezone":"UTC","critical_passes":true}`), `"quiet_hours","from"`},
		{"no zone", with(`,"quiet_hours":{"from":"22:00","to":"07:00","timezone":"Mars/Base","critical_passes":true}`), `"quiet_hours"`},
		{"no severity", with(`,"routes":[{"severity":"loud"}]`), `"routes",0,"severity"`},
		{"no kind of events", with(`,"routes":[{"severity":"info","kinds":["party"]}]`), `"routes",0,"kinds",0`},
		{"too many routes", with(`,"routes":[` + strings.Repeat(`{"severity":"info"},`, 20) + `{"severity":"info"}]`), `"routes"`},
		{"a token in clear", `{"name":"x","kind":"gotify","settings":{"url":"http://example.com/"},"secrets":{"token":"canary-secret"}}`,
			`"settings","url"`},
	} {
		b.Run(t, do(test.name, "POST", path, test.body, apitest.Admin, 422, "invalid", test.says))
	}
	b.Run(t,
		do("zero", "GET", path+"/0", "", apitest.Admin, 422, "invalid"),
		do("a huge id", "GET", path+"/99999999999999999999", "", apitest.Admin, 422, "invalid"),
		do("elsewhere with what is stored", "PATCH", path+"/1", `{"settings":{"url":"https://127.0.0.1:1/x"}}`, apitest.Admin, 200, ""),
	)
	if n := b.Value("SELECT count(*) FROM notification_channels"); n != "1" {
		t.Errorf("%s channels", n)
	}
}
