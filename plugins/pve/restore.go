package pve

import (
	"context"
	"net/url"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Restore implements hypervisor.Backuper. A container is as privileged as it was. Its disks go to one storage: without one that is asked
// for, to where its root was, which takes a question before. As CreateVM does, it names the pool of a token that may make guests in a pool
// only.
func (h *Host) Restore(ctx context.Context, spec hypervisor.RestoreSpec) (string, error) {
	kind, form, err := restoreForm(spec)
	if err != nil {
		return "", err
	}
	path, err := nodePath(spec.Node, kind)
	if err != nil {
		return "", err
	}
	// By itself the hypervisor would take the storage "local" for a container, wherever it was.
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

// restoreForm is the request that restores, and the kind of guest below whose path it goes.
func restoreForm(spec hypervisor.RestoreSpec) (kind string, form url.Values, err error) {
	if _, err := vmid(spec.ID); err != nil {
		return "", nil, invalid("id", "%.40q is no id of a guest", spec.ID)
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
			return "", nil, invalid("storage", "%.80q is not a storage's name", spec.Storage)
		}
		form.Set("storage", spec.Storage)
	}
	if spec.Over {
		form.Set("force", "1")
	}
	if spec.NewIdentity {
		form.Set("unique", "1")
	}
	return kind, form, nil
}

// rootStorage reads in a container's backup on which storage its root was.
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
	return "", invalid("storage", "the backup does not tell where the container's disks were: a storage is needed")
}

// restoreFields are our names for parameters of the hypervisor.
var restoreFields = map[string]string{"vmid": "id", "archive": "backup", "ostemplate": "backup", "storage": "storage"}

// restoreError brings what the hypervisor says of a guest to be restored into our words.
func (h *Host) restoreError(ctx context.Context, spec hypervisor.RestoreSpec, err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	// Who may back a guest up may set it back, and who makes a new one may make guests.
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
