package drivertest

import (
	"cmp"
	"context"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// roleScript tests RoleScriptWriter. The script runs as root on the hypervisor,
// so a path must never become a command. The suite parses the script with sh
// -n, and does not run it.
func (s *suite) roleScript(t *testing.T) {
	need[hypervisor.RoleScriptWriter](t, s)
	scripter := as[hypervisor.RoleScriptWriter](t, s.driver)
	s.run(t, "is a shell script", func(t *testing.T, ctx context.Context) {
		info := s.described(t)
		paths := []string{"/"}
		if info.Scope.Example != "" {
			paths = append(paths, info.Scope.Example)
		}
		for _, path := range paths {
			for _, shell := range []bool{false, true} {
				query := hypervisor.RoleScriptQuery{Capabilities: info.Capabilities, Path: path, NodeShell: shell, Recommended: shell}
				script, err := scripter.RoleScript(ctx, query)
				must(t, "writing the script", err)
				if !strings.HasPrefix(script, "#!/bin/sh\n") {
					t.Errorf("the script begins with %q", strings.SplitN(script, "\n", 2)[0])
				}
				parse := exec.CommandContext(ctx, "sh", "-n")
				parse.Stdin = strings.NewReader(script)
				if out, err := parse.CombinedOutput(); err != nil {
					t.Errorf("sh does not accept the script: %v: %s", err, out)
				}
			}
		}
	})
	s.run(t, "hostile paths", func(t *testing.T, ctx context.Context) {
		within := path.Dir(cmp.Or(s.described(t).Scope.Example, "/pool/customers"))
		for _, path := range []string{"", "pool", within + "/a'; reboot; '", within + "/$(reboot)", within + "/a b", "/../etc",
			within + "/\x00", within + "/a\nb"} {
			_, err := scripter.RoleScript(ctx, hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{endpoint.Monitoring}, Path: path})
			if plugin.KindOf(err) != plugin.Invalid {
				t.Errorf("path %q: error is %v, want invalid", path, err)
			}
		}
	})
	s.run(t, "unknown capability", func(t *testing.T, ctx context.Context) {
		_, err := scripter.RoleScript(ctx, hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{"monitoring", "flying"}, Path: "/"})
		wantKind(t, err, plugin.Invalid)
		_, err = scripter.RoleRemoval(ctx, "flying", "")
		wantKind(t, err, plugin.Invalid)
		info := s.described(t)
		for _, capability := range endpoint.Capabilities() {
			if info.Has(capability) {
				continue
			}
			_, err := scripter.RoleScript(ctx, hypervisor.RoleScriptQuery{Capabilities: []endpoint.Capability{capability}, Path: "/"})
			wantKind(t, err, plugin.Invalid)
		}
	})
	s.run(t, "removal", func(t *testing.T, ctx context.Context) {
		for _, capability := range s.described(t).Capabilities {
			id := s.Target(t, capability).Credential.ID
			commands, err := scripter.RoleRemoval(ctx, capability, id)
			must(t, "asking for the removal", err)
			text := strings.Join(commands, "\n")
			if !strings.Contains(text, string(capability)) && !strings.Contains(text, id) {
				t.Errorf("removal of %s is %q", capability, commands)
			}
		}
	})
}
