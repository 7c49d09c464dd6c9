package pve

import (
	"context"
	"net/url"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Restore implements hypervisor.BackupManager. A container stays privileged or
// unprivileged as it was. Its disks go to one storage; if none is given, it is
// the storage of its root in the backup, which needs a request before. Like
// CreateVM, it names the pool for a token that may create guests only in a
// pool.
func (h *Host) Restore(ctx context.Context, spec hypervisor.RestoreSpec) (string, error) {
	kind, form, err := restoreForm(spec)
	if err != nil {
		return "", err
	}
	path, err := nodePath(spec.Node, kind)
	if err != nil {
		return "", err
	}
	// Without a storage Proxmox VE takes "local" for a container, wherever it
	// was.
	if spec.Backup.Kind == hypervisor.Container && spec.Storage == "" {
		storage, err := h.rootStorage(ctx, spec)
		if err != nil {
			return "", h.explain(ctx, spec.Node, h.restoreError(ctx, spec, err))
		}
		form.Set("storage", storage)
	}
	task, err := h.postGuest(ctx, path, form, spec.ID)
	if err != nil {
		return "", h.explain(ctx, spec.Node, h.restoreError(ctx, spec, err))
	}
	h.log.Debug("restore started", "node", spec.Node, "guest", spec.ID, "backup", spec.Backup.ID, "task", task)
	return taskIn(task), nil
}

// restoreForm returns the request that restores, and the kind of guest in its
// path. A restore is a creation with an archive, in a parameter that differs by
// kind. "unique" gives the guest new MAC addresses. The name cannot be set when
// a guest is replaced: it keeps the one of the backup.
func restoreForm(spec hypervisor.RestoreSpec) (kind string, form url.Values, err error) {
	if _, err := vmid(spec.ID); err != nil {
		return "", nil, invalid("id", "%.40q is not a valid guest ID", spec.ID)
	}
	if err := checkBackup(spec.Backup.ID, spec.Backup.Storage); err != nil {
		return "", nil, err
	}
	form = url.Values{"vmid": {string(spec.ID)}}
	switch spec.Backup.Kind {
	case hypervisor.VM:
		kind = "qemu"
		form.Set("archive", spec.Backup.ID)
	case hypervisor.Container:
		kind = "lxc"
		form.Set("ostemplate", spec.Backup.ID)
		form.Set("restore", "1")
	default:
		return "", nil, plugin.Errorf(plugin.Invalid, "%q is not a kind of guest", spec.Backup.Kind)
	}
	if spec.Storage != "" {
		if !storageName.MatchString(spec.Storage) {
			return "", nil, invalid("storage", "%.80q is not a valid storage name", spec.Storage)
		}
		form.Set("storage", spec.Storage)
	}
	if spec.Over {
		form.Set("force", "1")
	} else if spec.Name != "" {
		form.Set(nameKeys[spec.Backup.Kind], spec.Name)
	}
	if spec.NewIdentity {
		form.Set("unique", "1")
	}
	return kind, form, nil
}

// rootStorage reads from a container's backup on which storage its root was.
func (h *Host) rootStorage(ctx context.Context, spec hypervisor.RestoreSpec) (string, error) {
	config, err := h.backedUp(ctx, spec.Node, spec.Backup)
	if err != nil {
		return "", err
	}
	for _, d := range config.Disks {
		if d.Key == "rootfs" && storageName.MatchString(d.Storage) {
			return d.Storage, nil
		}
	}
	return "", invalid("storage", "the backup does not record the storage of the container's disks; choose a storage")
}

// restoreFields maps parameters to fields of the SDK.
var restoreFields = map[string]string{"vmid": "id", "archive": "backup", "ostemplate": "backup", "storage": "storage", "name": "name",
	"hostname": "name"}

// restoreError turns an error about a restore into one of the SDK.
func (h *Host) restoreError(ctx context.Context, spec hypervisor.RestoreSpec, err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	// A restore over a guest needs the right to back it up, and a new guest the
	// right to create guests.
	privilege := "VM.Allocate"
	if spec.Over {
		privilege = "VM.Backup"
	}
	text := strings.ToLower(e.Message)
	switch {
	case h.namesNothing(ctx, e, privilege, spec.ID):
	case e.Kind == plugin.Invalid && restoreFields[e.Field] != "":
		e.Field = restoreFields[e.Field]
	case strings.HasPrefix(text, "storage '"+strings.ToLower(spec.Storage)+"'") && spec.Storage != spec.Backup.Storage:
		wrongParameter(e, "storage")
	case strings.Contains(text, "protection mode enabled"):
		e.Kind = plugin.Conflict
	}
	return e
}
