package pve_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// admin is a machine with a stand-in for pveum, which keeps state between runs.
type admin struct{ state, bin string }

func newAdmin(t testing.TB) *admin {
	t.Helper()
	a := &admin{state: t.TempDir(), bin: t.TempDir()}
	stand, err := os.ReadFile("testdata/pveum")
	must(t, "reading the stand-in", err)
	a.write(t, filepath.Join(a.bin, "pveum"), string(stand), 0o755)
	a.write(t, filepath.Join(a.bin, "id"), "#!/bin/sh\necho 0\n", 0o755)
	// All privileges of the release stand in the role of the administrator.
	a.put(t, "roles/Administrator", `,"privs":"`+allPrivileges+`","special":1`)
	return a
}

const allPrivileges = "Datastore.Allocate,Datastore.AllocateSpace,Datastore.AllocateTemplate," +
	"Datastore.Audit,Pool.Audit,SDN.Audit,SDN.Use," +
	"Sys.Audit,Sys.Console,Sys.Modify,Sys.PowerMgmt,VM.Allocate,VM.Audit,VM.Backup,VM.Clone,VM.Config.CPU,VM.Config.Disk,VM.Config.Memory," +
	"VM.Config.Network,VM.Config.Options,VM.Console,VM.Migrate,VM.PowerMgmt,VM.Snapshot,VM.Snapshot.Rollback"

func (a *admin) write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	must(t, "making a folder", os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, "writing a file", os.WriteFile(path, []byte(text), mode))
}

func (a *admin) put(t testing.TB, name, text string) {
	t.Helper()
	a.write(t, filepath.Join(a.state, name), text, 0o644)
}

func (a *admin) get(name string) string {
	text, _ := os.ReadFile(filepath.Join(a.state, name))
	return string(text)
}

// run runs a script and gives what it printed.
func (a *admin) run(t testing.TB, script string, args ...string) (out, problems string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-s", "--"}, args...)...)
	cmd.Stdin = strings.NewReader(script)
	cmd.Env = []string{"PATH=" + a.bin + ":/usr/bin:/bin", "PVEUM_STATE=" + a.state}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

func roleScript(t testing.TB, query hypervisor.RoleScriptQuery) string {
	t.Helper()
	script, err := pve.New(nil).RoleScript(t.Context(), query)
	must(t, "writing the script", err)
	return script
}

func TestRoleScriptMakesExactlyTheSpecifiedRoles(t *testing.T) {
	t.Parallel()
	a := newAdmin(t)
	out, problems, err := a.run(t, roleScript(t, hypervisor.RoleScriptQuery{Capabilities: endpoint.Capabilities(), Path: "/"}))
	if err != nil || problems != "" {
		t.Fatalf("%v: %s", err, problems)
	}
	for role, privileges := range map[string]string{
		"ServiceAudit": "VM.Audit,Datastore.Audit,Sys.Audit,Pool.Audit,SDN.Audit",
		"ServiceLifecycle": "VM.PowerMgmt,VM.Config.Disk,VM.Config.CPU,VM.Config.Memory,VM.Config.Network,VM.Config.Options,VM.Allocate," +
			"VM.Clone,VM.Snapshot,VM.Snapshot.Rollback,VM.Migrate,Sys.Modify,Datastore.Allocate,Datastore.AllocateSpace",
		"ServiceConsole":   "VM.Console",
		"ServiceBackup":    "VM.Backup,Datastore.AllocateSpace,Datastore.Audit",
		"ServiceNodePower": "Sys.PowerMgmt",
	} {
		if got, want := a.get("roles/"+role), `,"privs":"`+privileges+`","special":0`; got != want {
			t.Errorf("role %s is %s, want %s", role, got, want)
		}
	}
	rules := a.get("acl/service@pve")
	for capability, role := range map[string]string{
		"monitoring": "ServiceAudit", "lifecycle": "ServiceLifecycle", "console": "ServiceConsole", "backup": "ServiceBackup",
		"node_power": "ServiceNodePower",
	} {
		if got, want := a.get("acl/service@pve!"+capability), "/ "+role+" 1\n"; got != want {
			t.Errorf("rules of token %s are %q, want %q", capability, got, want)
		}
		if !strings.Contains(rules, "/ "+role+" 1\n") {
			t.Errorf("the user has no rule for %s: %q", role, rules)
		}
		if got := a.get("tokens/" + capability); !strings.Contains(got, `"privsep":1`) {
			t.Errorf("token %s is %q", capability, got)
		}
		if !strings.Contains(out, "token id: service@pve!"+capability+"\n    secret:   secret-"+capability+"-") {
			t.Errorf("token %s is not in the output:\n%s", capability, out)
		}
	}
}

func TestRoleScriptIsSafeToRunTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	a := newAdmin(t)
	script := roleScript(t, hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{endpoint.Lifecycle}, Path: "/"})
	first, _, err := a.run(t, script)
	must(t, "first run", err)
	a.put(t, "roles/ServiceAudit", `,"privs":"VM.Audit,Permissions.Modify","special":0`)
	a.put(t, "tokens/monitoring", `,"privsep":0`)
	second, problems, err := a.run(t, script)
	if err != nil || problems != "" {
		t.Fatalf("second run: %v: %s", err, problems)
	}
	if !strings.Contains(first, "secret-monitoring-1") || strings.Contains(second, "secret-") ||
		!strings.Contains(second, "monitoring: service@pve!monitoring") ||
		!strings.Contains(second, "--renew") {
		t.Errorf("first:\n%s\nsecond:\n%s", first, second)
	}
	if got := a.get("roles/ServiceAudit"); !strings.Contains(got, "Permissions.Modify") || !strings.Contains(got, "SDN.Audit") {
		t.Errorf("the role was not brought up to date, or lost a privilege: %s", got)
	}
	want := "pveum role modify ServiceAudit --privs VM.Audit,Datastore.Audit,Sys.Audit,Pool.Audit,SDN.Audit  # removes Permissions.Modify"
	if !strings.Contains(second, want) {
		t.Errorf("the command that removes what is not needed is missing:\n%s", second)
	}
	if got := a.get("tokens/monitoring"); !strings.Contains(got, `"privsep":1`) {
		t.Errorf("the token kept all rights of its user: %s", got)
	}
	third, _, err := a.run(t, script, "--renew")
	must(t, "run with --renew", err)
	if !strings.Contains(third, "secret-monitoring-3") || !strings.Contains(third, "secret-lifecycle-4") {
		t.Errorf("third:\n%s", third)
	}
	fourth, _, err := a.run(t, script, "--renew=lifecycle")
	must(t, "run with --renew=lifecycle", err)
	if !strings.Contains(fourth, "secret-lifecycle-5") || strings.Contains(fourth, "secret-monitoring") {
		t.Errorf("fourth:\n%s", fourth)
	}
	if _, problems, err := a.run(t, script, "--renew=console"); err == nil || !strings.Contains(problems, "unknown option") {
		t.Errorf("a capability that the script is not for: %v %s", err, problems)
	}
	if got := a.get("calls"); strings.Contains(got, "secret-") {
		t.Errorf("a secret was an argument:\n%s", got)
	}
}

// Privileges that were added on our own advice stay, and are not reported as too much: of a role that is asked for without them, and of
// one whose token is renewed.
func TestRoleScriptKeepsAddedPrivileges(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	query := hypervisor.RoleScriptQuery{Capabilities: endpoint.Capabilities(), Path: "/", NodeShell: true, Recommended: true}
	a := newAdmin(t)
	a.put(t, "roles/Administrator", `,"privs":"`+allPrivileges+`,VM.Config.HWType,VM.Config.CDROM","special":1`)
	_, _, err := a.run(t, roleScript(t, query))
	must(t, "with the recommended ones", err)
	query.NodeShell, query.Recommended = false, false
	for _, args := range [][]string{nil, {"--renew"}} {
		out, problems, err := a.run(t, roleScript(t, query), args...)
		if err != nil || problems != "" || strings.Contains(out, "more privileges") {
			t.Errorf("%v: %v %s\n%s", args, err, problems, out)
		}
		for role, added := range map[string]string{"ServiceLifecycle": "VM.Config.HWType", "ServiceConsole": "Sys.Console",
			"ServiceBackup": "SDN.Use"} {
			if got := a.get("roles/" + role); !strings.Contains(got, added) {
				t.Errorf("%v: %s lost %s: %s", args, role, added, got)
			}
		}
	}
}

func TestRoleScriptCapabilitiesAndShell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query hypervisor.RoleScriptQuery
		want  map[string]string // role: privileges, or empty for none
	}{
		"monitoring is always there": {hypervisor.RoleScriptQuery{}, map[string]string{"ServiceAudit": "VM.Audit", "ServiceConsole": ""}},
		"node shell": {
			hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{endpoint.Console}, NodeShell: true},
			map[string]string{"ServiceConsole": `"VM.Console,Sys.Console"`, "ServiceLifecycle": ""},
		},
		"node shell without console": {hypervisor.RoleScriptQuery{NodeShell: true}, map[string]string{"ServiceConsole": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdmin(t)
			c.query.Path = "/"
			_, problems, err := a.run(t, roleScript(t, c.query))
			if err != nil {
				t.Fatal(err, problems)
			}
			for role, privileges := range c.want {
				got := a.get("roles/" + role)
				if privileges == "" && got != "" || !strings.Contains(got, privileges) {
					t.Errorf("%s is %q", role, got)
				}
			}
		})
	}
	for _, bad := range []endpoint.Capability{"root", "", "monitoring; rm -rf /"} {
		_, err := pve.New(nil).RoleScript(t.Context(), hypervisor.RoleScriptQuery{Path: "/", Capabilities: []endpoint.Capability{bad}})
		wantKind(t, err, plugin.Invalid)
	}
}

func TestRoleScriptPools(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/pool/customers", "/pool/a.b_c-D", "/pool/a/b/c"} {
		a := newAdmin(t)
		script := roleScript(t, hypervisor.RoleScriptQuery{Path: path})
		_, problems, err := a.run(t, script)
		if err == nil || !strings.Contains(problems, "does not exist") || a.get("users/service@pve") != "" {
			t.Errorf("%s: a pool that is not there: %v %s", path, err, problems)
		}
		if strings.Count(path, "/") > 2 {
			continue // the stand-in keeps pools as files
		}
		a.put(t, "pools/"+strings.TrimPrefix(path, "/pool/"), "")
		_, problems, err = a.run(t, script)
		if err != nil || a.get("acl/service@pve!monitoring") != path+" ServiceAudit 1\n" {
			t.Errorf("%s: %v %s: %q", path, err, problems, a.get("acl/service@pve!monitoring"))
		}
	}
	old := newAdmin(t)
	old.put(t, "no-pools", "")
	if _, problems, err := old.run(t, roleScript(t, hypervisor.RoleScriptQuery{Path: "/pool/x"})); err != nil {
		t.Errorf("a release that cannot list pools: %v %s", err, problems)
	}
	for _, bad := range []string{
		"", "pool", "/pool", "/pool/", "/vms/100", "/pool/a/b/c/d", "/pool/..", "/pool/a/../b", "/pool/a b", "/pool/a'b", `/pool/"; reboot; "`,
		"/pool/$(reboot)",
		"/pool/a\nreboot", "/pool/a\x00", "//", "/pool/`id`", "/pool/" + strings.Repeat("x", 1000),
	} {
		_, err := pve.New(nil).RoleScript(t.Context(), hypervisor.RoleScriptQuery{Path: bad})
		if e := wantKind(t, err, plugin.Invalid); e.Field != "path" {
			t.Errorf("%q: field is %q", bad, e.Field)
		}
	}
}

func TestRoleScriptOnOldReleasesLeavesOutWhatIsUnknown(t *testing.T) {
	t.Parallel()
	a := newAdmin(t)
	a.put(t, "roles/Administrator", `,"privs":"`+strings.ReplaceAll(allPrivileges, "Pool.Audit,", "")+`","special":1`)
	_, problems, err := a.run(t, roleScript(t, hypervisor.RoleScriptQuery{Path: "/"}))
	if err != nil || !strings.Contains(problems, "privilege Pool.Audit") || strings.Contains(a.get("roles/ServiceAudit"), "Pool.Audit") {
		t.Errorf("%v %s: %s", err, problems, a.get("roles/ServiceAudit"))
	}
}

func TestRoleScriptRefusesToBegin(t *testing.T) {
	t.Parallel()
	script := roleScript(t, hypervisor.RoleScriptQuery{Path: "/"})
	for name, c := range map[string]struct {
		prepare func(a *admin)
		args    []string
		says    string
	}{
		"not root": {func(a *admin) { a.write(t, filepath.Join(a.bin, "id"), "#!/bin/sh\necho 1000\n", 0o755) }, nil,
			"run this script as root"},
		"no pveum":       {func(a *admin) { _ = os.Remove(filepath.Join(a.bin, "pveum")) }, nil, "pveum not found"},
		"unknown option": {func(*admin) {}, []string{"--renw"}, "unknown option --renw"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdmin(t)
			c.prepare(a)
			_, problems, err := a.run(t, script, c.args...)
			if err == nil || !strings.Contains(problems, c.says) || a.get("users/service@pve") != "" {
				t.Errorf("%v: %s", err, problems)
			}
		})
	}
}

// TestRoleScriptStopsAtTheFirstFailure: and tells the secrets that were made, which could not be got again.
func TestRoleScriptStopsAtTheFirstFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	script := roleScript(t, hypervisor.RoleScriptQuery{Path: "/", Capabilities: endpoint.Capabilities()})
	for call, secrets := range map[string]int{
		"role list --output-format": 0, "user list --output-format": 0, "user add service@pve": 0, "role add ServiceAudit": 0,
		"role add ServiceLifecycle": 1, "role add ServiceNodePower": 4, "acl modify /": 0,
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			a := newAdmin(t)
			a.put(t, "fail", call+"\n")
			out, problems, err := a.run(t, script)
			if err == nil || strings.Count(out, "secret:") != secrets || !strings.Contains(problems, "safe to run it again") {
				t.Fatalf("%v, %s\n%s", err, problems, out)
			}
			must(t, "mending", os.Remove(filepath.Join(a.state, "fail")))
			out, problems, err = a.run(t, script)
			if err != nil || strings.Count(out, "secret:") != 5-secrets {
				t.Errorf("again: %v, %s\n%s", err, problems, out)
			}
		})
	}
}

func TestRoleScriptPassesShellcheck(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	for _, query := range []hypervisor.RoleScriptQuery{{Path: "/", Capabilities: endpoint.Capabilities(), NodeShell: true},
		{Path: "/pool/a"}} {
		cmd := exec.CommandContext(t.Context(), "shellcheck", "--shell=sh", "-")
		cmd.Stdin = strings.NewReader(roleScript(t, query))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestRoleRemoval(t *testing.T) {
	t.Parallel()
	got, err := pve.New(nil).RoleRemoval(t.Context(), endpoint.NodePower, "service@pve!node_power")
	want := []string{"pveum user token remove 'service@pve' 'node_power'", "pveum role delete 'ServiceNodePower'"}
	if err != nil || len(got) != 3 || !strings.Contains(got[0], "pveum acl delete") || !slices.Equal(got[1:], want) {
		t.Errorf("got %q, %v", got, err)
	}
	_, err = pve.New(nil).RoleRemoval(t.Context(), "x", "")
	wantKind(t, err, plugin.Invalid)
}
