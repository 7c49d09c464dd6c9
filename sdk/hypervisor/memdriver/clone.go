package memdriver

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Clone implements hypervisor.Cloner. The copy exists when the task has ended.
func (h *Host) Clone(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.CloneSpec) (string, error) {
	return h.change(ctx, "clone", GuestPower, ref, func(source *guest) (work, error) {
		c, err := h.driver.cluster(h.target)
		if err != nil {
			return work{}, err
		}
		if err := c.checkClone(source, spec); err != nil {
			return work{}, err
		}
		return work{hypervisor.OperationClone, func() error {
			if _, taken := c.guests[spec.ID]; taken {
				return fmt.Errorf("guest %s exists already", spec.ID)
			}
			node := spec.Node
			if node == "" {
				node = source.Node
			}
			copied := c.newGuestOn(node, ref.Kind, spec.ID)
			copied.resemble(source)
			if spec.Name != "" && !c.certified {
				copied.Name = spec.Name
			}
			copied.inherit(source.config)
			for i := range copied.config.Disks {
				disk := &copied.config.Disks[i]
				if disk.Removable || disk.SizeGB == nil {
					continue
				}
				if spec.Storage != "" {
					disk.Storage = spec.Storage
				}
				if err := c.storage(disk.Storage).take(*disk.SizeGB); err != nil {
					delete(c.guests, copied.ID)
					return err
				}
			}
			return nil
		}}, nil
	})
}

// checkClone refuses a copy that cannot be made. The caller holds the lock.
func (c *Cluster) checkClone(source *guest, spec hypervisor.CloneSpec) error {
	_, taken := c.guests[spec.ID]
	switch {
	case !spec.ID.Valid():
		return invalid("id", "an id is needed")
	case taken:
		return plugin.Errorf(plugin.Conflict, "guest %s exists already", spec.ID)
	case !spec.Full && !source.Template:
		return plugin.Errorf(plugin.Conflict, "a linked clone requires a template")
	case spec.Full && source.Kind == hypervisor.Container && source.Status != hypervisor.GuestStopped:
		return plugin.Errorf(plugin.Refused, "a container must be stopped for a full copy")
	case !spec.Full && spec.Storage != "":
		return invalid("storage", "a linked copy is where its template is")
	case spec.Storage != "" && !c.storage(spec.Storage).holds(source.Kind):
		return invalid("storage", "storage %.80q cannot store disks of this guest", spec.Storage)
	case spec.Node != "" && !slices.Contains(c.nodes, spec.Node):
		return invalid("node", "node %.80q not found", spec.Node)
	}
	return nil
}
