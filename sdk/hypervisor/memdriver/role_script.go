package memdriver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var poolPath = regexp.MustCompile(`^/(pool/[A-Za-z0-9._-]+)?$`)

// RoleScript implements hypervisor.RoleScripter.
func (d *Driver) RoleScript(_ context.Context, query hypervisor.RoleScriptQuery) (string, error) {
	if !poolPath.MatchString(query.Path) {
		err := plugin.Errorf(plugin.Invalid, "the path must be / or /pool/NAME")
		err.Field = "path"
		return "", err
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\nset -eu\n")
	for _, capability := range query.Capabilities {
		privileges, err := privilegesOf(capability)
		if err != nil {
			return "", err
		}
		if capability == endpoint.Console && query.NodeShell {
			privileges = append(slices.Clone(privileges), "Node.Shell")
		}
		fmt.Fprintf(&b, "memctl token ensure '%s' --path '%s' --privileges '%s'\n",
			tokenID(capability, ""), query.Path, strings.Join(privileges, " "))
	}
	return b.String(), nil
}

// RoleRemoval implements hypervisor.RoleScripter.
func (d *Driver) RoleRemoval(_ context.Context, capability endpoint.Capability) ([]string, error) {
	if _, err := privilegesOf(capability); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("memctl token remove '%s'", tokenID(capability, ""))}, nil
}

func privilegesOf(capability endpoint.Capability) ([]string, error) {
	privileges, ok := needs[capability]
	if !ok {
		err := plugin.Errorf(plugin.Invalid, "there is no such capability")
		err.Field = "capabilities"
		return nil, err
	}
	return privileges, nil
}
