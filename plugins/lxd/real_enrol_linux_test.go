package lxd_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// The script's tokens get certificates in that may act in the project; run again it keeps them, renews what it is told to, and the
// removal takes one out.
func TestRealRoleScript(t *testing.T) {
	t.Parallel()
	server := lxdtest.New(t) // with no certificates of other tests
	if _, err := exec.LookPath("lxc"); err != nil {
		t.Skip("lxc is not installed")
	}
	f := newFixture(t, server, "customers")
	environment := append(os.Environ(), server.Environment(t)...)
	shell := func(script string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", append([]string{"-s", "--"}, args...)...)
		cmd.Env, cmd.Stdin = environment, strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	script, err := f.driver.RoleScript(t.Context(), hypervisor.RoleScriptQuery{
		Capabilities: []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle}, Path: "/project/customers"})
	must(t, "writing the script", err)
	tokens := tokensOf(t, shell(script))
	if len(tokens) != 2 {
		t.Fatalf("%d tokens", len(tokens))
	}
	second := tokensOf(t, shell(script)) // replaces what was not used
	for _, c := range []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle} {
		target := with(f.Stranger(t), c)
		wantKind(t, f.driver.Redeem(t.Context(), target, tokens["hostler-"+string(c)]), plugin.TokenRejected)
		code, err := f.driver.Inspect(t.Context(), second["hostler-"+string(c)])
		if err != nil || !slices.Contains(code.Addresses, server.Address) || code.Fingerprint != server.Fingerprint {
			t.Errorf("%+v, %v", code, err)
		}
		must(t, "redeeming", f.driver.Redeem(t.Context(), target, second["hostler-"+string(c)]))
		got, err := open(t, f.driver, target).Permissions(t.Context())
		if err != nil || len(got.Missing)+len(got.Extra) > 0 || !slices.Equal(got.Paths, []string{"/project/customers"}) {
			t.Errorf("%+v, %v", got, err)
		}
		f.targets[c] = target
	}
	if out := shell(script); len(tokensOf(t, out)) != 0 || strings.Count(out, "kept") != 2 {
		t.Error(out)
	}
	renewed := tokensOf(t, shell(script, "--renew=lifecycle"))
	_, err = f.host(t, endpoint.Lifecycle).Version(t.Context())
	wantKind(t, err, plugin.TokenRejected)
	if _, err := f.host(t, endpoint.Monitoring).Version(t.Context()); err != nil || len(renewed) != 1 {
		t.Errorf("%d tokens, %v", len(renewed), err)
	}
	fresh := with(f.Stranger(t), endpoint.Lifecycle)
	must(t, "redeeming", f.driver.Redeem(t.Context(), fresh, renewed["hostler-lifecycle"]))

	for c, id := range map[endpoint.Capability]string{
		endpoint.Monitoring: f.targets[endpoint.Monitoring].Credential.ID, endpoint.Lifecycle: ""} {
		commands, err := f.driver.RoleRemoval(t.Context(), c, id)
		must(t, "asking for the removal", err)
		shell(strings.Join(commands, "\n"))
	}
	for _, target := range []endpoint.Target{f.targets[endpoint.Monitoring], fresh} {
		_, err := open(t, f.driver, target).Version(t.Context())
		wantKind(t, err, plugin.TokenRejected)
	}
}

var tokenLine = regexp.MustCompile(`(?m)^(hostler-[a-z_]+): (eyJ[A-Za-z0-9+/=]+)$`)

// tokensOf are the tokens that a script printed, by their names.
func tokensOf(t *testing.T, out string) map[string]plugin.Secret {
	t.Helper()
	tokens := map[string]plugin.Secret{}
	for _, line := range tokenLine.FindAllStringSubmatch(out, -1) {
		tokens[line[1]] = plugin.Secret(line[2])
	}
	read, err := lxd.New(nil).ReadRoleOutput(t.Context(), plugin.Secret(out))
	must(t, "reading what the script printed", err)
	for _, made := range read.Created {
		if tokens["hostler-"+string(made.Capability)] != made.Secret {
			t.Errorf("another token was read for %s", made.Capability)
		}
	}
	if len(read.Created) != len(tokens) || len(read.Kept) != strings.Count(out, ": kept,") {
		t.Errorf("%d tokens were read and %q kept, of: %d", len(read.Created), read.Kept, len(tokens))
	}
	return tokens
}
