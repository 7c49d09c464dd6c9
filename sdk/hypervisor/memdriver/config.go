package memdriver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// configure gives a new guest its configuration. n is different for each guest.
func (g *guest) configure(n int64) {
	mac := fmt.Sprintf("02:00:%02X:%02X:%02X:%02X", byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	disk := hypervisor.Disk{Key: "scsi0", Storage: "local", Volume: fmt.Sprintf("local:disk-%d", n), SizeGB: ptr(int64(32))}
	nic := hypervisor.NIC{Key: "net0", Model: "virtio", MAC: mac, Bridge: "br0", Firewall: true}
	g.config = hypervisor.Config{
		Cores: ptr(int64(2)), Sockets: ptr(int64(1)), MemoryMB: ptr(int64(2048)), OSType: "l26", CPUType: "host",
		Options: map[string]string{"onboot": "0"},
	}
	if g.Kind == hypervisor.Container {
		g.config.Sockets, g.config.CPUType, g.config.SwapMB = nil, "", ptr(int64(512))
		disk.Key, disk.Path = "rootfs", "/"
		nic.Name, nic.Model, nic.IP = "eth0", "", "dhcp"
	}
	g.config.Disks, g.config.NICs = []hypervisor.Disk{disk}, []hypervisor.NIC{nic}
}

// inherit copies the configuration of another guest, except what distinguishes
// guests.
func (g *guest) inherit(from hypervisor.Config) {
	nics := g.config.NICs
	g.config = from
	g.config.Mark, g.config.Protected = "", false
	g.config.Disks, g.config.NICs = slices.Clone(from.Disks), slices.Clone(from.NICs)
	g.config.Options, g.config.Files = maps.Clone(from.Options), slices.Clone(from.Files)
	for i := range g.config.NICs {
		if i < len(nics) {
			g.config.NICs[i].MAC = nics[i].MAC
		}
	}
}

// resemble copies the tags and sizes of another guest.
func (g *guest) resemble(other *guest) {
	g.Tags, g.CPUs, g.MemoryTotal, g.DiskTotal = slices.Clone(other.Tags), other.CPUs, other.MemoryTotal, other.DiskTotal
}

// presentConfig returns the configuration as the API shows it. The caller holds
// the lock.
func (g *guest) presentConfig() hypervisor.Config {
	now := g.config
	now.Name, now.Tags = g.Name, slices.Clone(g.Tags)
	now.Files = slices.Clone(g.config.Files)
	now.Disks, now.Options, now.NICs = slices.Clone(g.config.Disks), maps.Clone(g.config.Options), slices.Clone(g.config.NICs)
	if now.Pending = maps.Clone(g.config.Pending); now.Pending == nil {
		now.Pending = map[string]*string{}
	}
	number := func(key string, n *int64) {
		if n != nil {
			now.Pending[key] = ptr(strconv.FormatInt(*n, 10))
		}
	}
	number("cores", g.pending.Cores)
	number("sockets", g.pending.Sockets)
	number("memory", g.pending.MemoryMB)
	for i, nic := range now.NICs {
		if _, waits := g.pendingNICs[nic.Key]; waits {
			now.NICs[i].Pending = true
			now.Pending[nic.Key] = ptr("changed")
		}
	}
	text, err := json.Marshal([]any{now, g.pendingNICs})
	if err != nil {
		panic(err) // plain values
	}
	now.Digest = fmt.Sprintf("%x", sha256.Sum256(text))[:40]
	return now
}

// enforce applies the changes that wait for a start. The caller holds the lock.
func (g *guest) enforce() {
	g.apply(g.pending)
	g.pending = hypervisor.ConfigChange{}
	for i, nic := range g.config.NICs {
		if changed, waits := g.pendingNICs[nic.Key]; waits {
			g.config.NICs[i] = changed
		}
	}
	g.pendingNICs = nil
}

// Config implements hypervisor.ConfigReader.
func (h *Host) Config(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Config, error) {
	return look(ctx, h, "config", ref, func(g *guest) (hypervisor.Config, error) { return g.presentConfig(), nil })
}

// look runs every call that reads a guest.
func look[T any](ctx context.Context, h *Host, method string, ref hypervisor.GuestRef, answer func(*guest) (T, error)) (
	none T, err error) {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return none, err
	}
	if err := require(privileges, GuestAudit, guestPath(ref.ID)); err != nil {
		return none, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.find(ref)
	if err != nil {
		return none, err
	}
	return answer(g)
}

// ChangeConfig edits the configuration of a guest without the API, except its
// name and tags; see Change. It reports whether the guest exists.
func (c *Cluster) ChangeConfig(id hypervisor.GuestID, edit func(*hypervisor.Config)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if ok {
		edit(&g.config)
	}
	return ok
}

// ConfigOf returns the configuration of a guest; the zero value if there is no
// such guest.
func (c *Cluster) ConfigOf(id hypervisor.GuestID) hypervisor.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.guests[id]; ok {
		return g.presentConfig()
	}
	return hypervisor.Config{}
}

// edit runs every change of a configuration that needs no task. It refuses a
// locked guest and an outdated digest.
func (h *Host) edit(ctx context.Context, method string, ref hypervisor.GuestRef, digest string,
	change func(*Cluster, *guest) error) error {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return err
	}
	if err := require(privileges, GuestPower, guestPath(ref.ID)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.find(ref)
	switch {
	case err != nil:
		return err
	case g.Lock != "":
		return plugin.Errorf(plugin.Busy, "guest %s is locked (%s)", ref.ID, g.Lock)
	case digest != "" && digest != g.presentConfig().Digest:
		e := plugin.Errorf(plugin.Conflict, "the configuration was changed meanwhile")
		e.Field = "digest"
		return e
	}
	return change(c, g)
}
