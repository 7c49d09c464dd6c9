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
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/sso"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	provider "github.com/hostler/hostler/core/sso/ssotest"
)

func newProviders(t *testing.T) *servicetest.Resource {
	t.Helper()
	base, err := proxy.ParseBaseURL("https://hostler.example")
	if err != nil {
		t.Fatal(err)
	}
	return servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) {
		sso.Register(a, d.SSO)
		auth.Register(a, d.Auth)
	}, func(c *service.Config) { c.AllowLocal, c.BaseURL = true, base })
}

// providerBody is that of a request that makes a provider.
func providerBody(p *provider.Provider, rest string) string {
	return fmt.Sprintf(`{"name":"Company","issuer":%q,"tls_fingerprint":%q,"client_id":%q,"client_secret":%q%s}`, p.URL, p.Fingerprint,
		provider.ClientID, provider.ClientSecret, rest)
}

func TestIdentityProviders(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/identity-providers"
	b, p := newProviders(t), provider.New(t)
	b.Run(t,
		do("nobody", "POST", path, providerBody(p, ""), nil, 401, "unauthenticated"),
		do("admin", "POST", path, providerBody(p, ""), apitest.Admin, 403, "forbidden"),
		do("owner", "POST", path, providerBody(p, ""), apitest.Owner, 201, "", `"id":1`, `"client_secret_set":true`, `"groups_claim":"groups"`,
			`"scopes":["openid","email","profile"]`, `"accounts":"invited"`, `"enabled":true`, `"rules":[]`,
			`"redirect_uri":"https://hostler.example/login/callback/1"`, `"post_logout_redirect_uri":"https://hostler.example/"`),
		do("again", "POST", path, providerBody(p, ""), apitest.Owner, 409, "conflict"),
		do("list", "GET", path, "", apitest.Owner, 200, "", `[{"id":1`),
		do("list as an admin", "GET", path, "", apitest.Admin, 403, "forbidden"),
		do("get", "GET", path+"/1", "", apitest.Owner, 200, "", `"name":"Company"`),
		do("get none", "GET", path+"/9", "", apitest.Owner, 404, "not_found"),
		do("nothing", "PATCH", path+"/1", `{}`, apitest.Owner, 422, "invalid", "nothing_to_change"),
		do("a rule of no team", "PATCH", path+"/1", `{"rules":[{"group":"a","team_id":99,"role":"viewer"}]}`, apitest.Owner, 422, "invalid",
			`"rules",0,"team_id"`),
		do("no role", "PATCH", path+"/1", `{"rules":[{"group":"a","team_id":1,"role":"root"}]}`, apitest.Owner, 422, "invalid"),
		do("another issuer", "PATCH", path+"/1", `{"issuer":"https://id.invalid"}`, apitest.Owner, 422, "invalid", `"client_secret"`),
		do("plain", "PATCH", path+"/1", `{"issuer":"http://id.invalid"}`, apitest.Owner, 422, "invalid"),
		do("rules", "PATCH", path+"/1", `{"rules":[{"group":"a","team_id":1,"role":"viewer"}],"scopes":[]}`, apitest.Owner, 200, "",
			`"scopes":["openid"]`, `"role":"viewer"`, `"client_secret_set":true`),
		do("test", "POST", path+"/1/test", "", apitest.Owner, 200, "", `"ok":true`, `"error":null`, `"keys":1`),
		do("clear", "PATCH", path+"/1", `{"client_secret":null,"enabled":false}`, apitest.Owner, 200, "", `"client_secret_set":false`),
		do("offers of none", "GET", "/api/v1/auth/providers", "", nil, 200, "", `[]`),
		do("delete", "DELETE", path+"/1", "", apitest.Owner, 204, ""),
		do("delete again", "DELETE", path+"/1", "", apitest.Owner, 404, "not_found"),
	)
	trail := b.Value("SELECT string_agg(row_to_json(a)::text, '') FROM audit a")
	if strings.Contains(trail, "canary") || !strings.Contains(trail, "identity_provider.delete") {
		t.Errorf("in the audit log: %s", trail)
	}
}

// A whole log-in, as a browser does it.
func TestLogInByAProvider(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/identity-providers"
	b, p := newProviders(t), provider.New(t)
	b.Run(t,
		do("make", "POST", path, providerBody(p, `,"accounts":"create","rules":[{"group":"*","team_id":1,"role":"operator"}]`), apitest.Owner,
			201, ""),
		do("offers", "GET", "/api/v1/auth/providers", "", nil, 200, "", `[{"id":1,"name":"Company"}]`),
		do("no provider", "POST", "/api/v1/auth/providers/9/login", `{}`, nil, 409, "invalid_state"),
		do("without a cookie", "POST", "/api/v1/auth/providers/1/callback", `{"state":"a","code":"b"}`, nil, 401, "invalid_credentials"),
		apitest.Scenario{Name: "of another site", Method: "POST", URL: "/api/v1/auth/providers/1/callback", Body: `{"state":"a","code":"b"}`,
			Headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, Status: 403, Error: "cross_origin"},
	)
	begun := sendCookies(t, b, "POST", "/api/v1/auth/providers/1/login", `{"return_to":"/jobs"}`)
	var to struct{ URL string }
	if err := json.Unmarshal(begun.Body, &to); err != nil || begun.Status != 200 {
		t.Fatalf("%d %s", begun.Status, begun.Body)
	}
	cookie := begun.Header.Get("Set-Cookie")
	for _, want := range []string{"service_sign_on=", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("%s is not in %s", want, cookie)
		}
	}
	came := p.Authorize(t, to.URL)
	if u, err := url.Parse(to.URL); err != nil || u.Query().Get("redirect_uri") != "https://hostler.example/login/callback/1" {
		t.Errorf("%s %v", to.URL, err)
	}
	answer, err := json.Marshal(map[string]string{"state": came.Get("state"), "code": came.Get("code")})
	if err != nil {
		t.Fatal(err)
	}
	done := sendCookies(t, b, "POST", "/api/v1/auth/providers/1/callback", string(answer), cookie)
	set := (&http.Response{Header: done.Header}).Cookies()
	if done.Status != 200 || !strings.Contains(string(done.Body), `"return_to":"/jobs"`) || len(set) != 3 || set[2].MaxAge >= 0 {
		t.Fatalf("%d %s %v", done.Status, done.Body, set)
	}
	session := set[0].String()
	me := sendCookies(t, b, "GET", "/api/v1/auth/me", "", session)
	for _, want := range []string{`"email":"anna@example.com"`, `"has_password":false`, `"role":"operator"`, `"method":"provider"`,
		`"provider":"Company"`, `"second_factor":null`} {
		if !strings.Contains(string(me.Body), want) {
			t.Errorf("%s is not in %s", want, me.Body)
		}
	}
	if again := sendCookies(t, b, "POST", "/api/v1/auth/providers/1/callback", string(answer), cookie); again.Status != 401 {
		t.Errorf("again: %d %s", again.Status, again.Body)
	}
	out := sendCookies(t, b, "POST", "/api/v1/auth/logout/provider", "", session)
	if out.Status != 200 || !strings.Contains(string(out.Body), p.URL+"/logout?client_id=hostler") {
		t.Errorf("%d %s", out.Status, out.Body)
	}
	if me := sendCookies(t, b, "GET", "/api/v1/auth/me", "", session); me.Status != 401 {
		t.Errorf("%d", me.Status)
	}
	trail := b.Value("SELECT string_agg(row_to_json(a)::text, '') FROM audit a WHERE action LIKE 'auth.%'")
	if strings.Contains(trail, came.Get("code")) || strings.Contains(trail, "canary") || !strings.Contains(trail, `"provider": "Company"`) {
		t.Error(trail)
	}
}

// sendCookies makes a request with cookies.
func sendCookies(t *testing.T, b *servicetest.Resource, method, path, body string, cookies ...string) *apitest.Response {
	t.Helper()
	r, err := http.NewRequest(method, b.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range cookies {
		pair, _, _ := strings.Cut(c, ";")
		r.Header.Add("Cookie", pair)
	}
	answer, err := b.Do(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
