package memdriver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// SetManaged leaves the migration of a guest to the cluster's own manager, or ends
// that. The task of such a migration ends before the guest is on its new node.
// It reports whether the guest exists.
func (c *Cluster) SetManaged(id hypervisor.GuestID, managed bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if ok {
		g.managed = managed
	}
	return ok
}

// SetOffline takes a node offline for migrations, or back online.
func (c *Cluster) SetOffline(node string, offline bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offline = slices.DeleteFunc(c.offline, func(n string) bool { return n == node })
	if offline {
		c.offline = append(c.offline, node)
	}
}

// CheckMigration implements hypervisor.Migrator. Disks on storages without
// backups are local to the node. VMs migrate while they run, except in clusters
// of a CertificateDriver.
func (h *Host) CheckMigration(ctx context.Context, ref hypervisor.GuestRef, query hypervisor.MigrationQuery) (
	hypervisor.MigrationCheck, error) {
	c, privileges, err := h.begin(ctx, "checkmigration")
	if err != nil {
		return hypervisor.MigrationCheck{}, err
	}
	if err := require(privileges, GuestPower, guestPath(ref.ID)); err != nil {
		return hypervisor.MigrationCheck{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.find(ref)
	if err != nil {
		return hypervisor.MigrationCheck{}, err
	}
	if !slices.Contains(c.nodes, query.Node) {
		return hypervisor.MigrationCheck{}, invalid("node", "node %.80q not found", query.Node)
	}
	return c.checkMigration(g, query), nil
}

// checkMigration returns the check. The caller holds the lock.
func (c *Cluster) checkMigration(g *guest, query hypervisor.MigrationQuery) hypervisor.MigrationCheck {
	check := hypervisor.MigrationCheck{
		Live:  g.Kind == hypervisor.VM && !c.certified,
		Nodes: slices.DeleteFunc(slices.Clone(c.nodes), func(n string) bool { return n == g.Node || slices.Contains(c.offline, n) }),
	}
	block := func(code, format string, args ...any) {
		check.Blockers = append(check.Blockers, hypervisor.MigrationFinding{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case query.Node == g.Node:
		block(hypervisor.MigrationSameNode, "The guest is on %s already.", query.Node)
	case slices.Contains(c.offline, query.Node):
		block(hypervisor.MigrationNodeOffline, "The node %s is offline.", query.Node)
	}
	if g.Lock != "" {
		block(hypervisor.MigrationLocked, "The guest is locked (%s).", g.Lock)
	}
	room := int64(0)
	for _, disk := range g.config.Disks {
		switch s := c.storage(disk.Storage); {
		case disk.Shared:
		case disk.Local:
			block(hypervisor.MigrationBindMount, "%s is a directory of the node.", disk.Key)
		case disk.Removable && disk.Volume != "":
			block(hypervisor.MigrationLocalImage, "The image in %s is on the node alone; eject it first.", disk.Key)
		case s != nil && s.Archive == nil && !disk.Removable:
			moved := hypervisor.MigrationDisk{Key: disk.Key, Storage: disk.Storage, Volume: disk.Volume}
			if disk.SizeGB != nil {
				moved.SizeBytes = ptr(*disk.SizeGB << 30)
				room += *disk.SizeGB
			}
			check.Disks = append(check.Disks, moved)
		}
	}
	if len(check.Disks) > 0 && g.up() && check.Live && len(g.snapshots) > 0 {
		block(hypervisor.MigrationSnapshots, "The disks of a guest that runs cannot be moved with their snapshots.")
	}
	switch s := c.storage(query.Storage); {
	case query.Storage == "":
	case !s.holds(g.Kind):
		block(hypervisor.MigrationStorage, "The storage %s cannot store disks of this guest on %s.", query.Storage, query.Node)
	case s.FreeGB < room && !s.Thin:
		block(hypervisor.MigrationRoom, "The storage %s has no room for %d GiB.", query.Storage, room)
	}
	if g.managed {
		check.Warnings = append(check.Warnings, hypervisor.MigrationFinding{
			Code: hypervisor.MigrationHA, Message: "The cluster's own manager moves the guest, when it finds the time.",
		})
	}
	return check
}

// Migrate implements hypervisor.Migrator.
func (h *Host) Migrate(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.MigrationSpec) (string, error) {
	return h.change(ctx, "migrate", GuestPower, ref, func(g *guest) (work, error) {
		c, err := h.driver.cluster(h.target)
		if err != nil {
			return work{}, err
		}
		check := c.checkMigration(g, hypervisor.MigrationQuery{Node: spec.Node, Storage: spec.Storage})
		switch {
		case !slices.Contains(c.nodes, spec.Node) || spec.Node == g.Node:
			return work{}, invalid("node", "the guest cannot go to %.80q", spec.Node)
		case spec.Storage != "" && !c.storage(spec.Storage).holds(g.Kind):
			return work{}, invalid("storage", "storage %.80q cannot store disks of this guest", spec.Storage)
		case spec.Online && !check.Live:
			return work{}, plugin.Errorf(plugin.Invalid, "a %s cannot be moved while it runs", g.Kind)
		case g.up() && !spec.Online && !spec.Restart:
			return work{}, plugin.Errorf(plugin.Conflict, "guest %s is %s", g.ID, g.Status)
		}
		return work{hypervisor.OperationMigrate, func() error {
			if len(check.Blockers) > 0 {
				return errors.New(check.Blockers[0].Message)
			}
			if g.managed {
				time.AfterFunc(20*c.taskTime, func() {
					c.mu.Lock()
					defer c.mu.Unlock()
					if c.guests[g.ID] == g {
						g.move(spec)
					}
				})
				return nil
			}
			g.move(spec)
			return nil
		}}, nil
	})
}

// up reports whether the guest runs or is paused. The caller holds the
// cluster's lock.
func (g *guest) up() bool {
	return g.Status == hypervisor.GuestRunning || g.Status == hypervisor.GuestPaused
}

// move moves the guest and its disks. The caller holds the cluster's lock.
func (g *guest) move(spec hypervisor.MigrationSpec) {
	g.Node = spec.Node
	if spec.Restart && g.Status != hypervisor.GuestStopped {
		g.began = time.Now()
		g.enforce()
		g.setStatus(hypervisor.GuestRunning)
	}
	for i := range g.config.Disks {
		if disk := &g.config.Disks[i]; spec.Storage != "" && !disk.Removable && !disk.Local {
			disk.Storage = spec.Storage
		}
	}
}
