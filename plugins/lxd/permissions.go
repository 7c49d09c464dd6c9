package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// typeClient is the type of certificates that may do more than read metrics.
const typeClient = "client"

// Permissions tells what the server has the certificate in its list for. The rights of all capabilities are alike: a restricted
// certificate may do everything in its projects. One that is not restricted may do everything everywhere, which is Extra.
func (h *Host) Permissions(ctx context.Context) (hypervisor.Permissions, error) {
	if err := checkCapability(h.target.Credential.Capability); err != nil {
		return hypervisor.Permissions{}, err
	}
	server, _, err := h.api.Server(ctx)
	if err != nil {
		return hypervisor.Permissions{}, err
	}
	if !server.Trusted() {
		if h.onlyMetrics(ctx) {
			return hypervisor.Permissions{Missing: []string{clientType}}, nil
		}
		return hypervisor.Permissions{}, plugin.Errorf(plugin.TokenRejected, "the host does not know this certificate, or it has ended")
	}
	own, err := h.api.OwnCertificate(ctx)
	switch {
	case plugin.KindOf(err) == plugin.NotFound: // it has rights of a finer kind, which show when they are used
		return hypervisor.Permissions{Paths: []string{"/"}}, nil
	case err != nil:
		return hypervisor.Permissions{}, h.judge(ctx, err, "")
	case own.Type != typeClient:
		return hypervisor.Permissions{Missing: []string{clientType}}, nil
	case !own.Restricted:
		return hypervisor.Permissions{Extra: []string{unrestricted}, Paths: []string{"/"}}, nil
	case len(own.Projects) == 0:
		return hypervisor.Permissions{Missing: []string{anyProject}}, nil
	}
	return hypervisor.Permissions{Paths: paths(own.Projects)}, nil
}

// paths are the scopes of projects, sorted.
func paths(projects []string) []string {
	all := make([]string, len(projects))
	for i, p := range projects {
		all[i] = projectPath(p)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
