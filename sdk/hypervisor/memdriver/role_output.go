package memdriver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// What the script prints: a line for each credential, "made" with its secret to
// a semicolon, or "kept".
var (
	madeToken = regexp.MustCompile(`^made service@mem!([a-z_]+)(-[A-Za-z0-9_-]+)? (secret-of-[A-Za-z0-9_-]+);$`)
	madeCode  = regexp.MustCompile(`^made (eyJ[A-Za-z0-9+/]+={0,2})$`)
	keptLine  = regexp.MustCompile(`^kept ([a-z_]+)$`)
)

// RoleOutput returns the output of the script at the cluster when it makes the
// credentials of some capabilities, or one-time codes for them, and keeps those
// of others.
func (c *Cluster) RoleOutput(made, kept []endpoint.Capability) plugin.Secret {
	var b strings.Builder
	for _, capability := range made {
		if c.certified {
			fmt.Fprintf(&b, "made %s\n", string(c.NewCode(capability, time.Hour)))
			continue
		}
		token := c.Target(capability).Credential
		fmt.Fprintf(&b, "made %s %s;\n", token.ID, string(token.Secret))
	}
	for _, capability := range kept {
		fmt.Fprintf(&b, "kept %s\n", capability)
	}
	return plugin.Secret(b.String())
}

// ReadRoleOutput implements hypervisor.RoleOutputReader.
func (d *Driver) ReadRoleOutput(_ context.Context, output plugin.Secret) (hypervisor.RoleOutput, error) {
	if len(output) > hypervisor.MaxRoleOutput {
		return hypervisor.RoleOutput{}, invalid("output", "must have at most 64 KiB")
	}
	found, kept := map[endpoint.Capability]endpoint.Credential{}, map[endpoint.Capability]bool{}
	for _, line := range hypervisor.TerminalLines(output) {
		if match := keptLine.FindStringSubmatch(line); match != nil {
			kept[endpoint.Capability(match[1])] = true
			continue
		}
		if !strings.HasPrefix(line, "made ") {
			continue
		}
		made, err := d.madeOf(line)
		if err != nil {
			return hypervisor.RoleOutput{}, err
		}
		if before, ok := found[made.Capability]; ok && before != made {
			return hypervisor.RoleOutput{}, invalid("output", "has two credentials for one capability")
		}
		found[made.Capability] = made
	}
	var out hypervisor.RoleOutput
	for _, c := range endpoint.Capabilities() {
		if made, ok := found[c]; ok {
			out.Created = append(out.Created, made)
		} else if kept[c] {
			out.Kept = append(out.Kept, c)
		}
	}
	if len(out.Created)+len(out.Kept) == 0 {
		return out, invalid("output", "has no credential in it")
	}
	return out, nil
}

// madeOf returns the credential in a line.
func (d *Driver) madeOf(line string) (endpoint.Credential, error) {
	var made endpoint.Credential
	if token := madeToken.FindStringSubmatch(line); token != nil && !d.certified {
		made = endpoint.Credential{Capability: endpoint.Capability(token[1]), Form: endpoint.FormToken, Secret: plugin.Secret(token[3])}
		made.ID = tokenID(made.Capability, token[2])
	} else if match := madeCode.FindStringSubmatch(line); match != nil && d.certified {
		read, err := readCode(plugin.Secret(match[1]))
		if err != nil {
			return endpoint.Credential{}, invalid("output", "has a join token that is cut off")
		}
		made = endpoint.Credential{Capability: endpoint.Capability(strings.TrimPrefix(read.Name, "hostler-")), Form: endpoint.FormJoinToken,
			Secret: plugin.Secret(match[1])}
	}
	if !slices.Contains(endpoint.Capabilities(), made.Capability) || d.certified && made.Capability == endpoint.NodePower {
		return endpoint.Credential{}, invalid("output", "has a credential that is cut off, or none of the script's")
	}
	return made, nil
}
