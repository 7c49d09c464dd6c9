package pve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// TestRoleScriptGivesWhatIsNeeded runs the script, carries its calls out on a bare simulator through the API, and asks each
// token for its permissions: nothing may be missing and nothing too much.
func TestRoleScriptGivesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/pool/customers"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := newAdmin(t)
			a.put(t, "pools/customers", "")
			_, problems, err := a.run(t,
				roleScript(t, hypervisor.RoleScriptQuery{Path: path, Capabilities: endpoint.Capabilities(), NodeShell: true}))
			if err != nil {
				t.Fatal(err, problems)
			}
			w := newFixture(t, pvesim.Options{Bare: true})
			w.AddPool("customers", "")
			secrets := map[string]string{}
			for call := range strings.Lines(a.get("calls")) {
				w.carryOut(t, strings.TrimSpace(call), secrets)
			}
			for _, capability := range endpoint.Capabilities() {
				id := "service@pve!" + string(capability)
				got, err := w.open(t, w.target(capability, pvesim.Token{ID: id, Secret: secrets[id]})).Permissions(t.Context())
				if err != nil || len(got.Missing) > 0 || len(got.Extra) > 0 || len(got.Paths) != 1 || got.Paths[0] != path {
					t.Errorf("%s: %+v, %v", capability, got, err)
				}
			}
		})
	}
}

var tokenValue = regexp.MustCompile(`"value":"([^"]+)"`)

// carryOut does what a call of pveum does. New tokens' secrets go into secrets.
func (w *fixture) carryOut(t *testing.T, call string, secrets map[string]string) {
	t.Helper()
	words := strings.Fields(call)
	option := func(name string) string {
		_, rest, _ := strings.Cut(call, "--"+name+" ")
		value, _, _ := strings.Cut(rest, " ")
		return value
	}
	switch strings.Join(words[:2], " ") {
	case "role add":
		w.admin(t, "POST", "/access/roles", url.Values{"roleid": {words[2]}, "privs": {option("privs")}})
	case "user add":
		w.admin(t, "POST", "/access/users", url.Values{"userid": {words[2]}})
	case "user token":
		if words[2] != "add" {
			return
		}
		answer := w.admin(t, "POST", "/access/users/"+words[3]+"/token/"+words[4], url.Values{"privsep": {option("privsep")}})
		m := tokenValue.FindStringSubmatch(answer)
		if m == nil {
			t.Fatalf("no secret in %s", answer)
		}
		secrets[words[3]+"!"+words[4]] = m[1]
	case "acl modify":
		form := url.Values{"path": {words[2]}, "roles": {option("roles")}, "propagate": {option("propagate")}}
		for _, subject := range []string{"users", "tokens"} {
			if v := option(subject); v != "" {
				form.Set(subject, v)
			}
		}
		w.admin(t, "PUT", "/access/acl", form)
	case "role list", "user list", "pool list", "acl list":
	default:
		t.Fatalf("the script called pveum %s", call)
	}
}

// admin sends a request as root.
func (w *fixture) admin(t *testing.T, method, path string, form url.Values) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "/api2/json"+path, strings.NewReader(form.Encode()))
	must(t, "making a request", err)
	token := w.AdminToken()
	req.Header.Set("Authorization", fmt.Sprintf("PVEAPIToken=%s=%s", token.ID, token.Secret))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := &capture{header: http.Header{}}
	w.Node(w.NodeNames()[0]).ServeHTTP(answer, req)
	if answer.status > 200 {
		t.Fatalf("%s %s %v: %d %s", method, path, form, answer.status, answer.body)
	}
	return string(answer.body)
}
