package pve

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// firmware lists the operating systems that need UEFI and a TPM for their
// installation. All others get SeaBIOS, the default of Proxmox VE, which boots
// from every medium.
var firmware = map[string]bool{"win11": true}

// CreateVM sends one request for the whole VM: a VirtIO disk with its own
// thread whose freed blocks return to the storage, and a NIC behind the
// firewall. It sets no machine type, because that needs a privilege that the
// usual role lacks. A token that may create guests only in a pool creates the
// VM there. The mark is the serial number of the disk.
//
// Another request reads the type of the storage first: on storages of files the
// disk is qcow2, because a raw file, which is the default, cannot be
// snapshotted.
func (h *Host) CreateVM(ctx context.Context, spec hypervisor.VMSpec) (string, error) {
	form, err := vmForm(spec)
	if err != nil {
		return "", err
	}
	path, err := nodePath(spec.Node, "qemu")
	if err != nil {
		return "", err
	}
	files, err := h.onFiles(ctx, spec.Node, spec.Storage)
	if err != nil {
		return "", h.explain(ctx, spec.Node, err)
	}
	if files {
		for _, key := range []string{"virtio0", "efidisk0"} { // the state of a TPM is raw everywhere
			if disk := form.Get(key); disk != "" {
				form.Set(key, disk+",format=qcow2")
			}
		}
	}
	task, err := h.postGuest(ctx, path, form, spec.ID)
	if err != nil {
		return "", h.explain(ctx, spec.Node, h.allocateError(ctx, spec.ID, err))
	}
	h.log.Debug("VM creation started", "node", spec.Node, "guest", spec.ID, "task", task)
	return taskIn(task), nil
}

// fileStorages are the storage types that store images as files, raw by
// default. For all others Proxmox VE knows the only format.
var fileStorages = map[string]bool{"dir": true, "nfs": true, "cifs": true, "glusterfs": true}

// onFiles reports whether a storage stores images as files. It returns false
// for a storage that the node does not list; creating the VM then returns the
// error.
func (h *Host) onFiles(ctx context.Context, node, storage string) (bool, error) {
	path, err := nodePath(node, "storage")
	if err != nil {
		return false, err
	}
	var rows []struct {
		Type pveapi.Text `json:"type"`
	}
	if _, err := h.api.Get(ctx, path, url.Values{"storage": {storage}}, &rows); err != nil {
		return false, err
	}
	return len(rows) == 1 && fileStorages[string(rows[0].Type)], nil
}

// vmForm returns the parameters of the request that creates a VM. It checks
// every text that becomes part of a property string, where a comma would start
// another property.
func vmForm(spec hypervisor.VMSpec) (url.Values, error) {
	if _, err := vmid(spec.ID); err != nil {
		return nil, invalid("id", "%.40q is not a valid VMID", spec.ID)
	}
	switch {
	case !storageName.MatchString(spec.Storage):
		return nil, invalid("storage", "%.80q is not a valid storage name", spec.Storage)
	case spec.Bridge != "" && !bridgeName.MatchString(spec.Bridge):
		return nil, invalid("bridge", "%.80q is not a valid bridge name", spec.Bridge)
	case spec.Image != "" && (!imageName.MatchString(spec.Image) || !utf8.ValidString(spec.Image)):
		return nil, invalid("image", "%.80q is not an installation image", spec.Image)
	case !markForm.MatchString(spec.Mark):
		return nil, invalid("mark", "the mark is not a UUID")
	case spec.Cores < 1 || spec.MemoryMB < 16 || spec.DiskGB < 1:
		return nil, plugin.Errorf(plugin.Invalid, "a VM needs at least one core, 16 MiB of memory and a disk of 1 GiB")
	case spec.VLAN != nil && (*spec.VLAN < 1 || *spec.VLAN > 4094):
		return nil, invalid("tag", "a VLAN tag must be between 1 and 4094")
	}
	form := url.Values{
		"vmid": {string(spec.ID)}, "name": {spec.Name}, "ostype": {spec.OSType},
		"cores": {strconv.FormatInt(spec.Cores, 10)}, "memory": {strconv.FormatInt(spec.MemoryMB, 10)},
		"virtio0": {fmt.Sprintf("%s:%d,discard=on,iothread=1,serial=%s", spec.Storage, spec.DiskGB, hypervisor.ShortMark(spec.Mark))},
	}
	boot := "order=virtio0"
	if spec.Image != "" {
		form.Set("ide2", spec.Image+",media=cdrom")
		boot += ";ide2"
	}
	if spec.Bridge != "" {
		nic := "virtio,bridge=" + spec.Bridge + ",firewall=1"
		if spec.VLAN != nil {
			nic += ",tag=" + strconv.FormatInt(*spec.VLAN, 10)
		}
		form.Set("net0", nic)
		boot += ";net0"
	}
	form.Set("boot", boot)
	if firmware[spec.OSType] {
		form.Set("bios", "ovmf")
		form.Set("machine", "q35")
		form.Set("efidisk0", spec.Storage+":1,efitype=4m,pre-enrolled-keys=1")
		form.Set("tpmstate0", spec.Storage+":1,version=v2.0")
	}
	return form, nil
}

// provisionFields maps parameters to fields of the SDK.
var provisionFields = map[string]string{
	"virtio0": "storage", "net0": "bridge", "ide2": "image", "memory": "memory_mb", "ostype": "os_type", "vmid": "id", "newid": "id",
	"hostname": "name", "target": "node",
}

// allocateError turns an error about a new guest into one of the SDK. The
// refusal names neither the privilege nor the guest.
func (h *Host) allocateError(ctx context.Context, id hypervisor.GuestID, err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case e.Kind == plugin.Invalid && provisionFields[e.Field] != "":
		e.Field = provisionFields[e.Field]
	case h.namesNothing(ctx, e, "VM.Allocate", id):
	case strings.HasPrefix(text, "storage '"):
		wrongParameter(e, "storage")
	case strings.HasPrefix(text, "no such cluster node"):
		wrongParameter(e, "node")
	case strings.HasPrefix(text, "linked clone"), strings.Contains(text, "vm uses local storage"):
		e.Kind = plugin.Conflict
	}
	return e
}

// namesNothing completes a refusal that names neither the privilege nor the
// guest.
func (h *Host) namesNothing(ctx context.Context, e *plugin.Error, privilege string, id hypervisor.GuestID) bool {
	bare := e.Kind == plugin.Denied && len(e.Missing) == 0 && strings.HasSuffix(strings.ToLower(e.Message), "permission check failed")
	if bare {
		e.Missing, e.Path = []string{privilege}, "/vms/"+string(id)
		e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
	}
	return bare
}

// Destroy sends one DELETE. Disks that are in no configuration stay, because
// they may belong to another guest.
func (h *Host) Destroy(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.DestroySpec) (string, error) {
	path, err := guestPath(ref)
	if err != nil {
		return "", err
	}
	query := url.Values{"destroy-unreferenced-disks": {"0"}}
	if spec.Purge {
		query.Set("purge", "1")
	}
	var answer pveapi.Text
	if _, err := h.api.Delete(ctx, path, query, &answer); err != nil {
		return "", h.explain(ctx, ref.Node, destroyError(absence(err)))
	}
	h.log.Debug("destruction started", "node", ref.Node, "guest", ref.ID, "task", string(answer))
	return taskIn(string(answer)), nil
}

// destroyError classifies the error of a destruction. The API has the same
// status for all of them, so only the text tells.
func destroyError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	if strings.Contains(text, "protection mode enabled") || strings.Contains(text, "used in ha resources") {
		e.Kind = plugin.Conflict
	}
	return e
}
