package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/users"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// usersFixture is the real handler on a real database.
type usersFixture struct {
	*servicetest.Resource
	t *testing.T
}

func newUsers(t *testing.T) *usersFixture {
	t.Helper()
	return &usersFixture{servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { users.Register(a, d.Users) }), t}
}

func (s *usersFixture) trail() []audit.Row {
	s.t.Helper()
	rows, _, err := audit.List(s.t.Context(), s.DB, audit.Filter{AllTeams: true, Limit: 500})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// recorded expects the newest row of the audit log.
func (s *usersFixture) recorded(action, target, result, code, details string) func(*testing.T, *apitest.Response) {
	return func(t *testing.T, _ *apitest.Response) {
		t.Helper()
		row := s.trail()[0]
		if row.Action != action || row.TargetName != target || row.Result != result || row.Error != code ||
			!strings.Contains(string(row.Details), details) ||
			target != "" && (row.TargetKind != "user" || row.TargetID == "") {
			t.Errorf("%+v %s", row, row.Details)
		}
	}
}

func userPath(id int64) string { return fmt.Sprint("/api/v1/users/", id) }

func TestListOfUsers(t *testing.T) {
	t.Parallel()
	s := newUsers(t)
	blue := identitytest.Team(t, s.DB, "blue")
	admin := s.Account(apitest.Admin)
	both := identitytest.User(t, s.Users, identitytest.In{blue: identity.Owner, identity.DefaultTeam: identity.Viewer})
	none := identitytest.User(t, s.Users, nil)
	s.Run(t,
		apitest.Scenario{Name: "all", Method: "GET", URL: "/api/v1/users", As: apitest.Admin, Status: 200,
			Lacks: []string{`"password`, "argon2", "hash", "email_key"}, Contains: []string{
				fmt.Sprintf(`{"id":%d,"email":%q,"display_name":null,"is_active":true,"totp_enabled":false,`+
					`"passkeys":0,"has_password":true,"providers":[],`+
					`"created_at":"`, admin.ID, admin.Email),
				fmt.Sprintf(`"role":"viewer","teams":[{"id":1,"name":"Default","slug":"default","role":"viewer"},{"id":%d,"name":"blue",`+
					`"slug":"blue","role":"owner"}]}`, blue),
				`"role":null,"teams":[]}`,
			}, After: func(t *testing.T, answer *apitest.Response) {
				if answer.Header.Get("X-Total-Count") != "3" || strings.Count(string(answer.Body), `"email"`) != 3 {
					t.Errorf("%s %s", answer.Header, answer.Body)
				}
			}},
		apitest.Scenario{Name: "second page", Method: "GET", URL: "/api/v1/users?page=2&per_page=2", As: apitest.Admin, Status: 200,
			Contains: []string{none.Email},
			Lacks:    []string{both.Email}, After: func(t *testing.T, answer *apitest.Response) {
				if answer.Header.Get("X-Total-Count") != "3" {
					t.Error(answer.Header)
				}
			}},
		apitest.Scenario{Name: "beyond the end", Method: "GET", URL: "/api/v1/users?page=1000000&per_page=500", As: apitest.Admin, Status: 200,
			Contains: []string{"[]"}},
		apitest.Scenario{Name: "too many", Method: "GET", URL: "/api/v1/users?per_page=501", As: apitest.Admin, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "another team's owner", Method: "GET", URL: "/api/v1/users", As: apitest.In(blue, identity.Owner), Status: 403,
			Error: "forbidden"},
	)
}

func TestCreateUser(t *testing.T) {
	t.Parallel()
	s := newUsers(t)
	const path = "/api/v1/users"
	const password = `"password":"canary-mehlwurm-zebra-19"`
	body := func(email, rest string) string { return fmt.Sprintf(`{"email":%q,%s%s}`, email, password, rest) }
	post := func(name, body string, as *apitest.Caller, status int, code string, more ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: path, Body: body, As: as, Status: status, Error: code, Contains: more,
			Lacks: []string{"canary"}}
	}
	recorded := post("viewer by default", body("Anna@Example.com", `,"display_name":" Anna "`), apitest.Admin, 201, "",
		`"email":"Anna@Example.com","display_name":"Anna","is_active":true`,
		`"last_login_at":null,"role":"viewer"`, `"slug":"default"`)
	recorded.After = s.recorded("user.create", "Anna@Example.com", "ok", "", `{"role": "viewer"}`)
	refused := post("an admin makes an owner", body("o@example.com", `,"role":"owner"`), apitest.Admin, 403, "forbidden", `"role":"owner"`)
	refused.After = s.recorded("user.create", "", "refused", "forbidden", "{}")
	s.Run(t, recorded, refused,
		post("an owner makes an owner", body("o@example.com", `,"role":"owner"`), apitest.Owner, 201, "", `"role":"owner"`),
		post("an admin makes an admin", body("a@example.com", `,"role":"admin"`), apitest.Admin, 201, "", `"role":"admin"`),
		post("no role", body("n@example.com", `,"role":null`), apitest.Admin, 201, "", `"role":null,"teams":[]`),
		post("403 before 422 and 409", `{"email":"Anna Lee","password":"passwordpassword","role":"owner"}`, apitest.Admin, 403, "forbidden"),
		post("and 403 before a taken address", body("anna@example.com", `,"role":"owner"`), apitest.Admin, 403, "forbidden"),
		post("all faults at once", `{"email":"anna","password":"passwordpassword","display_name":"a\u0007b"}`, apitest.Admin, 422, "invalid",
			`["body","email"]`, `["body","password"]`, `["body","display_name"]`),
		post("faults of the schema and of the fields at once",
			`{"email":"anna","password":"short","role":"king","display_name":"a\u0007b","extra":1}`, apitest.Admin, 422, "invalid",
			`["body","email"]`, `["body","password"]`, `["body","role"]`, `["body","display_name"]`, `["body","extra"]`),
		post("a good address beside a bad role", `{"role":4,"email":"x@example.com","password":"passwordpassword"}`, apitest.Admin, 422,
			"invalid", `"detail":[{"loc":["body","role"],"msg":"expected string","type":"string_type"}]`),
		post("unknown role", body("x@example.com", `,"role":"none"`), apitest.Admin, 422, "invalid", `["body","role"]`),
		post("role as a number", body("x@example.com", `,"role":4`), apitest.Admin, 422, "invalid", `["body","role"]`),
		post("role in capitals", body("x@example.com", `,"role":"Owner"`), apitest.Admin, 422, "invalid"),
		post("role twice", body("x@example.com", `,"role":"viewer","role":"owner"`), apitest.Admin, 422, "invalid"),
		post("other roles", body("x@example.com", `,"teams":[{"id":1,"role":"owner"}]`), apitest.Admin, 422, "invalid", `extra_forbidden`),
		post("key in capitals", body("x@example.com", `,"Role":"owner"`), apitest.Admin, 422, "invalid", `extra_forbidden`),
		post("taken, in another case", body("ANNA@example.COM", ""), apitest.Admin, 409, "conflict"),
		post("taken, in full width", body("ａｎｎａ@example.com", ""), apitest.Admin, 409, "conflict"),
		post("zero width", body("an\u200bna@example.com", ""), apitest.Admin, 422, "invalid"),
		post("NUL", `{"email":"a\u0000@example.com",`+password+`}`, apitest.Admin, 422, "invalid"),
		post("lone surrogate in the name", body("s@example.com", `,"display_name":"a\ud800b"`), apitest.Admin, 422, "invalid",
			`["body","display_name"]`, "string_unicode"),
		post("nothing", "", apitest.Admin, 422, "invalid"),
		post("short", `{"email":"x@example.com","password":"canary"}`, apitest.Admin, 422, "invalid", `["body","password"]`),
		post("operator", body("x@example.com", ""), apitest.Operator, 403, "forbidden"),
		apitest.Scenario{Name: "another site", Method: "POST", URL: path, Body: body("x@example.com", ""), As: apitest.Owner,
			Headers: map[string]string{"Origin": "https://evil.example"}, Status: 403, Error: "cross_origin"},
	)
	var everything string
	if err := s.DB.Pool.QueryRow(t.Context(),
		"SELECT string_agg(u::text, '') || (SELECT string_agg(a::text, '') FROM audit a) FROM users u").Scan(&everything); err != nil ||
		strings.Contains(everything, "canary") {
		t.Errorf("a password was kept (%v)", err)
	}
	if _, err := s.Users.LogIn(t.Context(), "anna@example.com", "canary-mehlwurm-zebra-19",
		identity.Client{Address: "192.0.2.5"}); err != nil {
		t.Error(err)
	}
}

func TestPatchUser(t *testing.T) {
	t.Parallel()
	s := newUsers(t)
	blue := identitytest.Team(t, s.DB, "blue")
	user := identitytest.As(t, s.Users, identity.Viewer)
	above := identitytest.User(t, s.Users, identitytest.In{blue: identity.Owner})
	patch := func(name string, id int64, body string, as *apitest.Caller, status int, code string, more ...string) apitest.Scenario {
		return do(name, "PATCH", userPath(id), body, as, status, code, more...)
	}
	recorded := patch("both", user.ID, `{"display_name":"Ada","is_active":false}`, apitest.Admin, 200, "",
		`"display_name":"Ada","is_active":false`)
	recorded.After = s.recorded("user.update", user.Email, "ok", "", `"changed": ["display_name", "is_active"]`)
	refused := patch("of a higher user", above.ID, `{"display_name":"x"}`, apitest.Admin, 403, "forbidden", `"role":"owner"`)
	refused.After = s.recorded("user.update", above.Email, "refused", "forbidden", "")
	s.Run(t, recorded, refused,
		patch("nothing", user.ID, `{}`, apitest.Admin, 422, "invalid", "nothing_to_change"),
		patch("no body", user.ID, ``, apitest.Admin, 422, "invalid"),
		patch("null activity", user.ID, `{"is_active":null}`, apitest.Admin, 422, "invalid", `["body","is_active"]`),
		patch("null activity beside a bad name", user.ID, `{"is_active":null,"display_name":"a\u0007b"}`, apitest.Admin, 422, "invalid",
			`["body","is_active"]`, `["body","display_name"]`),
		patch("null activity beside a name", user.ID, `{"is_active":null,"display_name":"Eve"}`, apitest.Admin, 422, "invalid"),
		patch("null activity of a higher user", above.ID, `{"is_active":null}`, apitest.Admin, 422, "invalid", "null_forbidden"),
		patch("a faulty name of a higher user", above.ID, `{"display_name":"a\u0007"}`, apitest.Admin, 403, "forbidden"),
		patch("text for activity", user.ID, `{"is_active":"false"}`, apitest.Admin, 422, "invalid"),
		patch("other keys", user.ID, `{"email":"x@example.com"}`, apitest.Admin, 422, "invalid", "extra_forbidden"),
		patch("a role", user.ID, `{"role":"owner"}`, apitest.Owner, 422, "invalid", "extra_forbidden"),
		patch("keep", user.ID, `{"is_active":true}`, apitest.Admin, 200, "", `"display_name":"Ada","is_active":true`),
		patch("clear", user.ID, `{"display_name":null}`, apitest.Admin, 200, "", `"display_name":null,"is_active":true`),
		patch("unknown", 999999, `{"display_name":"x"}`, apitest.Admin, 404, "not_found"),
		patch("unknown and faulty", 999999, `{"display_name":"a\u0007"}`, apitest.Admin, 422, "invalid"),
		patch("huge id", 9223372036854775807, `{"display_name":"x"}`, apitest.Admin, 404, "not_found"),
		patch("oneself", s.Account(apitest.Admin).ID, `{"is_active":false}`, apitest.Admin, 409, "self_deactivate"),
		patch("one's own name", s.Account(apitest.Admin).ID, `{"display_name":"Me"}`, apitest.Admin, 200, "", `"display_name":"Me"`),
		patch("an owner may", above.ID, `{"display_name":"x"}`, apitest.Owner, 200, ""),
		patch("oneself as the last owner", s.Account(apitest.Owner).ID, `{"is_active":false}`, apitest.Owner, 409, "self_deactivate"),
		apitest.Scenario{Name: "beyond 64 bits", Method: "PATCH", URL: "/api/v1/users/9223372036854775808", Body: `{"display_name":"x"}`,
			As: apitest.Admin, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "zero", Method: "PATCH", URL: "/api/v1/users/0", Body: `{"display_name":"x"}`, As: apitest.Admin, Status: 422,
			Error: "invalid"},
		apitest.Scenario{Name: "SQL", Method: "PATCH", URL: "/api/v1/users/" + url.PathEscape("1 OR 1=1"), Body: `{"display_name":"x"}`,
			As: apitest.Admin, Status: 422, Error: "invalid"},
	)
	var values string
	if err := s.DB.Pool.QueryRow(t.Context(),
		"SELECT string_agg(details::text, '') FROM audit WHERE action = 'user.update'").Scan(&values); err != nil ||
		strings.Contains(values, "Ada") {
		t.Errorf("the audit log has values: %s %v", values, err)
	}
}

func TestResetPasswordAndDeleteUser(t *testing.T) {
	t.Parallel()
	s := newUsers(t)
	blue := identitytest.Team(t, s.DB, "blue")
	user := identitytest.As(t, s.Users, identity.Viewer)
	above := identitytest.User(t, s.Users, identitytest.In{blue: identity.Owner})
	const good = `{"password":"canary-mehlwurm-zebra-19"}`
	do := func(name, method string, id int64, path, body string, as *apitest.Caller, status int, code string,
		more ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: method, URL: userPath(id) + path, Body: body, As: as, Status: status, Error: code,
			Contains: more, Lacks: []string{"canary"}}
	}
	reset := func(name string, id int64, body string, as *apitest.Caller, status int, code string, more ...string) apitest.Scenario {
		return do(name, "POST", id, "/password", body, as, status, code, more...)
	}
	// What a new password does not end is counted: passkeys and identities at providers.
	dbtest.Exec(t, s.DB, `INSERT INTO passkeys (user_id, credential_id, name, public_key, sign_count, transports, user_verified,
			backup_eligible, backed_up)
		SELECT $1, int4send(n), 'Laptop', '', 0, '{}', true, false, false FROM generate_series(1, 2) n`, user.ID)
	dbtest.Exec(t, s.DB, `WITH p AS (INSERT INTO identity_providers (name, issuer, client_id, scopes, groups_claim, accounts, trust_email,
			allow_private, fingerprint, enabled)
			VALUES ('Work', 'https://id.example', 'a', '{}', '', 'invited', false, false, '', true) RETURNING id)
		INSERT INTO user_identities (provider_id, subject, user_id) SELECT p.id, 'me', $1 FROM p`, user.ID)
	recorded := reset("reset", user.ID, good, apitest.Admin, 200, "",
		`{"sessions_revoked":1,"keys_revoked":0,"keys_valid":1,"passkeys_valid":2,"identities_valid":1}`)
	recorded.After = s.recorded("user.password_reset", user.Email, "ok", "",
		`{"keys_valid": 1, "keys_revoked": 0, "passkeys_valid": 2, "identities_valid": 1, "sessions_revoked": 1}`)
	identitytest.Key(t, s.Users, user, identitytest.KeySpec{})
	kept := reset("reset that keeps the keys", user.ID, `{"password":"canary-mehlwurm-zebra-20"}`, apitest.Admin, 200, "",
		`"keys_revoked":0,"keys_valid":1,"passkeys_valid":2,"identities_valid":1}`)
	revoked := reset("reset that revokes them", user.ID, `{"password":"canary-mehlwurm-zebra-21","revoke_keys":true}`, apitest.Admin, 200,
		"", `"keys_revoked":1,"keys_valid":0,"passkeys_valid":2,"identities_valid":1}`)
	revoked.After = s.recorded("user.password_reset", user.Email, "ok", "",
		`{"keys_valid": 0, "keys_revoked": 1, "passkeys_valid": 2, "identities_valid": 1, "sessions_revoked": 0}`)
	gone := do("delete", "DELETE", user.ID, "", "", apitest.Admin, 200, "", `{"deleted":true}`)
	gone.After = s.recorded("user.delete", user.Email, "ok", "", "")
	s.Run(t,
		reset("take-over", above.ID, good, apitest.Admin, 403, "forbidden"),
		reset("take-over of an owner", s.Account(apitest.Owner).ID, good, apitest.Admin, 403, "forbidden"),
		reset("short", user.ID, `{"password":"canary"}`, apitest.Admin, 422, "invalid", `["body","password"]`),
		reset("common", user.ID, `{"password":"passwordpassword"}`, apitest.Admin, 422, "invalid", `["body","password"]`, "too_common"),
		reset("the address", user.ID, fmt.Sprintf(`{"password":%q}`, user.Email), apitest.Admin, 422, "invalid", "same_as_email"),
		reset("common, of a higher user", above.ID, `{"password":"passwordpassword"}`, apitest.Admin, 403, "forbidden"),
		reset("NUL", user.ID, `{"password":"canary-\u0000-zebra-19"}`, apitest.Admin, 422, "invalid"),
		reset("null", user.ID, `{"password":null}`, apitest.Admin, 422, "invalid"),
		reset("the old one beside", user.ID, `{"password":"canary-mehlwurm-zebra-19","current":"x"}`, apitest.Admin, 422, "invalid"),
		reset("unknown", 999999, good, apitest.Admin, 404, "not_found"),
		reset("unknown and faulty", 999999, `{"password":"passwordpassword"}`, apitest.Admin, 422, "invalid"),
		recorded, kept, revoked,
		do("delete a higher user", "DELETE", above.ID, "", "", apitest.Admin, 403, "forbidden"),
		do("oneself", "DELETE", s.Account(apitest.Admin).ID, "", "", apitest.Admin, 409, "self_delete"),
		do("the last owner, oneself", "DELETE", s.Account(apitest.Owner).ID, "", "", apitest.Owner, 409, "self_delete"),
		do("plan to delete oneself", "DELETE", s.Account(apitest.Admin).ID, "?plan=true", "", apitest.Admin, 200, "",
			`"blockers":[{"error":"self_delete"`),
		do("plan", "DELETE", user.ID, "?plan=true", "", apitest.Admin, 200, "", `"blockers":[]`, "API keys and a role in 1 team"),
		gone,
		do("again", "DELETE", user.ID, "", "", apitest.Admin, 404, "not_found"),
	)
	var everything string
	if err := s.DB.Pool.QueryRow(t.Context(),
		"SELECT string_agg(u::text, '') || (SELECT string_agg(a::text, '') FROM audit a) FROM users u").Scan(&everything); err != nil ||
		strings.Contains(everything, "canary") {
		t.Errorf("a password was kept (%v)", err)
	}
}

func TestResetSecondFactorOfAUser(t *testing.T) {
	t.Parallel()
	s := newUsers(t)
	blue := identitytest.Team(t, s.DB, "blue")
	user := identitytest.As(t, s.Users, identity.Viewer)
	above := identitytest.User(t, s.Users, identitytest.In{blue: identity.Owner})
	admin := s.Account(apitest.Admin)
	for _, one := range []*identitytest.Account{user, above, admin} {
		identitytest.TOTP(t, s.Users, one)
	}
	reset := func(name string, id int64, as *apitest.Caller, status int, code string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "DELETE", URL: userPath(id) + "/totp", As: as, Status: status, Error: code}
	}
	recorded := reset("reset", user.ID, apitest.Admin, 204, "")
	recorded.After = s.recorded("user.totp_reset", user.Email, "ok", "", "")
	s.Run(t,
		reset("of a higher user", above.ID, apitest.Admin, 403, "forbidden"),
		reset("one's own", admin.ID, apitest.Admin, 409, "invalid_state"),
		reset("unknown", 999999, apitest.Admin, 404, "not_found"),
		reset("as an operator", user.ID, apitest.Operator, 403, "forbidden"),
		recorded,
		reset("again", user.ID, apitest.Admin, 409, "invalid_state"),
	)
	if in := identitytest.LogIn(t, s.Users, user.User); in.TOTPEnabled {
		t.Error("the second factor is still on")
	}
	if left := dbtest.Value[int](t, s.DB, "SELECT count(*) FROM recovery_codes WHERE user_id = $1", user.ID); left != 0 {
		t.Errorf("%d recovery codes are left", left)
	}
}

// A user whose session is on its way out is out with the next request.
func TestDeactivatedUserIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := newUsers(t)
	s.Account(apitest.Admin) // the list has two
	helper := identitytest.As(t, s.Users, identity.Admin)
	get := func() int {
		r, _ := http.NewRequest("GET", s.URL+"/api/v1/users", nil)
		r.AddCookie(helper.Cookie)
		answer, err := s.Do(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		var rows []struct{ ID int64 }
		if answer.Status == 200 && (json.Unmarshal(answer.Body, &rows) != nil || len(rows) != 2) {
			t.Errorf("%s", answer.Body)
		}
		return answer.Status
	}
	if got := get(); got != 200 {
		t.Fatal(got)
	}
	s.Run(t, apitest.Scenario{Name: "deactivate", Method: "PATCH", URL: userPath(helper.ID), Body: `{"is_active":false}`, As: apitest.Admin,
		Status: 200})
	if got := get(); got != 401 {
		t.Error(got)
	}
}
