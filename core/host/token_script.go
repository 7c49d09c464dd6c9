package host

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ScriptQuery says for what a token script is wanted.
type ScriptQuery struct {
	Capabilities []string
	NodePower    bool
	NodeShell    bool
	// Path is "/" when empty.
	Path string
}

// aclPath is the root or a pool, nested ones included.
var aclPath = regexp.MustCompile(`^/(pool(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){1,4})?$`)

// TokenScript is the shell script that makes the user, roles and tokens on the hypervisor. It uses no network.
func (s *Store) TokenScript(ctx context.Context, in ScriptQuery) (string, error) {
	if in.Path == "" {
		in.Path = "/"
	}
	var errs []error
	wanted := map[endpoint.Capability]bool{endpoint.Monitoring: true, endpoint.NodePower: in.NodePower}
	for i, text := range in.Capabilities {
		c, err := capability(text, "body", "capabilities", i)
		errs = append(errs, err)
		wanted[c] = true
	}
	if !aclPath.MatchString(in.Path) {
		errs = append(errs, problem.InvalidField("must be / or a pool such as /pool/customers", "value_error", "body", "path"))
	}
	if err := faults(errs...); err != nil {
		return "", err
	}
	if in.NodeShell {
		wanted[endpoint.Console] = true
	}
	scripter, ok := hypervisor.As[hypervisor.RoleScripter](s.drivers.Hypervisor(s.driver))
	if !ok {
		return "", problem.New(problem.CodeUnsupported, "the driver %s writes no token script", s.driver)
	}
	query := hypervisor.RoleScriptQuery{Path: in.Path, NodeShell: in.NodeShell}
	query.Capabilities = slices.DeleteFunc(endpoint.Capabilities(), func(c endpoint.Capability) bool { return !wanted[c] })
	script, err := scripter.RoleScript(ctx, query)
	if err != nil {
		return "", plugin.Problem(fmt.Errorf("writing the token script: %w", err))
	}
	return script, nil
}
