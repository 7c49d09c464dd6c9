package pve

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	rootOption = regexp.MustCompile(`only root can set '([^']+)' config`)
	// notTaken is how the errors begin that report a value which a running
	// guest could not take: "hotplug problem - …" for VMs, "unable to hotplug
	// memory: …" for containers.
	notTaken = regexp.MustCompile(`hotplug problem - |unable to (hotplug|hotunplug|hot-?plug) `)
)

// configError turns an error about a change of a configuration into one of the
// SDK. The most important case is a running guest that cannot take a value: for
// a VM the rest of the change is in force then and the value is pending, for a
// container nothing was changed. The text says which, because the caller must
// not repeat the change blindly.
func (h *Host) configError(ctx context.Context, ref hypervisor.GuestRef, sent url.Values, err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case isStale(e):
		e.Kind, e.Field = plugin.Conflict, "digest"
	case e.Kind == plugin.Invalid && notTaken.MatchString(text) && ref.Kind == hypervisor.Container:
		// The configuration of a container is written only after the running
		// one has taken the whole change.
		e.Kind, e.Field = plugin.Conflict, fieldOfKey(ref.Kind, e.Field)
		e.Message = "the running container refused the change, so nothing was changed; stop the container and retry: " + e.Message
	case e.Kind == plugin.Invalid && notTaken.MatchString(text):
		// The rest of the request is in force by now, and this value is
		// pending.
		e.Kind, e.Field = plugin.Conflict, fieldOfKey(ref.Kind, e.Field)
		e.Message = "a part of the change could not be applied to the running guest and waits for a restart; the rest is in force: " +
			e.Message
	case e.Kind == plugin.Invalid:
		e.Field = fieldOfKey(ref.Kind, e.Field)
	case strings.Contains(text, "invalid bootorder"):
		wrongParameter(e, "boot")
	case strings.Contains(text, "balloon value too large"):
		wrongParameter(e, "balloon_mb")
	case rootOption.MatchString(e.Message):
		e.Kind, e.Field = plugin.Denied, fieldOfKey(ref.Kind, rootOption.FindStringSubmatch(e.Message)[1])
	case e.Kind == plugin.Denied && len(e.Missing) == 1 && strings.Contains(e.Missing[0], "|"):
		h.narrow(ctx, ref.Kind, sent, e)
	}
	return e
}

// isStale reports whether the digest is outdated. Proxmox VE has two texts for
// it, and treats a malformed digest in the same way.
func isStale(e *plugin.Error) bool {
	text := strings.ToLower(e.Message)
	return e.Kind == plugin.Invalid && e.Field == "digest" || strings.Contains(text, "checksum mismatch") ||
		strings.Contains(text, "detected modified configuration")
}

// fieldOfKey returns the SDK's field of a key.
func fieldOfKey(kind hypervisor.GuestKind, key string) string {
	for _, field := range configFields[kind] {
		if field.key == key {
			return field.name
		}
	}
	return key
}

// narrow names the privileges that the change needs. Proxmox VE names all
// privileges of which any one is enough to change something; a token that gets
// the first of them would be refused again.
func (h *Host) narrow(ctx context.Context, kind hypervisor.GuestKind, sent url.Values, e *plugin.Error) {
	offered := strings.Split(e.Missing[0], "|")
	var needed []string
	for _, key := range append(strings.Split(sent.Get("delete"), ","), keysOf(sent)...) {
		if p := privilegeOf(kind, key, sent.Get(key)); slices.Contains(offered, p) {
			needed = append(needed, p)
		}
	}
	if len(needed) == 0 {
		return
	}
	slices.Sort(needed)
	e.Missing = slices.Compact(needed)
	e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
}

// keysOf returns the keys of a form.
func keysOf(form url.Values) []string {
	keys := make([]string, 0, len(form))
	for key := range form {
		keys = append(keys, key)
	}
	return keys
}

// privilegeOf returns the privilege for changing a key to a value; empty for a
// key that this driver does not change.
func privilegeOf(kind hypervisor.GuestKind, key, value string) string {
	for _, field := range configFields[kind] {
		if field.key == key && key != "" {
			return field.privilege
		}
	}
	if nicKey.MatchString(key) {
		return "VM.Config.Network"
	}
	if driveKey.MatchString(key) && diskOf(key, value).Removable {
		return "VM.Config.CDROM"
	}
	if o := optionOf(kind, key); o != nil {
		return o.privilege
	}
	return ""
}
