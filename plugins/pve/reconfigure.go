package pve

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// configField is a field of a ConfigChange with its key and the privilege that
// changing it needs.
type configField struct{ name, key, privilege string }

// configFields are the fields of VMs and of containers. A field that a kind
// lacks has no key.
var configFields = map[hypervisor.GuestKind][]configField{
	hypervisor.VM: {
		{"name", "name", "VM.Config.Options"}, {"cpu_type", "cpu", "VM.Config.CPU"}, {"cores", "cores", "VM.Config.CPU"},
		{"sockets", "sockets", "VM.Config.CPU"}, {"memory_mb", "memory", "VM.Config.Memory"},
		{"balloon_mb", "balloon", "VM.Config.Memory"}, {"swap_mb", "", ""},
		{"description", "description", "VM.Config.Options"}, {"tags", "tags", "VM.Config.Options"},
	},
	hypervisor.Container: {
		{"name", "hostname", "VM.Config.Network"}, {"cpu_type", "", ""}, {"cores", "cores", "VM.Config.CPU"}, {"sockets", "", ""},
		{"memory_mb", "memory", "VM.Config.Memory"}, {"balloon_mb", "", ""}, {"swap_mb", "swap", "VM.Config.Memory"},
		{"description", "description", "VM.Config.Options"}, {"tags", "tags", "VM.Config.Options"},
	},
}

// Reconfigure sends one PUT, which changes the configuration before it answers.
// VMs also have a POST, which starts a task instead.
func (h *Host) Reconfigure(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.ConfigChange) error {
	path, err := guestPath(ref, "config")
	if err != nil {
		return err
	}
	form, err := configForm(ref.Kind, change)
	if err != nil || len(form) == 0 {
		return err
	}
	return h.changeConfig(ctx, ref, path, change.Digest, form)
}

// changeConfig sends the PUT.
func (h *Host) changeConfig(ctx context.Context, ref hypervisor.GuestRef, path, digest string, form url.Values) error {
	if digest != "" {
		form.Set("digest", digest)
	}
	if _, err := h.api.Put(ctx, path, form, nil); err != nil {
		return h.explain(ctx, ref.Node, h.configError(ctx, ref, form, absence(err)))
	}
	h.log.Debug("configuration changed", "node", ref.Node, "guest", ref.ID)
	return nil
}

var (
	// tagForm is the form of a tag. It contains no separator of lists.
	tagForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_+.-]*$`)
	// control matches the characters that only a description may contain: the
	// configuration is a file of lines.
	control = regexp.MustCompile(`[\x00-\x1f\x7f]`)
)

// configForm returns the parameters: the keys to set, and under "delete" those
// to remove. It is empty for an empty change. Control characters are refused in
// everything but a description: the configuration is a file of lines, and a
// line feed in a value could add another setting.
func configForm(kind hypervisor.GuestKind, change hypervisor.ConfigChange) (url.Values, error) {
	set, err := wantedFields(change)
	if err != nil {
		return nil, err
	}
	form, removed := url.Values{}, []string{}
	for _, field := range configFields[kind] {
		value, wanted := set[field.name]
		switch {
		case !wanted:
		case field.key == "":
			return nil, invalid(field.name, "a %s does not have this field", kind)
		case value == "" && (field.name == "description" || field.name == "tags"):
			removed = append(removed, field.key)
		case field.name != "description" && control.MatchString(value):
			return nil, invalid(field.name, "the value contains a control character")
		default:
			form.Set(field.key, value)
		}
	}
	for key, value := range change.Options {
		switch {
		case optionOf(kind, key) == nil:
			return nil, invalid(key, "%.80q is not an option of a %s", key, kind)
		case value == nil:
			removed = append(removed, key)
		case control.MatchString(*value):
			return nil, invalid(key, "the value contains a control character")
		default:
			form.Set(key, *value)
		}
	}
	if len(removed) > 0 {
		slices.Sort(removed)
		form.Set("delete", strings.Join(removed, ","))
	}
	return form, nil
}

// wantedFields returns the fields of a change by their names.
func wantedFields(change hypervisor.ConfigChange) (map[string]string, error) {
	set := map[string]string{}
	for name, value := range map[string]*string{"name": change.Name, "description": change.Description, "cpu_type": change.CPUType} {
		if value != nil {
			set[name] = *value
		}
	}
	for name, value := range map[string]*int64{
		"cores": change.Cores, "sockets": change.Sockets, "memory_mb": change.MemoryMB, "balloon_mb": change.BalloonMB,
		"swap_mb": change.SwapMB,
	} {
		if value != nil {
			set[name] = strconv.FormatInt(*value, 10)
		}
	}
	if change.TagsSet {
		for _, tag := range change.Tags {
			if !tagForm.MatchString(tag) {
				return nil, invalid("tags", "%.80q is not a valid tag: letters, digits, _, -, + and . are allowed", tag)
			}
		}
		set["tags"] = strings.Join(change.Tags, ";")
	}
	return set, nil
}
