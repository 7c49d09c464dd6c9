package guest

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// maxDescription bounds the description of a guest, in bytes.
const maxDescription = 64 << 10

// Config is a guest's configuration as the API shows it: what is in force, and
// beside it what waits for a restart.
type Config struct {
	Digest         *string            `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the whole configuration; it differs if the configuration was changed. Null if the hypervisor has none"`
	Name           string             `json:"name" example:"web1"`
	Description    string             `json:"description"`
	Tags           []string           `json:"tags"`
	Protected      bool               `json:"protected" doc:"true if the hypervisor refuses to destroy it"`
	OSType         *string            `json:"ostype" example:"l26" doc:"Type of operating system, as the hypervisor names it"`
	CPUType        *string            `json:"cpu_type" example:"host"`
	Cores          *int64             `json:"cores" example:"2" doc:"Number of cores, per socket if the guest has sockets; null for all cores of the node"`
	Sockets        *int64             `json:"sockets" example:"1"`
	MemoryMB       *int64             `json:"memory_mb" example:"2048"`
	BalloonMB      *int64             `json:"balloon_mb" doc:"Memory that a VM keeps when the node runs short of memory; 0 if ballooning is disabled"`
	SwapMB         *int64             `json:"swap_mb" doc:"Swap of a container"`
	Disks          []Disk             `json:"disks"`
	NICs           []NIC              `json:"nics"`
	Pending        map[string]*string `json:"pending" doc:"Changes that wait for a restart, by the hypervisor's keys; null for a key that will be removed"`
	PendingRestart bool               `json:"pending_restart" doc:"true if a change waits for a restart"`
}

// Disk is a disk or a drive of a guest.
type Disk struct {
	Key       string  `json:"key" example:"scsi0" doc:"Key of the disk on the hypervisor"`
	Storage   *string `json:"storage" example:"local-lvm" doc:"Storage of the disk; null if it is on none"`
	Volume    *string `json:"volume" example:"local-lvm:vm-101-disk-0"`
	SizeGB    *int64  `json:"size_gb" example:"32" doc:"Size in GiB, rounded up; null if the hypervisor does not report it"`
	Removable bool    `json:"removable" doc:"true for a CD drive"`
	Local     bool    `json:"local" doc:"true for a directory or a device of the node, which stays when the guest is moved"`
	Path      *string `json:"path" doc:"Mount path in the container"`
	Unused    bool    `json:"unused" doc:"true for a volume that the guest keeps but does not use, such as a detached disk; it is destroyed with the guest"`
	Pending   bool    `json:"pending" doc:"true if it is attached at the next restart"`
	Owner     *string `json:"owner_ref" example:"101" doc:"ID on the hypervisor of the guest that owns the volume; null if there is none or it is not known"`
	Kept      bool    `json:"kept" doc:"true if it belongs to another guest or to none, and stays when this guest is destroyed"`
	LeftOut   bool    `json:"left_out" doc:"true if backups of the guest do not include it"`
}

// NIC is a network interface in short.
type NIC struct {
	Key    string  `json:"key" example:"net0" doc:"Key of the NIC on the hypervisor"`
	Name   *string `json:"name" example:"eth0" doc:"Name of the interface in the container; null for VMs"`
	MAC    *string `json:"mac" example:"BC:24:11:00:00:01"`
	Bridge *string `json:"bridge" example:"vmbr0"`
}

// Config reads a guest's configuration from the hypervisor. Problems:
// not_found, unsupported, and those of host.Call.
func (a *Actor) Config(ctx context.Context, g *Guest) (Config, error) {
	found, err := a.ReadConfig(ctx, g)
	if err != nil {
		return Config{}, err
	}
	return showConfig(found), nil
}

// ReadConfig returns the configuration in the driver's form, for rules about
// what a guest uses.
func (a *Actor) ReadConfig(ctx context.Context, g *Guest) (hypervisor.Config, error) {
	return Subject{Guest: g, hosts: a.Hosts, db: a.DB}.readConfig(ctx)
}

// maxParts limits the number of disks, NICs and pending changes that are stored
// and shown.
const maxParts = 512

// showConfig converts a driver's configuration for JSON. It cleans texts and
// cuts lists, because the driver is not trusted.
func showConfig(c hypervisor.Config) Config {
	out := Config{
		Digest: host.CleanOrNil(c.Digest), Name: host.Clean(c.Name), Description: host.CleanTo(c.Description, maxDescription),
		Tags: cleanTags(c.Tags), Protected: c.Protected, OSType: host.CleanOrNil(c.OSType), CPUType: host.CleanOrNil(c.CPUType),
		Cores: c.Cores, Sockets: c.Sockets, MemoryMB: c.MemoryMB, BalloonMB: c.BalloonMB, SwapMB: c.SwapMB,
		Disks: []Disk{}, NICs: []NIC{}, Pending: showPending(c.Pending, nil), PendingRestart: len(c.Pending) > 0,
	}
	for _, d := range c.Disks[:min(len(c.Disks), maxParts)] {
		out.Disks = append(out.Disks, Disk{Key: host.Clean(d.Key), Storage: host.CleanOrNil(d.Storage), Volume: host.CleanOrNil(d.Volume),
			SizeGB: d.SizeGB, Removable: d.Removable, Local: d.Local, Path: host.CleanOrNil(d.Path), Unused: d.Unused, Pending: d.Pending,
			Owner: host.CleanOrNil(string(d.Owner)), Kept: d.Kept, LeftOut: d.LeftOut})
	}
	for _, n := range c.NICs[:min(len(c.NICs), maxParts)] {
		out.NICs = append(out.NICs, NIC{Key: host.Clean(n.Key), Name: host.CleanOrNil(n.Name), MAC: host.CleanOrNil(n.MAC),
			Bridge: host.CleanOrNil(n.Bridge)})
	}
	return out
}

// cleanTags returns at most maxParts tags without control characters.
func cleanTags(tags []string) []string {
	out := make([]string, 0, len(tags))
	for _, tag := range tags[:min(len(tags), maxParts)] {
		out = append(out, host.Clean(tag))
	}
	return out
}

// showPending returns the changes that wait for a restart, limited to the given
// keys unless only is nil.
func showPending(pending map[string]*string, only []string) map[string]*string {
	out := map[string]*string{}
	for key, value := range pending {
		if len(out) >= maxParts || only != nil && !slices.Contains(only, key) {
			continue
		}
		var shown *string
		if value != nil {
			text := host.CleanTo(*value, maxDescription)
			shown = &text
		}
		out[host.Clean(key)] = shown
	}
	return out
}
