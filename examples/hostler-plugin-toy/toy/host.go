package toy

import (
	"context"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// needs are the scopes of each capability that Info names, sorted.
var needs = map[endpoint.Capability][]string{
	endpoint.Monitoring: {"guests:read", "nodes:read"},
	endpoint.Lifecycle:  {"guests:power", "guests:read"},
}

// Version implements hypervisor.Host.
func (h *Host) Version(ctx context.Context) (hypervisor.Version, error) {
	var answer struct{ Version, Node string }
	resp, err := h.client.get(ctx, "/v1/version", nil, &answer)
	if err != nil {
		return hypervisor.Version{}, err
	}
	parts := strings.SplitN(answer.Version, ".", 3)
	if len(parts) < 2 {
		return hypervisor.Version{}, plugin.Errorf(plugin.Protocol, "%q is not a valid release", answer.Version)
	}
	shown := resp.TLS.PeerCertificates[0]
	return hypervisor.Version{
		Version: answer.Version, Release: parts[0] + "." + parts[1], Node: answer.Node,
		Fingerprint: endpoint.Fingerprint(shown), NotBefore: shown.NotBefore, NotAfter: shown.NotAfter,
		CertificateNames: endpoint.CertificateNames(shown), CertificateIssuer: endpoint.CertificateIssuer(shown),
	}, nil
}

// Permissions implements hypervisor.Host. It tells people before the fact what would fail, and what a thief could do.
func (h *Host) Permissions(ctx context.Context) (hypervisor.Permissions, error) {
	var has struct{ Scopes []string }
	if _, err := h.client.get(ctx, "/v1/certificate", nil, &has); err != nil {
		return hypervisor.Permissions{}, err
	}
	wanted := needs[h.client.target.Credential.Capability]
	slices.Sort(has.Scopes)
	return hypervisor.Permissions{
		Missing: without(wanted, has.Scopes), Extra: without(has.Scopes, wanted), Paths: []string{"/"},
	}, nil
}

// without gives what is in a and not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
