package pve

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxVolume is the longest id of a volume that Proxmox VE accepts as a
// parameter.
const maxVolume = 255

// backupTask is the type of the task that backs a guest up.
const backupTask = "vzdump"

// usualCompression is the default of Proxmox VE's own page. Its API does not compress by default.
const usualCompression = "zstd"

// checkBackup refuses an id that cannot be that of a backup on its storage. It
// becomes part of a path.
func checkBackup(id, storage string) error {
	if checkVolume(id, storage) != nil || !strings.HasPrefix(id, storage+":backup/") {
		return plugin.Errorf(plugin.NotFound, "backup %.300q does not exist on storage %.80q", id, storage)
	}
	return nil
}

// backupPath returns the path of a backup on its storage.
func backupPath(b hypervisor.Backup) (string, error) {
	if err := checkBackup(b.ID, b.Storage); err != nil {
		return "", err
	}
	return nodePath(b.Node, "storage", b.Storage, "content", b.ID)
}

// RunBackup implements hypervisor.BackupManager. Whether the guest may be backed up
// shows only in the task. Older backups stay, because the request overrides the
// retention of the storage.
func (h *Host) RunBackup(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) (string, error) {
	if _, err := guestPath(ref); err != nil {
		return "", err
	}
	path, err := nodePath(ref.Node, backupTask)
	switch {
	case err != nil:
		return "", err
	case !storageName.MatchString(spec.Storage):
		return "", invalid("storage", "%.80q is not a valid storage name", spec.Storage)
	case !utf8.ValidString(spec.Notes) || strings.ContainsRune(spec.Notes, 0):
		return "", invalid("notes", "the notes must be UTF-8 text without null bytes")
	}
	form := url.Values{"vmid": {string(ref.ID)}, "storage": {spec.Storage}, "remove": {"0"}}
	form.Set("compress", cmp.Or(spec.Compress, usualCompression))
	for key, value := range map[string]string{"mode": spec.Mode, "notes-template": notesTemplate(spec.Notes)} {
		if value != "" {
			form.Set(key, value)
		}
	}
	if spec.Protected {
		form.Set("protected", "1")
	}
	var answer pveapi.Text
	if _, err := h.api.Post(ctx, path, form, &answer); err != nil {
		e, ok := asError(err)
		switch {
		case ok && e.Kind == plugin.Invalid && e.Field == "notes-template":
			e.Field = "notes"
		case ok && h.namesNothing(ctx, e, "VM.Backup", ref.ID):
		}
		return "", h.explain(ctx, ref.Node, err)
	}
	// vzdump ignores a guest that has moved to another node, and answers with
	// success and no task.
	if taskIn(string(answer)) == "" {
		return "", plugin.Errorf(plugin.NotFound, "guest %s is not on node %s", ref.ID, ref.Node)
	}
	h.log.Debug("backup started", "node", ref.Node, "guest", ref.ID, "storage", spec.Storage, "task", string(answer))
	return string(answer), nil
}

// notesTemplate returns notes as the template that produces them. In a template
// two braces begin a variable, and there is no way to escape them; so a space
// is inserted between them.
func notesTemplate(notes string) string {
	notes = strings.NewReplacer("\r\n", `\n`, "\n", `\n`, `\`, `\\`).Replace(notes)
	for strings.Contains(notes, "{{") {
		notes = strings.ReplaceAll(notes, "{{", "{ {")
	}
	return notes
}

// DeleteBackup implements hypervisor.BackupManager. That a backup is protected shows
// only in the task. A backup that does not exist counts as deleted.
func (h *Host) DeleteBackup(ctx context.Context, b hypervisor.Backup) (string, error) {
	path, err := backupPath(b)
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	if _, err := h.api.Delete(ctx, path, nil, &answer); err != nil {
		return "", h.explain(ctx, b.Node, volumeError(err))
	}
	h.log.Debug("deletion of a backup started", "node", b.Node, "backup", b.ID, "task", string(answer))
	return taskIn(string(answer)), nil
}

// ProtectBackup implements hypervisor.BackupManager. Without Datastore.Allocate
// Proxmox VE protects at most five backups of a guest.
func (h *Host) ProtectBackup(ctx context.Context, b hypervisor.Backup, protected bool) error {
	path, err := backupPath(b)
	if err != nil {
		return err
	}
	form := url.Values{"protected": {"0"}}
	if protected {
		form.Set("protected", "1")
	}
	if _, err := h.api.Put(ctx, path, form, nil); err != nil {
		return h.explain(ctx, b.Node, volumeError(err))
	}
	return nil
}

// volumeError turns an error about a volume into one of the SDK.
func volumeError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case strings.Contains(text, "protected volume"), strings.Contains(text, "number of protected backups"):
		e.Kind = plugin.Conflict
	case e.Kind == plugin.Invalid && e.Field == "volume", strings.Contains(text, "unable to parse"):
		e.Kind, e.Field = plugin.NotFound, ""
	}
	return e
}
