package memdriver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// pageRows is the number of guests in a page of an inventory.
const pageRows = 200

// Host is one cluster, through one token. It is safe for concurrent use.
type Host struct {
	driver *Driver
	target endpoint.Target
}

var (
	_ hypervisor.Host              = (*Host)(nil)
	_ hypervisor.LifecycleManager  = (*Host)(nil)
	_ hypervisor.TaskStopper       = (*Host)(nil)
	_ hypervisor.NodeReader        = (*Host)(nil)
	_ hypervisor.NodePowerManager  = (*Host)(nil)
	_ hypervisor.PeerLister        = (*Host)(nil)
	_ hypervisor.MemberReader      = (*Host)(nil)
	_ hypervisor.Snapshotter       = (*Host)(nil)
	_ hypervisor.Provisioner       = (*Host)(nil)
	_ hypervisor.Cloner            = (*Host)(nil)
	_ hypervisor.ConfigReader      = (*Host)(nil)
	_ hypervisor.ConfigEditor      = (*Host)(nil)
	_ hypervisor.DiskAdder         = (*Host)(nil)
	_ hypervisor.DriveChanger      = (*Host)(nil)
	_ hypervisor.NICEditor         = (*Host)(nil)
	_ hypervisor.NICAdder          = (*Host)(nil)
	_ hypervisor.BackupManager     = (*Host)(nil)
	_ hypervisor.BackupReader      = (*Host)(nil)
	_ hypervisor.BackupFileLocator = (*Host)(nil)
	_ hypervisor.Migrator          = (*Host)(nil)
	_ hypervisor.Uploader          = (*Host)(nil)

	_ hypervisor.ConsoleOpener = (*Host)(nil)

	_ hypervisor.HardwareReader = (*Host)(nil)
	_ hypervisor.ContentLister  = (*Host)(nil)
	_ hypervisor.VolumeDeleter  = (*Host)(nil)
	_ hypervisor.StorageManager = (*Host)(nil)
	_ hypervisor.ContentFetcher = (*Host)(nil)
	_ hypervisor.NetworkManager = (*Host)(nil)
	_ hypervisor.NodeExecutor   = (*Host)(nil)
	_ hypervisor.GuestExecutor  = (*Host)(nil)
	_ hypervisor.SocketLister   = (*Host)(nil)
)

// begin begins every call: it stands for the network, applies the fault, and
// checks the certificate and the token.
func (h *Host) begin(ctx context.Context, method string) (*Cluster, []string, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	c, err := h.driver.cluster(h.target)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	c.calls[method]++
	c.mu.Unlock()
	if fault := c.fault(method); !fault.Late {
		if err := fault.apply(ctx, h.target); err != nil {
			return nil, nil, err
		}
	}
	privileges, err := c.admit(h.target)
	return c, privileges, err
}

// Version implements hypervisor.Host.
func (h *Host) Version(ctx context.Context) (hypervisor.Version, error) {
	c, _, err := h.begin(ctx, "version")
	if err != nil {
		return hypervisor.Version{}, err
	}
	return h.version(c), nil
}

// version returns the version of every cluster.
func (h *Host) version(c *Cluster) hypervisor.Version {
	return hypervisor.Version{
		Version: "1.2.3", Release: "1.2", Fingerprint: c.Fingerprint(), NotBefore: certificateBegin, NotAfter: certificateEnd,
		CertificateNames: []string{certificateName(h.target)}, CertificateIssuer: certificateIssuer,
		Node: c.entry(h.target.Address),
	}
}

// Permissions implements hypervisor.Host.
func (h *Host) Permissions(ctx context.Context) (hypervisor.Permissions, error) {
	c, has, err := h.begin(ctx, "permissions")
	if err != nil {
		return hypervisor.Permissions{}, err
	}
	p := hypervisor.Permissions{Paths: []string{"/"}, Ends: c.credentialEnds(), Version: new(h.version(c))}
	wanted := needs[h.target.Credential.Capability]
	for _, privilege := range wanted {
		if !slices.Contains(has, privilege) {
			p.Missing = append(p.Missing, privilege)
		}
	}
	for _, privilege := range has {
		if !slices.Contains(wanted, privilege) && (privilege != NodeShell || h.target.Credential.Capability != endpoint.Console) {
			p.Extra = append(p.Extra, privilege)
		}
	}
	if len(p.Missing)+len(p.Extra) > 0 {
		p.Remedy = fmt.Sprintf("memctl role set %s '%s'", h.target.Credential.Capability, strings.Join(wanted, ","))
	}
	return p, nil
}

// Inventory implements hypervisor.Host.
func (h *Host) Inventory(ctx context.Context, query hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	c, privileges, err := h.begin(ctx, "inventory")
	if err != nil {
		return err
	}
	all := slices.Contains(privileges, GuestAudit)
	first, guests := c.page(c.entry(h.target.Address), !all, query.Detail)
	if query.Detail {
		for _, g := range guests {
			switch {
			case g.Status != hypervisor.GuestRunning:
			case g.CPU != nil:
				first.Samples = append(first.Samples, hypervisor.Sample{Guest: &g.GuestRef, At: time.Now(), Metric: "cpu", Value: *g.CPU})
			case g.Memory != nil:
				first.Samples = append(first.Samples, hypervisor.Sample{Guest: &g.GuestRef, At: time.Now(), Metric: "memory",
					Value: float64(*g.Memory)})
			}
		}
	}
	if err := page(first); err != nil {
		return err
	}
	if fault := c.fault("inventory"); fault.Late {
		if err := fault.apply(ctx, h.target); err != nil {
			return err
		}
	}
	for rows := range slices.Chunk(guests, pageRows) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := page(hypervisor.Page{Guests: rows}); err != nil {
			return err
		}
	}
	return nil
}

// page copies the present state of the cluster: the first page, and the guests
// in the order of their creation.
func (c *Cluster) page(entry string, partial, detail bool) (hypervisor.Page, []hypervisor.Guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	statesOnly := c.certified && !detail
	first := hypervisor.Page{Cluster: &hypervisor.Cluster{
		Name: "mem", Quorate: true, Entry: entry, Partial: partial, StatesOnly: statesOnly,
	}}
	if c.certified {
		first.Cluster.ID, first.Cluster.Name = c.Fingerprint(), ""
	}
	for i, name := range c.nodes {
		node := hypervisor.Node{Name: name, Status: hypervisor.NodeOnline}
		storage := hypervisor.Storage{Name: "local", Node: name, Type: "dir", Status: "available", Content: []string{"images", "iso"}}
		if c.certified {
			node.Address = c.nodeAddress(i)
		}
		if !statesOnly {
			node.CPU, node.CPUs, node.Uptime = ptr(0.5), ptr(8.0), ptr(int64(3600))
			node.Memory, node.MemoryTotal = ptr(int64(8<<30)), ptr(int64(16<<30))
			storage.Used, storage.Total = ptr(int64(1<<30)), ptr(int64(100<<30))
		}
		first.Nodes, first.Storages = append(first.Nodes, node), append(first.Storages, storage)
		for _, s := range c.storages {
			if s.listed() && s.on(name) {
				first.Storages = append(first.Storages, s.row(name))
			}
		}
	}
	if partial {
		return first, nil
	}
	guests := make([]hypervisor.Guest, 0, len(c.guests))
	for _, g := range c.inOrder() {
		row := g.present()
		if statesOnly {
			row = stateOnly(row)
		}
		guests = append(guests, row)
	}
	return first, guests
}

// nodeAddress returns a private address of the i-th node that is unlikely to be
// that of another cluster.
func (c *Cluster) nodeAddress(i int) string {
	sum := sha256.Sum256([]byte(c.address))
	return netip.AddrFrom4([4]byte{10, sum[0], sum[1], byte(i + 1)}).String()
}

// Guest implements hypervisor.Host.
func (h *Host) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	c, privileges, err := h.begin(ctx, "guest")
	if err != nil {
		return hypervisor.Guest{}, err
	}
	if err := require(privileges, GuestAudit, guestPath(ref.ID)); err != nil {
		return hypervisor.Guest{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err := c.find(ref)
	if err != nil {
		return hypervisor.Guest{}, err
	}
	guest := found.present()
	guest.At = time.Now().UTC()
	return guest, nil
}

// find returns the guest of a reference. The caller holds the lock.
func (c *Cluster) find(ref hypervisor.GuestRef) (*guest, error) {
	g, ok := c.guests[ref.ID]
	if !ok || g.Kind != ref.Kind || g.Node != ref.Node || !g.Same(ref) {
		return nil, plugin.Errorf(plugin.NotFound, "no %s %.80q on node %q", ref.Kind, ref.ID, ref.Node)
	}
	return g, nil
}

// Close implements hypervisor.Host.
func (h *Host) Close() error { return nil }
