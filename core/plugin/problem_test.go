package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	kind := func(k hypervisor.Kind) error {
		return fmt.Errorf("starting guest 7: %w", hypervisor.Errorf(k, "a text"))
	}
	for name, c := range map[string]struct {
		err    error
		code   problem.Code
		status int
		reason any
	}{
		"not found":      {kind(hypervisor.NotFound), problem.CodeNotFound, 404, nil},
		"denied":         {kind(hypervisor.Denied), problem.CodeHypervisorError, 502, "permission"},
		"token rejected": {kind(hypervisor.TokenRejected), problem.CodeHypervisorError, 502, "auth"},
		"unsupported":    {kind(hypervisor.Unsupported), problem.CodeUnsupported, 501, nil},
		"unreachable":    {kind(hypervisor.Unreachable), problem.CodeHypervisorError, 502, "unreachable"},
		"untrusted":      {kind(hypervisor.Untrusted), problem.CodeHypervisorError, 502, "tls_fingerprint"},
		"forbidden":      {kind(hypervisor.Forbidden), problem.CodeInvalid, 422, nil},
		"timeout":        {kind(hypervisor.Timeout), problem.CodeTimeout, 504, nil},
		"conflict":       {kind(hypervisor.Conflict), problem.CodeInvalidState, 409, nil},
		"invalid":        {kind(hypervisor.Invalid), problem.CodeInvalid, 422, nil},
		"busy":           {kind(hypervisor.Busy), problem.CodeGuestBusy, 409, nil},
		"refused":        {kind(hypervisor.Refused), problem.CodeHypervisorError, 502, "refused"},
		"protocol":       {kind(hypervisor.Protocol), problem.CodeHypervisorError, 502, "protocol"},
		"internal":       {kind(hypervisor.Internal), problem.CodeInternal, 500, nil},
		"gone":           {fmt.Errorf("calling: %w", sdk.ErrGone), problem.CodePluginUnavailable, 503, nil},
		"deadline":       {fmt.Errorf("calling: %w", context.DeadlineExceeded), problem.CodeTimeout, 504, nil},
		"a problem":      {fmt.Errorf("doing: %w", problem.New(problem.CodeStopping, "stopping")), problem.CodeStopping, 503, nil},
		"anything else":  {errors.New("broken"), problem.CodeInternal, 500, nil},
	} {
		p := problem.From(plugin.Problem(c.err))
		if p.Code != c.code || p.Status() != c.status || p.Members["reason"] != c.reason {
			t.Errorf("%s: %s, %d, reason %v; want %s, %d, reason %v", name, p.Code, p.Status(), p.Members["reason"], c.code, c.status, c.reason)
		}
		if name != "a problem" && !errors.Is(p, c.err) {
			t.Errorf("%s: the cause is lost", name)
		}
	}
	if plugin.Problem(nil) != nil {
		t.Error("no error became a problem")
	}
}

func TestProblemMembers(t *testing.T) {
	t.Parallel()
	denied := hypervisor.Errorf(hypervisor.Denied, "no")
	denied.Missing, denied.Path = []string{"VM.PowerMgmt"}, "/vms/100"
	p := problem.From(plugin.Problem(denied))
	if fmt.Sprintf("%v %v", p.Members["missing"], p.Members["path"]) != "[VM.PowerMgmt] /vms/100" {
		t.Errorf("members are %v", p.Members)
	}
	untrusted := hypervisor.Errorf(hypervisor.Untrusted, "no")
	untrusted.Fingerprint = "AB:CD"
	if p := problem.From(plugin.Problem(untrusted)); p.Members["fingerprint"] != "AB:CD" {
		t.Errorf("members are %v", p.Members)
	}
	invalid := hypervisor.Errorf(hypervisor.Invalid, "no")
	invalid.Field = "name"
	if p := problem.From(plugin.Problem(invalid)); len(p.Faults) != 1 || fmt.Sprint(p.Faults[0].Loc) != "[body name]" {
		t.Errorf("faults are %v", p.Faults)
	}
}
