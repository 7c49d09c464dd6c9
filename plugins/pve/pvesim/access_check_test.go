package pvesim

import (
	"encoding/json"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// TestPrivilegeExpressions evaluates every form that the schema knows, as users with different privileges.
func TestPrivilegeExpressions(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	c.groups["ops"], c.groups["dev"] = "", ""
	c.setRole("A", []string{"Sys.Audit"})
	c.setRole("M", []string{"Sys.Modify"})
	c.setRole("U", []string{"User.Modify"})
	c.setRole("R", []string{"Realm.AllocateUser"})
	for _, id := range []string{"audit@pve", "both@pve", "ops@pve", "realm@pve", "none@pve"} {
		c.addUser(id, "")
	}
	c.users["none@pve"].groups["ops"] = true
	c.grant("/nodes/pve1", "audit@pve", "A", true)
	c.grant("/nodes/pve1", "both@pve", "A", true)
	c.grant("/nodes/pve1", "both@pve", "M", true)
	c.grant("/access/groups/ops", "ops@pve", "U", true)
	c.grant("/access/realm/pve", "realm@pve", "R", true)
	c.grant("/access/groups", "realm@pve", "U", false)
	const denied = "403 Permission check failed"
	for _, tc := range []struct {
		access string
		who    string
		params map[string]string
		want   string // empty for nothing
	}{
		{`{"user":"all"}`, "none@pve", nil, ""},
		{`{}`, "root@pam", nil, ""},
		{`{}`, "root@pam!admin", nil, denied + " (user != root@pam)"},
		{`{}`, "both@pve", nil, denied + " (user != root@pam)"},
		{`{"check":["perm","/nodes/{node}",["Sys.Audit"]]}`, "audit@pve", map[string]string{"node": "pve1"}, ""},
		{`{"check":["perm","/nodes/{node}",["Sys.Audit"]]}`, "audit@pve", map[string]string{"node": "pve2"},
			denied + " (/nodes/pve2, Sys.Audit)"},
		{`{"check":["perm","/nodes/pve1",["Sys.Audit","Sys.Modify"]]}`, "audit@pve", nil, denied + " (/nodes/pve1, Sys.Modify)"},
		{`{"check":["perm","/nodes/pve1",["Sys.Audit","Sys.Modify"]]}`, "both@pve", nil, ""},
		{`{"check":["perm","/nodes/pve1",["Sys.Audit","Sys.Modify"],"any",1]}`, "audit@pve", nil, ""},
		{`{"check":["perm","/nodes/pve1",["Sys.Audit","Sys.Modify"],"any",1]}`, "none@pve", nil,
			denied + " (/nodes/pve1, Sys.Audit|Sys.Modify)"},
		{`{"check":["perm","/pool/{pool}",["Pool.Audit"],"require_param","pool"]}`, "none@pve", nil, ""},
		{`{"check":["perm","/pool/{pool}",["Pool.Audit"],"require_param","pool"]}`, "none@pve", map[string]string{"pool": "p"},
			denied + " (/pool/p, Pool.Audit)"},
		{`{"check":["or",["perm","/nodes/pve1",["Sys.Modify"]],["perm","/pool/{pool}",["Pool.Audit"],"require_param","pool"]]}`, "none@pve", nil,
			denied},
		{`{"check":["and",["perm","/nodes/pve1",["Sys.Audit"]],["perm","/nodes/pve1",["Sys.Modify"]]]}`, "audit@pve", nil,
			denied + " (/nodes/pve1, Sys.Modify)"},
		{`{"check":["or",["perm","/nodes/pve1",["Sys.Modify"]],["perm","/nodes/pve1",["Sys.Audit"]]]}`, "audit@pve", nil, ""},
		{`{"check":["or",["perm","/nodes/pve1",["Sys.Modify"]],["perm","/",["Sys.Audit"]]]}`, "audit@pve", nil, denied},
		{`{"check":["userid-param","self"]}`, "none@pve", map[string]string{"userid": "none@pve"}, ""},
		{`{"check":["userid-param","self"]}`, "none@pve", map[string]string{"userid": "ops@pve"}, denied},
		{`{"check":["userid-param","self"]}`, "none@pve", map[string]string{"userid": "gone@pve"}, "500 no such user ('gone@pve')"},
		{`{"check":["userid-param","Realm.AllocateUser"]}`, "realm@pve", map[string]string{"userid": "x@pve"}, ""},
		{`{"check":["userid-param","Realm.AllocateUser"]}`, "none@pve", map[string]string{"userid": "x@pam"},
			denied + " (/access/realm/pam, Realm.AllocateUser)"},
		{`{"check":["userid-param","Realm.AllocateUser"]}`, "realm@pve", map[string]string{"userid": "x"},
			"500 value 'x' does not look like a valid user name"},
		{`{"check":["userid-group",["User.Modify"]]}`, "ops@pve", map[string]string{"userid": "none@pve"}, ""},
		{`{"check":["userid-group",["User.Modify"]]}`, "ops@pve", map[string]string{"userid": "both@pve"},
			denied + " (/access/groups, User.Modify)"},
		{`{"check":["userid-group",["User.Modify"]]}`, "realm@pve", map[string]string{"userid": "both@pve"}, ""},
		{`{"check":["userid-group",["User.Modify"],"groups_param","create"]}`, "ops@pve",
			map[string]string{"userid": "new@pve", "groups": "ops"}, ""},
		{`{"check":["userid-group",["User.Modify"],"groups_param","create"]}`, "ops@pve",
			map[string]string{"userid": "new@pve", "groups": "ops,dev"},
			denied + " (/access/groups/dev, User.Modify)"},
		{`{"check":["userid-group",["User.Modify"],"groups_param","create"]}`, "ops@pve", map[string]string{"userid": "new@pve"},
			denied + " (/access/groups, User.Modify)"},
		{`{"check":["userid-group",["User.Modify"],"groups_param","update"]}`, "ops@pve",
			map[string]string{"userid": "none@pve", "groups": "dev"},
			denied + " (/access/groups/dev, User.Modify)"},
		{`{"check":["perm-modify","{path}"]}`, "audit@pve", map[string]string{"path": "/vms/100"},
			denied + " (/vms/100, Permissions.Modify|VM.Allocate)"},
	} {
		var access schema.Access
		if err := json.Unmarshal([]byte(tc.access), &access); err != nil {
			t.Fatal(err)
		}
		r := &request{c: c, who: parseIdentity(tc.who), values: values{}}
		for k, v := range tc.params {
			r.values[k] = paramValue{text: v}
		}
		e := &endpoint{facts: func() *schema.Method { return &schema.Method{Access: access} }}
		got := ""
		if err := r.permitted(e); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s as %s with %v: %q, want %q", tc.access, tc.who, tc.params, got, tc.want)
		}
	}
}

// TestOlderReleasesAskForOtherPrivileges: VM.Monitor let one at the guest agent before release 9.
func TestOlderReleasesAskForOtherPrivileges(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"8.4.1":  "403 Permission check failed (/vms/100, VM.Monitor)",
		"9.2.11": "403 Permission check failed (/vms/100, VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted)",
	} {
		c, err := New(Options{Bare: true, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		c.addUser("a@pve", "")
		r := &request{c: c, who: identity{user: "a@pve"}, values: values{"vmid": {text: "100"}}}
		if err := r.permitted(serve("POST", "/nodes/{node}/qemu/{vmid}/agent/ping", nil)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", version, err)
		}
	}
}
