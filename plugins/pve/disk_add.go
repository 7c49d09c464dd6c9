package pve

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// newDiskKeys are the keys that a new disk can have, by the kind of guest.
var newDiskKeys = map[hypervisor.GuestKind]*regexp.Regexp{
	hypervisor.VM:        regexp.MustCompile(`^(ide[0-3]|sata[0-5]|scsi[0-9]{1,2}|virtio[0-9]{1,2})$`),
	hypervisor.Container: regexp.MustCompile(`^mp[0-9]{1,3}$`),
}

// mountPoint matches the path of a mount point without characters that have a
// meaning in a configuration.
var mountPoint = regexp.MustCompile(`^(/[A-Za-z0-9._-]+)+$`)

// AddDisk sends the request that creates a disk. If the guest had a disk with
// the key, the request would detach it, so the digest of a configuration
// without the key is necessary.
func (h *Host) AddDisk(ctx context.Context, ref hypervisor.GuestRef, disk hypervisor.NewDisk) error {
	path, err := guestPath(ref, "config")
	if err != nil {
		return err
	}
	keys, known := newDiskKeys[ref.Kind]
	switch {
	case !known || !keys.MatchString(disk.Key):
		return invalid("key", "a %s cannot have a new disk %.80q", ref.Kind, disk.Key)
	case !storageName.MatchString(disk.Storage):
		return invalid("storage", "%.80q is not a storage", disk.Storage)
	case disk.Digest == "":
		return invalid("digest", "without a digest, another disk with this key could be detached")
	case disk.SizeGB < 1:
		return invalid("size_gb", "a disk must have at least 1 GiB")
	case ref.Kind == hypervisor.Container && (!mountPoint.MatchString(disk.Path) || strings.Contains(disk.Path, "/..")),
		ref.Kind == hypervisor.VM && disk.Path != "":
		return invalid("path", "%.80q is not a mount point of a %s", disk.Path, ref.Kind)
	}
	value := fmt.Sprintf("%s:%d", disk.Storage, disk.SizeGB)
	if ref.Kind == hypervisor.Container {
		value += ",mp=" + disk.Path + ",backup=1"
	}
	form := url.Values{disk.Key: {value}, "digest": {disk.Digest}}
	// A container has no request that makes a task. That of a VM may take longer than a request may.
	if ref.Kind == hypervisor.Container {
		if _, err := h.api.Put(ctx, path, form, nil); err != nil {
			return h.explain(ctx, ref.Node, newDiskError(h.configError(ctx, ref, form, absence(err)), disk))
		}
		return nil
	}
	var answer pveapi.Text
	if _, err := h.api.Post(ctx, path, form, &answer); err != nil {
		return h.explain(ctx, ref.Node, newDiskError(h.configError(ctx, ref, form, absence(err)), disk))
	}
	result, err := h.WaitTask(ctx, taskIn(string(answer)), 0, func(hypervisor.LogLine) error { return nil })
	switch {
	case err != nil || result.OK():
		return err
	case result.Status == hypervisor.TaskUnknown:
		return plugin.Errorf(plugin.Refused, "the task ended with an unknown result: the disk may have been added")
	}
	e := plugin.Errorf(pveapi.KindOfText(result.Message), "the disk was not added: %s", result.Message)
	if len(result.Missing) > 0 {
		e.Kind, e.Missing, e.Path, e.Remedy = plugin.Denied, result.Missing, result.Path, result.Remedy
	}
	return newDiskError(absence(e), disk)
}

// newDiskError attributes an error to the field of the request that it is about.
func newDiskError(err error, disk hypervisor.NewDisk) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case isStale(e):
		e.Kind, e.Field = plugin.Conflict, "digest"
	case strings.Contains(text, "storage '"+strings.ToLower(disk.Storage)+"'"), strings.Contains(text, "no such storage"):
		wrongParameter(e, "storage")
	case strings.Contains(text, "no space left"), strings.Contains(text, "not enough free space"),
		strings.Contains(text, "insufficient free space"):
		wrongParameter(e, "size_gb")
	case e.Kind == plugin.Invalid && e.Field == disk.Key:
		e.Field = "key"
	}
	return e
}
