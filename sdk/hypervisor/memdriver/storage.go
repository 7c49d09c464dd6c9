package memdriver

import (
	"slices"
	"strings"
	"sync"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// StorageSpec describes a storage of a cluster. All of its nodes see it.
type StorageSpec struct {
	Name string
	// VMs and Containers say whose disks it can hold.
	VMs, Containers bool
	// FreeGB is what is left of it, in GiB.
	FreeGB int64
	// Thin storages take disks that are larger than that.
	Thin bool
	// Archive holds backups; nil holds none. Clusters that have the same one see the same backups.
	Archive *Archive
	// Away makes it a storage that cannot be used.
	Away bool
	// Type is "dir", which each node has for itself, or "share"; empty is one
	// that can only be looked at. Content is what it holds, for inventories:
	// nil keeps it out of them, unless it has an Archive.
	Type    string
	Content []string
}

// storage is one storage of a cluster. The cluster's lock protects it.
type storage struct {
	StorageSpec
	// config and secrets are its definition, and volumes what was put there
	// besides disks of guests.
	config, secrets map[string]string
	volumes         []hypervisor.Volume
}

// kind returns the type of the storage, as the hypervisor calls it.
func (s *storage) kind() string {
	switch {
	case s.Type != "":
		return s.Type
	case s.Archive != nil:
		return "archive"
	}
	return "plain"
}

// shared reports whether all nodes see the same content.
func (s *storage) shared() bool {
	return s.kind() != "dir" && s.Name != "local" && (s.Archive == nil || s.Archive.Folder == "")
}

// on reports whether a node sees the storage.
func (s *storage) on(node string) bool {
	nodes := s.config["nodes"]
	return nodes == "" || slices.Contains(strings.Split(nodes, ","), node)
}

// listed reports whether inventories contain the storage. The storage "local"
// is reported separately.
func (s *storage) listed() bool { return s.Name != "local" && (s.Archive != nil || s.Content != nil) }

// Archive holds the backups of a storage, also of storages of several clusters.
// It is safe for concurrent use.
type Archive struct {
	// Folder is where they lie as files on the machine that is logged in to,
	// such as DumpFolder; the archive is one cluster's then, and each of its
	// nodes has one. Empty keeps them nowhere.
	Folder string

	mu   sync.Mutex
	made int
	kept []*kept
}

// kept is a backup with the guest of which it was made.
type kept struct {
	hypervisor.Backup
	guest guest
}

// AddStorage adds a storage to the cluster, in place of one with the same name.
func (c *Cluster) AddStorage(spec StorageSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storage(spec.Name); s != nil {
		s.StorageSpec = spec
		return
	}
	c.storages = append(c.storages, &storage{StorageSpec: spec})
}

// ArchiveOf returns the archive of the storage with a name, or nil.
func (c *Cluster) ArchiveOf(name string) *Archive {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storage(name); s != nil {
		return s.Archive
	}
	return nil
}

// storage returns the storage with a name, or nil. The caller holds the lock.
func (c *Cluster) storage(name string) *storage {
	if i := slices.IndexFunc(c.storages, func(s *storage) bool { return s.Name == name }); i >= 0 {
		return c.storages[i]
	}
	return nil
}

// holds reports whether the storage can have disks of a kind of guest.
func (s *storage) holds(kind hypervisor.GuestKind) bool {
	return s != nil && (kind == hypervisor.VM && s.VMs || kind == hypervisor.Container && s.Containers)
}

// row returns the storage as a node sees it in an inventory.
func (s *storage) row(node string) hypervisor.Storage {
	row := hypervisor.Storage{Name: s.Name, Node: node, Type: s.kind(), Shared: s.shared(), Status: "available",
		Content: slices.Clone(s.Content)}
	if s.Archive != nil && !slices.Contains(row.Content, "backup") {
		row.Content = append(row.Content, "backup")
	}
	if s.Away {
		row.Status = "unknown"
	}
	return row
}

// take takes space for a disk. The caller holds the lock.
func (s *storage) take(sizeGB int64) error {
	if s.Away {
		return plugin.Errorf(plugin.Refused, "storage %s is not available", s.Name)
	}
	if s.Thin {
		return nil
	}
	if sizeGB > s.FreeGB {
		return plugin.Errorf(plugin.Refused, "storage %s has no room for %d GiB", s.Name, sizeGB)
	}
	s.FreeGB -= sizeGB
	return nil
}
