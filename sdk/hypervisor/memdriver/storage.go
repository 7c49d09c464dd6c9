package memdriver

import (
	"slices"
	"sync"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// StorageSpec is a storage of a cluster, which all of its nodes see.
type StorageSpec struct {
	Name string
	// VMs and Containers say whose disks it can hold.
	VMs, Containers bool
	// FreeGB is what is left of it, in GiB.
	FreeGB int64
	// Archive holds backups; nil holds none. Clusters that have the same one see the same backups.
	Archive *Archive
	// Away makes it a storage that cannot be used.
	Away bool
}

// storage is one of a cluster; the cluster's lock guards it.
type storage struct{ StorageSpec }

// Archive holds the backups of a storage, or of storages of several clusters.
type Archive struct {
	mu   sync.Mutex
	made int
	kept []*kept
}

// kept is a backup with what it was made of.
type kept struct {
	hypervisor.Backup
	guest guest
}

// AddStorage gives the cluster a storage, or replaces the one of that name.
func (c *Cluster) AddStorage(spec StorageSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storage(spec.Name); s != nil {
		s.StorageSpec = spec
		return
	}
	c.storages = append(c.storages, &storage{spec})
}

// ArchiveOf is the archive of the storage of a name; nil where there is none.
func (c *Cluster) ArchiveOf(name string) *Archive {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.storage(name); s != nil {
		return s.Archive
	}
	return nil
}

// storage is the one of a name, or nil; it needs the lock.
func (c *Cluster) storage(name string) *storage {
	if i := slices.IndexFunc(c.storages, func(s *storage) bool { return s.Name == name }); i >= 0 {
		return c.storages[i]
	}
	return nil
}

// holds reports whether disks of a kind of guest can be on the storage.
func (s *storage) holds(kind hypervisor.GuestKind) bool {
	return s != nil && (kind == hypervisor.VM && s.VMs || kind == hypervisor.Container && s.Containers)
}

// row is a storage of backups as a node sees it in an inventory.
func (s *storage) row(node string) hypervisor.Storage {
	row := hypervisor.Storage{Name: s.Name, Node: node, Type: "archive", Shared: true, Status: "available", Content: []string{"backup"}}
	if s.Away {
		row.Status = "unknown"
	}
	return row
}

// take takes room for a disk; it needs the lock.
func (s *storage) take(sizeGB int64) error {
	if s.Away {
		return plugin.Errorf(plugin.Refused, "storage %s is not available", s.Name)
	}
	if sizeGB > s.FreeGB {
		return plugin.Errorf(plugin.Refused, "storage %s has no room for %d GiB", s.Name, sizeGB)
	}
	s.FreeGB -= sizeGB
	return nil
}
