package pvesim

import (
	"hash/fnv"
	"slices"
	"strings"
)

// storage is one configured storage. A shared one is listed once per node all the same.
type storage struct {
	id      string
	plugin  string // dir, lvmthin, nfs, …
	content string // comma list
	shared  bool
	nodes   []string // empty: on every node
	size    int64
	used    int64
	pool    string
	// noSnapshots keeps volumes from being snapshotted that could be by their type.
	noSnapshots bool
	// away is true while it does not answer, disabled while it is switched off.
	away, disabled bool
	// images are what VMs can be installed from. allocated are the volumes that
	// were made by requests, and sizes theirs in bytes.
	images    []storageImage
	allocated []string
	sizes     []int64
	// config are the options of its definition that have no field here, and
	// secrets what no answer tells.
	config, secrets map[string]string
	// loose are disks that no configuration names, and destroyed those that
	// were deleted though one does.
	loose     []looseDisk
	destroyed map[string]bool
	// backups outlive the storage's being replaced, and may be shared with other clusters.
	backups *backupStore
}

// StorageSpec describes a storage for [Cluster.AddStorage].
type StorageSpec struct {
	ID      string
	Plugin  string // default dir
	Content string // default all that a directory can hold
	Shared  bool
	Nodes   []string // default: every node
	Size    int64    // bytes, default 400 GiB
	Used    int64
	// NoSnapshots keeps volumes on it from being snapshotted. Without it the
	// type of storage decides, and the format of the volume.
	NoSnapshots bool
	// Away makes it one that does not answer, Disabled one that is switched off.
	Away, Disabled bool
}

// AddStorage adds or replaces a storage.
func (c *Cluster) AddStorage(s StorageSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addStorage(s)
}

// DropStorage forgets a storage, if there is one of the id.
func (c *Cluster) DropStorage(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.storages = slices.DeleteFunc(c.storages, func(s *storage) bool { return s.id == id })
	c.generation++
}

// addStorage adds a storage.
func (c *Cluster) addStorage(s StorageSpec) {
	if s.Plugin == "" {
		s.Plugin = "dir"
	}
	if s.Content == "" {
		s.Content = "backup,images,iso,rootdir,snippets,vztmpl"
	}
	if s.Size == 0 {
		s.Size = 400 * gibibyte
	}
	backups := &backupStore{}
	if old := c.storageByID(s.ID); old != nil {
		backups = old.backups
	}
	c.storages = slices.DeleteFunc(c.storages, func(o *storage) bool { return o.id == s.ID })
	c.storages = append(c.storages, &storage{
		id: s.ID, plugin: s.Plugin, content: s.Content, shared: s.Shared, nodes: s.Nodes, size: s.Size, used: min(s.Used, s.Size),
		noSnapshots: s.NoSnapshots, away: s.Away, disabled: s.Disabled,
		backups: backups, config: definitionOf(s), secrets: map[string]string{},
	})
	c.generation++
}

// definitionOf are the options that a storage of this kind has without anybody's doing.
func definitionOf(s StorageSpec) map[string]string {
	config := map[string]string{}
	switch s.Plugin {
	case "dir", "btrfs":
		config["path"] = "/var/lib/" + s.ID
		if s.ID == "local" {
			config["path"] = "/var/lib/vz"
		}
	case "nfs":
		config["path"], config["server"], config["export"] = "/mnt/pve/"+s.ID, "nas.example.com", "/export/"+s.ID
	case "lvm":
		config["vgname"] = "pve"
	case "lvmthin":
		config["vgname"], config["thinpool"] = "pve", "data"
	case "zfspool":
		config["pool"] = "rpool/data"
	case "pbs":
		config["server"], config["datastore"], config["username"] = "backups.example.com", s.ID, "root@pam"
	}
	if strings.Contains(s.Content, "backup") {
		config["prune-backups"] = "keep-all=1"
	}
	return config
}

// storageByID returns the storage with that name, or nil.
func (c *Cluster) storageByID(id string) *storage {
	i := slices.IndexFunc(c.storages, func(s *storage) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	return c.storages[i]
}

// on reports whether a node has the storage.
func (s *storage) on(node string) bool { return len(s.nodes) == 0 || slices.Contains(s.nodes, node) }

// seed makes the storage's figures differ from its neighbours'.
func (s *storage) seed() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.id))
	return h.Sum64()
}
