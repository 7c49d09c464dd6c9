package pve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// printed is what the script prints on a new cluster, and on one that has the tokens of the kept capabilities. The stand-in for pveum
// gives secrets that tell what they are for; here they look as the hypervisor's own.
func printed(t testing.TB, made, kept []endpoint.Capability) (script, out string) {
	t.Helper()
	a := newAdmin(t)
	if len(kept) > 0 {
		_, problems, err := a.run(t, roleScript(t, hypervisor.RoleScriptQuery{Capabilities: kept, Path: "/"}))
		must(t, "running the script: "+problems, err)
		if !slices.Contains(kept, endpoint.Monitoring) { // which the script makes all the same
			must(t, "taking the token away", os.Remove(filepath.Join(a.state, "tokens", string(endpoint.Monitoring))))
		}
	}
	script = roleScript(t, hypervisor.RoleScriptQuery{Capabilities: append(slices.Clone(kept), made...), Path: "/"})
	out, problems, err := a.run(t, script)
	must(t, "running the script: "+problems, err)
	n := 0
	return script, regexp.MustCompile(`secret-[a-z_]+-[0-9]+`).ReplaceAllStringFunc(out, func(string) string {
		n++
		return secretOf(n)
	})
}

func roleOutput(t testing.TB, made, kept []endpoint.Capability) plugin.Secret {
	_, out := printed(t, made, kept)
	return plugin.Secret(out)
}

func secretOf(n int) string { return fmt.Sprintf("%08d-cafe-4000-8000-0123456789ab", n) }

// made is what is read of the output of a script that made every token.
func made() (out []endpoint.Credential) {
	for i, c := range endpoint.Capabilities() {
		out = append(out, endpoint.Credential{Capability: c, Form: endpoint.FormToken, ID: "service@pve!" + string(c),
			Secret: plugin.Secret(secretOf(i + 1))})
	}
	return out
}

// wrapped breaks lines as a terminal of so many columns does, whose windows have borders.
func wrapped(text string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for len(line) > columns {
			b.WriteString("│" + line[:columns] + "│\n")
			line = line[columns:]
		}
		b.WriteString("│" + line + strings.Repeat(" ", columns-len(line)) + "│\n")
	}
	return b.String()
}

func TestRoleOutputAsTerminalsGiveIt(t *testing.T) {
	t.Parallel()
	script, out := printed(t, endpoint.Capabilities(), nil)
	quoted := "> " + strings.ReplaceAll(out, "\n", "\n> ")
	coloured := strings.NewReplacer("secret:", "\x1b[1;31msecret:\x1b[0m", "\n", "\x1b[K\n").Replace(out)
	table := ""
	for _, c := range made() {
		table += "root@node:~# pveum user token add service@pve " + string(c.Capability) + "\n" + `
┌──────────────┬──────────────────────────────────────┐
│ key          │ value                                │
╞══════════════╪══════════════════════════════════════╡
│ full-tokenid │ ` + c.ID + ` │
├──────────────┼──────────────────────────────────────┤
│ info         │ {"privsep":"1"}                      │
├──────────────┼──────────────────────────────────────┤
│ value        │ ` + string(c.Secret) + ` │
└──────────────┴──────────────────────────────────────┘
`
	}
	for name, text := range map[string]string{
		"as it is": out, "with CRLF": strings.ReplaceAll(out, "\n", "\r\n"), "twice": out + "\n" + out, "quoted": quoted,
		"with prompts":    "root@node:~# sh roles.sh\n" + out + "root@node:~# \nroot@node:~# exit\nlogout\n",
		"after itself":    "root@node:~# sh <<'END'\n> " + strings.ReplaceAll(script, "\n", "\n> ") + "END\n" + out,
		"in colours":      "\x1b]0;root@node: ~\x07\x1b[?2004h" + coloured + "\x1b[?2004l",
		"24 columns":      wrapped(out, 24),
		"40 columns":      wrapped(out, 40),
		"double spaced":   strings.ReplaceAll(out, "\n", "\n\n"),
		"without headers": regexp.MustCompile(`(?m)^  [a-z_]+$`).ReplaceAllString(out, ""),
		"no breaks":       strings.ReplaceAll(out, "    ", "\u00a0\u200b\t"),
		"tables":          table,
		"plain tables": strings.NewReplacer("│", "|", "─", "-", "═", "=", "┌", "+", "┐", "+", "├", "+", "┤", "+", "└", "+", "┘", "+", "┬", "+",
			"┴", "+", "┼", "+", "╞", "+", "╡", "+", "╪", "+").Replace(table),
	} {
		got, err := pve.New(nil).ReadRoleOutput(t.Context(), plugin.Secret(text))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		} else if !slices.Equal(got.Created, made()) || len(got.Kept) > 0 {
			t.Errorf("%s: %d credentials were read, and %q kept", name, len(got.Created), got.Kept)
		}
	}
}

func TestRoleOutputTellsWhatWasKept(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	kept := []endpoint.Capability{endpoint.Monitoring, endpoint.Console, endpoint.Backup}
	_, out := printed(t, []endpoint.Capability{endpoint.Lifecycle, endpoint.NodePower}, kept)
	got, err := pve.New(nil).ReadRoleOutput(t.Context(), plugin.Secret(out))
	must(t, "reading", err)
	if !slices.Equal(got.Kept, kept) || len(got.Created) != 2 {
		t.Errorf("%d were made and %q kept, want %q:\n%s", len(got.Created), got.Kept, kept, out)
	}
	// What was made in a run before is no longer only kept.
	_, first := printed(t, endpoint.Capabilities(), nil)
	if got, err = pve.New(nil).ReadRoleOutput(t.Context(), plugin.Secret(first+out[strings.Index(out, "These tokens"):])); err != nil ||
		len(got.Created) != 5 || len(got.Kept) != 0 {
		t.Errorf("of two runs %d were made and %q kept: %v", len(got.Created), got.Kept, err)
	}
}

func TestRoleOutputThatIsNone(t *testing.T) {
	t.Parallel()
	script, out := printed(t, endpoint.Capabilities(), nil)
	secret := secretOf(1)
	for name, c := range map[string]struct{ text, says string }{
		"nothing":                  {"", "contains no token"},
		"blank":                    {" \r\n\x1b[0m\n", "contains no token"},
		"a word":                   {"canary", "contains no token"},
		"the script":               {script, "the script itself"},
		"too long":                 {strings.Repeat("canary\n", 10_000), "64 KiB"},
		"cut in a secret":          {out[:strings.Index(out, secret)+20], "is incomplete"},
		"cut before a secret":      {out[:strings.Index(out, secret)], "is incomplete"},
		"cut before a label":       {out[:strings.Index(out, "    secret:")], "is missing"},
		"begins with a secret":     {out[strings.Index(out, "    secret:"):], "no token ID before it"},
		"capital letters":          {strings.ReplaceAll(out, "cafe", "CAFE"), "incomplete or changed"},
		"a letter too many":        {strings.ReplaceAll(out, secret, secret+"a"), "incomplete or changed"},
		"a letter too few":         {strings.ReplaceAll(out, secret, secret[1:]), "incomplete or changed"},
		"other letters":            {strings.ReplaceAll(out, "cafe", "cafг"), "incomplete or changed"},
		"words after it":           {strings.ReplaceAll(out, secret, secret+" canary"), "incomplete or changed"},
		"a token of another name":  {strings.ReplaceAll(out, "service@pve!monitoring", "root@pam!canary"), "the script did not create"},
		"a user":                   {strings.ReplaceAll(out, "service@pve!monitoring", "root@pam"), "the script did not create"},
		"two ids":                  {strings.ReplaceAll(out, "    secret:   "+secret, "    token id: service@pve!console"), "is missing"},
		"two secrets of one token": {out + strings.ReplaceAll(out, "cafe", "beef"), "two tokens for monitoring"},
	} {
		_, err := pve.New(nil).ReadRoleOutput(t.Context(), plugin.Secret(c.text))
		var e *plugin.Error
		if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != "output" || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: error is %v, want invalid with %q", name, err, c.says)
		} else if strings.Contains(e.Message, "canary") || strings.Contains(e.Message, secret[:8]) || strings.Contains(e.Message, "root@pam") {
			t.Errorf("%s: the error tells what was pasted: %s", name, e.Message)
		}
	}
}

// Whatever is pasted, what is read looks exactly like a token, and an error tells nothing of it.
func FuzzReadRoleOutput(f *testing.F) {
	for _, seed := range []string{
		"token id: service@pve!monitoring\nsecret: " + secretOf(1), "full-tokenid service@pve!backup\nvalue " + secretOf(2),
		"token id: a@b!lifecycle\r\nsecret: 00000001-cafe-\r\n4000-8000-0123456789ab\r\n", "  console: service@pve!console\n",
		"\x1b[31mtoken id:\x1b[0m x@y!node_power secret:", "\u009b1m│ secret: │\n│ " + secretOf(3) + " │", "token id: $user!$name\nsecret: " +
			"$secret",
		"> > | token id: | service@pve!console | \x00\xff",
	} {
		f.Add(seed)
	}
	id := regexp.MustCompile(`^[^\s:/@!=]{1,60}@[A-Za-z][A-Za-z0-9._-]{1,31}![a-z_]+$`)
	secret := regexp.MustCompile(`^[0-9a-f-]{36}$`)
	driver := pve.New(nil)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := driver.ReadRoleOutput(t.Context(), plugin.Secret(text))
		if err != nil {
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != plugin.Invalid || len(e.Message) > 200 {
				t.Fatal(err)
			}
			return
		}
		if len(got.Created)+len(got.Kept) == 0 || len(got.Created)+len(got.Kept) > len(endpoint.Capabilities()) {
			t.Fatalf("%d were made and %d kept", len(got.Created), len(got.Kept))
		}
		for _, c := range got.Created {
			if !id.MatchString(c.ID) || !strings.HasSuffix(c.ID, "!"+string(c.Capability)) || !secret.MatchString(string(c.Secret)) {
				t.Fatalf("%q was read", c.ID)
			}
			if _, err := hypervisor.ReadToken(c); err != nil {
				t.Fatalf("%q: %v", c.ID, err)
			}
		}
	})
}
