package memdriver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// archive returns the archive of a storage. The caller holds the cluster's
// lock.
func (c *Cluster) archive(name string) (*Archive, error) {
	s := c.storage(name)
	switch {
	case s == nil || s.Archive == nil:
		return nil, plugin.Errorf(plugin.NotFound, "storage %.80q does not store backups", name)
	case s.Away:
		return nil, plugin.Errorf(plugin.Refused, "storage %s is not available", name)
	}
	return s.Archive, nil
}

// begun is begin for a call about a storage of backups.
func (h *Host) begun(ctx context.Context, method, storage string) (*Cluster, *Archive, error) {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return nil, nil, err
	}
	if err := require(privileges, GuestBackup, "/storages/"+storage); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a, err := c.archive(storage)
	if err != nil {
		return nil, nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c.readFolder(a)
	return c, a, nil
}

// Backups implements hypervisor.BackupManager.
func (h *Host) Backups(ctx context.Context, query hypervisor.BackupQuery) ([]hypervisor.Backup, error) {
	_, a, err := h.begun(ctx, "backups", query.Storage)
	if err != nil {
		return nil, err
	}
	all := a.Backups()
	for i := range all {
		all[i].Storage, all[i].Node, all[i].ID = query.Storage, query.Node, query.Storage+":"+all[i].ID
	}
	return all, nil
}

// Backups returns the backups in the archive, the oldest first. Their IDs do
// not contain the storage's name.
func (a *Archive) Backups() []hypervisor.Backup {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]hypervisor.Backup, 0, len(a.kept))
	for _, k := range a.kept {
		all = append(all, k.Backup)
	}
	return all
}

// Change lets edit modify each backup in the archive, the oldest first, for
// example to make one old or damaged.
func (a *Archive) Change(edit func(*hypervisor.Backup)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.kept {
		edit(&k.Backup)
	}
}

// Put adds a backup of a guest of a cluster without the API, and returns its ID
// without the storage's name.
func (a *Archive) Put(c *Cluster, ref hypervisor.GuestRef, takenAt time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[ref.ID]
	if !ok {
		return ""
	}
	return a.keep(c, g, hypervisor.BackupSpec{}, takenAt)
}

// keep adds a backup of a guest. The caller holds the cluster's lock.
func (a *Archive) keep(c *Cluster, g *guest, spec hypervisor.BackupSpec, takenAt time.Time) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made++
	k := &kept{guest: *g, Backup: hypervisor.Backup{
		ID: fmt.Sprintf("backup/%s-%s-%d", g.Kind, g.ID, a.made), Kind: g.Kind, Guest: g.ID, UID: g.UID,
		TakenAt: takenAt.UTC().Truncate(time.Second), SizeBytes: ptr(int64(1 << 30)), Format: "tar", Protected: spec.Protected,
		Notes: spec.Notes,
	}}
	k.guest.config = g.presentConfig()
	a.kept = append(a.kept, k)
	if a.Folder != "" {
		c.dump(a, k)
	}
	return k.ID
}

// shortened returns notes as a cluster of a CertificateDriver stores them.
func shortened(notes string) string {
	first, _, _ := strings.Cut(notes, "\n")
	for strings.Contains(first, "{{") {
		first = strings.ReplaceAll(first, "{{", "{ {")
	}
	return strings.TrimSpace(first)
}

// find returns the index of a backup in a storage, or -1. The caller holds the
// archive's lock.
func (a *Archive) find(b hypervisor.Backup) int {
	return slices.IndexFunc(a.kept, func(k *kept) bool { return b.Storage+":"+k.ID == b.ID })
}

// RunBackup implements hypervisor.BackupManager.
func (h *Host) RunBackup(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) (string, error) {
	c, err := h.driver.cluster(h.target)
	if err != nil {
		return "", err
	}
	made := ""
	id, err := h.change(ctx, "runbackup", GuestBackup, ref, func(guest *guest) (work, error) {
		a, err := c.archive(spec.Storage)
		switch {
		case err != nil:
			return work{}, invalid("storage", "%s", err)
		case spec.Mode != "" && !slices.Contains([]string{"snapshot", "suspend", "stop"}, spec.Mode):
			return work{}, invalid("mode", "unknown mode %.20q", spec.Mode)
		}
		return work{hypervisor.OperationBackup, func() error {
			if c.storage(spec.Storage).Away {
				return fmt.Errorf("storage %s is not available", spec.Storage)
			}
			if c.certified {
				spec.Notes = shortened(spec.Notes)
			}
			made = spec.Storage + ":" + a.keep(c, guest, spec, time.Now())
			return nil
		}}, nil
	})
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, err := c.task(id); err == nil {
		t.backup = &made
	}
	return id, nil
}

// Restore implements hypervisor.BackupManager. The guest exists when the task has
// ended; a guest that is replaced exists until then.
func (h *Host) Restore(ctx context.Context, spec hypervisor.RestoreSpec) (string, error) {
	c, a, err := h.begun(ctx, "restore", spec.Backup.Storage)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(spec.Backup)
	if i < 0 {
		return "", plugin.Errorf(plugin.NotFound, "backup %.200q not found", spec.Backup.ID)
	}
	of, err := c.madeOf(a, a.kept[i])
	if err != nil {
		return "", err
	}
	old := c.guests[spec.ID]
	switch {
	case !spec.ID.Valid():
		return "", invalid("id", "an id is needed")
	case unmountable(of) != "":
		return "", plugin.Errorf(plugin.Refused, "%s", unmountable(of))
	case old != nil && !spec.Over:
		return "", plugin.Errorf(plugin.Conflict, "guest %s exists already", spec.ID)
	case old != nil && old.Status != hypervisor.GuestStopped:
		return "", plugin.Errorf(plugin.Conflict, "guest %s is %s", spec.ID, old.Status)
	case !slices.Contains(c.nodes, spec.Node):
		return "", plugin.Errorf(plugin.NotFound, "node %.80q not found", spec.Node)
	case spec.Storage != "" && !c.storage(spec.Storage).holds(of.Kind):
		return "", invalid("storage", "storage %.80q cannot store disks of this guest", spec.Storage)
	}
	// The task belongs to the guest that is being made, which does not exist
	// before its end.
	ref := hypervisor.GuestRef{Kind: of.Kind, Node: spec.Node, ID: spec.ID}
	t := c.newTask(spec.Node, "guest_"+string(hypervisor.OperationRestore), ref, h.target.Credential)
	t.Operation = hypervisor.OperationRestore
	t.add("restoring " + spec.Backup.ID)
	time.AfterFunc(c.taskTime, func() { c.restored(t, of, spec) })
	return t.ID, nil
}

// restored ends the task of a restore, unless somebody stopped it.
func (c *Cluster) restored(t *task, of guest, spec hypervisor.RestoreSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Status != hypervisor.TaskRunning {
		return
	}
	old := c.guests[spec.ID]
	if old != nil && (!spec.Over || old.Status != hypervisor.GuestStopped) {
		t.end(hypervisor.TaskFailed, "the id is taken by a guest that is not to be replaced, or that runs")
		return
	}
	uid, before := "", []hypervisor.Disk(nil)
	if old != nil {
		before = old.config.Disks
		uid = old.UID // who replaces a guest is that guest
		delete(c.guests, spec.ID)
	}
	g := c.newGuestOn(spec.Node, of.Kind, spec.ID)
	if uid != "" {
		g.UID = uid
	}
	if old != nil && !spec.NewIdentity {
		g.number = old.number // and has its addresses
	}
	g.resemble(&of)
	if !c.certified {
		g.Name = of.Name
		if spec.Name != "" && old == nil {
			g.Name = spec.Name
		}
	}
	fresh := g.config
	g.inherit(of.config)
	g.config.Disks = restoredDisks(of.Kind, of.config.Disks, before)
	if !spec.NewIdentity {
		g.config.NICs = slices.Clone(of.config.NICs)
	} else if len(g.config.NICs) > 0 && len(fresh.NICs) > 0 {
		g.config.NICs[0].MAC = fresh.NICs[0].MAC
	}
	for i := range g.config.Disks {
		if disk := &g.config.Disks[i]; spec.Storage != "" && !disk.Removable && !disk.Local && !disk.Unused {
			disk.Storage = spec.Storage
		}
	}
	t.end(hypervisor.TaskOK, "OK")
}

// DeleteBackup implements hypervisor.BackupManager. It needs no task.
func (h *Host) DeleteBackup(ctx context.Context, b hypervisor.Backup) (string, error) {
	c, a, err := h.begun(ctx, "deletebackup", b.Storage)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(b)
	switch {
	case i < 0:
		return "", plugin.Errorf(plugin.NotFound, "backup %.200q not found", b.ID)
	case a.kept[i].Protected:
		return "", plugin.Errorf(plugin.Conflict, "backup %s is protected", b.ID)
	}
	if a.Folder != "" {
		delete(c.loginMachine().files, a.file(a.kept[i].ID))
	}
	a.kept = slices.Delete(a.kept, i, i+1)
	return "", nil
}

// ProtectBackup implements hypervisor.BackupManager.
func (h *Host) ProtectBackup(ctx context.Context, b hypervisor.Backup, protected bool) error {
	_, a, err := h.begun(ctx, "protectbackup", b.Storage)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(b)
	if i < 0 {
		return plugin.Errorf(plugin.NotFound, "backup %.200q not found", b.ID)
	}
	a.kept[i].Protected = protected
	return nil
}
