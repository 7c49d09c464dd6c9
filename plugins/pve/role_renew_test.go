package pve_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// command runs what an administrator would paste into a shell.
func (a *admin) command(t *testing.T, text string) string {
	t.Helper()
	_, problems, err := a.run(t, text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return problems
}

// TestRoleScriptTellsWhatDoesNotWork, changes none of it without being asked, and mends it with --renew.
func TestRoleScriptTellsWhatDoesNotWork(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	const user, token = "users/service@pve", "tokens/monitoring"
	past, future := time.Now().Add(-time.Hour).Unix(), time.Now().Add(time.Hour).Unix()
	script := roleScript(t, hypervisor.RoleScriptQuery{Path: "/"})
	first := newAdmin(t)
	_, _, err := first.run(t, script)
	must(t, "first run", err)
	for name, c := range map[string]struct {
		file, state string
		warns       string // on the error output
		says        string // on the output
		mended      string // what the file has after --renew=monitoring
	}{
		"user disabled": {user, `,"enable":0,"expire":0`, "service@pve is disabled", "", `,"enable":1,"expire":0`},
		"user expired":  {user, fmt.Sprintf(`,"enable":1,"expire":%d`, past), "service@pve expired on 20", "", `,"enable":1,"expire":0`},
		"user both": {
			user, fmt.Sprintf(`,"enable":0,"expire":%d`, past), "service@pve is disabled and expired on 20", "", `,"enable":1,"expire":0`,
		},
		"user that will expire": {
			user, fmt.Sprintf(`,"enable":1,"expire":%d`, future), "", "the user service@pve expires on 20",
			fmt.Sprintf(`,"enable":1,"expire":%d`, future),
		},
		"user disabled that will expire": {
			user, fmt.Sprintf(`,"enable":0,"expire":%d`, future), "is disabled", "expires on", fmt.Sprintf(`,"enable":1,"expire":%d`, future),
		},
		"token expired": {
			token, fmt.Sprintf(`,"expire":%d,"privsep":1`, past), "monitoring: the token service@pve!monitoring expired on 20", "",
			`,"comment":"Hostler: monitoring","expire":0,"privsep":1`,
		},
		"token that will expire": {
			token, fmt.Sprintf(`,"expire":%d,"privsep":1`, future), "", "monitoring: the token service@pve!monitoring expires on 20",
			`,"comment":"Hostler: monitoring","expire":0,"privsep":1`,
		},
		"token without an end": {token, `,"expire":0,"privsep":1`, "", "", `,"comment":"Hostler: monitoring","expire":0,"privsep":1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdmin(t)
			must(t, "taking over the state", os.CopyFS(filepath.Join(a.state, "copy"), os.DirFS(first.state)))
			a.state = filepath.Join(a.state, "copy")
			a.put(t, c.file, c.state)

			out, problems, err := a.run(t, script)
			if err != nil || !strings.Contains(problems, c.warns) || c.warns == "" && problems != "" || c.warns != "" &&
				!strings.Contains(problems, "--renew") {
				t.Errorf("without --renew: %v: %s", err, problems)
			}
			if !strings.Contains(out, c.says) || c.says == "" && strings.Contains(out, "left unchanged") {
				t.Errorf("without --renew:\n%s", out)
			}
			if got := a.get(c.file); got != c.state {
				t.Errorf("without --renew it is %s, was %s", got, c.state)
			}

			out, problems, err = a.run(t, script, "--renew=monitoring")
			if err != nil || strings.Contains(problems, "warning:") || !strings.Contains(out, "secret-monitoring-2") {
				t.Errorf("with --renew: %v: %s\n%s", err, problems, out)
			}
			if got := a.get(c.file); got != c.mended {
				t.Errorf("with --renew it is %s, want %s", got, c.mended)
			}
			if _, problems, err = a.run(t, script); err != nil || problems != "" {
				t.Errorf("afterwards: %v: %s", err, problems)
			}
		})
	}
}

// TestRoleScriptRenewalLeavesNoRulesBehind: pveum would tell of a rule whose token is gone, at every start.
func TestRoleScriptRenewalLeavesNoRulesBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	a := newAdmin(t)
	a.put(t, "pools/customers", "")
	everything := hypervisor.RoleScriptQuery{Capabilities: endpoint.Capabilities(), Path: "/pool/customers"}
	_, problems, err := a.run(t, roleScript(t, everything))
	if err != nil || problems != "" {
		t.Fatalf("for a pool: %v: %s", err, problems)
	}
	everything.Path = "/"
	out, problems, err := a.run(t, roleScript(t, everything), "--renew")
	if err != nil || problems != "" || strings.Count(out, "secret:") != 5 {
		t.Fatalf("renewal: %v: %s\n%s", err, problems, out)
	}
	for _, c := range endpoint.Capabilities() {
		if got := a.get("acl/service@pve!" + string(c)); strings.Contains(got, "customers") || strings.Count(got, "\n") != 1 {
			t.Errorf("rules of token %s are %q, want those of this script", c, got)
		}
	}
	if problems := a.command(t, "pveum user list"); problems != "" {
		t.Errorf("a later pveum says: %s", problems)
	}
}

// TestRoleScriptKeepsATokenWhoseRulesStay: a rule that cannot be deleted must not lose its token.
func TestRoleScriptKeepsATokenWhoseRulesStay(t *testing.T) {
	t.Parallel()
	a := newAdmin(t)
	script := roleScript(t, hypervisor.RoleScriptQuery{Path: "/"})
	_, _, err := a.run(t, script)
	must(t, "first run", err)
	a.put(t, "fail", "acl delete /\n")
	_, problems, err := a.run(t, script, "--renew")
	if err == nil || !strings.Contains(problems, "safe to run it again") || a.get("tokens/monitoring") == "" {
		t.Errorf("%v: %s; the token is %q", err, problems, a.get("tokens/monitoring"))
	}
}

// TestRoleScriptTellsWhatItLeaves: rules of its user and tokens that it did not make.
func TestRoleScriptTellsWhatItLeaves(t *testing.T) {
	t.Parallel()
	a := newAdmin(t)
	a.put(t, "pools/customers", "")
	_, _, err := a.run(t, roleScript(t,
		hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{endpoint.Backup}, Path: "/pool/customers"}))
	must(t, "for a pool", err)
	a.put(t, "users/other@pve", `,"enable":0,"expire":1`)
	a.put(t, "acl/other@pve", "/vms ServiceAudit 1\n")
	out, problems, err := a.run(t, roleScript(t, hypervisor.RoleScriptQuery{Path: "/"}))
	if err != nil || problems != "" {
		t.Fatalf("%v: %s", err, problems)
	}
	_, left, _ := strings.Cut(out, "left unchanged:\n")
	want := `  the access rule of service@pve: ServiceAudit at /pool/customers
  the access rule of service@pve: ServiceBackup at /pool/customers
  the access rule of service@pve!backup: ServiceBackup at /pool/customers
  the access rule of service@pve!monitoring: ServiceAudit at /pool/customers
`
	if left != want {
		t.Errorf("it left\n%swant\n%s", left, want)
	}
	if got := a.get("acl/other@pve"); got != "/vms ServiceAudit 1\n" {
		t.Errorf("someone else's rule is %q", got)
	}
	_, problems, err = a.run(t, roleScript(t, hypervisor.RoleScriptQuery{Path: "/"}))
	if err != nil || problems != "" {
		t.Errorf("again: %v: %s", err, problems)
	}
}

// TestRoleRemovalLeavesNothing: neither a rule at some path, nor one that somebody made with the role, nor a warning.
func TestRoleRemovalLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	for _, shell := range []string{"dash", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			a := newAdmin(t)
			a.put(t, "pools/customers", "")
			for _, path := range []string{"/", "/pool/customers"} {
				_, _, err := a.run(t, roleScript(t, hypervisor.RoleScriptQuery{Capabilities: endpoint.Capabilities(), Path: path}))
				must(t, "making all", err)
			}
			a.put(t, "users/other@pve", `,"enable":1,"expire":0`)
			a.put(t, "acl/other@pve", "/vms ServiceBackup 1\n/vms ServiceConsole 0\n")
			a.put(t, "acl/service@pve!backup", a.get("acl/service@pve!backup")+"/nodes ServiceAudit 1\n")
			commands, err := pve.New(nil).RoleRemoval(t.Context(), endpoint.Backup, "")
			must(t, "asking for the commands", err)
			for _, command := range commands {
				if problems := a.command(t, shell+" -c "+shellWord(command)); problems != "" {
					t.Errorf("%s\nsays: %s", command, problems)
				}
			}
			if problems := a.command(t, "pveum acl list --output-format json"); problems != "" {
				t.Errorf("a later pveum says: %s", problems)
			}
			if a.get("tokens/backup") != "" || a.get("roles/ServiceBackup") != "" || a.get("acl/service@pve!backup") != "" {
				t.Errorf("token %q, role %q, rules %q are left", a.get("tokens/backup"), a.get("roles/ServiceBackup"), a.get("acl/service@pve!backup"))
			}
			if got := a.get("acl/other@pve"); got != "/vms ServiceConsole 0\n" {
				t.Errorf("someone else's rules are %q", got)
			}
			if got := a.get("acl/service@pve"); strings.Contains(got, "ServiceBackup") || strings.Count(got, "\n") != 8 {
				t.Errorf("the user's rules are %q", got)
			}
			if got := a.get("acl/service@pve!monitoring"); strings.Count(got, "\n") != 2 {
				t.Errorf("the monitoring token's rules are %q", got)
			}
		})
	}
}

// shellWord quotes a text for the shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
