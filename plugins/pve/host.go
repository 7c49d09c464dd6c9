package pve

import (
	"context"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Host is one Proxmox VE endpoint, through one token. It is safe for concurrent
// use.
type Host struct {
	api        *pveapi.Client
	capability endpoint.Capability
	tokenID    string
	pace       Timing
	log        hclog.Logger
	// machine is the node at the address, for credentials to log in there with.
	machine *pvessh.Machine
}

var (
	_ hypervisor.Host             = (*Host)(nil)
	_ hypervisor.LifecycleManager = (*Host)(nil)
	_ hypervisor.TaskStopper      = (*Host)(nil)
	_ hypervisor.NodeReader       = (*Host)(nil)
	_ hypervisor.Snapshotter      = (*Host)(nil)
	_ hypervisor.Provisioner      = (*Host)(nil)
	_ hypervisor.Cloner           = (*Host)(nil)
	_ hypervisor.Migrator         = (*Host)(nil)

	_ hypervisor.ConfigReader  = (*Host)(nil)
	_ hypervisor.BackupManager = (*Host)(nil)
	_ hypervisor.ConfigEditor  = (*Host)(nil)
	_ hypervisor.DiskAdder     = (*Host)(nil)
	_ hypervisor.DriveChanger  = (*Host)(nil)
	_ hypervisor.NICEditor     = (*Host)(nil)
	_ hypervisor.NICAdder      = (*Host)(nil)
	_ hypervisor.Uploader      = (*Host)(nil)

	_ hypervisor.ConsoleOpener    = (*Host)(nil)
	_ hypervisor.PeerLister       = (*Host)(nil)
	_ hypervisor.MemberReader     = (*Host)(nil)
	_ hypervisor.NodePowerManager = (*Host)(nil)
	_ hypervisor.HardwareReader   = (*Host)(nil)
	_ hypervisor.ContentLister    = (*Host)(nil)
	_ hypervisor.VolumeDeleter    = (*Host)(nil)
	_ hypervisor.StorageManager   = (*Host)(nil)
	_ hypervisor.ContentFetcher   = (*Host)(nil)
	_ hypervisor.NetworkManager   = (*Host)(nil)
	_ hypervisor.NodeExecutor     = (*Host)(nil)
	_ hypervisor.GuestExecutor    = (*Host)(nil)
	_ hypervisor.SocketLister     = (*Host)(nil)

	_ hypervisor.BackupReader      = (*Host)(nil)
	_ hypervisor.BackupFileLocator = (*Host)(nil)
)

// Version asks the called node for the version of pve-manager. Every token may
// read it.
func (h *Host) Version(ctx context.Context) (hypervisor.Version, error) {
	var answer struct {
		Version pveapi.Text `json:"version"`
		Release pveapi.Text `json:"release"`
	}
	meta, err := h.api.Get(ctx, "/version", nil, &answer)
	if err != nil {
		return hypervisor.Version{}, err
	}
	if answer.Version == "" {
		return hypervisor.Version{}, plugin.Errorf(plugin.Protocol, "the answer has no version")
	}
	version, release := versionOf(string(answer.Version), string(answer.Release))
	found := hypervisor.Version{Version: version, Release: release}
	if shown := meta.Certificate; shown != nil {
		found.Fingerprint, found.NotBefore, found.NotAfter = meta.Fingerprint, shown.NotBefore, shown.NotAfter
		found.CertificateNames, found.CertificateIssuer = endpoint.CertificateNames(shown), endpoint.CertificateIssuer(shown)
	}
	return found, nil
}

// Close does nothing. Connections are shared between hosts and close on their
// own.
func (h *Host) Close() error { return nil }

// versionOf unifies the forms of all releases. Up to 5 the release was a
// separate field ("5.4" and "13"); 6 and 7 wrote "6.2-4".
func versionOf(version, release string) (string, string) {
	if release != "" && !strings.Contains(release, ".") && !strings.Contains(version, "-") {
		return version + "-" + release, firstTwo(version)
	}
	return version, firstTwo(version)
}

// firstTwo returns the first two parts of a version.
func firstTwo(version string) string {
	version, _, _ = strings.Cut(version, "-")
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
