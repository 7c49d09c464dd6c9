package memdriver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// The scopes of the two shapes.
var (
	pools    = hypervisor.Scope{Word: "pool", Holds: "guests and storages", Example: "/pool/customers"}
	projects = hypervisor.Scope{Word: "project", Holds: "guests, their profiles and networks", Example: "/project/customers"}
)

var (
	poolPath    = regexp.MustCompile(`^/(pool/[A-Za-z0-9._-]+)?$`)
	projectPath = regexp.MustCompile(`^/(project/[A-Za-z0-9._-]+)?$`)
)

// RoleScript implements hypervisor.RoleScriptWriter.
func (d *Driver) RoleScript(_ context.Context, query hypervisor.RoleScriptQuery) (string, error) {
	path, scope := poolPath, pools
	if d.certified {
		path, scope = projectPath, projects
	}
	if !path.MatchString(query.Path) {
		return "", invalid("path", "the path must be / or one such as %s", scope.Example)
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\nset -eu\n")
	for _, capability := range query.Capabilities {
		privileges, err := d.privilegesOf(capability)
		if err != nil {
			return "", err
		}
		if capability == endpoint.Console && query.NodeShell {
			privileges = append(slices.Clone(privileges), NodeShell)
		}
		what := "token ensure '" + tokenID(capability, "") + "'"
		if d.certified {
			what = "trust code --name 'hostler-" + string(capability) + "'"
		}
		if query.Recommended {
			what += " --recommended"
		}
		fmt.Fprintf(&b, "memctl %s --path '%s' --privileges '%s'\n", what, query.Path, strings.Join(privileges, " "))
	}
	return b.String(), nil
}

// RoleRemoval implements hypervisor.RoleScriptWriter.
func (d *Driver) RoleRemoval(_ context.Context, capability endpoint.Capability, credentialID string) ([]string, error) {
	if _, err := d.privilegesOf(capability); err != nil {
		return nil, err
	}
	if d.certified {
		return []string{fmt.Sprintf("memctl trust remove '%s'", credentialID)}, nil
	}
	return []string{fmt.Sprintf("memctl token remove '%s'", tokenID(capability, ""))}, nil
}

// privilegesOf returns the privileges of a capability.
func (d *Driver) privilegesOf(capability endpoint.Capability) ([]string, error) {
	privileges, ok := needs[capability]
	if !ok || d.certified && capability == endpoint.NodePower {
		return nil, invalid("capabilities", "unknown capability")
	}
	return privileges, nil
}
