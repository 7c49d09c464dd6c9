package lxd

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

//go:embed role_script.sh.tmpl
var roleScriptText string

// roleScript is the template of the script. It quotes values for the shell.
var roleScript = template.Must(template.New("role script").Funcs(template.FuncMap{"quote": quote}).Parse(roleScriptText))

// grant is one line of the script.
type grant struct{ Capability string }

// RoleScript implements hypervisor.RoleScriptWriter. The script calls lxc or
// incus and creates a join token for each capability. It keeps certificates
// that the server already trusts; --renew replaces them, and --renew=NAME
// replaces one. Rights can be limited to a project, but not by capability.
func (d *Driver) RoleScript(_ context.Context, query hypervisor.RoleScriptQuery) (string, error) {
	project, err := projectOf(query.Path)
	if err != nil {
		return "", err
	}
	for _, c := range query.Capabilities {
		if err := checkCapability(c); err != nil {
			return "", err
		}
	}
	var grants []grant
	for _, c := range capabilities {
		if c == endpoint.Monitoring || slices.Contains(query.Capabilities, c) {
			grants = append(grants, grant{string(c)})
		}
	}
	var script strings.Builder
	err = roleScript.Execute(&script, struct {
		Project string
		Grants  []grant
	}{project, grants})
	if err != nil {
		return "", fmt.Errorf("writing the role script: %w", err)
	}
	return strings.TrimRight(script.String(), "\n") + "\n", nil
}

// client returns the name of a capability's certificate in the server's trust
// store.
func client(c endpoint.Capability) string { return "hostler-" + string(c) }

// RoleRemoval implements hypervisor.RoleScriptWriter. The commands remove a
// certificate from the server's trust store, by its fingerprint or, if that is
// unknown, by its name.
func (d *Driver) RoleRemoval(_ context.Context, capability endpoint.Capability, credentialID string) ([]string, error) {
	if err := checkCapability(capability); err != nil {
		return nil, err
	}
	const tool = `"$(command -v lxc || command -v incus)"`
	if credentialID == "" {
		return []string{tool + ` query '/1.0/certificates?recursion=1' | grep -F -B 1 ` + quote(`"name": "`+client(capability)+`"`) +
			` | sed -n 's/.*"fingerprint": "\(.*\)",/\1/p' | while read -r print; do ` + tool + ` config trust remove "$print"; done`}, nil
	}
	fingerprint, err := endpoint.ParseFingerprint(credentialID)
	if err != nil {
		return nil, invalid("id", "the ID is not the SHA-256 of a certificate")
	}
	plain := strings.ToLower(strings.ReplaceAll(fingerprint, ":", "")) // as the server writes it
	return []string{tool + " config trust remove " + plain + " # " + client(capability)}, nil
}

// projectScope is the path of a project.
var projectScope = regexp.MustCompile(`^/project/([A-Za-z0-9][A-Za-z0-9.-]{0,62})$`)

// projectOf returns the project in a path, or "" for "/". The form is strict,
// because the project becomes part of a script that runs as root.
func projectOf(path string) (string, error) {
	if path == "/" {
		return "", nil
	}
	match := projectScope.FindStringSubmatch(path)
	if match == nil {
		return "", invalid("path", `the path must be "/" or a project such as "/project/customers"`)
	}
	return match[1], nil
}

// quote returns a text as one word of the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
