package pve

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
	"github.com/hostler/hostler/sdk/plugin"
)

// serviceUser is the user of Proxmox VE to which all tokens belong. It has no
// password, so that nobody can log in as this user.
const serviceUser = "service@pve"

//go:embed role_script.sh.tmpl
var roleScriptText string

// roleScript is the template of the script. Every value in it is quoted for the
// shell.
var roleScript = template.Must(template.New("role script").Funcs(template.FuncMap{"quote": quote}).Parse(roleScriptText))

// grant is the role and the token of one capability in the script.
type grant struct {
	Capability string
	Role       string
	Privileges string
	// Allowed are those that the role may have in addition: what is there beyond them is reported.
	Allowed string
}

// RoleScript returns a shell script for pveum. Without an argument it creates
// what is missing and keeps existing tokens; with --renew it replaces them,
// with --renew=NAME one of them. It removes no privilege from a role; it
// reports those that are not needed, with the command that removes them. It
// also reports expired tokens and a disabled or expired user; a renewal
// corrects these.
func (d *Driver) RoleScript(_ context.Context, query hypervisor.RoleScriptQuery) (string, error) {
	if err := checkPath(query.Path); err != nil {
		return "", err
	}
	grants, err := grantsOf(query)
	if err != nil {
		return "", err
	}
	var script strings.Builder
	err = roleScript.Execute(&script, struct {
		User, Path string
		Grants     []grant
	}{serviceUser, query.Path, grants})
	if err != nil {
		return "", fmt.Errorf("writing the role script: %w", err)
	}
	return strings.TrimRight(script.String(), "\n") + "\n", nil
}

// grantsOf returns the roles and tokens that the script creates, in the order
// of capabilities.
func grantsOf(query hypervisor.RoleScriptQuery) ([]grant, error) {
	for _, c := range query.Capabilities {
		if _, err := roleOf(c); err != nil {
			return nil, err
		}
	}
	var grants []grant
	for _, c := range endpoint.Capabilities() {
		if c != endpoint.Monitoring && !slices.Contains(query.Capabilities, c) {
			continue
		}
		r := roles[c]
		privileges := slices.Clone(r.privileges)
		if query.Recommended {
			privileges = append(privileges, r.recommended...)
		}
		if c == endpoint.Console && query.NodeShell {
			privileges = append(privileges, nodeShell)
		}
		grants = append(grants, grant{Capability: string(c), Role: r.name, Privileges: strings.Join(privileges, ","),
			Allowed: strings.Join(slices.Concat(r.recommended, r.optional), ",")})
	}
	return grants, nil
}

// RoleRemoval returns the commands that remove a capability; the name of its
// token follows from it. They delete every access rule that names the token or
// the role, at any path, then the token, then the role. A rule that outlives
// what it names makes every later pveum warn, and pveum itself can no longer
// delete it.
func (d *Driver) RoleRemoval(_ context.Context, capability endpoint.Capability, _ string) ([]string, error) {
	r, err := roleOf(capability)
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf(rulesRemoval, quote(`"ugid":"`+serviceUser+"!"+string(capability)+`"`), quote(`"roleid":"`+r.name+`"`)),
		"pveum user token remove " + quote(serviceUser) + " " + quote(string(capability)),
		"pveum role delete " + quote(r.name),
	}, nil
}

// rulesRemoval deletes the access rules whose row in JSON contains one of two
// texts. A rule is deleted by its path, kind of subject ("--users", "--tokens",
// "--groups"), subject and role.
const rulesRemoval = `pveum acl list --output-format json | tr -d ' \t\r\n' | sed 's/},{/}\n{/g' | grep -F -e %s -e %s | ` +
	`while read -r rule; do of() { printf '%%s' "$rule" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }; ` +
	`pveum acl delete "$(of path)" "--$(of type)s" "$(of ugid)" --roles "$(of roleid)" </dev/null; done`

// poolPath is the path of a pool: up to three levels of names since 8.1.
var poolPath = regexp.MustCompile(`^/pool/[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+){0,2}$`)

// checkPath accepts only "/" and pools: there all privileges of a role have a
// meaning.
func checkPath(path string) error {
	climbs := slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "." || part == ".." })
	if path == "/" || poolPath.MatchString(path) && !climbs && len(path) <= 256 {
		return nil
	}
	e := plugin.Errorf(plugin.Invalid, `the path must be "/" or a pool such as "/pool/customers"`)
	e.Field = "path"
	return e
}

// quote returns a text as one word for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
