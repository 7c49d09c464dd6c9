package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// defaultStorage holds the disks of guests that name no other.
const defaultStorage = "local-lvm"

// volume is one disk of a guest as its configuration names it.
type volume struct {
	key     string // scsi0, rootfs, …
	id      string // STORAGE:NAME
	storage string
	format  string // qcow2, raw, or empty where the storage knows no formats
}

// volumeOf names the volume of a guest's disk as its storage would.
func (c *Cluster) volumeOf(g *guest) string {
	name := fmt.Sprintf("vm-%d-disk-0", g.VMID)
	switch c.storageByID(g.Storage).plugin {
	case "dir", "nfs", "cifs":
		format := "qcow2"
		if g.Type == LXC {
			format = "raw"
		}
		name = fmt.Sprintf("%d/%s.%s", g.VMID, name, format)
	case "btrfs":
		name = fmt.Sprintf("%d/%s.raw", g.VMID, name)
	case "zfspool":
		if g.Type == LXC {
			name = fmt.Sprintf("subvol-%d-disk-0", g.VMID)
		}
	}
	return g.Storage + ":" + name
}

// RenameVolume gives a guest's disk another name, as making a template of the guest does.
func (c *Cluster) RenameVolume(vmid int, volume string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.guests[vmid]; g != nil {
		g.volume = volume
	}
}

var volumeKeys = map[string]*regexp.Regexp{
	QEMU: regexp.MustCompile(`^((ide|sata|scsi|virtio)\d+|efidisk0|tpmstate0)$`),
	LXC:  regexp.MustCompile(`^(rootfs|mp\d+)$`),
}

// volumes lists the disks in a guest's configuration in the order of their keys. CD-ROM drives and bind mounts are none.
func (g *guest) volumes() []volume { return volumesIn(g.Type, g.config()) }

// volumesIn lists those in the configuration of a guest of that type.
func volumesIn(kind string, cfg map[string]any) []volume {
	var out []volume
	for _, key := range slices.Sorted(maps.Keys(cfg)) {
		value, isText := cfg[key].(string)
		if !isText || !volumeKeys[kind].MatchString(key) || strings.Contains(value, "media=cdrom") {
			continue
		}
		id, _, _ := strings.Cut(value, ",")
		storageID, name, found := strings.Cut(id, ":")
		if !found || strings.HasPrefix(id, "/") {
			continue
		}
		v := volume{key: key, id: id, storage: storageID}
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			v.format = name[dot+1:]
		}
		out = append(out, v)
	}
	return out
}

// stateStorage is where the state of a running machine is saved: beside its first disk.
func (g *guest) stateStorage() string {
	if list := g.volumes(); len(list) > 0 {
		return list[0].storage
	}
	return "local"
}

// snapshots reports whether a volume on the storage can be snapshotted: by the storage itself, or in a file of a format that can.
func (s *storage) snapshots(v volume) bool {
	if s.noSnapshots {
		return false
	}
	switch s.plugin {
	case "lvmthin", "zfspool", "rbd", "btrfs":
		return true
	case "dir", "nfs", "cifs":
		return v.format == "qcow2"
	}
	return false
}

// snapshotFeature says why the guest cannot be snapshotted, or nil: all of its volumes have to allow it.
func (c *Cluster) snapshotFeature(g *guest) error {
	for _, v := range g.volumes() {
		s := c.storageByID(v.storage)
		if s == nil {
			return fmt.Errorf("storage '%s' does not exist", v.storage)
		}
		if !s.snapshots(v) {
			return errors.New("snapshot feature is not available")
		}
	}
	return nil
}
