package lxd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Host is a server, or a cluster through one of its members, as one client
// certificate sees it. It is safe for concurrent use.
type Host struct {
	api      *lxdapi.Client
	pool     *lxdapi.Pool
	target   endpoint.Target
	pace     Timing
	streams  *streams
	projects *operationProjects
	log      hclog.Logger
}

// Format keeps the key out of logs and error messages, whatever the verb.
func (h *Host) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "lxd.Host("+h.target.Address+")")
}

var (
	_ hypervisor.Host             = (*Host)(nil)
	_ hypervisor.LifecycleManager = (*Host)(nil)
	_ hypervisor.TaskStopper      = (*Host)(nil)
	_ hypervisor.NodeReader       = (*Host)(nil)
	_ hypervisor.Snapshotter      = (*Host)(nil)

	_ hypervisor.MemberReader = (*Host)(nil)
)

// Version implements hypervisor.Host. It also checks that the server knows the
// certificate.
func (h *Host) Version(ctx context.Context) (hypervisor.Version, error) {
	server, meta, err := h.about(ctx)
	if err != nil {
		return hypervisor.Version{}, err
	}
	return versionOf(server, meta), nil
}

// versionOf converts what a server reports about itself and its certificate.
func versionOf(server *lxdapi.Server, meta lxdapi.Meta) hypervisor.Version {
	found := hypervisor.Version{
		Version: server.Environment.Version, Release: firstTwo(server.Environment.Version), Node: server.Environment.Name,
	}
	if shown := meta.Certificate; shown != nil {
		found.Fingerprint, found.NotBefore, found.NotAfter = meta.Fingerprint, shown.NotBefore, shown.NotAfter
		found.CertificateNames, found.CertificateIssuer = endpoint.CertificateNames(shown), endpoint.CertificateIssuer(shown)
	}
	return found
}

// firstTwo returns the first two parts of a version, such as 5.21.
func firstTwo(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Close implements hypervisor.Host. Connections belong to the driver's pool, so
// there is nothing to close.
func (h *Host) Close() error { return nil }
