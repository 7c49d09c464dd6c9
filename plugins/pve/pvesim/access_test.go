package pvesim_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// logIn asks for a ticket without any other credential.
func logIn(t *testing.T, c *pvesim.Cluster, user, password string) (answer rawAnswer, ticket string) {
	t.Helper()
	answer = send(t, c.URL(""), rawRequest{
		method: "POST", path: "/api2/json/access/ticket", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		body: url.Values{"username": {user}, "password": {password}}.Encode(),
	})
	var body struct {
		Data struct{ Username, Ticket string }
	}
	if answer.status == 200 {
		noError(t, json.Unmarshal(answer.body, &body))
		if body.Data.Username != user {
			t.Errorf("the ticket is for %q, want %q", body.Data.Username, user)
		}
	}
	return answer, body.Data.Ticket
}

func TestATicketAsPasswordRenews(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	c.AddUser("a@pve", "secret1234")
	c.AddUser("b@pve", "secret5678")
	_, first := logIn(t, c, "a@pve", "secret1234")
	c.Advance(time.Hour)
	renewed, second := logIn(t, c, "a@pve", first)
	if renewed.status != 200 || second == "" || second == first {
		t.Fatalf("renewal: %d %s, ticket %q", renewed.status, renewed.reason, second)
	}
	if other, _ := logIn(t, c, "b@pve", second); other.status != 401 || other.reason != "authentication failure" {
		t.Errorf("another user's ticket: %d %s", other.status, other.reason)
	}
	as(t, c, c.AdminToken()).decode("DELETE", "/access/users/root@pam", "", nil) // it came without a password
	c.AddUser("root@pam", "secret9999")
	_, roots := logIn(t, c, "root@pam", "secret9999")
	if other, ticket := logIn(t, c, "b@pve", roots); other.status != 200 || ticket == "" {
		t.Errorf("root's ticket makes another user's: %d %s", other.status, other.reason)
	}
	if wrong, _ := logIn(t, c, "a@pve", second+"x"); wrong.status != 401 {
		t.Errorf("a forged ticket: %d", wrong.status)
	}
	c.Advance(90 * time.Minute) // two and a half hours after the first, one and a half after the second
	if old, _ := logIn(t, c, "a@pve", first); old.status != 401 {
		t.Errorf("a ticket of two and a half hours: %d", old.status)
	}
	if again, _ := logIn(t, c, "a@pve", second); again.status != 200 {
		t.Errorf("a ticket of one and a half hours: %d %s", again.status, again.reason)
	}
	noError(t, c.EnableUser("a@pve", false))
	if disabled, _ := logIn(t, c, "a@pve", second); disabled.status != 401 {
		t.Errorf("the ticket of a disabled user: %d", disabled.status)
	}
}

// TestPathAndPrivilegesOfATicketGoTogether: one without the other is refused.
func TestPathAndPrivilegesOfATicketGoTogether(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	c.AddUser("a@pve", "secret1234")
	for form, missing := range map[string]string{"path=/vms": "privs", "privs=VM.Audit": "path"} {
		a := send(t, c.URL(""), rawRequest{
			method: "POST", path: "/api2/json/access/ticket", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
			body: "username=a%40pve&password=secret1234&" + form,
		})
		var body struct{ Errors map[string]string }
		noError(t, json.Unmarshal(a.body, &body))
		if name, _, _ := strings.Cut(form, "="); a.status != 400 || body.Errors[missing] != "missing property - '"+name+
			"' requires this property" {
			t.Errorf("%s: %d %s", form, a.status, a.body)
		}
	}
}

func TestReadingTheTicketNeedsNoLogIn(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	a := send(t, c.URL(""), rawRequest{method: "GET", path: "/api2/json/access/ticket"})
	if a.status != 200 || string(a.body) != `{"data":null}` {
		t.Errorf("%d %s %s", a.status, a.reason, a.body)
	}
}

// TestAccessTexts are refusals and shapes as the real server has them.
func TestAccessTexts(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	c.AddUser("bare@pve", "")
	c.AddToken("full@pve!one", true)
	root := as(t, c, c.AdminToken())
	root.refused("DELETE", "/access/roles/none", "", 500, "delete role failed: role 'none' does not exist")
	root.refused("GET", "/access/roles/none", "", 500, "role 'none' does not exist")
	for form, want := range map[string]string{
		"users=gone%40pve":        "ACL update failed: user 'gone@pve' does not exist",
		"groups=gone":             "ACL update failed: group 'gone' does not exist",
		"tokens=bare%40pve%21one": "ACL update failed: no such token 'one' for user 'bare@pve'",
	} {
		root.refused("PUT", "/access/acl", "path=/vms&roles=PVEVMUser&"+form, 500, want)
		// Who is gone has no entries that could still be deleted.
		root.refused("PUT", "/access/acl", "path=/vms&roles=PVEVMUser&delete=1&"+form, 500, want)
	}
	for user, tokens := range map[string]bool{"bare@pve": false, "full@pve": true} {
		var one row
		root.get("/access/users/"+url.PathEscape(user), &one)
		if value, there := one["tokens"]; !there || (value != nil) != tokens {
			t.Errorf("tokens of %s are %v", user, one)
		}
		var all []row
		root.get("/access/users?full=1", &all)
		if value, there := rowWith(all, "userid", user)["tokens"]; !there || (value != nil) != tokens {
			t.Errorf("tokens of %s in the list are %v", user, value)
		}
	}
}

// TestParametersThatAreInThePathToo pass with the same value only.
func TestParametersThatAreInThePathToo(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 100})
	root := as(t, c, c.AdminToken())
	const start = "/nodes/pve1/qemu/100/status/start"
	for _, form := range []string{"vmid=101", "node=pve2", "vmid=0100", "vmid=", "vmid=100&vmid=100"} {
		answer := root.refused("POST", start, form, 400, "Parameter verification failed.")
		name, _, _ := strings.Cut(form, "=")
		var body struct{ Errors map[string]string }
		noError(t, json.Unmarshal(answer.body, &body))
		if got := body.Errors[name]; got != "duplicate parameter (already defined in URI) with conflicting values!" {
			t.Errorf("%s: %q", form, got)
		}
	}
	root.refused("GET", "/nodes/pve1/qemu/100/status/current?vmid=101", "", 400, "Parameter verification failed.")
	var status row
	root.get("/nodes/pve1/qemu/100/status/current?vmid=100&node=pve1", &status)
	if status["vmid"] != 100.0 {
		t.Errorf("status %v", status)
	}
	if upid := root.post(start, "vmid=100&node=pve1"); upid == "" {
		t.Error("no task")
	}
}
