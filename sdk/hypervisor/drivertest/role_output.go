package drivertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// roleOutput tests RoleOutputReader. People paste the output from terminals, so
// it arrives with CRLF, prompts, colors, quote marks or borders, and sometimes
// twice. An output that is cut off must be an error: a credential with a
// shortened secret would be stored otherwise.
func (s *suite) roleOutput(t *testing.T) {
	need[hypervisor.RoleOutputReader](t, s)
	reader := as[hypervisor.RoleOutputReader](t, s.driver)
	all := func(t *testing.T) []endpoint.Capability { return s.described(t).Capabilities }
	s.run(t, "what was made and what was kept", func(t *testing.T, _ context.Context) {
		hook(t, "RoleOutput", s.RoleOutput != nil)
		for made := range len(all(t)) + 1 {
			want, kept := all(t)[:made], all(t)[made:]
			out := s.RoleOutput(t, want, kept) // which may run a script, for as long as that takes
			ctx, cancel := context.WithTimeout(t.Context(), s.Patience)
			got, err := reader.ReadRoleOutput(ctx, out)
			cancel()
			must(t, "reading an output", err)
			s.wantOutput(t, got, want, kept)
		}
	})
	s.run(t, "as terminals give it", func(t *testing.T, ctx context.Context) {
		hook(t, "RoleOutput", s.RoleOutput != nil)
		out := string(s.RoleOutput(t, all(t), nil))
		for name, text := range map[string]string{
			"CRLF": strings.ReplaceAll(out, "\n", "\r\n"), "twice": out + "\n" + out, "quoted": "> " + strings.ReplaceAll(out, "\n", "\n> "),
			"prompts": "root@node:~# sh roles.sh\r\n" + out + "root@node:~# ", "blank lines": strings.ReplaceAll(out, "\n", "\n\n"),
			"colours": "\x1b[?2004h\x1b]0;root\x07" + strings.ReplaceAll(out, "\n", "\x1b[0m\x1b[K\n"),
			"borders": "│ " + strings.ReplaceAll(out, "\n", " │\n│ "), "spaces that do not break": strings.ReplaceAll(out, " ", "\u00a0"),
		} {
			got, err := reader.ReadRoleOutput(ctx, plugin.Secret(text))
			must(t, "reading one with "+name, err)
			s.wantOutput(t, got, all(t), nil)
		}
	})
	s.run(t, "what is no output", func(t *testing.T, ctx context.Context) {
		none := map[string]string{"nothing": "", "blank": " \r\n\t", "a word": "canary", "too much": strings.Repeat("canary\n", 10_000)}
		if scripter, ok := hypervisor.As[hypervisor.RoleScriptWriter](s.driver); ok {
			script, err := scripter.RoleScript(ctx, hypervisor.RoleScriptQuery{Capabilities: all(t), Path: "/"})
			must(t, "writing the script", err)
			none["the script itself"] = script
		}
		if s.RoleOutput != nil {
			out := strings.TrimRight(string(s.RoleOutput(t, []endpoint.Capability{endpoint.Monitoring}, nil)), "\n")
			none["cut off"] = out[:len(out)-9]
		}
		for name, text := range none {
			_, err := reader.ReadRoleOutput(ctx, plugin.Secret(text))
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != "output" {
				t.Errorf("%s: error is %v, want invalid of the output", name, err)
			} else if strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: the error contains the input", name)
			}
		}
	})
}

// wantOutput compares the result by capability, and checks that the credentials
// are read like typed ones.
func (s *suite) wantOutput(t *testing.T, got hypervisor.RoleOutput, made, kept []endpoint.Capability) {
	t.Helper()
	var names []endpoint.Capability
	info := s.described(t)
	for _, c := range got.Created {
		names = append(names, c.Capability)
		if _, ok := info.Form(c.Form); !ok || c.Form == "" || c.Secret == "" {
			t.Errorf("a credential for %s has the form %q, or no secret", c.Capability, c.Form)
		}
	}
	if !slices.Equal(names, made) || !slices.Equal(got.Kept, kept) {
		t.Errorf("%q were made and %q kept, want %q and %q", names, got.Kept, made, kept)
	}
}
