package pvesim_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

func fingerprint(der []byte) string {
	var parts []string
	for _, b := range sha256.Sum256(der) {
		parts = append(parts, fmt.Sprintf("%02X", b))
	}
	return strings.Join(parts, ":")
}

func TestTokenHeader(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	admin := c.AdminToken()
	good := admin.ID + "=" + admin.Secret
	for header, want := range map[string]string{
		"":                          "No ticket",
		"Bearer " + good:            "No ticket",
		"PVEAPIToken":               "No ticket",
		"PVEAPIToken=" + good:       "",
		"PVEAPIToken=" + admin.ID:   "Authentication failed!",
		"PVEAPIToken=" + good + "x": "Authentication failed!",
		"PVEAPIToken=root@pam!other!admin=" + good:   "Authentication failed!",
		"PVEAPIToken=root@pam=" + admin.Secret:       "Authentication failed!",
		"PVEAPIToken=ROOT@pam!admin=" + admin.Secret: "Authentication failed!",
	} {
		r := rawRequest{method: "GET", path: "/api2/json/version", header: map[string]string{}}
		if header != "" {
			r.header["Authorization"] = header
		}
		got := send(t, c.URL(""), r)
		if want == "" && got.status != 200 || want != "" && (got.status != 401 || got.reason != want) {
			t.Errorf("%q: %d %s, want %q", strings.ReplaceAll(header, admin.Secret, "…"), got.status, got.reason, want)
		}
	}
	r := rawRequest{method: "GET", path: "/api2/json/version",
		header: map[string]string{"Authorization": "PVEAPIToken=" + good, "Cookie": "PVEAuthCookie=x"}}
	if got := send(t, c.URL(""), r); got.status != 401 {
		t.Errorf("a cookie does not win over the token: %d", got.status)
	}
}

func TestPrivilegesOnPaths(t *testing.T) {
	t.Parallel()
	type grant struct {
		path, subject, role string
		propagate           bool
	}
	const u, full, sep = "u@pve", "u@pve!full", "u@pve!sep"
	for name, tc := range map[string]struct {
		grants []grant
		as     string
		path   string
		want   string // privileges of the answer with their flag
	}{
		"nothing":         {nil, full, "/vms/100", ""},
		"user's own path": {[]grant{{"/vms/100", u, "PVETemplateUser", false}}, full, "/vms/100", "VM.Audit=0 VM.Clone=0"},
		"inherited":       {[]grant{{"/", u, "PVETemplateUser", true}}, full, "/vms/100", "VM.Audit=1 VM.Clone=1"},
		"not propagated":  {[]grant{{"/vms", u, "PVETemplateUser", false}}, full, "/vms/100", ""},
		"nearest entry wins": {[]grant{{"/", u, "PVEVMAdmin", true}, {"/vms", u, "PVETemplateUser", true}}, full, "/vms/100",
			"VM.Audit=1 VM.Clone=1"},
		"no access": {[]grant{{"/", u, "PVEVMAdmin", true}, {"/vms/100", u, "NoAccess", true}}, full, "/vms/100", ""},
		"two roles": {[]grant{{"/vms", u, "PVETemplateUser", true}, {"/vms", u, "PVEPoolUser", true}}, full, "/vms/100",
			"Pool.Audit=1 VM.Audit=1 VM.Clone=1"},
		"separated without entries": {[]grant{{"/", u, "PVEVMAdmin", true}}, sep, "/vms/100", ""},
		"separated, user has less": {[]grant{{"/", sep, "PVEVMAdmin", true}, {"/", u, "PVETemplateUser", true}}, sep, "/vms/100",
			"VM.Audit=1 VM.Clone=1"},
		"separated, user has none": {[]grant{{"/", sep, "PVEVMAdmin", true}}, sep, "/vms/100", ""},
		"separated, flags are anded": {[]grant{{"/vms", sep, "PVETemplateUser", true}, {"/vms", u, "PVETemplateUser", false}}, sep, "/vms",
			"VM.Audit=0 VM.Clone=0"},
		"pool":                  {[]grant{{"/pool/p", u, "PVETemplateUser", true}}, full, "/vms/101", "VM.Audit=0 VM.Clone=0"},
		"pool of another guest": {[]grant{{"/pool/p", u, "PVETemplateUser", true}}, full, "/vms/100", ""},
		"pool, separated": {[]grant{{"/pool/p", u, "PVETemplateUser", true}, {"/pool/p", sep, "PVETemplateUser", true}}, sep,
			"/vms/101", "VM.Audit=0 VM.Clone=0"},
		"group": {[]grant{{"/vms", "@ops", "PVETemplateUser", true}}, full, "/vms/100", "VM.Audit=1 VM.Clone=1"},
		"own entry over group's": {[]grant{{"/vms", "@ops", "PVEVMAdmin", true}, {"/vms", u, "PVETemplateUser", true}}, full, "/vms/100",
			"VM.Audit=1 VM.Clone=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newHost(t)
			c.AddPool("p", "")
			addGuest(t, c, pvesim.GuestSpec{VMID: 100})
			addGuest(t, c, pvesim.GuestSpec{VMID: 101, Pool: "p"})
			root := as(t, c, c.AdminToken())
			root.decode("POST", "/access/groups", "groupid=ops", nil)
			tokens := map[string]pvesim.Token{full: c.AddToken(full, false), sep: c.AddToken(sep, true)}
			root.decode("PUT", "/access/users/u@pve", "groups=ops", nil)
			for _, g := range tc.grants {
				c.Grant(g.path, g.subject, g.role, g.propagate)
			}
			var perms map[string]map[string]int
			as(t, c, tokens[tc.as]).get("/access/permissions?path="+tc.path, &perms)
			var got []string
			for p, flag := range perms[tc.path] {
				got = append(got, fmt.Sprintf("%s=%d", p, flag))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != tc.want {
				t.Errorf("privileges %q, want %q", got, tc.want)
			}
		})
	}
}

func TestListsAreShortenedWithoutPrivileges(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	token := c.AddToken("few@pve!t1", true)
	few := as(t, c, token)
	var rows []row
	for _, path := range []string{"/cluster/resources?type=vm", "/cluster/resources?type=storage", "/nodes/pve1/qemu", "/nodes/pve1/lxc",
		"/nodes/pve1/tasks", "/cluster/tasks", "/access/acl"} {
		few.get(path, &rows)
		if len(rows) != 0 {
			t.Errorf("%s shows %d rows", path, len(rows))
		}
	}
	few.get("/nodes", &rows)
	if len(rows) != 3 || rows[0]["cpu"] != nil || rows[0]["node"] == nil {
		t.Errorf("nodes without Sys.Audit: %v", rows)
	}
	few.refused("GET", "/nodes/pve1/status", "", 403, "Permission check failed (/nodes/pve1, Sys.Audit)")
	few.refused("GET", "/cluster/status", "", 403, "Permission check failed (/, Sys.Audit)")
	few.refused("GET", "/cluster/metrics/export", "", 403, "Permission check failed (/, Sys.Audit)")
	few.refused("POST", "/nodes/pve1/qemu/100/status/start", "", 403, "Permission check failed (/vms/100, VM.PowerMgmt)")
	few.refused("POST", "/nodes/pve1/qemu/100/status/start", "bogus=1", 403, "Permission check failed (/vms/100, VM.PowerMgmt)")
	few.refused("GET", "/access/groups/none", "", 403, "Permission check failed (/access/groups, Sys.Audit|Group.Allocate)")

	c.Grant("/vms/101", "few@pve", "PVEVMUser", true)
	c.Grant("/vms/101", token.ID, "PVEVMUser", true)
	few.get("/cluster/resources?type=vm", &rows)
	if len(rows) != 1 || rows[0]["vmid"] != 101.0 {
		t.Errorf("with one guest granted: %v", rows)
	}
}

func TestServiceTokensHaveTheirRole(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, key := range pvesim.Capabilities {
		var perms map[string]map[string]int
		as(t, c, c.Tokens()[key]).get("/access/permissions", &perms)
		if len(perms["/"]) == 0 || len(perms) != 8 && key != "monitoring" && len(perms) < 8 {
			t.Errorf("%s: %v", key, perms)
		}
	}
	monitoring := as(t, c, c.Tokens()["monitoring"])
	monitoring.refused("POST", "/nodes/pve1/qemu/100/status/stop", "", 403, "Permission check failed (/vms/100, VM.PowerMgmt)")
	noError(t, c.RevokeToken("service@pve!monitoring"))
	monitoring.refused("GET", "/version", "", 401, "Authentication failed!")
	noError(t, c.ExpireToken("service@pve!lifecycle"))
	as(t, c, c.Tokens()["lifecycle"]).refused("GET", "/version", "", 401, "Authentication failed!")
	if c.RevokeToken("service@pve!monitoring") == nil || c.ExpireToken("x@pve!y") == nil {
		t.Error("unknown tokens were accepted")
	}
}

// TestTokenScriptCalls goes through the calls with which a script sets up the service, twice.
func TestTokenScriptCalls(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	root.decode("POST", "/access/roles", "roleid=ServiceAudit&privs=VM.Audit,Sys.Audit", nil)
	root.refused("POST", "/access/roles", "roleid=ServiceAudit", 500, "create role failed: role 'ServiceAudit' already exists")
	root.decode("PUT", "/access/roles/ServiceAudit", "privs=VM.Audit%20Sys.Audit%20Pool.Audit", nil)
	root.refused("PUT", "/access/roles/ServiceAudit", "privs=VM.Monitor", 400, "Parameter verification failed.")
	root.decode("POST", "/access/users", "userid=service@pve", nil)
	root.refused("POST", "/access/users", "userid=service@pve", 500, "create user failed: user 'service@pve' already exists")
	var made struct{ Value string }
	root.decode("POST", "/access/users/service@pve/token/monitoring", "privsep=1", &made)
	root.refused("POST", "/access/users/service@pve/token/monitoring", "", 400, "Parameter verification failed.")
	service := as(t, c, pvesim.Token{ID: "service@pve!monitoring", Secret: made.Value})
	service.refused("GET", "/nodes/pve1/status", "", 403, "Permission check failed (/nodes/pve1, Sys.Audit)")
	for _, subject := range []string{"users=service@pve", "tokens=service@pve!monitoring"} {
		root.decode("PUT", "/access/acl", "path=/&roles=ServiceAudit&"+subject, nil)
	}
	service.get("/nodes/pve1/status", nil)
	root.decode("DELETE", "/access/roles/ServiceAudit", "", nil)
	service.refused("GET", "/nodes/pve1/status", "", 403, "Permission check failed (/nodes/pve1, Sys.Audit)")
	root.decode("DELETE", "/access/users/service@pve", "", nil)
	service.refused("GET", "/version", "", 401, "Authentication failed!")
}
