package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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
	value   string // of the key in the configuration
}

var (
	ownedFolder = regexp.MustCompile(`/(\d+)/[^/]+$`)
	ownedName   = regexp.MustCompile(`(?:vm|base|subvol|basevol)-(\d+)-[^/]+$`)
)

// owner is the guest whose volume it is by its name; 0 for none.
func (v volume) owner() int {
	_, name, _ := strings.Cut(v.id, ":")
	m := ownedFolder.FindStringSubmatch("/" + name)
	if m == nil {
		m = ownedName.FindStringSubmatch(name)
	}
	if m == nil {
		return 0
	}
	id, _ := strconv.Atoi(m[1])
	return id
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

// volumeKeys match the keys of a configuration that have volumes.
var volumeKeys = map[string]*regexp.Regexp{
	QEMU: regexp.MustCompile(`^((ide|sata|scsi|virtio)\d+|efidisk0|tpmstate0)$`),
	LXC:  regexp.MustCompile(`^(rootfs|mp\d+)$`),
}

// unusedKey is the key of a disk that the guest has and does not use.
var unusedKey = regexp.MustCompile(`^unused\d+$`)

// volumes lists the disks in a guest's configuration in the order of their
// keys. CD-ROM drives and bind mounts are none.
func (g *guest) volumes() []volume { return volumesIn(g.Type, g.config()) }

// kept lists the disks in a guest's configuration, those that it does not use
// and those that wait for a restart.
func (g *guest) kept() []volume {
	all := slices.Concat(g.volumes(), volumesUnder(g.config(), unusedKey))
	for _, v := range volumesIn(g.Type, g.Pending) {
		if !slices.ContainsFunc(all, func(o volume) bool { return o.id == v.id }) {
			all = append(all, v)
		}
	}
	return all
}

// volumesIn lists those in the configuration of a guest of that type.
func volumesIn(kind string, cfg map[string]any) []volume { return volumesUnder(cfg, volumeKeys[kind]) }

// volumesUnder lists those that a configuration has under some keys.
func volumesUnder(cfg map[string]any, keys *regexp.Regexp) []volume {
	var out []volume
	for _, key := range slices.Sorted(maps.Keys(cfg)) {
		value, isText := cfg[key].(string)
		if !isText || !keys.MatchString(key) || strings.Contains(value, "media=cdrom") {
			continue
		}
		id, _, _ := strings.Cut(value, ",")
		storageID, name, found := strings.Cut(id, ":")
		if !found || strings.HasPrefix(id, "/") {
			continue
		}
		v := volume{key: key, id: id, storage: storageID, value: value}
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

// snapshots reports whether a volume on the storage can be snapshotted: by the
// storage itself, or in a file of a format that can.
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

// snapshotFeature says why the guest cannot be snapshotted, or nil: all of its
// volumes have to allow it.
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
