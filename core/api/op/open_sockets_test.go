package op_test

import (
	"net/http"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// A socket and an upload are held against every kind of caller as any operation is, and admit whom they should: a socket opens.
func TestSocketAndUploadAgainstEveryCaller(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(*op.Spec) {})
	logIn := func(token string) func(*http.Request, string) {
		return func(r *http.Request, _ string) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	off := func(run func()) {
		l.switchOff(true)
		defer l.switchOff(false)
		run()
	}
	columns := []apitest.Column{
		{Name: "nobody", Unknown: true},
		{Name: "false key", Unknown: true, LogIn: logIn("false")},
		{Name: "off", Role: identity.Owner, LogIn: logIn("owner@3"), Off: true, Around: off},
		{Name: "key that reads", Role: identity.Owner, LogIn: logIn("owner@3 read"), Key: func(string) []string { return []string{"read"} }},
		{Name: "key that writes", Role: identity.Owner, LogIn: logIn("owner@3 hosts:write"),
			Key: func(scope string) []string { return []string{scope} }},
		{Name: "key of another resource", Role: identity.Owner, LogIn: logIn("owner@3 vms:write"),
			Key: func(string) []string { return []string{"vms:write"} }},
	}
	for role := identity.Viewer; role <= identity.Owner; role++ {
		columns = append(columns,
			apitest.Column{Name: role.String(), Role: role, LogIn: logIn(role.String() + "@3")},
			apitest.Column{Name: "foreign " + role.String(), Elsewhere: role, LogIn: logIn(role.String() + "@2")})
	}
	config := apitest.MatrixConfig{Columns: columns, Values: map[string]string{"host_id": "8"}}
	served := &apitest.API{URL: l.server.URL, Client: l.server.Client()}
	served.MatrixWith(t, config)
	t.Run("in process", func(t *testing.T) { (&apitest.API{Handler: l.API}).MatrixWith(t, config) })
	opened := 0
	for _, e := range l.trail() {
		if e.Action == "host.console" && string(e.Result) == "ok" {
			opened++
		}
	}
	if opened != 8 { // operator, admin, owner and the key that writes, each over HTTP and in the process
		t.Errorf("%d sockets were opened", opened)
	}
}
