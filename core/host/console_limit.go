package host

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ConsoleLimit is a console that this release of the hypervisor cannot open
// with a token, whatever its privileges.
type ConsoleLimit struct {
	Of     string `json:"of" enum:"vm,app,node" example:"app" doc:"Kind of the console"`
	Kind   string `json:"kind" enum:"terminal,graphical" example:"terminal"`
	Reason string `json:"reason" example:"consoles of containers require a newer release" doc:"Required release or missing feature, as a sentence"`
}

// maxConsoleLimits bounds what is accepted from a driver: there are three kinds
// of objects and two kinds of consoles.
const maxConsoleLimits = 6

// consoleLimits reads what the host's release cannot do. The check of a console
// token reports it. An error is ignored, because opening such a console reports
// it too.
func (s *Store) consoleLimits(ctx context.Context, at hypervisor.Host, capability endpoint.Capability) []ConsoleLimit {
	told := []ConsoleLimit{}
	able, ok := hypervisor.As[hypervisor.ConsoleOpener](at)
	if !ok || capability != endpoint.Console {
		return told
	}
	limits, err := able.ConsoleLimits(ctx)
	if err != nil {
		s.log.Debug("could not determine which consoles the release supports", "error", err)
		return told
	}
	for _, l := range limits[:min(len(limits), maxConsoleLimits)] {
		of, ok := map[string]string{string(hypervisor.VM): "vm", string(hypervisor.Container): "app", "node": "node"}[l.Of]
		if ok && (l.Kind == hypervisor.ConsoleTerminal || l.Kind == hypervisor.ConsoleGraphical) {
			told = append(told, ConsoleLimit{of, string(l.Kind), Clean(l.Reason)})
		}
	}
	return told
}
