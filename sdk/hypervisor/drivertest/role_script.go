package drivertest

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func (s *suite) roleScript(t *testing.T) {
	need[hypervisor.RoleScripter](t, s)
	scripter := as[hypervisor.RoleScripter](t, s.driver)
	s.run(t, "is a shell script", func(t *testing.T, ctx context.Context) {
		for _, path := range []string{"/", "/pool/customers"} {
			for _, shell := range []bool{false, true} {
				query := hypervisor.RoleScriptQuery{Capabilities: endpoint.Capabilities(), Path: path, NodeShell: shell}
				script, err := scripter.RoleScript(ctx, query)
				must(t, "writing the script", err)
				if !strings.HasPrefix(script, "#!/bin/sh\n") {
					t.Errorf("the script begins with %q", strings.SplitN(script, "\n", 2)[0])
				}
				parse := exec.CommandContext(ctx, "sh", "-n")
				parse.Stdin = strings.NewReader(script)
				if out, err := parse.CombinedOutput(); err != nil {
					t.Errorf("sh does not take the script: %v: %s", err, out)
				}
			}
		}
	})
	s.run(t, "hostile paths", func(t *testing.T, ctx context.Context) {
		for _, path := range []string{"", "pool", "/pool/a'; reboot; '", "/pool/$(reboot)", "/pool/a b", "/../etc", "/pool/\x00", "/pool/a\nb"} {
			_, err := scripter.RoleScript(ctx, hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{endpoint.Monitoring}, Path: path})
			if plugin.KindOf(err) != plugin.Invalid {
				t.Errorf("path %q: error is %v, want invalid", path, err)
			}
		}
	})
	s.run(t, "unknown capability", func(t *testing.T, ctx context.Context) {
		_, err := scripter.RoleScript(ctx, hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{"monitoring", "flying"}, Path: "/"})
		wantKind(t, err, plugin.Invalid)
		_, err = scripter.RoleRemoval(ctx, "flying")
		wantKind(t, err, plugin.Invalid)
	})
	s.run(t, "removal", func(t *testing.T, ctx context.Context) {
		for _, capability := range endpoint.Capabilities() {
			commands, err := scripter.RoleRemoval(ctx, capability)
			must(t, "asking for the removal", err)
			if len(commands) == 0 || !strings.Contains(strings.Join(commands, "\n"), string(capability)) {
				t.Errorf("removal of %s is %q", capability, commands)
			}
		}
	})
}
