package job

import (
	"context"
	"errors"
	"strings"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/plugin"
)

// Explain describes an error of a hypervisor call to users in one sentence. The
// cause of an error that is neither the hypervisor's nor a problem is not
// shown, because it may contain anything.
func Explain(err error) string {
	var p *problem.Error
	if errors.As(err, &p) && p.Code != problem.CodeInternal {
		return detail(p)
	}
	if errors.Is(err, plugin.ErrGone) {
		return "the hypervisor's plugin is not running"
	}
	var h *plugin.Error
	if !errors.As(err, &h) {
		if errors.Is(err, context.DeadlineExceeded) {
			return "the hypervisor did not answer in time"
		}
		return "the call failed inside the service"
	}
	message := strings.TrimSpace(h.Message)
	switch h.Kind {
	case plugin.Denied:
		if len(h.Missing) > 0 {
			message = "the token lacks " + strings.Join(h.Missing, ", ")
			if h.Path != "" {
				message += " on " + h.Path
			}
		}
		message += grantHint(h.Remedy)
	case plugin.Internal:
		return "the hypervisor's plugin failed"
	}
	if message == "" {
		message = strings.ReplaceAll(string(h.Kind), "_", " ")
	}
	return clean(message, 500)
}

// grantHint returns the end of a sentence about missing privileges: the command
// that grants them.
func grantHint(remedy string) string {
	if remedy == "" {
		return ""
	}
	return "; this grants it: " + remedy
}
