package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// typeClient is the type of certificates that may do more than read metrics.
const typeClient = "client"

// Permissions implements hypervisor.Host. All capabilities have the same
// rights: a restricted certificate may do everything in its projects, and an
// unrestricted one everything everywhere, which is reported as Extra. The end
// of the certificate is reported too.
func (h *Host) Permissions(ctx context.Context) (hypervisor.Permissions, error) {
	p, version, err := h.permissions(ctx)
	if err != nil {
		return hypervisor.Permissions{}, err
	}
	if version.Version != "" { // which a server tells only to whom it trusts
		p.Version = &version
	}
	if end := h.api.Identity().NotAfter; !end.IsZero() {
		p.Ends = []hypervisor.CredentialEnd{{ID: h.target.Credential.ID, At: end.UTC()}}
	}
	return p, nil
}

// permissions judges the client certificate by its entry in the server's trust
// store. A server answers an unknown certificate as untrusted instead of
// refusing the connection, so that is TokenRejected here. An unrestricted
// certificate may do everything, which is reported as an extra right; a
// restricted one without projects may do nothing. A certificate whose entry
// cannot be read has fine-grained rights, which only show when they are used.
func (h *Host) permissions(ctx context.Context) (p hypervisor.Permissions, version hypervisor.Version, err error) {
	if err := checkCapability(h.target.Credential.Capability); err != nil {
		return p, version, err
	}
	server, meta, err := h.api.Server(ctx)
	if err != nil {
		return p, version, err
	}
	version = versionOf(server, meta)
	if !server.Trusted() {
		if h.onlyMetrics(ctx) {
			return hypervisor.Permissions{Missing: []string{clientType}}, version, nil
		}
		return p, version, plugin.Errorf(plugin.TokenRejected, "the host does not know this certificate, or the certificate has expired")
	}
	own, err := h.api.OwnCertificate(ctx)
	switch {
	case plugin.KindOf(err) == plugin.NotFound: // it has rights of a finer kind, which show when they are used
		return hypervisor.Permissions{Paths: []string{"/"}}, version, nil
	case err != nil:
		return p, version, h.judge(ctx, err, "")
	case own.Type != typeClient:
		return hypervisor.Permissions{Missing: []string{clientType}}, version, nil
	case !own.Restricted:
		return hypervisor.Permissions{Extra: []string{unrestricted}, Paths: []string{"/"}}, version, nil
	case len(own.Projects) == 0:
		return hypervisor.Permissions{Missing: []string{anyProject}}, version, nil
	}
	return hypervisor.Permissions{Paths: paths(own.Projects)}, version, nil
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
