package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	kind := func(k sdk.ErrorKind) error {
		return fmt.Errorf("starting guest 7: %w", sdk.Errorf(k, "a text"))
	}
	for name, c := range map[string]struct {
		err    error
		code   problem.Code
		status int
		reason any
	}{
		"not found":      {kind(sdk.NotFound), problem.CodeNotFound, 404, nil},
		"denied":         {kind(sdk.Denied), problem.CodeHypervisorError, 502, "permission"},
		"token rejected": {kind(sdk.TokenRejected), problem.CodeHypervisorError, 502, "auth"},
		"unsupported":    {kind(sdk.Unsupported), problem.CodeUnsupported, 501, nil},
		"unreachable":    {kind(sdk.Unreachable), problem.CodeHypervisorError, 502, "unreachable"},
		"untrusted":      {kind(sdk.Untrusted), problem.CodeHypervisorError, 502, "tls_fingerprint"},
		"forbidden":      {kind(sdk.Forbidden), problem.CodeInvalid, 422, nil},
		"timeout":        {kind(sdk.Timeout), problem.CodeTimeout, 504, nil},
		"conflict":       {kind(sdk.Conflict), problem.CodeInvalidState, 409, nil},
		"invalid":        {kind(sdk.Invalid), problem.CodeInvalid, 422, nil},
		"busy":           {kind(sdk.Busy), problem.CodeGuestBusy, 409, nil},
		"refused":        {kind(sdk.Refused), problem.CodeHypervisorError, 502, "refused"},
		"protocol":       {kind(sdk.Protocol), problem.CodeHypervisorError, 502, "protocol"},
		"internal":       {kind(sdk.Internal), problem.CodeInternal, 500, nil},
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
	denied := sdk.Errorf(sdk.Denied, "no")
	denied.Missing, denied.Path = []string{"VM.PowerMgmt"}, "/vms/100"
	p := problem.From(plugin.Problem(denied))
	if fmt.Sprintf("%v %v", p.Members["missing"], p.Members["path"]) != "[VM.PowerMgmt] /vms/100" {
		t.Errorf("members are %v", p.Members)
	}
	untrusted := sdk.Errorf(sdk.Untrusted, "no")
	untrusted.Fingerprint = "AB:CD"
	if p := problem.From(plugin.Problem(untrusted)); p.Members["fingerprint"] != "AB:CD" {
		t.Errorf("members are %v", p.Members)
	}
	invalid := sdk.Errorf(sdk.Invalid, "no")
	invalid.Field = "name"
	if p := problem.From(plugin.Problem(invalid)); len(p.Faults) != 1 || fmt.Sprint(p.Faults[0].Loc) != "[body name]" {
		t.Errorf("faults are %v", p.Faults)
	}
}
