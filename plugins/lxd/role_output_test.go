package lxd_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var scripted = []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle, endpoint.Console, endpoint.Backup}

// codeFor is a token as a server makes it for a name.
func codeFor(name, secret string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"client_name":%q,"fingerprint":%q,"addresses":["192.0.2.1:8443",`+
		`"[2001:db8::1]:8443"],"secret":%q,"expires_at":"0001-01-01T00:00:00Z"}`, name, strings.Repeat("ab", 32), secret))
}

// roleOutput is what the script prints.
func roleOutput(made, kept []endpoint.Capability) string {
	var b strings.Builder
	for _, c := range scripted {
		if slices.Contains(made, c) {
			fmt.Fprintf(&b, "hostler-%s: %s\n", c, codeFor("hostler-"+string(c), "secret of "+string(c)))
		} else if slices.Contains(kept, c) {
			fmt.Fprintf(&b, "hostler-%s: kept, because the server already has the certificate 0123abcd (--renew=%s replaces it)\n", c, c)
		}
	}
	return b.String()
}

func TestRoleOutputAsTerminalsGiveIt(t *testing.T) {
	t.Parallel()
	driver := lxd.New(nil)
	script, err := driver.RoleScript(t.Context(), hypervisor.RoleScriptQuery{Capabilities: scripted, Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	out := roleOutput(scripted, nil)
	var want []endpoint.Credential
	client := ""
	for _, c := range scripted {
		code := codeFor("hostler-"+string(c), "secret of "+string(c))
		want = append(want, endpoint.Credential{Capability: c, Form: endpoint.FormJoinToken, Secret: plugin.Secret(code)})
		client += "$ lxc config trust add --name hostler-" + string(c) + "\nClient hostler-" + string(c) + " certificate add " +
			"token:\n" + code + "\n"
	}
	for name, text := range map[string]string{
		"as it is": out, "after itself": "$ sh <<'END'\n> " + strings.ReplaceAll(script, "\n", "\n> ") + "END\n" + out, "of the client": client,
		"16 columns": wrapped(out, 16), "80 columns": wrapped(out, 80), "80 columns, without borders": strings.ReplaceAll(wrapped(out, 80),
			"│", ""),
	} {
		got, err := driver.ReadRoleOutput(t.Context(), plugin.Secret(text))
		if err != nil || !slices.Equal(got.Created, want) || len(got.Kept) > 0 {
			t.Errorf("%s: %d credentials were read, and %q kept: %v", name, len(got.Created), got.Kept, err)
		}
	}
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
		b.WriteString("│" + line + "│\n")
	}
	return b.String()
}

func TestRoleOutputThatIsNone(t *testing.T) {
	t.Parallel()
	out := roleOutput(scripted, nil)
	first := strings.SplitN(out, "\n", 2)[0]
	for name, c := range map[string]struct{ text, says string }{
		"a word":                              {"canary", "contains no join token"},
		"cut off":                             {out[:len(out)-20], "is incomplete"},
		"cut off in the middle":               {first[:len(first)-20] + "\n" + out, "is incomplete"},
		"a name without a token":              {out + "hostler-monitoring: ", "is incomplete"},
		"no object":                           {"hostler-monitoring: Y2FuYXJ5\n", "is incomplete"},
		"a client of another name":            {"hostler-monitoring: " + codeFor("canary", "canary"), "the script did not create"},
		"a capability that LXD does not have": {codeFor("hostler-node_power", "canary"), "the script did not create"},
		"two tokens": {out + "hostler-monitoring: " + codeFor("hostler-monitoring", "canary"), "two join tokens for " +
			"monitoring"},
		"a line without end": {"hostler-monitoring: " + strings.Repeat("A", 60_000), "is incomplete"},
		"many short lines":   {"hostler-monitoring: " + strings.Repeat("A\n", 30_000), "is incomplete"},
	} {
		_, err := lxd.New(nil).ReadRoleOutput(t.Context(), plugin.Secret(c.text))
		var e *plugin.Error
		if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != "output" || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: error is %v, want invalid with %q", name, err, c.says)
		} else if strings.Contains(e.Message, "canary") || strings.Contains(e.Message, "eyJ") {
			t.Errorf("%s: the error tells what was pasted: %s", name, e.Message)
		}
	}
}
