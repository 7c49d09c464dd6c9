package host

import (
	"context"
	"fmt"
	"regexp"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ScriptQuery is the input of WriteTokenScript.
type ScriptQuery struct {
	// Driver is the usual one when empty.
	Driver       string
	Capabilities []string
	NodePower    bool
	NodeShell    bool
	// Recommended adds what the hypervisor's present releases need for
	// everything that the service offers.
	Recommended bool
	// Path is "/" when empty.
	Path string
}

// scopePath matches "/" and every text that could be a path of some hypervisor.
// It keeps shell characters out of the script; the driver checks the rest.
var scopePath = regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9._:-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._:-]{0,63}){0,7})?$`)

// TokenScript is a shell script for an administrator of the hypervisor, and the
// commands that remove what it makes.
type TokenScript struct {
	Script string   `json:"script"`
	Undo   []string `json:"undo" doc:"Commands for an administrator of the hypervisor, in order, that remove the roles and the tokens again. They remove monitoring only if the request names it or names no capability, because an enrolled host needs it"`
}

// WriteTokenScript writes the script that makes users, roles and credentials on
// the hypervisor. It makes no connection, and the service never runs the script
// itself. The problem is unsupported for a capability that the driver does not
// have.
func (s *Store) WriteTokenScript(ctx context.Context, in ScriptQuery) (TokenScript, error) {
	if in.Path == "" {
		in.Path = "/"
	}
	var errs []error
	wanted := map[endpoint.Capability]bool{endpoint.Monitoring: true, endpoint.NodePower: in.NodePower, endpoint.Console: in.NodeShell}
	asked := map[endpoint.Capability]bool{endpoint.Monitoring: len(in.Capabilities) == 0}
	for i, text := range in.Capabilities {
		c, err := capability(text, "body", "capabilities", i)
		errs = append(errs, err)
		wanted[c], asked[c] = true, true
	}
	if !scopePath.MatchString(in.Path) {
		errs = append(errs, problem.InvalidField("must be / or a permission path of the hypervisor, such as a pool",
			"value_error", "body", "path"))
	}
	if err := faults(errs...); err != nil {
		return TokenScript{}, err
	}
	d, err := s.choose(ctx, in.Driver, "body", "driver")
	if err != nil {
		return TokenScript{}, err
	}
	scripter, ok := hypervisor.As[hypervisor.RoleScriptWriter](d.Driver)
	if !ok {
		return TokenScript{}, problem.New(problem.CodeUnsupported, "the driver %s does not support token scripts", d.name)
	}
	query := hypervisor.RoleScriptQuery{Path: in.Path, NodeShell: in.NodeShell, Recommended: in.Recommended}
	for _, c := range endpoint.Capabilities() {
		if !wanted[c] {
			continue
		}
		if err := d.require(c); err != nil {
			return TokenScript{}, err
		}
		query.Capabilities = append(query.Capabilities, c)
	}
	if in.Path != "/" && d.info.Scope == (hypervisor.Scope{}) {
		return TokenScript{}, problem.InvalidField("must be /: permissions cannot be limited to a path on "+
			d.info.Product, "value_error", "body", "path")
	}
	script, err := scripter.RoleScript(ctx, query)
	if err != nil {
		return TokenScript{}, plugin.Problem(fmt.Errorf("writing the token script: %w", err))
	}
	out := TokenScript{Script: script, Undo: []string{}}
	for _, c := range query.Capabilities {
		if c == endpoint.Monitoring && !asked[c] {
			continue // the host has that token already
		}
		commands, err := scripter.RoleRemoval(ctx, c, "")
		if err != nil {
			return TokenScript{}, plugin.Problem(fmt.Errorf("writing the commands that remove the tokens: %w", err))
		}
		out.Undo = append(out.Undo, commands...)
	}
	return out, nil
}
